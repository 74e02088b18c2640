package policy

import (
	"fmt"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/want"
)

// never decides about a want by grants.never: neither what it names is given, nor what includes it.
func (p *Policy) never(w want.Want) Decision {
	return p.each(func(d *Document) Decision {
		for _, item := range d.values[KeyNever] {
			if p.forbids(item.Text, w) {
				return d.decided(Never, item.At, fmt.Sprintf("%s is never given", item.Text))
			}
		}
		return Decision{}
	})
}

// forbids reports whether an item of grants.never is about a want. Who may write a file may read it, too.
func (p *Policy) forbids(item string, w want.Want) bool {
	if never := want.Kind(item); never == want.Read && w.Kind == want.Write || never == w.Kind {
		return true
	}
	never, err := want.Parse(item)
	if err == nil && never.Kind == want.Read && w.Kind == want.Write {
		w.Kind = want.Read
	}
	switch {
	case err != nil || never.Kind != w.Kind:
		return false
	case never.Covers(w) || w.Covers(never):
		return true
	case w.Kind == want.Variable: // two patterns may have a name in common
		return strings.ContainsAny(w.Name, patterns) && overlap(never.Name, w.Name)
	case !w.Kind.Files():
		return false
	}
	for _, dir := range p.places(never.Name) {
		for _, other := range p.places(w.Name) {
			if paths.WithinReal(dir, other) || paths.WithinReal(other, dir) {
				return true
			}
		}
	}
	return false
}

// patterns are the characters with which path.Match finds more than one name.
const patterns = `*?[\`

// overlap reports whether two patterns of variables may name the same: it compares what stands before the first wildcard.
func overlap(a, b string) bool {
	fixed := func(s string) string {
		if i := strings.IndexAny(s, patterns); i >= 0 {
			return s[:i]
		}
		return s
	}
	a, b = fixed(a), fixed(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// places returns a folder as paths of this machine: one that begins with ~/ is below each home of the user.
func (p *Policy) places(name string) (out []string) {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		for _, home := range []string{p.Home, p.Account} {
			if home != "" {
				out = append(out, path.Join(home, below))
			}
		}
		return out
	}
	if dir := p.path(name); dir != "" {
		return []string{dir}
	}
	return nil
}
