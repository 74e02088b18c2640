// Package filename says which names of files mean the same, and nothing else, on every system.
//
// A name here is one component of a path, without slashes. Nothing is opened.
package filename

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxName is the longest name that file systems accept, in bytes.
const MaxName = 255

// Odd says what is wrong with a name that some systems do not accept or understand in another way. It returns "" if nothing
// is, and text such as "is not UTF-8" otherwise.
func Odd(name string) string {
	if why := Unsafe(name); why != "" {
		return why
	}
	if strings.ContainsAny(name, `<>"|?*`) {
		return "has a character that some systems forbid"
	}
	return ""
}

// Unsafe says why a name from a foreign source must not be created, in the form of Odd. It returns "" for a name that
// stands for one file of this name wherever it can be created at all.
func Unsafe(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	switch {
	case name == "" || name == "." || name == "..":
		return "is not the name of a file"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case len(name) > MaxName:
		return fmt.Sprintf("has more than %d bytes", MaxName)
	case strings.ContainsAny(name, `/:\`) || strings.ContainsFunc(name, unicode.IsControl):
		return "has a character that some systems forbid"
	case strings.ContainsFunc(name, Invisible):
		return "has an invisible character"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "ends with a full stop or a space"
	case IsDevice(strings.TrimRight(stem, " ")):
		return "is that of a device on Windows"
	}
	return ""
}

// devices are the names of devices on Windows, with any text after a dot.
var devices = [...]string{
	"aux", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "com¹", "com²", "com³", "con",
	"conin$", "conout$",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹", "lpt²", "lpt³", "nul", "prn",
}

// IsDevice reports whether a name, without its extension, is a device on Windows.
func IsDevice(stem string) bool {
	if len(stem) < len("con") || len(stem) > len("conout$") {
		return false
	}
	return slices.Contains(devices[:], strings.ToLower(stem))
}

// Plain returns a name as the least exact file system reads it: in lower case, without the dots and spaces at its end and without
// invisible characters.
func Plain(name string) string {
	plain, ascii := true, true
	for i := range len(name) {
		c := name[i]
		plain, ascii = plain && (c < 'A' || c > 'Z'), ascii && c < utf8.RuneSelf
	}
	if plain && ascii && name != "" && name[len(name)-1] != '.' && name[len(name)-1] != ' ' {
		return name // most are
	}
	if !ascii {
		name = strings.ToUpper(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, name))
	}
	return strings.ToLower(strings.TrimRight(name, ". "))
}

// IsGit reports whether a name is ".git" on some system: in another case, by its short name on Windows, or with characters
// that macOS ignores.
func IsGit(name string) bool {
	plain := Plain(name)
	return plain == ".git" || plain == "git~1"
}

// repositories are the folders of version control systems.
var repositories = [...]string{".git", ".hg", ".jj", ".svn", ".bzr", ".sl"}

// IsRepository reports whether some file system takes the name for that of a folder of version control, or of the file that stands for
// one. Its settings run commands and can hold passwords.
func IsRepository(name string) bool {
	plain := Plain(name)
	if long, ok := strings.CutSuffix(plain, "~1"); ok {
		plain = "." + long
	}
	return slices.Contains(repositories[:], plain)
}

// Invisible reports whether r hides text or its order: tags, variation selectors for ideographs, directions of writing,
// annotations, fillers, and spaces without width. The joiners and selectors that emoji and scripts need are not among them.
func Invisible(r rune) bool {
	switch {
	case r >= 0xe0000 && r <= 0xe01ef, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	switch r {
	case 0x200b, 0x2060, 0x180e, 0x115f, 0x1160, 0x3164, 0xffa0, 0xfeff:
		return true
	}
	return false
}

// Fold returns a form that is equal for paths that are the same file on systems that ignore case or normal form.
func Fold(path string) string {
	if isASCII(path) {
		return strings.ToUpper(path)
	}
	return norm.NFC.String(strings.Map(least, norm.NFC.String(path)))
}

// least returns the first of all characters that are equal when case is ignored.
func least(r rune) rune {
	first := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		first = min(first, f)
	}
	return first
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
