package watch

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Change lists the skills that differ between two snapshots, as far as a model can see: canonical names, sorted.
type Change struct {
	Added, Removed, Changed []string
}

// Diff returns how new differs from old. A skill that is broken, disabled or hidden counts as missing. new must come from
// refreshing old once or several times.
func Diff(old, new *skill.Catalog) Change {
	var c Change
	before := map[string]skill.Entry{}
	for e := range old.Visible() {
		before[e.Canonical()] = e
	}
	for e := range new.Visible() {
		was, ok := before[e.Canonical()]
		switch {
		case !ok:
			c.Added = append(c.Added, e.Canonical())
		case !was.Same(e):
			c.Changed = append(c.Changed, e.Canonical())
		}
		delete(before, e.Canonical())
	}
	for e := range old.Visible() {
		if _, gone := before[e.Canonical()]; gone {
			c.Removed = append(c.Removed, e.Canonical())
		}
	}
	return c
}

// Empty reports whether there is no change.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// maxNamed is how many skills of each kind String names.
const maxNamed = 20

// String returns the change as one line for a model, such as "Skills changed on disk. Added: a, b. Removed: c.", or "". It
// contains only names of skills, at most 20 of each kind.
func (c Change) String() string {
	if c.Empty() {
		return ""
	}
	return c.line("Skills changed on disk") + "."
}

func (c Change) line(head string) string {
	for _, kind := range []struct {
		word  string
		names []string
	}{{"Added", c.Added}, {"Removed", c.Removed}, {"Changed", c.Changed}} {
		if len(kind.names) > 0 {
			head += ". " + kind.word + ": " + list(kind.names)
		}
	}
	return head
}

// list returns the first valid names and the number of the others.
func list(names []string) string {
	var out []string
	for _, n := range names {
		if len(out) < maxNamed && manifest.CheckName(n) == nil {
			out = append(out, n)
		}
	}
	rest := len(names) - len(out)
	switch {
	case rest == 0:
		return strings.Join(out, ", ")
	case len(out) == 0:
		return fmt.Sprintf("%d more", rest)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), rest)
}
