package install

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Package is a skill of a place, copied and checked but not installed.
type Package struct {
	Name      string          // under which it would be installed, and which the manifest of the copy has
	Skill     *skill.Skill    // the copy; Close closes it
	Digest    string          // of the copy
	Candidate *Candidate      // in the place
	Before    *registry.Entry // that has the name now; nil if none has
	LeftOut   []string        // links, submodules and other things below its folder that the copy has not, and why
	Parts     []Part          // submodules that it lies in, has or should have
	Signature *oms.Report     // of the files as the place has them, before a name was given; nil without Options.Verify

	place *Place
	sub   string // folder below the stage
	same  bool   // see Same
}

// Lacks returns what LeftOut says of the submodules that could not be fetched: another time the skill may have them.
func (k *Package) Lacks() []string {
	var out []string
	for _, line := range k.LeftOut {
		if slices.ContainsFunc(k.Parts, func(p Part) bool { return p.Missing && strings.HasPrefix(line, p.Path+" ") }) {
			out = append(out, line)
		}
	}
	return out
}

// Renamed reports whether the copy has another name than the place has for the skill.
func (k *Package) Renamed() bool { return k.Name != k.Candidate.Manifest.Name }

// prepare checks the signature of the copy as the place has it, and then gives it its name.
func (k *Package) prepare(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if verify := k.place.in.o.Verify; verify != nil {
		if k.Signature, err = verify(ctx, root.FS(), time.Time{}); err != nil {
			return fmt.Errorf("its signature cannot be checked: %w", err)
		}
	}
	if !k.Renamed() {
		return nil
	}
	text, err := root.ReadFile(k.Candidate.File)
	if err != nil {
		return err
	}
	folder := path.Base(k.Candidate.Path)
	if folder == "." {
		folder = ""
	}
	if text, err = manifest.Rename(text, folder, k.Name); err != nil {
		return err
	}
	return root.WriteFile(k.Candidate.File, text, 0o600)
}

// HasBeside reports whether the place has a file or folder outside the skill. name is a slash path from the skill's folder, such
// as "../lib/a.py".
func (k *Package) HasBeside(name string) bool {
	at, around := path.Join(k.Candidate.Path, name), k.place.snapshot.Around
	switch {
	case strings.HasPrefix(at, "../"):
		return around != nil && around(at)
	case !fs.ValidPath(at), at == k.Candidate.Path, inOneOf(map[string]bool{k.Candidate.Path: true}, at):
		return false
	}
	_, err := fs.Stat(k.place.snapshot.FS, at)
	return err == nil
}

// Close closes the copy. It does not undo Keep.
func (k *Package) Close() error {
	if k.Skill == nil {
		return nil
	}
	return k.Skill.Close()
}

// Same reports whether the content is the installed one.
func (k *Package) Same() bool { return k.Before != nil && k.same }

// hadContent reports whether an installed skill whose digest covers what belongs to no skill has, without that, the content of
// another digest.
func hadContent(ctx context.Context, e *registry.Entry, digest string) bool {
	root, err := os.OpenRoot(e.InstalledPath)
	if err != nil {
		return false
	}
	defer root.Close()
	ok, sum, err := dirhash.Is(ctx, root.FS(), e.Digest)
	return ok && err == nil && sum.Digest == digest
}

// Whole returns the skill's folder in the place with what belongs to no skill. Hashes and digests of before cover that.
func (k *Package) Whole() (fs.FS, error) { return k.place.Files(k.Candidate) }

// Is reports whether the package has the content of a digest, which may be one that covers what belongs to no skill.
func (k *Package) Is(ctx context.Context, digest string) (bool, error) {
	if k.Digest == digest {
		return true, nil
	}
	whole, err := k.Whole()
	if err != nil {
		return false, err
	}
	ok, _, err := dirhash.Is(ctx, whole, digest)
	return ok, err
}

// Entry returns the registry's entry as Keep writes it, except for the folder.
func (k *Package) Entry() registry.Entry {
	o := &k.place.Origin
	e := registry.Entry{Name: k.Name, CommitSHA: o.Commit, Branch: o.Branch, Tag: o.Tag, Digest: k.Digest, Kind: o.Source.Kind.String(),
		Source: o.Source.String(), OriginURL: o.URL, Path: k.Candidate.Path, Pinned: o.Pinned, Requires: k.Candidate.Manifest.RequiresSkills, Submodules: k.Parts}
	if o.Source.Kind == source.Git {
		e.GitURL = o.Source.URL
	}
	if k.Renamed() {
		e.OriginalName = k.Candidate.Manifest.Name
	}
	return e
}
