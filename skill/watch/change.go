package watch

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Change is what differs between two snapshots in what a model may see: canonical names, sorted.
type Change struct {
	Added, Removed, Changed []string
}

// Diff returns how new differs from old. A skill that is broken, switched off or hidden counts as not there. new is made
// of old by refreshing, in one step or in several.
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

// Empty reports whether a model would notice nothing.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// maxNamed is how many skills of each kind are named.
const maxNamed = 20

// String returns the change in one line for a model, such as "Skills changed on disk. Added: a, b. Removed: c.", or "".
// It has names alone and nothing else of a skill, at most 20 of each kind.
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

// list names what has a usable name, whatever made the Change, and counts the rest.
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
