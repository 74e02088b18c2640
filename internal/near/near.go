// Package near finds the name that a mistyped word was meant to be: a command, a setting, a profile, a script.
//
// It knows the words that it is given and nothing else: whether there is such a name, and what a miss means, is the
// caller's. Every function is safe for concurrent use.
package near

import "strings"

// maxWord is the length in bytes over which nothing is compared: a word from a file can be as long as the file.
const maxWord = 64

// Name returns the one of names that word was most likely meant to be, the first of those that come equally near, and
// "" when none comes near: at most a third of word's letters, and one more, differ. Case, "-" and "_" count for nothing.
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
