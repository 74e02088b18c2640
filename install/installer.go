package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/unpack"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Errors of an Installer, to be tested with errors.Is.
var (
	// ErrChanged means that another process installed, updated or removed the skill in the meantime.
	ErrChanged = errors.New("changed by another process in the meantime")
	// errLinked means that the skill is a link to a folder of the user's own.
	errLinked = errors.New("a link to a folder")
	// ErrNoPrevious means that no former content of the skill is kept.
	ErrNoPrevious = errors.New("no former content is kept")
)

// IntegrityError is the error for content that is not what its digest says: its Path, and the digests that were wanted and found.
type IntegrityError = store.IntegrityError

// SpaceError is the error for a skill that the disk has no room for.
type SpaceError = store.SpaceError

// Swept says what Sweep did: the paths of versions that were Removed, those that were Postponed because something still runs them,
// and how many Stages of dead owners are gone.
type Swept = store.Report

// Options configures an Installer.
type Options struct {
	Registry *registry.Store         // required
	Folder   string                  // required, absolute: its folder ".store" keeps the contents of installed skills
	Fetchers map[source.Kind]Fetcher // by kind of place
	Catalog  skill.Options           // how the skills of a place are opened; Layers and Admit are ignored
	Progress func(Progress)          // gets how far a fetch is; it may be nil

	// OtherLists returns further lists of skills whose contents are in Folder: no version that they name is removed. Nil means none.
	OtherLists func(context.Context) ([]*registry.Set, error)

	// Verify checks the signature of a skill that was there at a time; the zero time is now. Nil checks none.
	Verify func(ctx context.Context, skill fs.FS, at time.Time) (*oms.Report, error)

	// Admit returns why a skill of a place is not installed, and nil for one that is. It is asked about a place before it is fetched, with
	// a nil Subject, and then about each skill that is unpacked. Nil admits all.
	Admit func(ctx context.Context, from source.Ref, s *skill.Subject) error
}

// Installer adds, updates and removes skills. It is safe for concurrent use by goroutines and processes.
type Installer struct {
	o     Options
	store *store.Dir
}

// New returns an Installer. It returns an error if Registry or Folder is missing. It opens nothing.
func New(o *Options) (*Installer, error) {
	if o == nil || o.Registry == nil || o.Folder == "" {
		return nil, errors.New("install.Options: Registry and Folder are needed")
	}
	in := &Installer{o: *o, store: &store.Dir{Root: o.Folder}}
	if in.o.Registry.Rebuild == nil {
		registry := *o.Registry
		registry.Rebuild = in.rebuild
		in.o.Registry = &registry
	}
	return in, nil
}

// Place is an opened place with its skills. It keeps what was fetched until it is closed. It is for one goroutine.
type Place struct {
	Origin    Origin
	Skills    []*Candidate // at and below Source.Path, by path
	LeftOut   []string     // what was not read as a skill, and why
	Hidden    []string     // if there are no Skills: hidden folders that are not searched and have some, as slash paths
	Unchanged bool         // the place is as it was: nothing was fetched, and there are no Skills

	in       *Installer
	snapshot *Snapshot
	here     map[string]bool // folders whose files are there
	stage    *store.Stage
	packages int
}

// Open fetches a place and finds its skills. known is the Origin.Commit that the caller has; "" always fetches. The caller
// must close the Place. names are those of the skills that are wanted, if the caller knows: fewer requests are then needed.
func (in *Installer) Open(ctx context.Context, ref source.Ref, known string, names ...string) (*Place, error) {
	return in.open(ctx, &Request{Source: ref, Known: known}, names)
}

// OpenAll is Open for a caller who wants every skill of the place, which can be faster.
func (in *Installer) OpenAll(ctx context.Context, ref source.Ref) (*Place, error) {
	return in.open(ctx, &Request{Source: ref, All: true}, nil)
}

// open fetches what a request says, which has neither Dir nor Progress.
func (in *Installer) open(ctx context.Context, r *Request, names []string) (_ *Place, err error) {
	ref := r.Source
	f := in.o.Fetchers[ref.Kind]
	if f == nil {
		return nil, fmt.Errorf("Options.Fetchers has no fetcher for a place of kind %q", ref.Kind)
	}
	if err := in.admit(ctx, ref, nil); err != nil {
		return nil, err
	}
	p := &Place{in: in}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.stage, err = in.store.Stage(ctx); err != nil {
		return nil, err
	}
	dir := filepath.Join(p.stage.Dir, "fetched")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	r.Dir, r.Progress = dir, in.o.Progress
	if p.snapshot, err = fetch(ctx, f, r); err != nil {
		return nil, err
	}
	below := path.Clean(r.Source.Path)
	p.Origin = p.snapshot.Origin
	if p.snapshot.FS == nil {
		p.Unchanged = true
		return p, nil
	}
	if _, err := fs.Stat(p.snapshot.FS, below); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no folder %q: %w", ref, below, fs.ErrNotExist)
	}
	if p.Skills, p.LeftOut, p.Hidden, err = find(ctx, p.snapshot, below, in.o.Catalog.Profile, names); err != nil {
		return nil, err
	}
	return p, nil
}

// admit asks Options.Admit.
func (in *Installer) admit(ctx context.Context, from source.Ref, s *skill.Subject) error {
	if in.o.Admit == nil {
		return nil
	}
	return in.o.Admit(ctx, from, s)
}

// fetch gets the place of a request. If its version is from an address that does not show where the version ends, and there is no such
// version, it tries longer ones, and changes the request.
func fetch(ctx context.Context, f Fetcher, r *Request) (*Snapshot, error) {
	var first error
	for {
		r.Choose = choose(path.Clean(r.Source.Path)) // "." for ""
		s, err := f.Fetch(ctx, r)
		if !errors.Is(err, ErrNoVersion) || !r.Source.Joined && first == nil {
			return s, err
		}
		if first == nil {
			first = err
		}
		longer, ok := r.Source.Longer()
		if !ok {
			return nil, fmt.Errorf("%w; if a name in the address has a slash, write the repository, \"#\", the name, \":\" and the folder", first)
		}
		r.Source = longer
	}
}

// Close removes what was fetched. It may be called again.
func (p *Place) Close() error {
	var err error
	if p.snapshot != nil && p.snapshot.Close != nil {
		err = p.snapshot.Close()
		p.snapshot = nil
	}
	if p.stage != nil {
		err = errors.Join(err, p.stage.Close())
		p.stage = nil
	}
	return err
}

// Get gets the files of skills that will be unpacked, all at once, which is faster than one after another.
func (p *Place) Get(ctx context.Context, skills ...*Candidate) error {
	wanted := map[string]bool{}
	for _, c := range skills {
		if !p.here[c.Path] {
			wanted[c.Path] = true
		}
	}
	if p.snapshot.Need == nil || len(wanted) == 0 {
		return nil
	}
	if err := p.snapshot.Need(ctx, func(name string) bool { return inOneOf(wanted, name) }); err != nil {
		return err
	}
	if p.here == nil {
		p.here = map[string]bool{}
	}
	for dir := range wanted {
		p.here[dir] = true
	}
	return nil
}

// Files returns the folder of a skill of the place as it is there. Get has got its files.
func (p *Place) Files(c *Candidate) (fs.FS, error) { return fs.Sub(p.snapshot.FS, c.Path) }

// Unpack copies a skill of the place to the stage and opens the copy. It executes nothing. With a name, the copy gets that
// name in its manifest. The caller must close the Package before the Place.
func (p *Place) Unpack(ctx context.Context, c *Candidate, name string) (_ *Package, err error) {
	k := &Package{Candidate: c, Name: cmp.Or(name, c.Manifest.Name), place: p}
	if err := manifest.CheckName(k.Name); err != nil {
		return nil, err
	}
	p.packages++
	k.sub = filepath.Join("packages", strconv.Itoa(p.packages), k.Name)
	dir := filepath.Join(p.stage.Dir, k.sub)
	left, err := p.copy(ctx, c, dir)
	if err != nil {
		return nil, fmt.Errorf("skill %q: %w", k.Name, err)
	}
	k.LeftOut = append(p.leftOut(func(name string) bool { return within(c.Path, name) }), left...)
	for _, part := range p.snapshot.Parts {
		if within(c.Path, part.Path) || within(part.Path, c.Path+"/") {
			k.Parts = append(k.Parts, part)
		}
	}
	for _, has := range c.PluginHas {
		k.LeftOut = append(k.LeftOut, has+" of the plugin, which are no part of the skill")
	}
	if err := k.prepare(ctx, dir); err != nil {
		return nil, fmt.Errorf("skill %q: %w", k.Name, err)
	}
	admit := func(ctx context.Context, s skill.Subject) error { return p.in.admit(ctx, p.Origin.Source, &s) }
	if k.Skill, err = p.in.load(ctx, dir, k.Name, admit); err != nil {
		return nil, err
	}
	if k.Digest, err = k.Skill.Digest(ctx); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	set, err := p.in.o.Registry.Load(ctx)
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	if e, ok := set.Get(k.Name); ok {
		k.Before = &e
		k.same = e.Digest == k.Digest || hadContent(ctx, &e, k.Digest)
	}
	return k, nil
}

// copy writes the files that belong to a skill to a folder of the stage. It says what it left out.
func (p *Place) copy(ctx context.Context, c *Candidate, dir string) (left []string, err error) {
	if err := p.Get(ctx, c); err != nil {
		return nil, err
	}
	fsys, err := fs.Sub(p.snapshot.FS, c.Path)
	if err != nil {
		return nil, err
	}
	need, err := size(ctx, content.Of(fsys))
	if err != nil {
		return nil, err
	}
	if _, err := p.in.store.Space(need); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := unpack.NewWriter(root, &unpack.Options{Volatile: true, LeaveOdd: true}) // Stage.Keep writes them to the disk
	own := content.Without(fsys, func(name, kind string) {
		if !filename.IsRepository(path.Base(name)) { // nobody misses it
			left = append(left, path.Join(c.Path, name)+" is "+kind)
		}
	})
	if err := w.End(unpack.Copy(ctx, own, w)); err != nil {
		return left, err
	}
	for _, line := range w.LeftOut() {
		if c.Path != "." {
			line = c.Path + "/" + line
		}
		left = append(left, line)
	}
	pointers, err := content.Pointers(ctx, root.FS())
	for _, name := range pointers {
		left = append(left, path.Join(c.Path, name)+" is a pointer of Git LFS: the file that it stands for is not there")
	}
	return left, err
}

// size returns how many bytes the files of a skill have.
func size(ctx context.Context, fsys fs.FS) (bytes int64, err error) {
	err = fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return cmp.Or(err, ctx.Err())
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// load opens the skill in a folder that is called like it, if admit admits it.
func (in *Installer) load(ctx context.Context, dir, name string, admit func(context.Context, skill.Subject) error) (*skill.Skill, error) {
	o := in.o.Catalog
	o.Admit, o.Want, o.Allow, o.Deny, o.Audience = admit, skill.Selection{}, nil, nil, nil
	layer := skill.Layer{Name: "plugin", Source: skill.Dir(filepath.Dir(dir), &skill.DirOptions{Links: skill.LinksDeny})}
	if in.store.Has(dir) {
		layer.Place = versionAt(dir).Layer
	}
	o.Layers = []skill.Layer{layer}
	cat, err := skill.Open(ctx, &o)
	if err != nil {
		return nil, err
	}
	e, err := cat.Lookup(name)
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}

// Layer returns the Layer that the skill.ID of the skill will have once the package is kept.
func (k *Package) Layer() string { return place.Version(k.Digest) }

// Approved is a package with what the user said about it.
type Approved struct {
	Package     *Package
	Yes         bool     // the user approved this content: it is recorded, and lets nothing run; see trust.Store.Approve for that
	Permissions []string // that were shown; recorded
}

// Keep installs the package, as KeepAll does. approved and permissions are recorded as those of Approved.
func (k *Package) Keep(ctx context.Context, approved bool, permissions []string) (registry.Entry, error) {
	list, err := KeepAll(ctx, Approved{k, approved, permissions})
	if err != nil {
		return k.Entry(), err
	}
	return list[0], nil
}

// KeepAll installs packages of one Installer: it moves their files to the store and then records all of them in the registry
// in one step, which is the moment from which they are installed. It returns their entries. On error no skill has changed.
//
// The error is ErrChanged if the entry of a name is no longer Package.Before.
func KeepAll(ctx context.Context, list ...Approved) ([]registry.Entry, error) {
	out := make([]registry.Entry, len(list))
	paths, err := keepFiles(ctx, list)
	if err != nil {
		return nil, err
	}
	for i, a := range list {
		out[i] = a.Package.Entry()
		out[i].Trusted, out[i].Permissions, out[i].InstalledPath = a.Yes, a.Permissions, paths[i]
	}
	if len(list) == 0 {
		return out, nil
	}
	wanted := slices.Clone(out)
	err = list[0].Package.place.in.o.Registry.Edit(ctx, func(d *registry.Draft) error {
		for i, a := range list {
			out[i] = wanted[i]
			if err := a.Package.record(d, &out[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// keepFiles moves the files of packages to the store, those of each place at once, and returns their folders.
func keepFiles(ctx context.Context, list []Approved) ([]string, error) {
	paths := make([]string, len(list))
	of := map[*store.Stage][]int{}
	for i, a := range list {
		stage := a.Package.place.stage
		of[stage] = append(of[stage], i)
	}
	for stage, some := range of {
		versions := make([]store.Version, len(some))
		for n, i := range some {
			k := list[i].Package
			versions[n] = store.Version{Sub: k.sub, Name: k.Name, Digest: k.Digest}
		}
		kept, err := stage.KeepAll(ctx, versions)
		if err != nil {
			return nil, err
		}
		for n, i := range some {
			paths[i] = kept[n]
		}
	}
	return paths, nil
}

// record puts the entry of a package in a draft, and what the draft made of it in the entry.
func (k *Package) record(d *registry.Draft, e *registry.Entry) error {
	now, there := d.Set().Get(k.Name)
	if there != (k.Before != nil) || there && now.Digest != k.Before.Digest {
		return fmt.Errorf("skill %q was %w", k.Name, ErrChanged)
	}
	var err error
	if !there {
		err = d.Register(*e)
	} else {
		err = d.Update(k.Name, func(old *registry.Entry) error {
			kept := *old
			*old = *e
			old.InstalledAt, old.Previous = kept.InstalledAt, kept.Previous
			return nil
		})
	}
	if err == nil {
		*e, _ = d.Set().Get(k.Name)
	}
	return err
}

// entry returns the registry's entry of a name.
func (in *Installer) entry(ctx context.Context, name string) (registry.Entry, error) {
	set, err := in.o.Registry.Load(ctx)
	if err != nil {
		return registry.Entry{}, err
	}
	e, ok := set.Get(name)
	if !ok {
		return e, fmt.Errorf("skill %q is %w", name, registry.ErrNotInstalled)
	}
	return e, nil
}

// Repair replaces a damaged registry by one of the skills that are in the store, untrusted, and reports whether it did.
// The damaged file is kept under another name. Every change does this first.
func (in *Installer) Repair(ctx context.Context) (bool, error) {
	if _, err := in.o.Registry.Load(ctx); !errors.Is(err, registry.ErrCorrupt) {
		return false, err
	}
	return true, in.o.Registry.Edit(ctx, func(*registry.Draft) error { return nil })
}

// rebuild returns an entry for each skill of the store: of several versions of one, the newest.
func (in *Installer) rebuild(ctx context.Context) ([]registry.Entry, error) {
	newest := map[string]registry.Entry{}
	for _, at := range in.store.Versions() {
		info, err := os.Stat(at)
		if err != nil {
			continue
		}
		s, err := in.load(ctx, at, filepath.Base(at), nil)
		if err != nil {
			continue
		}
		digest, err := s.Digest(ctx)
		err = errors.Join(err, s.Close())
		if path, _ := in.store.Path(s.Name(), digest); err != nil || path != at { // not the content that it is named after
			continue
		}
		e := registry.Entry{Name: s.Name(), InstalledPath: at, Digest: digest, Kind: source.Folder.String(), InstalledAt: info.ModTime()}
		if old, ok := newest[manifest.Canonical(e.Name)]; !ok || e.InstalledAt.After(old.InstalledAt) {
			newest[manifest.Canonical(e.Name)] = e
		}
	}
	var out []registry.Entry
	for _, e := range newest {
		out = append(out, e)
	}
	return out, nil
}
