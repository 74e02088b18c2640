package skill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// connect makes the skills unavailable that require others which are not there, or which require them in turn. The states of
// all skills are known before.
func (j *judge) connect() {
	n := needs{c: j.c, known: map[int]string{}}
	for i := range j.c.items {
		if it := &j.c.items[i]; it.state <= StateHidden && len(n.required(i)) > 0 {
			n.missing(i)
		}
	}
	for i, reason := range n.known {
		it := &j.c.items[i]
		if reason == "" || it.state > StateHidden {
			continue
		}
		it.state = StateUnavailable
		if it.extra == nil {
			it.extra = &extra{}
		}
		it.extra.why = ruling{CauseRequirement, reason}
	}
}

// needs looks for what skills require.
type needs struct {
	c     *Catalog
	known map[int]string // answers of missing, by index of the skill
	path  []int          // the skills that are being looked at, each required by the one before
}

// missing returns why a skill does not have the skills that it requires, or "".
func (n *needs) missing(i int) string {
	if reason, ok := n.known[i]; ok {
		return reason
	}
	n.path = append(n.path, i)
	var reasons []string
	for _, text := range n.required(i) {
		if reason := n.lacks(text); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	n.path = n.path[:len(n.path)-1]
	reason := strings.Join(reasons, "; ")
	n.known[i] = reason
	return reason
}

// required returns what a skill requires.
func (n *needs) required(i int) []string {
	if k := n.c.items[i].r.kept(); k != nil {
		return k.skills
	}
	return nil
}

// lacks returns why a required skill will not do, or "".
func (n *needs) lacks(text string) string {
	need, err := manifest.ParseNeed(text)
	if err != nil { // the parser keeps none of these
		return err.Error()
	}
	i := n.c.find(manifest.Canonical(need.Name))
	if i < 0 {
		return "missing skill: " + need.String()
	}
	it := &n.c.items[i]
	if at := slices.Index(n.path, i); at >= 0 {
		return itself + n.cycle(n.path[at:])
	}
	switch version := it.r.version(); {
	case it.state > StateHidden:
		return fmt.Sprintf("skill %s is %s", it.r.name(), it.state)
	case !need.Meets(version) && version == "":
		return fmt.Sprintf("needs skill %s, and the one here has no version", need)
	case !need.Meets(version):
		return fmt.Sprintf("needs skill %s, and the one here is %s", need, version)
	}
	switch reason := n.missing(i); {
	case strings.HasPrefix(reason, itself):
		return reason
	case reason != "":
		return fmt.Sprintf("skill %s is %s", it.r.name(), StateUnavailable)
	}
	return ""
}

// itself begins the reason of a skill that is in a cycle, or requires one that is.
const itself = "requires itself: "

// cycle names the skills of a cycle: "a, b, a".
func (n *needs) cycle(path []int) string {
	var names []string
	for _, i := range append(slices.Clone(path), path[0]) {
		names = append(names, n.c.items[i].r.name())
	}
	return strings.Join(names, ", ")
}
