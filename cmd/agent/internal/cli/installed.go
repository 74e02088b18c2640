package cli

import (
	"context"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
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
	return in, entries, err
}
