package manifest

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// MaxName is the maximum length of a skill's name, in code points.
const MaxName = 64

// NameError is the error for an invalid name.
type NameError struct {
	Kind    string // "skill" or "script"
	Name    string
	Suggest []string // names that exist and may be meant
}

// Error returns a text such as "Invalid skill name: '../x'".
func (e *NameError) Error() string { return fmt.Sprintf("Invalid %s name: '%s'", e.Kind, e.Name) }

// Canonical returns the form in which names are compared: lower case, with hyphens for underscores and without
// surrounding spaces.
func Canonical(name string) string {
	if simple(name) {
		return name
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
}

// simple reports whether a name has only the characters of canonical names.
func simple(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// CheckName returns a *NameError unless name can be the name of a skill: 1 to 64 of the characters a-z, A-Z, 0-9, "-"
// and "_", beginning with a letter or a digit, and not a reserved name.
func CheckName(name string) error {
	if !usableName(strings.TrimSpace(name)) {
		return &NameError{Kind: "skill", Name: name}
	}
	return nil
}

func usableName(name string) bool {
	return plainName(name) && !reservedName(name)
}

// plainName reports whether name has only the characters and the length of names and begins with a letter or a digit. A
// name is an argument of commands, and "-rf" would be an option.
func plainName(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return name[0] != '-' && name[0] != '_'
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// reservedName reports whether a name of valid characters has another meaning: Python's cache folder, a device, or only
// hyphens.
func reservedName(name string) bool {
	return filename.IsDevice(name) || strings.EqualFold(name, "__pycache__") || strings.Trim(name, "-_") == ""
}

// fallbackName returns a name for a skill whose own name cannot be used: the directory's name, or one made of name or
// dir.
func fallbackName(name, dir string) string {
	if usableName(dir) {
		return dir
	}
	for _, s := range []string{name, dir} {
		if n := tamedName(s); n != "" {
			return n
		}
	}
	return "skill"
}

// Tamed returns the valid name that a skill gets whose manifest has this one, or "" if it has no letter or digit.
func Tamed(name string) string { return tamedName(name) }

// tamedName replaces every run of other characters with a hyphen. It returns "" if nothing is left.
func tamedName(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < MaxName; i++ {
		if nameByte(s[i]) {
			b.WriteByte(s[i])
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	out := strings.TrimRight(strings.TrimLeft(b.String(), "-_"), "-")
	if out != "" && reservedName(out) {
		out = strings.Trim(out, "_-") + "-skill"
	}
	return out
}
