package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Removed says what Remove did.
type Removed struct {
	Entry     registry.Entry
	Folders   []string // versions that are gone
	Postponed []string // versions that something still runs; Sweep removes them later
}

// Remove takes a skill out of the registry and removes its versions from the store. The folder of a linked skill stays.
func (in *Installer) Remove(ctx context.Context, name string) (*Removed, error) {
	list, err := in.RemoveAll(ctx, nil, name)
	if len(list) == 0 {
		return nil, err
	}
	return list[0], err
}

// RemoveAll is Remove for several skills: all of them leave the registry in one step, or none, and then it calls out, which may be nil.
// The result has each that left. If files cannot be removed, those of the others are removed all the same, and Sweep removes them
// later.
func (in *Installer) RemoveAll(ctx context.Context, out func([]registry.Entry), names ...string) ([]*Removed, error) {
	var entries []registry.Entry
	err := in.o.Registry.Edit(ctx, func(d *registry.Draft) error {
		entries = nil
		for _, name := range names {
			e, err := d.Unregister(name)
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out != nil {
		out(entries)
	}
	var list []*Removed
	var errs []error
	for _, e := range entries {
		r := &Removed{Entry: e}
		if list = append(list, r); ctx.Err() != nil {
			continue
		}
		if err := in.removeFiles(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("skill %q is no longer installed, but its files are still there: %w", e.Name, err))
		}
	}
	return list, cmp.Or(errors.Join(errs...), ctx.Err())
}

// RemoveFiles removes the versions of a skill from the store and leaves it in the registry. It is for a disk that is too full
// to write the registry: what it frees lets Remove succeed. A skill without files does not load.
func (in *Installer) RemoveFiles(ctx context.Context, name string) (*Removed, error) {
	e, err := in.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	out := &Removed{Entry: e}
	return out, in.removeFiles(ctx, out)
}

func (in *Installer) removeFiles(ctx context.Context, out *Removed) error {
	e, paths := &out.Entry, []string{}
	if !e.Linked {
		paths = append(paths, e.InstalledPath)
	}
	for _, p := range e.Previous {
		paths = append(paths, p.InstalledPath)
	}
	others, err := in.others(ctx)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || !in.store.Has(path) || others[versionAt(path)] {
			continue
		}
		done, err := in.store.Remove(ctx, path)
		switch {
		case err != nil:
			return err
		case done:
			out.Folders = append(out.Folders, path)
		default:
			out.Postponed = append(out.Postponed, path)
		}
	}
	return nil
}

// versions are versions of installed skills, by place and name. The path of the store does not matter.
type versions map[skill.ID]bool

// add adds the versions that a list names.
func (v versions) add(set *registry.Set) {
	for _, e := range set.All() {
		v[versionAt(e.InstalledPath)] = true
		for _, p := range e.Previous {
			v[versionAt(p.InstalledPath)] = true
		}
	}
}

// others returns the versions that lists besides the registry name.
func (in *Installer) others(ctx context.Context) (versions, error) {
	named := versions{}
	if in.o.OtherLists == nil {
		return named, nil
	}
	lists, err := in.o.OtherLists(ctx)
	for _, set := range lists {
		named.add(set)
	}
	return named, err
}

// Sweep removes the versions that no entry of the registry or of Options.OtherLists names, and what killed processes left. Unless another
// process installs at the same time, it then calls forget, which may be nil, to remove what is recorded about versions elsewhere: gone
// reports whether a content is of a version that is not there and that no list names.
func (in *Installer) Sweep(ctx context.Context, forget func(gone func(skill.ID) bool) error) (*Swept, error) {
	var wanted versions
	return in.store.Sweep(ctx, func(ctx context.Context) (func(string) bool, error) {
		set, err := in.o.Registry.Load(ctx)
		if err != nil {
			return nil, err // a damaged registry names nothing
		}
		if wanted, err = in.others(ctx); err != nil {
			return nil, err
		}
		wanted.add(set)
		return func(path string) bool { return wanted[versionAt(path)] }, nil
	}, func() error {
		if forget == nil {
			return nil
		}
		for _, path := range in.store.Versions() {
			wanted[versionAt(path)] = true
		}
		return forget(func(id skill.ID) bool {
			return place.IsVersion(id.Layer) && !wanted[skill.ID{Layer: id.Layer, Name: id.Name}]
		})
	})
}

// versionAt returns the place and the name of the version in a folder of the store.
func versionAt(path string) skill.ID {
	return skill.ID{Layer: place.Version(filepath.Base(filepath.Dir(path))), Name: manifest.Canonical(filepath.Base(path))}
}
