package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
)

// scannable is a skill that can be scanned.
type scannable struct {
	name, path string
	files      fs.FS
}

// scannables are the skills of a scan. close closes what they are read from.
type scannables struct {
	*scanOptions
	list    []scannable
	closers []func() error
}

func (s *scannables) close() {
	for _, c := range slices.Backward(s.closers) {
		_ = c() // it was only read
	}
}

// add finds the skills that a text means: a path, the name of a skill, or a source.
func (s *scannables) add(ctx context.Context, what string) error {
	info, err := os.Stat(s.services.Sys.Abs(what))
	if err == nil && (info.IsDir() || strings.EqualFold(path.Base(what), "SKILL.md")) {
		return s.folders(ctx, what)
	}
	if err == nil || strings.ContainsAny(what, "/:@") {
		return s.source(ctx, what)
	}
	cat, err := s.services.Skills.OpenFor(ctx, what)
	if err != nil {
		return err
	}
	e, err := library.Find(cat, what)
	if err != nil {
		return err
	}
	opened, err := e.Load(ctx)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, opened.Close)
	s.list = append(s.list, scannable{e.Name(), path.Dir(location(ctx, e)), opened.Whole()})
	return nil
}

// folders adds the skills of a folder.
func (s *scannables) folders(ctx context.Context, what string) error {
	sv := s.services
	found, tree, err := (&validateOptions{sys: sv.Sys, out: s.out, settings: sv.Settings, skills: sv.Skills}).targets(ctx, what)
	if err != nil {
		return err
	}
	if err := tree.Close(); err != nil {
		return err
	}
	for _, t := range found {
		root, err := os.OpenRoot(sv.Sys.Abs(t.dir))
		if err != nil {
			return err
		}
		s.closers = append(s.closers, root.Close)
		s.list = append(s.list, scannable{path.Base(sv.Sys.Abs(t.dir)), t.dir, root.FS()})
	}
	return nil
}

// source gets the skills of a source.
func (s *scannables) source(ctx context.Context, what string) error {
	packages := s.services.Packages
	ref, err := packages.Parse(what)
	if err != nil {
		return err
	}
	in, err := packages.Installer()
	if err != nil {
		return err
	}
	return s.out.Busy("fetching "+ref.String(), func() error {
		place, err := in.OpenAll(ctx, ref)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, place.Close)
		if len(place.Skills) == 0 {
			return failure.NotFound(errors.New("there is no skill in "+ref.String()), "a skill is a folder with a SKILL.md")
		}
		if err := place.Get(ctx, place.Skills...); err != nil {
			return err
		}
		for _, c := range place.Skills {
			files, err := place.Files(c)
			if err != nil {
				return err
			}
			s.list = append(s.list, scannable{c.Manifest.Name, c.Path, files})
		}
		return nil
	})
}
