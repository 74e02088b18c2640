package skill

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSuggest is how many names a suggestion has at most.
const maxSuggest = 3

// near returns the names that come near a mistyped one, nearest first: those that hold it or are
// held by it, then those within an edit distance of a third of its length (R94). One or two letters
// are in almost everything: they count at the beginning of a word alone.
func near(name string, names []string) []string {
	type hit struct {
		name string
		far  int
	}
	var hits []hit
	key := Canonical(name)
	if key == "" || len(key) > 4*MaxName {
		return nil
	}
	limit := utf8.RuneCountInString(key) / 3
	for _, n := range names {
		c := Canonical(n)
		switch {
		case c == "":
		case holds(c, key) || len(c) > 2 && strings.Contains(key, c):
			hits = append(hits, hit{n, 0})
		default:
			if d := distance(key, c, limit); d <= limit {
				hits = append(hits, hit{n, d})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.name, b.name)) })
	var out []string
	for _, h := range hits[:min(len(hits), maxSuggest)] {
		out = append(out, h.name)
	}
	return out
}

// holds reports whether part is in a canonical name, if it is shorter than three letters at the
// beginning of a word.
func holds(name, part string) bool {
	return strings.Contains(name, part) && (len(part) > 2 || strings.HasPrefix(name, part) || strings.Contains(name, "-"+part))
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that make a
// into b. It may return anything over the limit once it is certain to be over it.
func distance(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if max(len(s)-len(t), len(t)-len(s)) > limit {
		return limit + 1
	}
	before := make([]int, len(t)+1)
	row, next := make([]int, len(t)+1), make([]int, len(t)+1)
	for k := range row {
		row[k] = k
	}
	for i := range s {
		next[0] = i + 1
		for k := range t {
			cost := 1
			if s[i] == t[k] {
				cost = 0
			}
			next[k+1] = min(row[k]+cost, row[k+1]+1, next[k]+1)
			if i > 0 && k > 0 && s[i] == t[k-1] && s[i-1] == t[k] {
				next[k+1] = min(next[k+1], before[k-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(t)]
}
