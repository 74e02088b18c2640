// Package near finds the names that a mistyped word may stand for: those of commands, settings, profiles, scripts and
// skills. It knows only the names that it is given. Every function is safe for concurrent use.
package near

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWord is the longest word in bytes that Name compares. A word from a file can be as long as the file.
const maxWord = 64

// Name returns the name that is nearest to word, or "" if none is near. If several are equally near it returns the first of
// them. A name is near if its edit distance is at most a third of the length of word, plus one; of a
// word of three letters at most one edit. Case, "-" and "_" are ignored.
func Name(word string, names []string) string {
	best, least := "", min(len(word)/3, max(len(word)/2-1, 0))+2
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
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "_", ""), "-", "")
}

// MaxNames is how many names Names returns at most.
const MaxNames = 3

// maxName is the longest name in bytes that Names compares.
const maxName = 256

// Names returns at most MaxNames names that are near a mistyped one, nearest first: first those that contain it or are
// contained in it, then those within an edit distance of a third of its length. Case is ignored, and "_" equals "-". A part
// of one or two letters counts only at the beginning of a word.
func Names(name string, names []string) []string {
	type hit struct {
		name string
		far  int
	}
	var hits []hit
	key := foldName(name)
	if key == "" || len(key) > maxName {
		return nil
	}
	limit := utf8.RuneCountInString(key) / 3
	for _, n := range names {
		c := foldName(n)
		switch {
		case c == "":
		case holds(c, key) || len(c) > 2 && strings.Contains(key, c):
			hits = append(hits, hit{n, 0})
		default:
			if d := edits(key, c, limit); d <= limit {
				hits = append(hits, hit{n, d})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.name, b.name)) })
	var out []string
	for _, h := range hits[:min(len(hits), MaxNames)] {
		out = append(out, h.name)
	}
	return out
}

func foldName(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
}

// holds reports whether a canonical name contains part. A part of one or two letters must be at the beginning of a word.
func holds(name, part string) bool {
	return strings.Contains(name, part) && (len(part) > 2 || strings.HasPrefix(name, part) || strings.Contains(name, "-"+part))
}

// One returns the first name that differs from word by one edit: a letter more or less, another letter, or two neighbours that changed
// places. It returns "" if word is one of the names. Nothing is folded.
func One(word string, names []string) string {
	found := ""
	for _, name := range names {
		if name == word {
			return ""
		}
		if found == "" && len(word) <= maxWord && edits(word, name, 1) == 1 {
			found = name
		}
	}
	return found
}

// edits returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b. If that is
// more than limit, it may return any number above limit.
func edits(a, b string, limit int) int {
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
