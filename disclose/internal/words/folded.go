package words

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxQuery is how many bytes of a query are read.
const MaxQuery = 4 << 10

// Capped returns at most MaxQuery bytes of s, whole characters.
func Capped(s string) string {
	if len(s) <= MaxQuery {
		return s
	}
	n := MaxQuery
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Folded is a text as folded words with one space before, between and after them: " merge pdf ". Begins and Ends hold the
// offsets of each word in Text. A value can be reused.
type Folded struct {
	Text         []byte
	Begins, Ends []int32
}

// Fold fills w with the words of s. Letters and digits make words, in lower case and in Unicode's
// compatibility form; a character of a script without spaces is a word of its own.
func (w *Folded) Fold(s string) {
	w.Text, w.Begins, w.Ends = append(w.Text[:0], ' '), w.Begins[:0], w.Ends[:0]
	if ASCII(s) {
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
			w.Text = append(w.Text, c)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		inside = w.rune(r, inside)
	}
	w.leave(inside)
}

// foldASCII is Fold for ASCII.
func (w *Folded) foldASCII(s string) {
	text := slices.Grow(w.Text, len(s)+1)[:len(s)+2]
	n := 1
	for i := 0; i < len(s); i++ {
		c := folded[s[i]&0x7f]
		if c == ' ' {
			continue
		}
		w.Begins = append(w.Begins, int32(n))
		for ; c != ' '; c = folded[s[i]&0x7f] {
			text[n] = c
			n++
			if i++; i == len(s) {
				break
			}
		}
		w.Ends = append(w.Ends, int32(n))
		text[n] = ' '
		n++
	}
	w.Text = text[:n]
}

func (w *Folded) rune(r rune, inside bool) bool {
	if alone(r) {
		w.enter(w.leave(inside))
		w.Text = utf8.AppendRune(w.Text, r)
		return w.leave(true)
	}
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
		return w.leave(inside)
	}
	w.enter(inside)
	w.Text = utf8.AppendRune(w.Text, Lowest(r))
	return true
}

func (w *Folded) enter(inside bool) bool {
	if !inside {
		w.Begins = append(w.Begins, int32(len(w.Text)))
	}
	return true
}

func (w *Folded) leave(inside bool) bool {
	if inside {
		w.Ends = append(w.Ends, int32(len(w.Text)))
		w.Text = append(w.Text, ' ')
	}
	return false
}

// Len returns the number of words.
func (w *Folded) Len() int { return len(w.Ends) }

// Span returns the words i to j-1 with one space between them.
func (w *Folded) Span(i, j int) []byte { return w.Text[w.Begins[i]:w.Ends[j-1]] }

// ASCII reports whether a text has nothing but ASCII.
func ASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if Load8(s)&0x8080808080808080 != 0 {
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

// Lowest returns the common form of all characters that differ from r only by case.
func Lowest(r rune) rune {
	low := r
	for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
		low = min(low, x)
	}
	if low < utf8.RuneSelf {
		return rune(folded[low])
	}
	return low
}

// InWord reports whether an ASCII character is a letter or a digit.
func InWord(c byte) bool { return folded[c] != ' ' }

// folded maps ASCII letters and digits to lower case and everything else to a space.
const folded = "                                " +
	"                0123456789      " +
	" abcdefghijklmnopqrstuvwxyz     " +
	" abcdefghijklmnopqrstuvwxyz     "

// Load8 returns the first eight bytes of s as one number.
func Load8[T string | []byte](s T) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
