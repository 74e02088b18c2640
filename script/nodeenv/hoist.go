package nodeenv

import "strings"

// graph is what a lock says that does not give places: packages by their key there, and what each depends on.
type graph map[string]*vertex

type vertex struct {
	item
	deps []edge
}

// edge is a dependency: the name that it is imported by, and the key of the package.
type edge struct{ name, key string }

// spot is a package at its place, or the root.
type spot struct {
	up    *spot
	names []string // on the way to it; none for the root
	deps  []edge
	here  map[string]*placed // what lies in its node_modules
	// claims has the key that a name stands for to a package at this spot or below, where that lies further up. Another
	// package of the name must not come in between.
	claims map[string]string
}

type placed struct {
	key string
	at  *spot
}

// maxLooks is how many dependencies are followed; the packages of maxItems places have a tenth of it.
const maxLooks = 2_000_000

// hoist gives each package of a graph a place where those that depend on it find it: as far up as no other of the same name
// is in the way. It does so breadth first, so what the root depends on is at the top.
func (g graph) hoist(file string, root []edge) (plan, error) {
	var out plan
	queue := []*spot{{deps: root}}
	looks := 0
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if looks += len(s.deps); looks > maxLooks {
			return nil, refuse("%s has more than %d dependencies of packages on each other: use fewer packages", file, maxLooks)
		}
		for _, d := range s.deps {
			to := s.placeFor(d)
			if to == nil {
				continue // it is found there
			}
			v := g[d.key]
			next := &spot{up: to, names: append(to.names[:len(to.names):len(to.names)], d.name), deps: v.deps}
			if to.here == nil {
				to.here = map[string]*placed{}
			}
			to.here[d.name] = &placed{d.key, next}
			s.claim(d, to)
			it := v.item
			it.Path = placeOf(next.names...)
			if out = append(out, it); len(out) > maxItems || len(next.names) > maxNesting {
				return nil, refuse("%s: %q cannot be placed: too many packages depend on different versions of each other: name versions that agree", file, strings.Join(next.names, "/"))
			}
			queue = append(queue, next)
		}
	}
	return out.checked(file)
}

// placeFor returns the spot whose node_modules a dependency of s is put into, or nil if s finds it already.
func (s *spot) placeFor(d edge) *spot {
	var best *spot
	for at := s; at != nil; at = at.up {
		if there := at.here[d.name]; there != nil {
			if there.key == d.key {
				s.claim(d, at)
				return nil
			}
			return best
		}
		if other, ok := at.claims[d.name]; ok && other != d.key {
			return best
		}
		best = at
	}
	return best
}

// claim records on the way from s up to the spot that has a dependency that the name stands for it.
func (s *spot) claim(d edge, to *spot) {
	for at := s; at != to; at = at.up {
		if at.claims == nil {
			at.claims = map[string]string{}
		}
		at.claims[d.name] = d.key
	}
}
