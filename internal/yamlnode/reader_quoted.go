package yamlnode

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// closingQuote returns the offset of the quote that ends the text at start, or -1 if it is not on
// the same line.
func (r *Reader) closingQuote(start int) int {
	quote := r.src[start]
	for i := start + 1; i < len(r.src); i++ {
		switch c := r.src[i]; {
		case c == '\n':
			return -1
		case c == '\\' && quote == '"' && r.at(i+1) != '\n':
			i++
		case c == quote && quote == '\'' && r.at(i+1) == '\'':
			i++
		case c == quote:
			return i
		}
	}
	return -1
}

// quoted reads a text in quotes and moves to its end. It returns nil for what is left to the library.
func (r *Reader) quoted() *Node {
	start, quote := r.pos, r.src[r.pos]
	n := r.nodeHere(Scalar)
	n.Quoted = true
	rest := r.src[start+1:]
	end := strings.IndexByte(rest, quote)
	if end < 0 {
		return nil
	}
	text := rest[:end]
	r.pos = start + 1 + end + 1
	simple := quote == '"' && strings.IndexByte(text, '\\') < 0 || quote == '\'' && r.at(r.pos) != '\''
	if simple && strings.IndexByte(text, '\n') < 0 {
		n.Value = text
		return n
	}
	r.pos = start + 1
	from := r.begin("")
	if !r.decode(quote) {
		return nil
	}
	n.Value = r.text.String()[from:]
	return n
}

// decode writes the text that begins at pos and moves past the quote that ends it.
func (r *Reader) decode(quote byte) bool {
	for r.pos < len(r.src) {
		c := r.src[r.pos]
		switch {
		case c == quote && quote == '\'' && r.at(r.pos+1) == '\'':
			r.text.WriteByte('\'')
			r.pos += 2
		case c == quote:
			r.pos++
			return true
		case c == '\\' && quote == '"':
			if !r.escape() {
				return false
			}
		case class[c]&(isWhite|isBreak) != 0:
			if !r.gap() {
				return false
			}
		default:
			i := r.pos + 1
			for i < len(r.src) && class[r.src[i]]&(isWhite|isBreak) == 0 && r.src[i] != quote && r.src[i] != '\\' {
				i++
			}
			r.text.WriteString(r.src[r.pos:i])
			r.pos = i
		}
	}
	return false
}

// gap writes the white space at pos; line breaks are folded.
func (r *Reader) gap() bool {
	i := r.skipWhite(r.pos)
	if class[r.at(i)]&isBreak == 0 {
		r.text.WriteString(r.src[r.pos:i])
		r.pos = i
		return true
	}
	r.breakLine(i)
	empty, ok := r.skipLines()
	r.fold(empty)
	return ok
}

// skipLines moves from the beginning of a line to the next content, which tabs may precede, and
// returns the number of line breaks before it. It reports false at a document marker.
func (r *Reader) skipLines() (breaks int, ok bool) {
	for {
		if r.atMarker() {
			return 0, false
		}
		i := r.skipWhite(r.pos)
		if i == len(r.src) || class[r.src[i]]&isBreak == 0 {
			r.pos = i
			return breaks, true
		}
		breaks++
		r.breakLine(i)
	}
}

// escape writes the character that the backslash at pos and what follows it stand for.
func (r *Reader) escape() bool {
	c := r.at(r.pos + 1)
	if class[c]&isBreak != 0 {
		r.breakLine(r.pos + 1)
		breaks, ok := r.skipLines()
		r.breaks(breaks)
		return ok
	}
	r.pos += 2
	switch c {
	case 'x':
		return r.codePoint(2)
	case 'u':
		return r.codePoint(4)
	case 'U':
		return r.codePoint(8)
	}
	i := strings.IndexByte(escapes, c)
	if i < 0 {
		return false
	}
	r.text.WriteRune(escaped[i])
	return true
}

// escapes are the characters that may follow a backslash, escaped is what they stand for.
const escapes = "0abt\tnvfre \"/\\N_LP"

var escaped = [...]rune{0, '\a', '\b', '\t', '\t', '\n', '\v', '\f', '\r', 0x1B, ' ', '"', '/', '\\', 0x85, 0xA0, 0x2028, 0x2029}

// codePoint writes the character whose number is at pos, in hexadecimal with the given number of
// digits.
func (r *Reader) codePoint(digits int) bool {
	c, ok := r.number(digits)
	if ok && utf16.IsSurrogate(c) && r.at(r.pos) == '\\' && r.at(r.pos+1) == 'u' { // as JSON writes what has more than four digits
		r.pos += 2
		var low rune
		low, ok = r.number(4)
		c = utf16.DecodeRune(c, low)
		ok = ok && c != utf8.RuneError
	}
	if !ok || !utf8.ValidRune(c) {
		return false
	}
	r.text.WriteRune(c)
	return true
}

// number reads a number in hexadecimal with the given number of digits.
func (r *Reader) number(digits int) (c rune, ok bool) {
	for range digits {
		v := strings.IndexByte("0123456789abcdef", r.at(r.pos)|0x20)
		if v < 0 || c > utf8.MaxRune {
			return 0, false
		}
		c = c<<4 | rune(v)
		r.pos++
	}
	return c, true
}
