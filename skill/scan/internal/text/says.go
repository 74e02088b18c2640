package text

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// mostNear is how far from each other two sayings are that belong together, in bytes.
const mostNear = 700

// modifiers say how and when, and nothing alone.
var modifiers = strings.Fields("always every-task skip-approval pretext persona urge order")

// ordinary reports whether a saying is no reason to look at a comment: many harmless texts say it.
func ordinary(name string) bool {
	return name == "change-memory" || name == "steer" || name == "upload" || slices.Contains(modifiers, name)
}

// says adds what a text tells a model: each saying is a fact, and what is said near it, and the addresses in its sentence, are what
// it is made from. The text is r.text, or one of the same length in which other things are blank.
func (r *reader) says(text string, maybe bool) {
	s := sayings(text)
	if s.tangled() {
		r.partly = "it repeats orders so often that not all of its sentences were read"
	}
	places := hides(r.text, text == r.text)
	count := map[string]int{}
	var near []nearFact
	for i, f := range s.found {
		if slices.Contains(modifiers, f.name) && f.name != "urge" && f.name != "order" && !said(s.found, i) {
			continue
		}
		one := fact.Fact{Kind: fact.Tells, Object: fact.Saying, Name: f.name, Detail: plain(text[f.begin:f.end]), Maybe: maybe, Role: r.roleAt(f.begin, f.end)}
		if count[f.name] >= maxFound || !r.within(places, &one, f.begin) {
			continue
		}
		count[f.name]++
		if !slices.Contains(modifiers, f.name) {
			one.From = append(one.From, r.addresses(text, s.hosts, f)...)
		}
		if f.disguised {
			r.add(f.begin, fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: "letters that look like others", Detail: plain(text[f.begin:f.end])})
			one.From = append(one.From, len(r.facts)-1)
		}
		at := len(r.facts)
		for _, n := range near {
			if other := &r.facts[n.fact]; f.begin-n.begin < mostNear && other.Name != f.name {
				one.From = append(one.From, n.fact)
				if !slices.Contains(modifiers, other.Name) {
					other.From = append(other.From, at)
				}
			}
		}
		r.add(f.begin, one)
		if near = append(near, nearFact{f.begin, at}); len(near) > 20 {
			near = near[1:]
		}
	}
}

// nearFact is where the fact of a saying is.
type nearFact struct{ begin, fact int }

// said reports whether near a modifier there is what it modifies.
func said(all []found, i int) bool {
	for _, step := range []int{-1, 1} {
		for j := i + step; j >= 0 && j < len(all) && max(all[i].begin-all[j].begin, all[j].begin-all[i].begin) < mostNear; j += step {
			if !slices.Contains(modifiers, all[j].name) {
				return true
			}
		}
	}
	return false
}

// addresses adds the addresses near a saying, and returns the facts.
func (r *reader) addresses(text string, hosts []word, f found) []int {
	var out []int
	for _, w := range hosts {
		if w.begin < f.begin-maxDetail || w.begin > f.end+maxDetail || len(out) > 3 {
			continue
		}
		if u, err := url.Parse(text[w.begin:w.end]); err == nil && u.Hostname() != "" {
			r.add(w.begin, fact.Fact{Kind: fact.Tells, Object: fact.Host, Name: u.Hostname(), Detail: text[w.begin:w.end]})
			out = append(out, len(r.facts)-1)
		}
	}
	return out
}
