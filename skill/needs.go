package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// connect makes the skills unavailable that require others which are not there, or which require them in turn. The states of
// all skills are known before.
func (j *judge) connect() {
	n := needs{c: j.c, known: map[int]lack{}}
	for i := range j.c.items {
		if it := &j.c.items[i]; it.state <= StateHidden && len(n.required(i)) > 0 {
			n.missing(i)
		}
	}
	for i, l := range n.known {
		it := &j.c.items[i]
		if l.text == "" || it.state > StateHidden {
			continue
		}
		it.state = StateUnavailable
		if it.extra == nil {
			it.extra = &extra{}
		}
		it.extra.why = ruling{CauseRequirement, l.text}
	}
}

// lack is why a required skill will not do; its text is "" if it will.
type lack struct {
	text  string
	cycle string // what of text is about a cycle that the skill is in or leads to
}

// needs looks for what skills require.
type needs struct {
	c     *Catalog
	known map[int]lack // answers of missing, by index of the skill
	path  []int        // the skills that are being looked at, each required by the one before
}

// missing returns why a skill does not have the skills that it requires.
func (n *needs) missing(i int) lack {
	if l, ok := n.known[i]; ok {
		return l
	}
	n.path = append(n.path, i)
	var reasons []string
	var all lack
	for _, text := range n.required(i) {
		if l := n.lacks(text); l.text != "" {
			all.cycle = cmp.Or(all.cycle, l.cycle)
			reasons = append(reasons, l.text)
		}
	}
	n.path = n.path[:len(n.path)-1]
	all.text = strings.Join(reasons, "; ")
	n.known[i] = all
	return all
}

// required returns what a skill requires.
func (n *needs) required(i int) []string {
	if k := n.c.items[i].r.kept(); k != nil {
		return k.skills
	}
	return nil
}

// lacks returns why a required skill will not do.
func (n *needs) lacks(text string) lack {
	need, err := manifest.ParseNeed(text)
	if err != nil { // the parser keeps none of these
		return lack{text: err.Error()}
	}
	i := n.c.find(manifest.Canonical(need.Name))
	if i < 0 {
		return lack{text: "missing skill: " + need.String()}
	}
	it := &n.c.items[i]
	if at := slices.Index(n.path, i); at >= 0 {
		cycle := "requires itself: " + n.cycle(n.path[at:])
		return lack{cycle, cycle}
	}
	switch version := it.r.version(); {
	case it.state > StateHidden:
		return lack{text: fmt.Sprintf("skill %s is %s", it.r.name(), it.state)}
	case !need.Meets(version) && version == "":
		return lack{text: fmt.Sprintf("needs skill %s, and the one here has no version", need)}
	case !need.Meets(version):
		return lack{text: fmt.Sprintf("needs skill %s, and the one here is %s", need, version)}
	}
	switch l := n.missing(i); {
	case l.cycle != "":
		return lack{l.cycle, l.cycle}
	case l.text != "":
		return lack{text: fmt.Sprintf("skill %s is %s", it.r.name(), StateUnavailable)}
	}
	return lack{}
}

// cycle names the skills of a cycle: "a, b, a".
func (n *needs) cycle(path []int) string {
	var names []string
	for _, i := range append(slices.Clone(path), path[0]) {
		names = append(names, n.c.items[i].r.name())
	}
	return strings.Join(names, ", ")
}
