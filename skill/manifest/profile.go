package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
)

// Profile says how strictly manifests are read: it names a column of the table of rules, see
// Codes. The zero value and a nil profile are the default one; Profiles lists the seven.
//
// A name that is none of them is never taken for the lenient default: Open refuses it, Parse and Validate report it with
// the fatal problem profile-unknown, and every rule counts as an error.
type Profile struct {
	Name string
}

// profileNames are the columns of the table of rules, in its order.
var profileNames = [...]string{"default", "spec", "agent-base", "wink", "harness", "harness-mvp", "omniforge"}

// DefaultProfile reads leniently: whatever can be repaired is, with a warning.
func DefaultProfile() *Profile { return &Profile{Name: profileNames[0]} }

// Profiles returns the names of all profiles, the default one first.
func Profiles() []string { return slices.Clone(profileNames[:]) }

// ProfileNamed returns the profile of that name, in any case and with "_" for "-"; "" is the default one. The error of
// an unknown name is such as `unknown profile "harnes", did you mean "harness"? (there are default, spec, …)`.
func ProfileNamed(name string) (*Profile, error) {
	if name == "" {
		return DefaultProfile(), nil
	}
	key := Canonical(name)
	if slices.Contains(profileNames[:], key) {
		return &Profile{Name: key}, nil
	}
	hint := ""
	if names := near.Names(key, profileNames[:]); len(names) > 0 {
		hint = fmt.Sprintf(", did you mean %q?", names[0])
	}
	return nil, fmt.Errorf("unknown profile %q%s (there are %s)", name, hint, strings.Join(profileNames[:], ", "))
}

// Check returns an error unless the profile has one of the names that Profiles returns, spelled as there.
func (p *Profile) Check() error {
	if p.column() != unknownProfile {
		return nil
	}
	if _, err := ProfileNamed(p.Name); err != nil {
		return err
	}
	return fmt.Errorf("profile %q is spelled %q", p.Name, Canonical(p.Name))
}

// Severity returns what the profile makes of a rule; Warning for a code that has none.
func (p *Profile) Severity(code string) Severity {
	if r := findRule(code); r != nil {
		return r.severity(p.column())
	}
	return SeverityWarning
}

// Strict reports whether every error makes a skill unusable. In the default profile only the
// rules that leave nothing to use do.
func (p *Profile) Strict() bool { return p.column() != 0 }

func (p *Profile) column() int {
	if p == nil || p.Name == "" {
		return 0
	}
	return slices.Index(profileNames[:], p.Name)
}

// unknownProfile is the column of a name that no profile has.
const unknownProfile = -1
