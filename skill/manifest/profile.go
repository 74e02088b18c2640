package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
)

// Profile says how strictly manifests are read: it names a column of the table of rules, see Codes. The zero value and
// a nil profile are the default one; Profiles lists all seven.
//
// An unknown name never means the lenient default: Open returns an error for it, Parse and Validate report the fatal
// problem profile-unknown, and every rule counts as an error.
type Profile struct {
	Name string
}

// profileNames are the columns of the table of rules, in its order.
var profileNames = [...]string{"default", "spec", "agent-base", "wink", "harness", "harness-mvp", "omniforge"}

// DefaultProfile returns the lenient profile: everything that can be repaired is repaired, with a warning.
func DefaultProfile() *Profile { return &Profile{Name: profileNames[0]} }

// Profiles returns the names of all profiles, the default one first.
func Profiles() []string { return slices.Clone(profileNames[:]) }

// ProfileNamed returns the profile with that name, in any case and with "_" for "-"; "" is the default profile. The
// error for an unknown name is such as `unknown profile "harnes", did you mean "harness"? (there are default, spec,
// …)`.
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

// Check returns an error unless the name of the profile is exactly one of those that Profiles returns.
func (p *Profile) Check() error {
	if p.column() != unknownProfile {
		return nil
	}
	if _, err := ProfileNamed(p.Name); err != nil {
		return err
	}
	return fmt.Errorf("profile %q is spelled %q", p.Name, Canonical(p.Name))
}

// Severity returns the profile's severity for a rule. It returns SeverityWarning for an unknown code.
func (p *Profile) Severity(code string) Severity {
	if r := findRule(code); r != nil {
		return r.severity(p.column())
	}
	return SeverityWarning
}

// Strict reports whether every error makes a skill unusable. In the default profile only the rules that leave nothing
// to use do so.
func (p *Profile) Strict() bool { return p.column() != 0 }

// Needs reports whether metadata says which commands and variables a skill needs. In the profile spec it does not, since
// the open standard gives the keys below metadata no meaning.
func (p *Profile) Needs() bool { return p.column() != specProfile }

func (p *Profile) column() int {
	if p == nil || p.Name == "" {
		return 0
	}
	return slices.Index(profileNames[:], p.Name)
}

// Columns of profiles.
const (
	unknownProfile = -1 // an unknown name
	specProfile    = 1
)
