package skill

import (
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/internal/naming"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Alike returns the name of a skill that looks like name and is another one, as one with a Cyrillic letter in it does. It returns "" if
// there is none.
func (c *Catalog) Alike(name string) string {
	for one, other := range c.lookalikes(name) {
		switch name {
		case one:
			return other
		case other:
			return one
		}
	}
	return ""
}

// lookalikes returns what naming.Alike does for the names of all skills and one more.
func (c *Catalog) lookalikes(more ...string) map[string]string {
	odd := func(name string) bool { return !naming.ASCII(name) }
	if !slices.ContainsFunc(more, odd) && !slices.ContainsFunc(c.items, func(it item) bool { return odd(it.r.name()) }) {
		return nil
	}
	for i := range c.items {
		more = append(more, c.items[i].r.name())
	}
	return naming.Alike(more)
}

// alike reports the skills whose names look like that of another one. Nobody can tell such names apart.
func (j *judge) alike() {
	others := j.c.lookalikes()
	if len(others) == 0 {
		return
	}
	for i := range j.c.items {
		it := &j.c.items[i]
		if other := others[it.r.name()]; other != "" {
			j.report(it.part, manifest.Problem{Code: "name-alike", Severity: manifest.SeverityWarning, File: j.c.file(it), Field: "name", Skill: it.r.canonical(),
				Message: fmt.Sprintf("the name %q looks like %q, which is another skill", it.r.name(), other),
				Cure:    "rename one of the two; if you did not expect this skill, find out where it is from"})
		}
	}
}

// report adds a problem of a part.
func (j *judge) report(part uint16, p manifest.Problem) {
	if j.ofPart == nil {
		j.ofPart = make([][]manifest.Problem, len(j.c.parts))
	}
	j.ofPart[part] = append(j.ofPart[part], p)
}
