// Package naming says which letters the names of skills and scripts may have, which names are the same and which look the same.
//
// Names are written in any script. Every function is safe for concurrent use.
package naming

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-base/agent-base/internal/filename"
)

// Canonical returns the form in which names are compared: NFC, in lower case, with "-" for "_" and without spaces around it.
func Canonical(name string) string {
	if plain(name) {
		return name
	}
	return strings.ReplaceAll(Fold(strings.TrimSpace(name)), "_", "-")
}

// plain reports whether a name has only ASCII that Canonical does not change.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// Fold returns a text in NFC and in lower case. It is equal for texts that differ in case or in the way accents are encoded.
func Fold(s string) string {
	if ASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(strings.Map(lower, norm.NFC.String(s)))
}

// lower returns the lower case of the upper case of r, which is the same for the two forms of sigma. It leaves the two letters alone
// that would become an i.
func lower(r rune) rune {
	if r == 'ı' || r == 'İ' {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// Letter reports whether names may have r as a letter or digit of some script, or as a mark on a letter.
func Letter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !Hidden(r)
}

// Begins reports whether r can be the first letter of a name: a mark cannot.
func Begins(r rune) bool { return Letter(r) && !unicode.Is(unicode.M, r) }

// Hidden reports whether r takes no room of its own on a screen, or an empty one, and is no mark that people see: joiners, selectors,
// fillers, directions, blanks.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return false
	}
	return filename.Invisible(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800'
}

// ASCII reports whether a text has only ASCII characters.
func ASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
