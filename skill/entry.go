package skill

import (
	"context"
	"path"
)

// Entry is one skill of a catalogue: a small handle, comparable, valid as long as its catalogue.
type Entry struct {
	c *Catalog
	r *record
}

// Name returns the skill's name as written.
func (e Entry) Name() string { return e.r.name }

// Canonical returns the name's canonical form.
func (e Entry) Canonical() string { return e.r.canonical }

// Description returns what the skill is for, as written.
func (e Entry) Description() string { return e.r.m.Description }

// Brief returns the description in at most 80 characters.
func (e Entry) Brief() string { return e.r.m.Brief }

// Version returns the skill's version, "" when it declares none.
func (e Entry) Version() string { return e.r.m.Version }

// Tags returns the skill's tags.
func (e Entry) Tags() []string { return e.r.m.Tags }

// Triggers returns what offers the skill by itself.
func (e Entry) Triggers() Triggers { return e.r.m.Triggers }

// Priority returns the manifest's priority, higher first (R60).
func (e Entry) Priority() int { return e.r.m.Priority }

// Layer returns the name of the layer that the skill comes from.
func (e Entry) Layer() string { return e.r.layer.Name }

// Mount returns the path under which the layer's skills are mounted; "skills" by default.
func (e Entry) Mount() string {
	if e.r.layer.Mount == "" {
		return "skills"
	}
	return e.r.layer.Mount
}

// Path returns the slash path of the skill's directory below its source's root.
func (e Entry) Path() string { return e.r.path }

// State says whether the skill counts.
func (e Entry) State() State { return e.r.state }

// Reason says in a few words why the state is not Enabled.
func (e Entry) Reason() string { return e.r.reason }

// Problems returns what is wrong with the skill's manifest.
func (e Entry) Problems() []Problem { return e.r.problems }

// Shadows returns the skills of the same name that this one hides, highest precedence first.
func (e Entry) Shadows() []Entry {
	out := make([]Entry, len(e.r.shadows))
	for i, r := range e.r.shadows {
		out[i] = Entry{e.c, r}
	}
	return out
}

// Location returns the absolute path of the skill's SKILL.md, "" when it has none.
func (e Entry) Location() string {
	if e.r.open == nil {
		return ""
	}
	t, err := e.r.open(context.TODO())
	if err != nil {
		return ""
	}
	defer t.Close()
	if l, ok := t.(Locator); ok {
		if dir, err := l.Location(); err == nil {
			return path.Join(dir, e.r.file)
		}
	}
	return ""
}

// Trust says whether scripts of the skill may run. It may read every file of the skill.
func (e Entry) Trust(ctx context.Context) (Trust, error) {
	if e.r.layer.Trust != Untrusted || e.c.o.Trust == nil {
		return e.r.layer.Trust, nil
	}
	return e.c.o.Trust(ctx, Subject{Name: e.r.canonical, Layer: e.r.layer.Name})
}

// Load opens the skill and reads its manifest afresh. Close it. The error is a *BrokenError when
// the manifest cannot be used.
func (e Entry) Load(ctx context.Context) (*Skill, error) {
	tree, err := e.r.open(ctx)
	if err != nil {
		return nil, err
	}
	s := &Skill{entry: e, tree: tree}
	if err := s.read(); err != nil {
		tree.Close()
		return nil, err
	}
	return s, nil
}
