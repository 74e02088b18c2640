package want

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
)

// Set is a set of wants. The zero value is empty. A set that a function of this package returns is sorted and has each want once; the
// functions take sets that are not.
type Set []Want

// New returns the set of the wants, in order.
func New(list ...Want) Set { return Set(nil).Add(list...) }

// Each returns a want of one kind for each name.
func Each(k Kind, from Origin, names ...string) Set {
	var out Set
	for _, name := range names {
		out = append(out, Want{k, name, from})
	}
	return New(out...)
}

// Add returns the set with further wants.
func (s Set) Add(list ...Want) Set {
	out := slices.Concat(s, list)
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}

// Check returns the first error of Want.Check for a want of the set.
func (s Set) Check() error {
	for _, w := range s {
		if err := w.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether the set has this very want, whoever named it.
func (s Set) Has(w Want) bool {
	return slices.ContainsFunc(s, func(have Want) bool { return have.Kind == w.Kind && have.Name == w.Name })
}

// Covers reports whether having the set is having w too.
func (s Set) Covers(w Want) bool {
	return slices.ContainsFunc(s, func(have Want) bool { return have.Covers(w) })
}

// Minus returns the wants that other does not cover: what is asked for in addition.
func (s Set) Minus(other Set) Set { return s.keep(func(w Want) bool { return !other.Covers(w) }) }

// Without returns the wants that are not in other themselves, whoever named them. What other only covers stays.
func (s Set) Without(other ...Want) Set {
	return s.keep(func(w Want) bool { return !Set(other).Has(w) })
}

// Split returns the wants for which is reports true, and the others.
func (s Set) Split(is func(Want) bool) (yes, no Set) {
	return s.keep(is), s.keep(func(w Want) bool { return !is(w) })
}

// Kind returns the wants of the kinds.
func (s Set) Kind(kinds ...Kind) Set {
	return s.keep(func(w Want) bool { return slices.Contains(kinds, w.Kind) })
}

// From returns the wants that one of the origins named.
func (s Set) From(origins ...Origin) Set {
	return s.keep(func(w Want) bool { return slices.Contains(origins, w.From) })
}

// Named returns the names of the wants of a kind, each once.
func (s Set) Named(k Kind) []string {
	var out []string
	for _, w := range s.Kind(k) {
		if !slices.Contains(out, w.Name) {
			out = append(out, w.Name)
		}
	}
	return out
}

// By returns the same wants, all named by one.
func (s Set) By(o Origin) Set {
	var out Set
	for _, w := range s {
		out = append(out, w.by(o))
	}
	return New(out...)
}

// keep returns the wants for which keep reports true, in order.
func (s Set) keep(keep func(Want) bool) Set {
	var out Set
	for _, w := range s {
		if keep(w) {
			out = append(out, w)
		}
	}
	return New(out...)
}

// Kinds returns the kinds of the wants, in the order in which a set has them.
func (s Set) Kinds() []Kind {
	var out []Kind
	for _, k := range Kinds() {
		if len(s.Kind(k)) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// Hosts returns the hosts of a set in the order in which people are told about them: those of services, others, those of this machine and
// its network.
func (s Set) Hosts() []string {
	out := s.Named(Host)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(hostRank(a), hostRank(b)) })
	return out
}

// hostRank says how early a host is named: 0 first.
func hostRank(text string) int {
	p, err := hostname.Parse(text)
	switch {
	case err != nil || hostname.IsLocal(p.Host):
		return 2
	case strings.Contains(p.Host, "api") || strings.HasPrefix(p.Host, "raw.") || strings.HasPrefix(p.Host, "query"):
		return 0
	}
	return 1
}
