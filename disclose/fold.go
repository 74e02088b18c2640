package disclose

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxQuery is the most bytes of a query that are looked at.
const maxQuery = 4 << 10

// capped returns at most maxQuery bytes of s, whole characters.
func capped(s string) string {
	if len(s) <= maxQuery {
		return s
	}
	n := maxQuery
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// words is a text as folded words with one blank before, between and after them: " merge pdf ".
// ends and begins hold the offsets of each word in text.
type words struct {
	text          []byte
	begins, ends  []int32
	beginsA, endA [64]int32
	textA         [512]byte
}

// fold fills w with the words of s. Letters and digits make words, in lower case and in Unicode's
// compatibility form; a character of a script without blanks is a word of its own.
func (w *words) fold(s string) {
	w.text, w.begins, w.ends = append(w.textA[:0], ' '), w.beginsA[:0], w.endA[:0]
	if !ascii(s) {
		s = norm.NFKC.String(s)
	}
	inside := false
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			if c = folded[c]; c == ' ' {
				inside = w.leave(inside)
				continue
			}
			inside = w.enter(inside)
			w.text = append(w.text, c)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		inside = w.rune(r, inside)
	}
	w.leave(inside)
}

func (w *words) rune(r rune, inside bool) bool {
	if alone(r) {
		w.enter(w.leave(inside))
		w.text = utf8.AppendRune(w.text, r)
		return w.leave(true)
	}
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
		return w.leave(inside)
	}
	w.enter(inside)
	w.text = utf8.AppendRune(w.text, lowest(r))
	return true
}

func (w *words) enter(inside bool) bool {
	if !inside {
		w.begins = append(w.begins, int32(len(w.text)))
	}
	return true
}

func (w *words) leave(inside bool) bool {
	if inside {
		w.ends = append(w.ends, int32(len(w.text)))
		w.text = append(w.text, ' ')
	}
	return false
}

// len returns how many words there are.
func (w *words) len() int { return len(w.ends) }

// span returns the words i to j-1 with one blank between them.
func (w *words) span(i, j int) []byte { return w.text[w.begins[i]:w.ends[j-1]] }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// alone reports whether r is written without blanks around its words.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// lowest returns the one form of all that differ from r by case alone.
func lowest(r rune) rune {
	low := r
	for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
		low = min(low, x)
	}
	if low < utf8.RuneSelf {
		return rune(folded[low])
	}
	return low
}

// folded gives the lower case of ASCII letters and digits and a blank for all else.
const folded = "                                " +
	"                0123456789      " +
	" abcdefghijklmnopqrstuvwxyz     " +
	" abcdefghijklmnopqrstuvwxyz     "
