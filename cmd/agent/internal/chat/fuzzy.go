package chat

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The scores of fzf for paths: what a matched letter counts, what a gap costs, and what a letter counts besides by what stands before it.
const (
	scoreMatch       = 16
	scoreGap         = -3
	scoreGapMore     = -1
	bonusBoundary    = 8
	bonusDelimiter   = 9 // after a slash, or at the beginning
	bonusCamel       = 7
	bonusConsecutive = 4
	bonusFirst       = 2 // times the bonus of the first letter
)

// mostFound is how many names a search keeps.
const mostFound = 100

// fileName is a name with the form in which it is compared.
type fileName struct{ name, folded string }

// foldNames prepares names for a search.
func foldNames(names []string) []fileName {
	out := make([]fileName, len(names))
	for i, name := range names {
		out[i] = fileName{name, foldASCII(name)}
	}
	return out
}

func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// finder looks for names that have the letters of a text in their order.
type finder struct {
	query string
	ascii bool
	fold  bool // small letters also find capitals
	found []scored
	least int // the score that the best names have, once there are enough

	at   []int      // the first place of each letter
	rows [4][]int16 // scores of this letter and the one before, bonuses, lengths of runs
}

type scored struct {
	name  string
	score int
}

func newFinder(query string) *finder {
	return &finder{query: query, fold: query == strings.ToLower(query), least: math.MinInt, ascii: strings.IndexFunc(query, func(r rune) bool { return r >= utf8.RuneSelf }) < 0}
}

// mostQuery is how many letters of a name are looked for at most.
const mostQuery = 200

// findNames returns the best names for what was typed, the best first, and how many there are in all.
func findNames(names []fileName, query string) (best []string, count int) {
	f := newFinder(query)
	if len(query) > mostQuery {
		return nil, 0
	}
	for i := range names {
		score, ok := f.score(&names[i])
		if ok {
			count++
		}
		if !ok || score < f.least {
			continue
		}
		if f.found = append(f.found, scored{names[i].name, score}); len(f.found) >= 8*mostFound {
			f.cut()
		}
	}
	f.cut()
	for _, s := range f.found {
		best = append(best, s.name)
	}
	return best, count
}

// cut keeps the best of what was found.
func (f *finder) cut() {
	slices.SortFunc(f.found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.name), len(b.name)), strings.Compare(a.name, b.name))
	})
	if len(f.found) >= mostFound {
		f.found = f.found[:mostFound]
		f.least = f.found[mostFound-1].score
	}
}

// hopeless reports whether a name cannot be one of the best, whatever its score is.
func (f *finder) hopeless(name string) bool {
	most := len(f.query)*(scoreMatch+bonusDelimiter) + bonusDelimiter
	return most < f.least || most == f.least && len(name) > len(f.found[mostFound-1].name)
}

// score returns how well a name fits.
func (f *finder) score(n *fileName) (int, bool) {
	text := n.folded
	if !f.fold {
		text = n.name
	}
	switch {
	case f.query == "":
		return -strings.Count(n.name, "/"), true
	case n.name == f.query:
		return math.MaxInt16, true
	case !f.ascii && strings.ContainsFunc(f.query, func(r rune) bool {
		return !strings.ContainsRune(text, r) && !strings.ContainsRune(text, unicode.ToUpper(r))
	}):
		return 0, false
	case !f.ascii:
		lower := func(s string) []rune { return []rune(strings.Map(unicode.ToLower, s)) }
		query, name := []rune(f.query), []rune(n.name)
		if f.fold {
			return align(f, query, lower(n.name), name)
		}
		return align(f, query, name, name)
	case !f.has(text):
		return 0, false
	case f.hopeless(n.name):
		return f.least - 1, true
	}
	return align(f, []byte(f.query), []byte(text), []byte(n.name))
}

// has reports whether a text has the bytes of the query in their order.
func (f *finder) has(text string) bool {
	for i := range len(f.query) {
		at := strings.IndexByte(text, f.query[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}

// align returns the best score of all ways to find the letters of query in text, as fzf's algorithm "v2" does. name has the capitals of text.
func align[T byte | rune](f *finder, query, text, name []T) (int, bool) {
	f.at = f.at[:0]
	last := 0
	for i, c := range text { // the first place of each letter, and the last one of the last
		if n := len(f.at); n < len(query) && c == query[n] {
			f.at = append(f.at, i)
		}
		if len(f.at) == len(query) && c == query[len(query)-1] {
			last = i
		}
	}
	if len(f.at) < len(query) {
		return 0, false
	}
	for i := range f.rows {
		if len(f.rows[i]) < len(name) {
			f.rows[i] = make([]int16, 2*len(name))
		}
	}
	bonuses(name, f.at[0], last, f.rows[2])
	bonus, runs := f.rows[2][:last+1], f.rows[3][:last+1]
	best := int16(0)
	for n, q := range query {
		above, row := f.rows[(n+1)%2][:last+1], f.rows[n%2][:last+1]
		left, gap, over := int16(0), false, int16(0) // over: the run of letters that ended one letter before, in the row above
		if n > 0 {
			over = runs[f.at[n]-1]
		}
		best = 0
		for i := f.at[n]; i <= last; i++ {
			skip := left + scoreGap
			if gap {
				skip = left + scoreGapMore
			}
			take, run := int16(0), int16(0)
			if text[i] == q {
				take, run = matched(n, i, above, bonus, over, skip)
			}
			over, runs[i] = runs[i], run
			gap = take < skip
			left = max(take, skip, 0)
			row[i], best = left, max(best, left)
		}
	}
	return int(best), true
}

// matched returns the score of a letter that is found at i, and the length of the run of letters that it ends.
func matched(n, i int, above, bonus []int16, over, skip int16) (score, run int16) {
	if n == 0 {
		return scoreMatch + bonus[i]*bonusFirst, 1
	}
	b := bonus[i]
	if run = over + 1; run > 1 {
		if first := bonus[i-int(run)+1]; b >= bonusBoundary && b > first {
			run = 1
		} else {
			b = max(b, bonusConsecutive, first)
		}
	}
	if score = above[i-1] + scoreMatch; score+b < skip {
		return score + bonus[i], 0
	}
	return score + b, run
}

// bonuses writes what each letter from one to another counts besides.
func bonuses[T byte | rune](name []T, from, to int, into []int16) {
	before := delimiter
	if from > 0 {
		before = classOf(name[from-1])
	}
	for i := from; i <= to; i++ {
		now := classOf(name[i])
		into[i], before = int16(bonusOf[before][now]), now
	}
}

// class is what a letter is for a bonus.
type class byte

const (
	mark class = iota
	delimiter
	small
	capital
	digit
)

func classOf[T byte | rune](c T) class {
	switch r := rune(c); {
	case 'a' <= r && r <= 'z', r >= utf8.RuneSelf:
		return small
	case 'A' <= r && r <= 'Z':
		return capital
	case '0' <= r && r <= '9':
		return digit
	case r == '/':
		return delimiter
	}
	return mark
}

// bonusOf is what a letter counts besides, by the class of the one before it and its own.
var bonusOf = [5][5]int8{
	mark:      {bonusBoundary, bonusBoundary, bonusBoundary, bonusBoundary, bonusBoundary},
	delimiter: {bonusBoundary, bonusBoundary, bonusDelimiter, bonusDelimiter, bonusDelimiter},
	small:     {bonusBoundary, bonusBoundary, 0, bonusCamel, bonusCamel},
	capital:   {bonusBoundary, bonusBoundary, 0, 0, bonusCamel},
	digit:     {bonusBoundary, bonusBoundary, 0, 0, 0},
}
