package manifest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/naming"
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

// Canonical returns the form in which names are compared: NFC, in lower case, with hyphens for underscores and without
// surrounding spaces.
func Canonical(name string) string { return naming.Canonical(name) }

// CheckName returns a *NameError unless name can be the name of a skill: 1 to 64 letters and digits of any script, "-"
// and "_", beginning with a letter or a digit, without a character that nobody sees, and not a reserved name.
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
	if first, _ := utf8.DecodeRuneInString(name); !naming.Begins(first) || utf8.RuneCountInString(name) > MaxName || len(name) > maxNameBytes {
		return false
	}
	return strings.IndexFunc(name, notInName) < 0 && utf8.ValidString(name)
}

// maxNameBytes leaves room in the name of a folder, which has 255 bytes. Only rare scripts need more than three for a letter.
const maxNameBytes = 3*MaxName + 16

func notInName(r rune) bool { return !naming.Letter(r) && r != '-' && r != '_' }

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
	count := 0
	for _, r := range norm.NFC.String(s) {
		switch {
		case count == MaxName || b.Len() > maxNameBytes-utf8.UTFMax:
		case !notInName(r) && (b.Len() > 0 || naming.Begins(r)):
			b.WriteRune(r)
			count++
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
			count++
		}
	}
	out := strings.TrimRight(strings.TrimLeft(b.String(), "-_"), "-")
	if out != "" && reservedName(out) {
		out = strings.Trim(out, "_-") + "-skill"
	}
	return out
}
