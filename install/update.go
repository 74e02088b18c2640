package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/skill/manifest"
)

// State says how an installed skill stands to the place it is from.
type State string

// The states.
const (
	Current   State = "current"   // the place has the same content
	Available State = "available" // the place has another content
	Pinned    State = "pinned"    // to a tag or a commit: an update follows nothing
	Linked    State = "linked"    // the skill is a folder of the user's own
	Gone      State = "gone"      // the place has no such skill any more
	Unknown   State = "unknown"   // it is not known where the skill is from
	Failed    State = "failed"    // the place could not be read
)

// Status is what Check found about one installed skill.
type Status struct {
	Entry   registry.Entry
	State   State
	Files   Condition // of the installed files
	Origin  Origin    // of the new content, if it is Available
	Moved   string    // commit that the tag names now, if it is Pinned to a tag that names another commit than when it was installed
	Instead string    // name of the skill that is at its path now, if it is Gone
	Package *Package  // likewise, open until the Updates are closed
	Err     error     // if it Failed

	checked string // commit of the place that has the installed content; "" if the place was not read
}

// Updates are the results of Check, by name. They keep what was fetched until they are closed.
type Updates struct {
	List   []*Status
	places []*Place
}

// Close removes what was fetched.
func (u *Updates) Close() error {
	var err error
	for _, s := range u.List {
		if s.Package != nil {
			err = errors.Join(err, s.Package.Close())
		}
	}
	for _, p := range u.places {
		err = errors.Join(err, p.Close())
	}
	return err
}

// workers is how many places are asked at once.
const workers = 8

// Check asks the places of installed skills whether there is something new, each place once, and meanwhile reads the installed
// files. to is the branch, tag or commit to change to, nil to follow what each skill follows. The caller must close the Updates.
func (in *Installer) Check(ctx context.Context, entries []registry.Entry, to *source.Ref) (*Updates, error) {
	u := &Updates{}
	groups := map[source.Ref][]*Status{}
	for _, e := range entries {
		s := &Status{Entry: e}
		u.List = append(u.List, s)
		ref, state := follow(&e, to)
		if s.State = state; state == "" || state == Pinned && ref.Want != "" {
			groups[ref] = append(groups[ref], s)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var there []Verified
	var cut error
	wg.Go(func() { there, cut = verifyEach(ctx, entries, unlinked) })
	limit := make(chan struct{}, workers)
	for _, ref := range slices.SortedFunc(maps.Keys(groups), func(a, b source.Ref) int { return strings.Compare(a.URL+a.Want, b.URL+b.Want) }) {
		list := groups[ref]
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			if list[0].State == Pinned {
				in.checkTag(ctx, ref, list)
				return
			}
			p, err := in.checkPlace(ctx, ref, list)
			for _, s := range list {
				if err != nil {
					s.State, s.Err = Failed, err
				}
			}
			if p != nil {
				mu.Lock()
				defer mu.Unlock()
				u.places = append(u.places, p)
			}
		})
	}
	wg.Wait()
	if cut != nil {
		return nil, errors.Join(cut, u.Close())
	}
	for i, v := range there {
		u.List[i].Files = v.Condition
	}
	if to == nil {
		_ = in.noteChecked(ctx, u.List) // where nothing can be written, the next Check fetches again
	}
	return u, nil
}

// noteChecked records the commits that were found to have the installed contents, so that the next Check need not fetch them.
func (in *Installer) noteChecked(ctx context.Context, list []*Status) error {
	list = slices.DeleteFunc(slices.Clone(list), func(s *Status) bool { return s.State != Current || s.checked == "" || s.checked == checkedAt(&s.Entry) })
	if len(list) == 0 {
		return nil
	}
	return in.o.Registry.Edit(ctx, func(d *registry.Draft) error {
		for _, s := range list {
			if now, ok := d.Set().Get(s.Entry.Name); !ok || now.Digest != s.Entry.Digest || now.CommitSHA != s.Entry.CommitSHA {
				continue
			}
			if err := d.Update(s.Entry.Name, func(e *registry.Entry) error { e.CheckedCommit = s.checked; return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkedAt returns the last commit that is known to have the content of an installed skill.
func checkedAt(e *registry.Entry) string { return cmp.Or(e.CheckedCommit, e.CommitSHA) }

// Adopt records where the installed content that a package equals is from, if that is not known, and returns the entry: a list
// of installed skills that was made anew does not know it. Package.Same must hold. The error is ErrChanged if the installed
// content is no longer that of Package.Before.
func (k *Package) Adopt(ctx context.Context) (registry.Entry, error) {
	if k.Before.Source != "" || k.Before.GitURL != "" || k.Before.Linked {
		return *k.Before, nil
	}
	from := k.Entry()
	err := k.place.in.o.Registry.Update(ctx, k.Name, func(e *registry.Entry) error {
		if e.Digest != k.Before.Digest {
			return fmt.Errorf("skill %q was %w", k.Name, ErrChanged)
		}
		from.InstalledPath, from.InstalledAt, from.Trusted = e.InstalledPath, e.InstalledAt, e.Trusted
		from.Permissions, from.Previous = e.Permissions, e.Previous
		*e = from
		return nil
	})
	if err != nil {
		return *k.Before, err
	}
	return k.place.in.entry(ctx, k.Name)
}

// unlinked is compareFiles for skills whose content was recorded.
func unlinked(ctx context.Context, e registry.Entry) Verified {
	if e.Linked {
		return Verified{Condition: Unfixed}
	}
	return compareFiles(ctx, e)
}

// checkTag notes the skills whose tag has moved. They stay as they are, so it says nothing of a place that cannot be asked.
func (in *Installer) checkTag(ctx context.Context, ref source.Ref, list []*Status) {
	p, err := in.Open(ctx, ref, list[0].Entry.CommitSHA)
	if err != nil {
		return
	}
	defer p.Close()
	for _, s := range list {
		if p.Origin.Commit != s.Entry.CommitSHA {
			s.Moved = p.Origin.Commit
		}
	}
}

// follow returns where the present content of an installed skill would be from, or the state of a skill that follows nothing; of
// one that is pinned to a tag of a repository, where that is.
func follow(e *registry.Entry, to *source.Ref) (source.Ref, State) {
	kind := source.KindNamed(e.Kind)
	switch {
	case e.Linked:
		return source.Ref{}, Linked
	case e.Source == "" && e.GitURL == "" || kind == 0:
		return source.Ref{}, Unknown
	case e.Pinned && to == nil && kind == source.Git && e.Tag != "" && e.CommitSHA != "":
		return source.Ref{Kind: kind, URL: e.GitURL, Want: e.Tag, Type: "tag"}, Pinned
	case e.Pinned && to == nil:
		return source.Ref{}, Pinned
	}
	ref := source.Ref{Kind: kind, URL: e.GitURL, Want: e.Branch, Type: "branch"}
	if kind != source.Git {
		ref = source.Of(kind, e.Source)
		ref.Want, ref.Type = e.Tag, "tag"
	}
	if to != nil {
		ref.Want, ref.Type = to.Want, to.Type
	}
	if ref.Want == "" {
		ref.Type = ""
	}
	return ref, ""
}

// checkPlace compares the installed skills of one place with it. The caller closes the place.
func (in *Installer) checkPlace(ctx context.Context, ref source.Ref, list []*Status) (*Place, error) {
	known := checkedAt(&list[0].Entry)
	var names []string
	for _, s := range list {
		if checkedAt(&s.Entry) != known || slices.ContainsFunc(s.Entry.Submodules, func(p Part) bool { return p.Missing }) {
			known = ""
		}
		names = append(names, cmp.Or(s.Entry.OriginalName, s.Entry.Name))
	}
	p, err := in.Open(ctx, ref, known, names...)
	if err != nil {
		return nil, err
	}
	if p.Unchanged {
		for _, s := range list {
			s.State = Current
		}
		return p, nil
	}
	now := make([]*Candidate, len(list))
	for i, s := range list {
		now[i] = p.present(&s.Entry)
	}
	if err := p.Get(ctx, slices.DeleteFunc(slices.Clone(now), func(c *Candidate) bool { return c == nil })...); err != nil {
		return p, err
	}
	for i, s := range list {
		if s.State = Gone; now[i] != nil {
			p.compare(ctx, s, now[i])
		} else if j := slices.IndexFunc(p.Skills, func(c *Candidate) bool { return c.Path == s.Entry.Path }); j >= 0 {
			s.Instead = p.Skills[j].Manifest.Name
		}
	}
	return p, nil
}

// compare compares an installed skill with the present content.
func (p *Place) compare(ctx context.Context, s *Status, c *Candidate) {
	if f := c.Fatal(); f != nil {
		s.State, s.Err = Failed, &BreakingError{Name: s.Entry.Name, Problem: *f}
		return
	}
	k, err := p.unpackAs(ctx, c, &s.Entry)
	switch {
	case err != nil:
		s.State, s.Err = Failed, err
	case k.Before == nil:
		s.State, s.Err = Failed, errors.Join(fmt.Errorf("skill %q was %w", s.Entry.Name, ErrChanged), k.Close())
	case k.Same():
		s.State, s.Err, s.checked = Current, k.Close(), p.Origin.Commit
	case slices.ContainsFunc(k.Parts, func(part Part) bool { return part.Missing && had(&s.Entry, part.Path) }):
		s.State, s.Err = Failed, errors.Join(fmt.Errorf("the new version of skill %q is not whole: %s", s.Entry.Name, strings.Join(k.Lacks(), "; ")), k.Close())
	default:
		s.State, s.Package, s.Origin = Available, k, p.Origin
	}
}

// had reports whether an installed skill has the submodule at a path.
func had(e *registry.Entry, at string) bool {
	return slices.ContainsFunc(e.Submodules, func(p Part) bool { return p.Path == at && !p.Missing })
}

// BreakingError says that the present content of an installed skill cannot be used.
type BreakingError struct {
	Name    string
	Problem manifest.Problem
}

// Error names the skill and what is wrong with its manifest.
func (e *BreakingError) Error() string {
	return fmt.Sprintf("the new version of skill %q cannot be used: %s:%d: %s", e.Name, e.Problem.File, e.Problem.Line, e.Problem.Message)
}

// present returns what an installed skill is in the place now: what is at its path, or else has its name; nil if nothing is.
func (p *Place) present(e *registry.Entry) *Candidate {
	name := cmp.Or(e.OriginalName, e.Name)
	for _, c := range p.Skills {
		if c.Path == e.Path && (c.Fatal() != nil || manifest.Canonical(c.Manifest.Name) == manifest.Canonical(name)) {
			return c
		}
	}
	c, _ := chooseOne(p.Skills, name)
	return c
}

// unpackAs unpacks a skill under the name that it is installed under.
func (p *Place) unpackAs(ctx context.Context, c *Candidate, e *registry.Entry) (*Package, error) {
	name := ""
	if e.OriginalName != "" {
		name = e.Name
	}
	return p.Unpack(ctx, c, name)
}

// Rollback makes the former content of a skill the active one, and the active one a former one. approved says that the user
// approved that content; permissions are what was shown then.
func (in *Installer) Rollback(ctx context.Context, name string, approved bool, permissions []string) (registry.Entry, error) {
	e, err := in.entry(ctx, name)
	if err != nil {
		return e, err
	}
	if len(e.Previous) == 0 {
		return e, fmt.Errorf("skill %q: %w", e.Name, ErrNoPrevious)
	}
	to := e.Previous[0]
	release, err := in.store.Lease(ctx, to.InstalledPath) // nobody removes it in the meantime
	if errors.Is(err, fs.ErrNotExist) {
		return e, fmt.Errorf("skill %q: %w: %q is not there any more", e.Name, ErrNoPrevious, to.InstalledPath)
	} else if err != nil {
		return e, err
	}
	defer release()
	if err := store.Verify(ctx, to.InstalledPath, to.Digest); err != nil {
		return e, err
	}
	err = in.o.Registry.Update(ctx, name, func(now *registry.Entry) error {
		if now.Digest != e.Digest {
			return fmt.Errorf("skill %q was %w", e.Name, ErrChanged)
		}
		now.Digest, now.InstalledPath, now.CommitSHA, now.Submodules = to.Digest, to.InstalledPath, to.CommitSHA, to.Submodules
		now.Trusted, now.Permissions = approved, permissions
		return nil
	})
	if err != nil {
		return e, err
	}
	return in.entry(ctx, name)
}

// Link records a folder of the user's own as an installed skill: nothing is copied.
func (in *Installer) Link(ctx context.Context, c *Candidate, dir string) (registry.Entry, error) {
	e := registry.Entry{Name: c.Manifest.Name, InstalledPath: filepath.Join(dir, filepath.FromSlash(c.Path)), Kind: source.Folder.String(), Source: dir, Path: c.Path, Linked: true}
	if err := in.o.Registry.Register(ctx, e); err != nil {
		return e, err
	}
	return in.entry(ctx, e.Name)
}

// Installed returns the registry's entries, all of them or those of the names.
func (in *Installer) Installed(ctx context.Context, names ...string) ([]registry.Entry, error) {
	set, err := in.o.Registry.Load(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return set.All(), nil
	}
	var out []registry.Entry
	for _, name := range names {
		e, ok := set.Get(name)
		if !ok {
			return nil, fmt.Errorf("skill %q is %w", name, registry.ErrNotInstalled)
		}
		out = append(out, e)
	}
	return out, nil
}
