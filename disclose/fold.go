package disclose

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxQuery is how many bytes of a query are read.
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

// words is a text as folded words with one space before, between and after them: " merge pdf ". begins and ends hold the
// offsets of each word in text. A value can be reused.
type words struct {
	text         []byte
	begins, ends []int32
}

// fold fills w with the words of s. Letters and digits make words, in lower case and in Unicode's
// compatibility form; a character of a script without spaces is a word of its own.
func (w *words) fold(s string) {
	w.text, w.begins, w.ends = append(w.text[:0], ' '), w.begins[:0], w.ends[:0]
	if ascii(s) {
		w.foldASCII(s)
		return
	}
	s = norm.NFKC.String(s)
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

// foldASCII is fold for ASCII.
func (w *words) foldASCII(s string) {
	text := slices.Grow(w.text, len(s)+1)[:len(s)+2]
	n := 1
	for i := 0; i < len(s); i++ {
		c := folded[s[i]&0x7f]
		if c == ' ' {
			continue
		}
		w.begins = append(w.begins, int32(n))
		for ; c != ' '; c = folded[s[i]&0x7f] {
			text[n] = c
			n++
			if i++; i == len(s) {
				break
			}
		}
		w.ends = append(w.ends, int32(n))
		text[n] = ' '
		n++
	}
	w.text = text[:n]
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

// len returns the number of words.
func (w *words) len() int { return len(w.ends) }

// span returns the words i to j-1 with one space between them.
func (w *words) span(i, j int) []byte { return w.text[w.begins[i]:w.ends[j-1]] }

func ascii(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if load8(s)&0x8080808080808080 != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// alone reports whether r belongs to a script without spaces between words. Unicode gives the sign of a long vowel, as in
// "サーバー", to no script.
func alone(r rune) bool {
	return r >= 0x0e00 && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// lowest returns the common form of all characters that differ from r only by case.
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

// folded maps ASCII letters and digits to lower case and everything else to a space.
const folded = "                                " +
	"                0123456789      " +
	" abcdefghijklmnopqrstuvwxyz     " +
	" abcdefghijklmnopqrstuvwxyz     "
