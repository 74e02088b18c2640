package install

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Source returns the installed skills, as the registry has them at each call, for a catalogue. A skill whose folder is gone is
// a problem of the catalogue, and so is a registry that cannot be used. o limits what is read; Nested is ignored.
func Source(r *registry.Store, o *skill.DirOptions) skill.Source {
	s := &installed{registry: r}
	if o != nil {
		s.o = *o
	}
	s.o.Nested, s.o.Inside = false, false
	return s
}

type installed struct {
	registry *registry.Store
	o        skill.DirOptions
}

// Roots returns the folder of the registry, which changes when a skill is installed.
func (s *installed) Roots() []string { return []string{filepath.Dir(s.registry.Path)} }

// Skills yields the installed skills by name.
func (s *installed) Skills(ctx context.Context) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		set, err := s.registry.Load(ctx)
		if err != nil {
			yield(skill.Found{Path: "."}, unreadable(s.registry.Path, err))
			return
		}
		for _, e := range set.All() {
			if !s.one(ctx, &e, yield) {
				return
			}
		}
	}
}

// one yields what is in the folder of an entry.
func (s *installed) one(ctx context.Context, e *registry.Entry, yield func(skill.Found, error) bool) bool {
	_, err := os.Stat(e.InstalledPath)
	why := "the folder of an installed skill is gone"
	if errors.Is(err, fs.ErrNotExist) && s.registry.Fetch != nil {
		if err = s.registry.Fetch(ctx, e); err != nil {
			why, err = "this machine does not have the content of an installed skill: "+err.Error(), fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		p := manifest.Problem{Code: "installed-missing", Message: why, Cure: "install it again, or remove it"}
		if e.Linked {
			p = manifest.Problem{Code: "linked-missing", Message: "the folder that an installed skill is a link to is gone", Cure: "put it back, or remove the skill"}
		}
		p.Severity, p.Skill, p.File = manifest.SeverityError, e.Name, e.InstalledPath
		return yield(skill.Found{Path: e.Name}, &p)
	}
	for f, err := range skill.Dir(e.InstalledPath, &s.o).Skills(ctx) {
		if f.Path != "." { // what lies in its folder is the skill's
			continue
		}
		f.Path, f.Folder = e.Name, e.InstalledPath
		if !e.Linked {
			f.Digest, f.Place = e.Digest, e.Layer()
		}
		if !yield(f, err) {
			return false
		}
	}
	return true
}

func unreadable(path string, err error) *manifest.Problem {
	p := &manifest.Problem{Code: "registry-unreadable", Severity: manifest.SeverityError, File: path, Message: err.Error()}
	switch {
	case errors.Is(err, registry.ErrUnsafe):
		p.Cure = "make it a file that only you can change"
	case errors.Is(err, registry.ErrCorrupt):
		p.Code, p.Cure = "registry-damaged", "repair it"
	case errors.Is(err, registry.ErrNewer):
		p.Cure = "use the newer program that wrote it"
	}
	return p
}
