package skill

import (
	"fmt"
	"slices"
	"strings"
)

// Profile says how strictly manifests are read: it names a column of the table of rules, see
// Codes. The zero value and a nil profile are the default one. C60 lists the seven.
type Profile struct {
	Name string
}

// profileNames are the columns of the table of rules, in its order.
var profileNames = [...]string{"default", "spec", "agent-base", "wink", "harness", "harness-mvp", "omniforge"}

// DefaultProfile reads leniently: whatever can be repaired is, with a warning.
func DefaultProfile() *Profile { return &Profile{Name: profileNames[0]} }

// Profiles returns the names of all profiles, the default one first (C60).
func Profiles() []string { return slices.Clone(profileNames[:]) }

// ProfileNamed returns the profile of that name; "" is the default one. The error of an unknown
// name lists those there are and the one that comes nearest.
func ProfileNamed(name string) (*Profile, error) {
	if name == "" {
		return DefaultProfile(), nil
	}
	key := Canonical(name)
	if slices.Contains(profileNames[:], key) {
		return &Profile{Name: key}, nil
	}
	hint := ""
	if names := near(key, profileNames[:]); len(names) > 0 {
		hint = fmt.Sprintf(", did you mean %q?", names[0])
	}
	return nil, fmt.Errorf("unknown profile %q%s (there are %s)", name, hint, strings.Join(profileNames[:], ", "))
}

// Severity returns what the profile makes of a rule; Warning for a code that has none.
func (p *Profile) Severity(code string) Severity {
	if r := findRule(code); r != nil {
		return r.severity(p.column())
	}
	return Warning
}

// Strict reports whether every error makes a skill unusable. In the default profile only the
// rules that leave nothing to use do.
func (p *Profile) Strict() bool { return p.column() != 0 }

func (p *Profile) column() int {
	if p == nil {
		return 0
	}
	return max(0, slices.Index(profileNames[:], p.Name))
}
