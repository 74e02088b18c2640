package skill

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Options configures Open.
type Options struct {
	Layers      []Layer           // highest precedence first
	Profile     *manifest.Profile // nil means DefaultProfile, which a layer with TrustBundled always has
	Allow, Deny []string          // globs over canonical names; deny wins
	Want        Selection
	Duplicates  Duplicates // two skills of one name inside one layer
	Precedence  Precedence // two skills of one name in different layers

	// Examples are names of bundled skills that are there to be read: a model is offered one only if Want names it or wants all
	// skills. A user may call for them. Nil means none.
	Examples []string

	// Audience is who asks: a skill that is not for them is not in the catalogue, as if it were not there at all. Nil means
	// somebody to whom every skill is available, such as the user of this machine.
	Audience *Audience

	// Admit returns why a skill is not used at all, whatever the user wants, and nil for one that is used. It is asked when a catalogue is
	// made or refreshed, and again about the content that is loaded. Nil admits every skill.
	Admit func(context.Context, Subject) error
	// Trust decides about skills outside bundled layers; nil trusts none of them.
	Trust TrustFunc
	// LookPath finds a command that a skill needs; nil checks no command.
	LookPath func(name string) (string, error)
	// system is the operating system, named as in GOOS, for skills that are made for some only; "" is that of this program.
	system string
	// HasVariable reports whether an environment variable that a skill needs is set; nil checks no variable.
	HasVariable func(name string) bool
	// Version is the engine's version, for min_ and max_agent_base_version; "" checks nothing.
	Version string
}

// Duplicates says what happens to skills of one canonical name inside one layer.
type Duplicates uint8

// DuplicatesOverride keeps one and reports the rest. These decide, in this order: it can be used, its folder has its name, it is in no
// hidden folder, it lies in the root or in a folder called skills, it is nearer to the root, its path is the first in byte order.
// DuplicatesRefuse makes all of them broken.
const (
	DuplicatesOverride Duplicates = iota
	DuplicatesRefuse
)

// Precedence says which of several skills of one name is used.
type Precedence uint8

// PrecedenceLayer takes the skill of the first layer. PrecedencePriority takes the skill with the highest value*1000 +
// priority, see Layer.Value; ties keep the first found.
const (
	PrecedenceLayer Precedence = iota
	PrecedencePriority
)

// Mode says how a Selection chooses.
type Mode uint8

// The modes of Selection.
const (
	SelectAuto         Mode = iota // every skill that is not switched off by its manifest or the user
	SelectNamed                    // the skills in Names that are trusted or bundled
	SelectAll                      // every trusted or bundled skill
	SelectAllUntrusted             // every skill
	SelectNone
)

// Selection says which skills are enabled.
type Selection struct {
	Mode        Mode
	Names       []string // for SelectNamed
	Enabled     []string // names that the user enabled; they override default_enabled
	Disabled    []string
	OnlyBundled []string // if not empty, the only bundled skills that are enabled
	NotBundled  []string // bundled skills that are not enabled; skills of these names elsewhere are
}

// Catalog is an immutable snapshot of the skills found. It is safe for concurrent use.
type Catalog struct {
	o        Options
	parts    []*part              // highest precedence first
	items    []item               // the winners, by canonical name
	ofPart   [][]manifest.Problem // problems with skills of one name, by part; nil for none
	problems []manifest.Problem   // of the selection
	volatile bool                 // the states depend on more than the files

	mounts func() map[*item]string // see findMounts
}

// item is a skill with its state in this catalogue.
type item struct {
	r     *record
	extra *extra
	part  uint16 // index in Catalog.parts
	state State
}

// extra is data that few items have.
type extra struct {
	why     ruling
	shadows []item
}

// Open reads the layers and returns an immutable catalogue of their skills. A broken skill is an entry with problems, and
// a source that cannot be read is a problem of the catalogue; neither is an error. Nil options have no layers. Open returns
// an error for an invalid option, such as an unknown profile, and when ctx is done.
func Open(ctx context.Context, o *Options) (*Catalog, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := newCatalog(o)
	err := c.look(ctx, nil)
	if err == nil {
		err = c.build(ctx)
	}
	if err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// check returns an error for an invalid option.
func (o *Options) check() error {
	switch {
	case o == nil:
		return nil
	case o.Duplicates > DuplicatesRefuse:
		return fmt.Errorf("invalid Options.Duplicates %d", o.Duplicates)
	case o.Precedence > PrecedencePriority:
		return fmt.Errorf("invalid Options.Precedence %d", o.Precedence)
	case o.Want.Mode > SelectNone:
		return fmt.Errorf("invalid Options.Want.Mode %d", o.Want.Mode)
	}
	for _, l := range o.Layers {
		if l.Trust > TrustBundled {
			return fmt.Errorf("layer %q: invalid Trust %d", l.Name, l.Trust)
		}
		if l.Server != "" && l.Trust != TrustNone {
			return fmt.Errorf("layer %q: skills of a server cannot have the trust %q together", l.Name, l.Trust)
		}
	}
	for _, l := range o.Layers {
		if err := l.Profile.Check(); err != nil {
			return err
		}
	}
	return o.Profile.Check()
}

func newCatalog(o *Options) *Catalog {
	if o == nil {
		o = &Options{}
	}
	c := &Catalog{o: *o}
	c.mounts = sync.OnceValue(c.findMounts)
	c.o.Layers = slices.Clone(o.Layers)
	if c.o.Profile == nil {
		c.o.Profile = manifest.DefaultProfile()
	}
	for i := range c.o.Layers {
		layer := &c.o.Layers[i]
		for _, s := range leaves(layer.Source) {
			c.parts = append(c.parts, &part{layer: layer, source: s})
		}
	}
	return c
}

// profile returns by which rules the skills of a source are read. Those of a bundled layer are the program's own, and use what it
// knows beyond the open standard.
func (c *Catalog) profile(p *part) *manifest.Profile {
	if p.layer.Profile != nil {
		return p.layer.Profile
	}
	if p.layer.Trust == TrustBundled {
		return manifest.DefaultProfile()
	}
	return c.o.Profile
}

// look reads all sources and reuses what old has of them.
func (c *Catalog) look(ctx context.Context, old *Catalog) error {
	for i, p := range c.parts {
		var before *part
		if old != nil {
			before = old.parts[i]
		}
		if err := look(ctx, p, before, c.profile(p)); err != nil {
			return err
		}
	}
	c.dropLinks()
	c.nameServed(old)
	return nil
}

// Visible yields the skills that may be shown to a model, by canonical name: those with StateEnabled.
func (c *Catalog) Visible() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for e := range c.All() {
			if e.State() == StateEnabled && !yield(e) {
				return
			}
		}
	}
}

// All yields every skill in any state, by canonical name. Entry.Shadows returns the skills that a skill hides.
func (c *Catalog) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range c.items {
			if !yield(Entry{c, &c.items[i]}) {
				return
			}
		}
	}
}

// Len returns the number of skills that All yields.
func (c *Catalog) Len() int { return len(c.items) }

// Lookup finds a skill by name, in any case and with "_" for "-". The error is a *manifest.NameError for an invalid name, or a
// *NotFoundError, which suggests names that a model may see.
func (c *Catalog) Lookup(name string) (Entry, error) {
	if i := c.find(manifest.Canonical(name)); i >= 0 {
		return Entry{c, &c.items[i]}, nil
	}
	if manifest.CheckName(name) != nil {
		return Entry{}, &manifest.NameError{Kind: "skill", Name: name, Suggest: c.meant(name)}
	}
	return Entry{}, &NotFoundError{Name: name, Suggest: c.suggest(name)}
}

// find returns the index of a canonical name, or -1.
func (c *Catalog) find(canonical string) int {
	i, ok := slices.BinarySearchFunc(c.items, canonical, func(it item, k string) int { return strings.Compare(it.r.canonical(), k) })
	if !ok {
		return -1
	}
	return i
}

// meant returns the name of the skill that an invalid name stands for. A manifest may have such a name, as in "plugin::pdf"
// or "PDF Forms"; the skill has the name of its folder then. A path is not a name.
func (c *Catalog) meant(name string) []string {
	if strings.ContainsAny(name, `/\`) {
		return nil
	}
	_, last, _ := strings.Cut(name, ":")
	for _, form := range []string{name, last} {
		if i := c.find(manifest.Canonical(manifest.Tamed(form))); i >= 0 {
			return []string{c.items[i].r.name()}
		}
	}
	return nil
}

func (c *Catalog) suggest(name string) []string {
	var names []string
	for e := range c.Visible() {
		names = append(names, e.Name())
	}
	return near.Names(name, names)
}

// Problems returns the problems of sources and skills, by layer and path, and then those of the selection. Do not
// change the slice.
func (c *Catalog) Problems() []manifest.Problem { return c.gather(true) }

// Notes returns the Problems that are not in the manifest of a skill: problems of sources and of names that several
// skills have, then those of the selection. It is cheap to call.
func (c *Catalog) Notes() []manifest.Problem { return c.gather(false) }

// gather returns the problems of each part in order, by file, and then those of the selection.
func (c *Catalog) gather(ofSkills bool) []manifest.Problem {
	var out []manifest.Problem
	for i, p := range c.parts {
		from := len(out)
		out = append(out, p.notes...)
		if ofSkills {
			for _, r := range p.list {
				out = append(out, r.problems(p.file(r.path(), r.file()))...)
			}
		}
		if c.ofPart != nil {
			out = append(out, c.ofPart[i]...)
		}
		slices.SortStableFunc(out[from:], func(a, b manifest.Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
		})
	}
	return append(out, c.problems...)
}

// Roots returns the absolute folders that contain the skills of Rooted sources, by precedence, including folders that
// do not exist. A program that watches them should check Rootless, too.
func (c *Catalog) Roots() []string {
	out, _ := c.roots()
	return out
}

// Rootless reports whether a source does not name its folders. Only Refresh finds changes in such a source.
func (c *Catalog) Rootless() bool {
	_, all := c.roots()
	return !all
}

// roots returns the folders that sources name, and whether every source named its own.
func (c *Catalog) roots() (out []string, all bool) {
	all = true
	for _, p := range c.parts {
		s, ok := p.source.(Rooted)
		if !ok {
			all = false
			continue
		}
		for _, dir := range s.Roots() {
			if !filepath.IsAbs(dir) { // relative to an unknown folder
				all = false
				continue
			}
			out = append(out, dir)
		}
	}
	return out, all
}
