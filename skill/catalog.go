package skill

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Options says what to open and what of it counts.
type Options struct {
	Layers      []Layer  // highest precedence first
	Profile     *Profile // nil means DefaultProfile
	Allow, Deny []string // globs over canonical names; deny wins (R54)
	Want        Selection
	Duplicates  Duplicates // two skills of one name inside one layer

	// Trust decides about skills outside bundled layers; nil trusts none of them.
	Trust TrustFunc
	// LookPath finds a command of `metadata.requires`; nil means that none is checked.
	LookPath func(name string) (string, error)
	// Version is the engine's own, for min_ and max_agent_base_version; "" checks nothing.
	Version string
}

// Duplicates says what two skills of one canonical name inside one layer are.
type Duplicates uint8

// Override keeps the first in byte order of paths and reports the rest; Refuse breaks all of them
// (R53).
const (
	Override Duplicates = iota
	Refuse
)

// Mode says how a Selection chooses.
type Mode uint8

// The modes of Selection (R70, C20).
const (
	Auto         Mode = iota // every skill that neither its manifest nor the user switched off
	Named                    // exactly Names, as far as they are trusted or bundled
	All                      // every trusted or bundled skill
	AllUntrusted             // every skill
	None
)

// Selection says which skills are enabled.
type Selection struct {
	Mode        Mode
	Names       []string // with Named
	Enabled     []string // the user's wishes, which beat default_enabled (R75, R76)
	Disabled    []string
	OnlyBundled []string // not empty: of the bundled ones only these (R74)
}

// State says whether a skill counts, and if not, why.
type State uint8

// The states, best first.
const (
	Enabled     State = iota
	Hidden            // enabled, but kept from the model: disable-model-invocation
	Disabled          // by the user, by AGENT_SKILLS, by default_enabled or by the allow and deny globs
	Unavailable       // a required command is missing, or the engine's version does not fit
	Broken            // its manifest cannot be used
)

// String returns the state in lower case.
func (s State) String() string {
	return [...]string{"enabled", "hidden", "disabled", "unavailable", "broken"}[s]
}

// Catalog is an immutable snapshot of the skills there are. It is safe for concurrent use.
type Catalog struct {
	o        Options
	records  []*record // the winners, by canonical name
	problems []Problem
}

// record is what a catalogue keeps of one skill.
type record struct {
	name, canonical, path, file string
	layer                       *Layer
	m                           *Manifest // without its body
	problems                    []Problem
	state                       State
	reason                      string
	stamp                       Stamp
	open                        func(context.Context) (Tree, error)
	shadows                     []*record
}

// Open reads the layers and returns a catalogue of their skills. A broken skill is in it, marked
// so; a source that cannot be read is a problem, not an error. The error is ctx's.
func Open(ctx context.Context, o *Options) (*Catalog, error) {
	c := &Catalog{o: *o}
	byName := map[string]*record{}
	for i := range c.o.Layers {
		layer := &c.o.Layers[i]
		for f, err := range layer.Source.Skills(ctx) {
			r := c.read(layer, f, err)
			if w, ok := byName[r.canonical]; ok {
				w.shadows = append(w.shadows, r)
				continue
			}
			byName[r.canonical] = r
			c.records = append(c.records, r)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.records, func(a, b *record) int { return strings.Compare(a.canonical, b.canonical) })
	return c, nil
}

func (c *Catalog) read(layer *Layer, f Found, err error) *record {
	dir := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	r := &record{layer: layer, path: f.Path, file: f.File, stamp: f.Stamp, open: f.Open}
	if err != nil {
		r.m = &Manifest{Name: dir}
		r.problems = []Problem{{Code: "source-unreadable", Severity: Error, File: f.Path, Message: err.Error(), Fatal: true}}
	} else {
		r.m, r.problems = Parse(f.Head, &ParseOptions{Dir: dir, Profile: c.o.Profile})
		r.m.Body = ""
	}
	r.name, r.canonical = r.m.Name, Canonical(r.m.Name)
	for _, p := range r.problems {
		if p.Fatal {
			r.state, r.reason = Broken, p.Message
			break
		}
	}
	return r
}

// All yields the skills that a model is told of: enabled, available and not hidden, by canonical
// name.
func (c *Catalog) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for e := range c.Every() {
			if e.State() == Enabled && !yield(e) {
				return
			}
		}
	}
}

// Every yields all skills, whatever their state, by canonical name. Shadowed ones are reached
// through Entry.Shadows.
func (c *Catalog) Every() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, r := range c.records {
			if !yield(Entry{c, r}) {
				return
			}
		}
	}
}

// Lookup finds a skill by name, in any case and with "_" for "-". The error is a *NameError or a
// *NotFoundError.
func (c *Catalog) Lookup(name string) (Entry, error) {
	if err := CheckName(name); err != nil {
		return Entry{}, err
	}
	key := Canonical(name)
	i, ok := slices.BinarySearchFunc(c.records, key, func(r *record, k string) int { return strings.Compare(r.canonical, k) })
	if !ok {
		return Entry{}, &NotFoundError{Name: name}
	}
	return Entry{c, c.records[i]}, nil
}

// Problems returns what is wrong with sources and skills, by layer and path.
func (c *Catalog) Problems() []Problem { return c.problems }

// Refresh returns a catalogue of the present state. It reads only what changed, and returns c
// itself when nothing did.
func (c *Catalog) Refresh(ctx context.Context) (*Catalog, error) { return Open(ctx, &c.o) }
