package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/skill"
)

// ErrElsewhere means that the place of a skill no longer has the content that is installed.
var ErrElsewhere = errors.New("the place has another content now")

// Condition says whether the files of an installed skill are those that were installed.
type Condition string

// The conditions.
const (
	Intact  Condition = "ok"
	Edited  Condition = "changed" // some file is another one, or not there, or too many
	Missing Condition = "missing" // the folder is gone
	Unfixed Condition = "linked"  // a link to a folder of the user's own: no content was recorded
)

// Verified is what Verify found about one installed skill.
type Verified struct {
	Entry     registry.Entry
	Condition Condition
	Digest    string          // that the files have now; "" if they have none
	Files     []skill.SumFile // likewise, with their hashes
	Err       error           // why they have no digest
	Signature *oms.Report     // at the time of the installation; nil if it was not checked
	SignError error           // why it could not be
}

// Verify compares the files of installed skills with the digests that the registry has. The results have the order of the
// entries. The only error is that of ctx.
func (in *Installer) Verify(ctx context.Context, entries []registry.Entry) ([]Verified, error) {
	return verifyEach(ctx, entries, in.verify)
}

func verifyEach(ctx context.Context, entries []registry.Entry, verify func(context.Context, registry.Entry) Verified) ([]Verified, error) {
	out := make([]Verified, len(entries))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(len(entries), 1)) {
		wg.Go(func() {
			for i := range next {
				out[i] = verify(ctx, entries[i])
			}
		})
	}
	for i := range entries {
		next <- i
	}
	close(next)
	wg.Wait()
	return out, ctx.Err()
}

// verify compares the files of an installed skill, and checks its signature.
func (in *Installer) verify(ctx context.Context, e registry.Entry) Verified {
	v := compareFiles(ctx, e)
	if in.o.Verify == nil || e.OriginalName != "" || v.Condition == Missing { // the manifest of a copy under another name is not the signed one
		return v
	}
	root, err := os.OpenRoot(e.InstalledPath)
	if err != nil {
		v.SignError = err
		return v
	}
	defer root.Close()
	v.Signature, v.SignError = in.o.Verify(ctx, root.FS(), cmp.Or(e.UpdatedAt, e.InstalledAt))
	return v
}

// compareFiles compares the files of an installed skill with its digest.
func compareFiles(ctx context.Context, e registry.Entry) Verified {
	v := Verified{Entry: e, Condition: Edited}
	root, err := os.OpenRoot(e.InstalledPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.Condition, v.Err = Missing, err
		return v
	case err != nil:
		v.Err = err
		return v
	}
	defer root.Close()
	ok, sum, err := dirhash.Is(ctx, root.FS(), e.Digest)
	v.Digest, v.Files, v.Err = sum.Digest, sum.Files, err
	switch {
	case e.Digest == "":
		v.Condition = Unfixed
	case ok:
		v.Condition = Intact
	}
	return v
}

// Restore puts the content of an installed skill back as it was installed, from its place. A folder with other content is
// first moved to aside. The error is ErrElsewhere if the place does not have the content, and another one for a link.
func (in *Installer) Restore(ctx context.Context, e registry.Entry, aside string) error {
	if fetch := in.o.Registry.Fetch; fetch != nil && compareFiles(ctx, e).Condition == Missing && fetch(ctx, &e) == nil {
		return nil
	}
	ref, state := follow(&e, &source.Ref{Want: e.CommitSHA})
	switch state {
	case Linked:
		return fmt.Errorf("skill %q is %w", e.Name, errLinked)
	case Unknown:
		return fmt.Errorf("it is not known where skill %q is from", e.Name)
	}
	if ref.Kind != source.Git {
		ref.Want, ref.Type = e.Tag, ""
	}
	p, err := in.Open(ctx, ref, "", cmp.Or(e.OriginalName, e.Name))
	if err != nil {
		return err
	}
	defer p.Close()
	c := p.present(&e)
	if c == nil {
		return fmt.Errorf("skill %q: %w", e.Name, ErrElsewhere)
	}
	k, err := p.unpackAs(ctx, c, &e)
	if err != nil {
		return err
	}
	defer k.Close()
	same, err := k.Is(ctx, e.Digest)
	switch lacks := k.Lacks(); {
	case err != nil:
		return err
	case !same && len(lacks) > 0:
		return fmt.Errorf("skill %q is not whole in its place: %s", e.Name, strings.Join(lacks, "; "))
	case !same:
		return fmt.Errorf("skill %q: %w", e.Name, ErrElsewhere)
	}
	if in.verify(ctx, e).Condition == Edited {
		if err := in.setAside(ctx, e.InstalledPath, aside); err != nil {
			return err
		}
	}
	to, err := p.stage.Keep(ctx, k.sub, k.Name, k.Digest)
	if err != nil || to == e.InstalledPath {
		return err
	}
	return in.o.Registry.Update(ctx, e.Name, func(now *registry.Entry) error { // its digest was one of the whole
		if now.Digest != e.Digest {
			return fmt.Errorf("skill %q was %w", e.Name, ErrChanged)
		}
		now.Digest, now.InstalledPath = k.Digest, to
		return nil
	})
}

// DropDamaged moves the former contents of a skill that are not what was installed out of the store, to folders whose names begin with
// aside, and forgets them. It returns these folders.
func (in *Installer) DropDamaged(ctx context.Context, e registry.Entry, aside string) (folders []string, err error) {
	for i, p := range e.Previous {
		if err := store.Verify(ctx, p.InstalledPath, p.Digest); !errors.As(err, new(*IntegrityError)) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to := fmt.Sprintf("%s-%d", aside, i+1)
		if err := in.KeepEdits(ctx, e.Name, p.InstalledPath, to); err != nil {
			return folders, err
		}
		folders = append(folders, to)
	}
	return folders, ctx.Err()
}

// KeepEdits moves a former content of a skill, whose files were edited, out of the store to a folder, and forgets it as a
// former content.
func (in *Installer) KeepEdits(ctx context.Context, name, from, to string) error {
	if err := in.setAside(ctx, from, to); err != nil {
		return err
	}
	return in.o.Registry.Update(ctx, name, func(e *registry.Entry) error {
		e.Previous = slices.DeleteFunc(slices.Clone(e.Previous), func(p registry.Previous) bool { return p.InstalledPath == from })
		return nil
	})
}

func (in *Installer) setAside(ctx context.Context, from, to string) error {
	moved, err := in.store.SetAside(ctx, from, to)
	if err == nil && !moved {
		err = fmt.Errorf("%q is in use: its changed files stay there", from)
	}
	return err
}

// Former is the installed content that a package would replace.
type Former struct {
	Skill     *skill.Skill // opened; nil unless the files are Intact
	Condition Condition    // of the files
	Signature *oms.Report  // as of Verified
}

// Close closes the skill.
func (f *Former) Close() error {
	if f.Skill == nil {
		return nil
	}
	return f.Skill.Close()
}

// Former opens the installed content that the package would replace. Package.Before must be set. The caller must close it.
func (k *Package) Former(ctx context.Context) (*Former, error) {
	in, e := k.place.in, *k.Before
	v := in.verify(ctx, e)
	if v.Condition != Intact {
		return &Former{Condition: v.Condition}, ctx.Err()
	}
	s, err := in.load(ctx, e.InstalledPath, e.Name, nil)
	if err != nil {
		return nil, err
	}
	return &Former{Skill: s, Condition: Intact, Signature: v.Signature}, nil
}
