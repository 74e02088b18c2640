package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// NeedError says why a skill cannot have another one that it requires.
type NeedError struct {
	By    string        // the skill that requires
	Need  manifest.Need // what it requires
	Have  string        // the version of the skill that would be there; "" if none would, or if it has no version
	There bool          // there would be a skill of that name
	Also  string        // another skill, which requires another version; "" if there is none
	Other manifest.Need // what Also requires
	Cycle []string      // the skills that require each other, the first one again at the end
}

// Error names both sides.
func (e *NeedError) Error() string {
	switch {
	case len(e.Cycle) > 0:
		return "these skills require each other: " + strings.Join(e.Cycle, ", ")
	case e.Also != "":
		return fmt.Sprintf("skill %q requires %s, and skill %q requires %s", e.By, e.Need, e.Also, e.Other)
	case !e.There:
		return fmt.Sprintf("skill %q requires the skill %s, which is not installed and not in the same place", e.By, e.Need)
	case e.Have == "":
		return fmt.Sprintf("skill %q requires the skill %s, and the one there is has no version", e.By, e.Need)
	}
	return fmt.Sprintf("skill %q requires the skill %s, and the one there is has version %s", e.By, e.Need, e.Have)
}

// Needed returns the chosen skills and those of the same place that they require, directly or not, which come first. installed
// returns the version of a skill that is there already, and whether there is one; it is used if it will do. An error is a
// *NeedError.
func Needed(chosen, all []*Candidate, installed func(name string) (version string, ok bool)) ([]*Candidate, error) {
	g := graph{all: all, chosen: chosen, installed: installed, asked: map[string]wish{}}
	for _, c := range chosen {
		if err := g.add(c, nil); err != nil {
			return nil, err
		}
	}
	return g.out, nil
}

// wish is who requires a skill, and which one.
type wish struct {
	by   string
	need manifest.Need
}

// graph collects skills and what they require.
type graph struct {
	all, chosen []*Candidate
	installed   func(string) (string, bool)
	asked       map[string]wish // by canonical name of the required skill
	out         []*Candidate
}

// add adds a skill after those that it requires. path has the skills that led to it.
func (g *graph) add(c *Candidate, path []*Candidate) error {
	if i := slices.Index(path, c); i >= 0 {
		var cycle []string
		for _, p := range append(path[i:], c) {
			cycle = append(cycle, p.Manifest.Name)
		}
		return &NeedError{By: c.Manifest.Name, Cycle: cycle}
	}
	if slices.Contains(g.out, c) {
		return nil
	}
	path = append(slices.Clone(path), c)
	for _, text := range c.Manifest.RequiresSkills {
		need, err := manifest.ParseNeed(text)
		if err != nil {
			return err
		}
		next, err := g.find(c.Manifest.Name, need)
		if err != nil {
			return err
		}
		if next != nil {
			if err := g.add(next, path); err != nil {
				return err
			}
		}
	}
	g.out = append(g.out, c)
	return nil
}

// find returns the skill of the place that is required, nil if one that is installed will do.
func (g *graph) find(by string, need manifest.Need) (*Candidate, error) {
	name := manifest.Canonical(need.Name)
	e := &NeedError{By: by, Need: need}
	c, _ := chooseOne(g.chosen, need.Name)
	if c == nil {
		version, ok := g.installed(name)
		if ok && need.Meets(version) {
			return nil, nil
		}
		if c, _ = chooseOne(g.all, need.Name); c == nil || ok {
			e.There, e.Have = ok, version
			return nil, e
		}
	}
	if need.Meets(c.Manifest.Version) {
		g.asked[name] = wish{by, need}
		return c, nil
	}
	e.There, e.Have = true, c.Manifest.Version
	if other, ok := g.asked[name]; ok {
		e.Also, e.Other = other.by, other.need
	}
	return nil, e
}

// Dependents returns the names of the skills among others that require this one and would not be content with the version.
// Without a version it returns all that require it.
func Dependents(name, version string, others map[string][]string) []string {
	var out []string
	for by, needs := range others {
		for _, text := range needs {
			need, err := manifest.ParseNeed(text)
			if err == nil && manifest.Canonical(need.Name) == manifest.Canonical(name) && (version == "" || !need.Meets(version)) {
				out = append(out, by)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
