package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
)

// installedSkills returns what reads and changes installed skills, and the entries of those with the names, or of all without
// names. For a command that changes something, a damaged list of installed skills is first made anew.
func installedSkills(ctx context.Context, s *app.Services, change bool, names ...string) (*install.Installer, []registry.Entry, error) {
	get := func(context.Context) (*install.Installer, error) { return s.Packages.Installer() }
	if change {
		get = s.Packages.Repaired
	}
	in, err := get(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, err := in.Installed(ctx, names...)
	if errors.Is(err, registry.ErrNotInstalled) {
		err = explainElsewhere(ctx, s, in, names, err)
	}
	return in, entries, err
}

// explainElsewhere adds to the error about a skill that is not installed where it lies instead, if the catalogue has it.
func explainElsewhere(ctx context.Context, s *app.Services, in *install.Installer, names []string, err error) error {
	cat, failed := s.Skills.Open(ctx)
	if failed != nil {
		return err
	}
	for _, name := range names {
		e, missing := cat.Lookup(name)
		if _, is := in.Installed(ctx, name); is == nil || missing != nil {
			continue
		}
		hint := "it lies in " + filepath.Dir(location(ctx, e)) + ": agent did not put it there and does not change it"
		if e.Layer() == config.Bundled {
			hint = "it is part of agent: a new version of agent brings the new one"
		}
		if r := s.Packages.Recorded(ctx, e); r != nil {
			hint = r.By + " installed it from " + r.From() + "; " + r.Cure(e.Name())
		}
		return &failure.Error{Exit: failure.ExitNotFound, Code: "not_installed", Hint: hint, Err: err}
	}
	return err
}
