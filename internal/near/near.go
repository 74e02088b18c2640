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
		if d := distance(fold(word), fold(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance is the number of letters to add, drop or change between two words. It is counted in bytes: names are ASCII.
func distance(a, b string) int {
	if len(b) > maxWord {
		return len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
