package disclose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/disclose/internal/words"
)

// escaping says which characters of foreign text become entities.
type escaping uint8

const (
	escapeAll  escaping = iota // & < > " ' as in markup
	escapeTags                 // & < > only, so nothing reads as a tag
	escapeNone                 // none, for JSON and exact paths
)

// appendLine appends s on one line: each run of white space and control characters becomes one space, none at either end,
// and entities replace characters as esc says.
func appendLine(b []byte, s string, esc escaping) []byte {
	start := len(b)
	gap := false // a space is due before the next character
	for i := 0; i < len(s); {
		if j := plainEnd(s, i); j > i {
			b, gap = appendPlain(b, s[i:j], gap, start)
			i = j
			continue
		}
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			gap = true
		} else {
			b = appendRune(appendGap(b, gap, start), s[i:i+n], r, esc)
			gap = false
		}
		i += n
	}
	return b
}

// plainEnd returns the end of the run of plain characters and single spaces that begins at i.
func plainEnd(s string, i int) int {
	from := i
	for i+8 <= len(s) && plain8(words.Load8(s[i:i+8])) {
		i += 7 // the last byte is compared with the one after it
	}
	for i < len(s) && plain[s[i]] == 'p' && !(s[i] == ' ' && i > from && s[i-1] == ' ') {
		i++
	}
	return i
}

// plain8 reports whether eight bytes are plain with no two spaces in a row. It tests them all at once: adding 127 to a
// number below 128 sets the highest bit of its byte, unless the number is 0.
func plain8(x uint64) bool {
	const ones, high, rest = 0x0101010101010101, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f
	if (x|(x-ones*' ')|(x+ones))&high != 0 { // beyond ASCII, below a space, or DEL
		return false
	}
	quote := x ^ ones*'"'
	ampersand := (x | ones) ^ ones*'\'' // or an apostrophe, which is next to it
	bracket := (x | ones*2) ^ ones*'>'  // of either kind
	if (quote+rest)&(ampersand+rest)&(bracket+rest)&high != high {
		return false
	}
	spaces := ^((x ^ ones*' ') + rest) & high
	return spaces&(spaces<<8) == 0
}

// appendPlain appends a run that plainEnd found, and reports whether a space is due after it.
func appendPlain(b []byte, s string, gap bool, start int) ([]byte, bool) {
	if s[0] == ' ' {
		gap = true
		s = s[1:]
	}
	if s == "" {
		return b, true
	}
	b = appendGap(b, gap, start)
	if end := len(s) - 1; s[end] == ' ' {
		return append(b, s[:end]...), true
	}
	return append(b, s...), false
}

func appendGap(b []byte, gap bool, start int) []byte {
	if gap && len(b) > start {
		b = append(b, ' ')
	}
	return b
}

// appendRune appends the rune r, which is written as raw.
func appendRune(b []byte, raw string, r rune, esc escaping) []byte {
	if r == utf8.RuneError && len(raw) == 1 {
		return utf8.AppendRune(b, r)
	}
	if e := entity(r, esc); e != "" {
		return append(b, e...)
	}
	return append(b, raw...)
}

func entity(r rune, esc escaping) string {
	if esc == escapeNone {
		return ""
	}
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	if esc == escapeAll {
		switch r {
		case '"':
			return "&quot;"
		case '\'':
			return "&#x27;"
		}
	}
	return ""
}

// plain marks with 'p' the bytes that appendLine copies unchanged.
const plain = "................................" + // controls
	"pp.ppp..pppppppp" + "pppppppppppp.p.p" + // space to '?'
	"pppppppppppppppppppppppppppppppp" + "ppppppppppppppppppppppppppppppp." + // '@' to DEL
	"................................................................" +
	"................................................................"

// escapeRef appends s with the entities of Python's html.escape(quote=True) and no other change, as the reference
// library does.
func escapeRef(b []byte, s string) []byte { return escapeOnly(b, s, `&<>"'`) }

// escapeOnly appends s with each of the characters in special as an entity.
func escapeOnly(b []byte, s, special string) []byte {
	for {
		i := strings.IndexAny(s, special)
		if i < 0 {
			return append(b, s...)
		}
		b = append(b, s[:i]...)
		b = append(b, entity(rune(s[i]), escapeAll)...)
		s = s[i+1:]
	}
}
