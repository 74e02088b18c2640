package skill

import (
	"fmt"
	"strings"
)

// MaxName is the most code points that a skill's name may have (R11, C1).
const MaxName = 64

// NameError refuses a name that a caller asked for. Kind is "skill" or "script".
type NameError struct{ Kind, Name string }

// Error returns R46's text.
func (e *NameError) Error() string { return fmt.Sprintf("Invalid %s name: '%s'", e.Kind, e.Name) }

// Canonical returns the form in which names are compared: lower case, underscores as hyphens (R43).
func Canonical(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
}

// CheckName returns a *NameError unless name could be the name of a skill: 1 to 64 of the
// characters a-z, A-Z, 0-9, "-" and "_", and not a reserved one (R11, R44).
func CheckName(name string) error {
	if !plainName(strings.TrimSpace(name)) {
		return &NameError{"skill", name}
	}
	return nil
}

func plainName(name string) bool {
	if name == "" || len(name) > MaxName || name == "__pycache__" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}
