package scan

import (
	"cmp"
	"slices"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// Sheet is what a skill could reach, from its facts: each thing once, sorted by name. What stands only in a licence or in an example of
// what not to do is left out.
type Sheet struct {
	Hosts     []Item `json:"hosts,omitempty"`     // that it contacts
	Variables []Item `json:"variables,omitempty"` // of the environment that it reads; "*" for all of them
	Reads     []Item `json:"reads,omitempty"`     // files, and stores such as the clipboard
	Writes    []Item `json:"writes,omitempty"`
	Programs  []Item `json:"programs,omitempty"` // that it starts
	Packages  []Item `json:"packages,omitempty"` // that it installs or declares, as "REGISTRY NAME"
}

// Item is one thing on a Sheet.
type Item struct {
	Name    string  `json:"name"` // "" if it is only known when it runs
	Places  []Place `json:"places"`
	Perhaps bool    `json:"perhaps,omitempty"` // all facts of it are guesses, or stand in an example or a test
}

const maxPlaces = 20 // of an Item

// Sheet returns the sheet of a report.
func (r *Report) Sheet() *Sheet {
	s := &Sheet{}
	for i := range r.Facts {
		f := &r.Facts[i]
		if list := s.list(f); list != nil && f.Role != fact.Against && f.Role != fact.Legal {
			*list = append(*list, Item{Name: itemName(f), Places: []Place{f.Place}, Perhaps: f.Maybe || f.Role != fact.Instruction})
		}
	}
	for _, list := range []*[]Item{&s.Hosts, &s.Variables, &s.Reads, &s.Writes, &s.Programs, &s.Packages} {
		*list = merged(*list)
	}
	return s
}

func (s *Sheet) list(f *Fact) *[]Item {
	switch f.Kind {
	case fact.Sends:
		return &s.Hosts
	case fact.Writes:
		return &s.Writes
	case fact.Needs:
		return &s.Packages
	case fact.Reads:
		if f.Object == fact.Variable {
			return &s.Variables
		}
		return &s.Reads
	case fact.Runs:
		if f.Object == fact.Program {
			return &s.Programs
		}
	}
	return nil
}

func itemName(f *Fact) string {
	if f.Kind == fact.Needs {
		for i, c := range f.Detail {
			if c == ' ' {
				return f.Detail[:i] + " " + f.Name
			}
		}
	}
	return f.Name
}

// merged returns items sorted by name, each name once.
func merged(list []Item) []Item {
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	var out []Item
	for _, item := range list {
		last := len(out) - 1
		if last < 0 || out[last].Name != item.Name {
			out = append(out, item)
			continue
		}
		out[last].Perhaps = out[last].Perhaps && item.Perhaps
		if len(out[last].Places) < maxPlaces {
			out[last].Places = append(out[last].Places, item.Places...)
		}
	}
	return out
}
