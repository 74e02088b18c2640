package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/install/lock"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
)

// LockFile returns the lock file of the project, or of the working directory outside a project.
func (p *Packages) LockFile() (*lock.Project, error) {
	dir := p.settings.Config().Paths.Project
	if dir == "" {
		dir = p.sys.Dir
	}
	if dir == "" {
		return nil, Usage(errors.New("the working directory is not known"), "--project DIR names the project")
	}
	return &lock.Project{Dir: dir, Lock: filepath.Join(p.settings.Config().Paths.State(), lock.FileName+".lock")}, nil
}

// Locked reports whether the project's lock file has a skill.
func (p *Packages) Locked(ctx context.Context, name string) bool {
	f, err := p.LockFile()
	if err != nil {
		return false
	}
	set, err := f.Load(ctx)
	if err != nil {
		return false
	}
	_, there := set.Get(name)
	return there
}

// Lock records an installed skill in the project's lock file. The installation holds whether this can be done or not: a file
// that cannot be changed is a warning.
func (p *Packages) Lock(ctx context.Context, e registry.Entry) {
	if err := p.lock(ctx, e); err != nil {
		p.out.Warn(fmt.Sprintf("%s is installed, but not in %s: %v", e.Name, lock.FileName, err))
	}
}

func (p *Packages) lock(ctx context.Context, e registry.Entry) error {
	f, err := p.LockFile()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(e.InstalledPath)
	if err != nil {
		return err
	}
	defer root.Close()
	hash, err := lock.Hash(ctx, root.FS())
	if err != nil {
		return err
	}
	ref := source.Ref{Kind: source.KindNamed(e.Kind), URL: e.Source, Want: e.Branch}
	switch {
	case e.GitURL != "":
		ref.URL = e.GitURL
	case ref.Kind == source.OCI:
		if ref, err = p.Parse(e.Source); err != nil {
			return err
		}
	}
	if e.Tag != "" {
		ref.Want = e.Tag
	}
	return f.Edit(ctx, func(s *lock.Set) error {
		now := lock.NewEntry(&ref, e.Path, hash)
		if ref.Kind == source.Git {
			now.Commit = e.CommitSHA
		}
		now.Digest = e.Digest
		s.Put(e.Name, now)
		return nil
	})
}

// Unlock takes a skill out of the project's lock file, and reports whether it was there.
func (p *Packages) Unlock(ctx context.Context, name string) (done bool) {
	f, err := p.LockFile()
	if err != nil || !p.Locked(ctx, name) {
		return false
	}
	err = f.Edit(ctx, func(s *lock.Set) error {
		done = s.Delete(name)
		return nil
	})
	if err != nil {
		p.out.Warn(fmt.Sprintf("%s is still in %s: %v", name, lock.FileName, err))
	}
	return done && err == nil
}
