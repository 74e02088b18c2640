package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/paths"
)

// LockFile returns the lock file of the project, or of the working directory outside a project.
func (p *Packages) LockFile() (*lock.Project, error) {
	dir := p.Settings.Config().Paths.Project
	if dir == "" {
		dir = p.Sys.Dir
	}
	if dir == "" {
		return nil, failure.Usage(errors.New("the working directory is not known"), "--project DIR names the project")
	}
	return &lock.Project{Dir: dir, Lock: filepath.Join(p.Settings.Config().Paths.State(), lock.FileName+".lock")}, nil
}

// Locked reports whether the project's lock file has a skill. The error says why that cannot be known, as in the middle of a merge.
// With name "" it only says that.
func (p *Packages) Locked(ctx context.Context, name string) (bool, error) {
	f, err := p.LockFile()
	if err != nil {
		return false, nil //nolint:nilerr // there is no folder that could have one
	}
	set, err := f.Load(ctx)
	if err != nil {
		return false, err
	}
	_, there := set.Get(name)
	return there, nil
}

// Lock records installed skills in the project's lock file, all in one step. The installation holds whether this can be done or
// not.
func (p *Packages) Lock(ctx context.Context, list ...registry.Entry) error {
	if len(list) == 0 {
		return nil
	}
	if err := p.lock(ctx, list); err != nil {
		return fmt.Errorf("%s could not be noted in %s: %w", output.Count(len(list), "installed skill"), lock.FileName, err)
	}
	f, err := p.LockFile()
	if err != nil {
		return err
	}
	set, err := f.Load(ctx)
	if err != nil {
		return err
	}
	for _, k := range set.Skills() {
		noted := slices.ContainsFunc(list, func(e registry.Entry) bool { return strings.EqualFold(e.Name, k.Name) })
		if _, err := LockedRef(f.Dir, &k); noted && err != nil {
			p.Out.Warn(fmt.Sprintf("agent skill ci will not install %s: %v", k.Name, err))
		}
	}
	return nil
}

// LockedRef returns the place that a lock file has for a skill. Another person may have written the file, so a path in it must lead into the
// project.
func LockedRef(project string, k *lock.Skill) (source.Ref, error) {
	ref, err := source.Parse(k.Source, &source.Options{Dir: project})
	if err != nil {
		return ref, err
	}
	switch {
	case ref.Kind == source.Folder || ref.Kind == source.Archive && ref.Local():
		if !paths.WithinReal(project, ref.URL) {
			return ref, fmt.Errorf("%s is not in the project", k.Source)
		}
	case ref.Kind == source.Git && ref.Local():
		return ref, fmt.Errorf("%s is a repository of this machine, which only a person may name", k.Source)
	case ref.Kind == source.Git && k.Commit != "":
		ref.Want, ref.Type = k.Commit, "commit"
	case ref.Kind == source.Git || ref.Kind == source.OCI:
		ref.Want = k.Ref
	}
	return ref, nil
}

func (p *Packages) lock(ctx context.Context, list []registry.Entry) error {
	f, err := p.LockFile()
	if err != nil {
		return err
	}
	entries := make([]lock.Entry, len(list))
	for i := range list {
		if entries[i], err = p.lockEntry(ctx, &list[i]); err != nil {
			return fmt.Errorf("%s: %w", list[i].Name, err)
		}
	}
	return f.Edit(ctx, func(s *lock.Set) error {
		for i := range list {
			s.Put(list[i].Name, entries[i])
		}
		return nil
	})
}

// lockEntry returns what a lock file says of an installed skill.
func (p *Packages) lockEntry(ctx context.Context, e *registry.Entry) (lock.Entry, error) {
	root, err := os.OpenRoot(e.InstalledPath)
	if err != nil {
		return lock.Entry{}, err
	}
	defer root.Close()
	hash, err := lock.Hash(ctx, root.FS())
	if err != nil {
		return lock.Entry{}, err
	}
	ref := source.Ref{Kind: source.KindNamed(e.Kind), URL: e.Source, Want: e.Branch}
	switch {
	case e.GitURL != "":
		ref.URL = e.GitURL
	case ref.Kind == source.OCI:
		if ref, err = p.Parse(e.Source); err != nil {
			return lock.Entry{}, err
		}
	}
	if e.Tag != "" {
		ref.Want = e.Tag
	}
	now := lock.NewEntry(&ref, e.Path, hash)
	if ref.Kind == source.Git {
		now.Commit = e.CommitSHA
	}
	now.Digest = e.Digest
	return now, nil
}

// Unlock takes skills out of the project's lock file, all in one step, and returns those that were there.
func (p *Packages) Unlock(ctx context.Context, names ...string) (found []string) {
	f, err := p.LockFile()
	if err != nil {
		return nil // there is no folder that could have one
	}
	set, err := f.Load(ctx)
	there := err == nil && slices.ContainsFunc(names, func(name string) bool { _, ok := set.Get(name); return ok })
	if there {
		err = f.Edit(ctx, func(s *lock.Set) error {
			found = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !s.Delete(name) })
			return nil
		})
	}
	if err != nil {
		p.Out.Warn(fmt.Sprintf("%s may still be in %s: %v", strings.Join(Some(names), ", "), lock.FileName, err))
		return nil
	}
	return found
}
