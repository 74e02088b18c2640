package skill

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Options says what to open and what of it counts.
type Options struct {
	Layers      []Layer           // highest precedence first
	Profile     *manifest.Profile // nil means DefaultProfile
	Allow, Deny []string          // globs over canonical names; deny wins
	Want        Selection
	Duplicates  Duplicates // two skills of one name inside one layer
	Precedence  Precedence // two skills of one name in different layers

	// Trust decides about skills outside bundled layers; nil trusts none of them.
	Trust TrustFunc
	// LookPath finds a command of `metadata.requires`; nil means that none is checked.
	LookPath func(name string) (string, error)
	// Version is the engine's own, for min_ and max_agent_base_version; "" checks nothing.
	Version string
}

// Duplicates says what two skills of one canonical name inside one layer are.
type Duplicates uint8

// Override keeps the one whose folder has its name, else the first in byte order of paths, and
// reports the rest; Refuse breaks all of them.
const (
	DuplicatesOverride Duplicates = iota
	DuplicatesRefuse
)

// Precedence says which of several skills of one name counts.
type Precedence uint8

// PrecedenceLayer takes the first layer. PrecedencePriority takes the highest value*1000 + priority, see
// Layer.Value; ties keep the first found.
const (
	PrecedenceLayer Precedence = iota
	PrecedencePriority
)

// Mode says how a Selection chooses.
type Mode uint8

// The modes of Selection.
const (
	SelectAuto         Mode = iota // every skill that neither its manifest nor the user switched off
	SelectNamed                    // exactly Names, as far as they are trusted or bundled
	SelectAll                      // every trusted or bundled skill
	SelectAllUntrusted             // every skill
	SelectNone
)

// Selection says which skills are enabled.
type Selection struct {
	Mode        Mode
	Names       []string // with Named
	Enabled     []string // the user's wishes, which beat default_enabled
	Disabled    []string
	OnlyBundled []string // not empty: of the bundled ones only these
}

// Catalog is an immutable snapshot of the skills there are. It is safe for concurrent use.
type Catalog struct {
	o        Options
	parts    []*part              // the highest precedence first
	items    []item               // the winners, by canonical name
	ofPart   [][]manifest.Problem // of skills of one name, by part; nil where there are none
	problems []manifest.Problem   // of the selection
	volatile bool                 // the states depend on more than the files
}

// item is a skill with what this catalogue makes of it.
type item struct {
	r     *record
	extra *extra
	part  uint16 // index in Catalog.parts
	state State
}

// extra is what few items have.
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
	}
	return o.Profile.Check()
}

func newCatalog(o *Options) *Catalog {
	if o == nil {
		o = &Options{}
	}
	c := &Catalog{o: *o}
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

// look reads all sources, with what old knows of them.
func (c *Catalog) look(ctx context.Context, old *Catalog) error {
	for i, p := range c.parts {
		var before *part
		if old != nil {
			before = old.parts[i]
		}
		if err := look(ctx, p, before, c.o.Profile); err != nil {
			return err
		}
	}
	return nil
}

// Visible yields the skills that a model may be told about, by canonical name: those whose state is StateEnabled.
func (c *Catalog) Visible() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for e := range c.All() {
			if e.State() == StateEnabled && !yield(e) {
				return
			}
		}
	}
}

// All yields every skill, whatever its state, by canonical name. Entry.Shadows has those that are shadowed.
func (c *Catalog) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range c.items {
			if !yield(Entry{c, &c.items[i]}) {
				return
			}
		}
	}
}

// Len returns how many skills All yields.
func (c *Catalog) Len() int { return len(c.items) }

// Lookup finds a skill by name, in any case and with "_" for "-". The error is a *NameError or a
// *NotFoundError, which suggests names that a model may see.
func (c *Catalog) Lookup(name string) (Entry, error) {
	if i := c.find(manifest.Canonical(name)); i >= 0 {
		return Entry{c, &c.items[i]}, nil
	}
	if err := manifest.CheckName(name); err != nil {
		return Entry{}, err
	}
	return Entry{}, &NotFoundError{Name: name, Suggest: c.suggest(name)}
}

// find returns the index of a canonical name, -1 when there is none.
func (c *Catalog) find(canonical string) int {
	i, ok := slices.BinarySearchFunc(c.items, canonical, func(it item, k string) int { return strings.Compare(it.r.canonical(), k) })
	if !ok {
		return -1
	}
	return i
}

func (c *Catalog) suggest(name string) []string {
	var names []string
	for e := range c.Visible() {
		names = append(names, e.Name())
	}
	return near.Names(name, names)
}

// Problems returns what is wrong with sources and skills, by layer and path, and then what is
// wrong with the selection. Do not change it.
func (c *Catalog) Problems() []manifest.Problem { return c.gather(true) }

// Notes returns those of Problems that are not in the manifest of a skill: of sources and of names that several skills have,
// and then of the selection. It takes no time.
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

// Roots returns the absolute folders that the skills lie in, as far as their sources are Rooted, by precedence, also those
// that do not exist. A program that watches them asks Rootless whether that is enough.
func (c *Catalog) Roots() []string {
	out, _ := c.roots()
	return out
}

// Rootless reports whether a source does not say where its skills lie. Only Refresh finds what changed there.
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
			if !filepath.IsAbs(dir) { // nobody knows from where
				all = false
				continue
			}
			out = append(out, dir)
		}
	}
	return out, all
}
