// Package near finds the names that a mistyped word may stand for: those of commands, settings, profiles, scripts and
// skills. It knows only the names that it is given. Every function is safe for concurrent use.
package near

import "strings"

// maxWord is the longest word in bytes that Name compares. A word from a file can be as long as the file.
const maxWord = 64

// Name returns the name that is nearest to word, or "" if none is near. If several are equally near it returns the first of
// them. A name is near if its edit distance is at most a third of the length of word, plus one. Case, "-" and "_" are
// ignored.
func Name(word string, names []string) string {
	best, least := "", len(word)/3+2
	if len(word) > maxWord {
		return ""
	}
	for _, name := range names {
		if d := edits(fold(word), fold(name), least-1); d < least {
			best, least = name, d
		}
	}
	return best
}

func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}
