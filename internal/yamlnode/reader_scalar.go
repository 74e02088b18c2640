package yamlnode

import (
	"strings"
	"unicode/utf8"
)

// plain reads a text without quotes in a block. Lines that are indented deeper than parent
// continue it.
func (r *Reader) plain(parent int) *Node {
	start := r.pos
	if !r.mayBeginPlain(start, false) {
		return nil
	}
	end, stop := r.plainLine(start, false)
	n := r.plainNode(r.src[start:end])
	if n == nil || r.at(stop) == ':' {
		return nil
	}
	if r.at(stop) == '#' {
		r.pos = end
		if !r.finishLine() {
			return nil
		}
		return n
	}
	r.breakLine(stop)
	empty, ok := r.nextLine()
	if ok && r.indent > parent && r.src[r.pos] != '#' {
		return r.continuePlain(n, parent, empty)
	}
	if !ok || r.indent >= 0 && r.src[r.pos] == '#' && !r.nextAfterComment() {
		return nil
	}
	return n
}

// continuePlain reads the further lines of n. pos is at the content of the first of them, after
// empty lines.
func (r *Reader) continuePlain(n *Node, parent, empty int) *Node {
	from := r.begin(n.Value)
	for {
		r.fold(empty)
		end, stop := r.plainLine(r.pos, false)
		if r.at(stop) == ':' {
			return nil
		}
		r.text.WriteString(r.src[r.pos:end])
		if r.at(stop) == '#' {
			r.pos = end
			if !r.finishLine() {
				return nil
			}
			break
		}
		r.breakLine(stop)
		var ok bool
		if empty, ok = r.nextLine(); !ok {
			return nil
		}
		if r.indent <= parent || r.src[r.pos] == '#' {
			if r.indent >= 0 && !r.nextAfterComment() {
				return nil
			}
			break
		}
	}
	n.Kind, n.Value = Scalar, r.text.String()[from:]
	return n
}

// nextAfterComment moves past the comment at pos, if there is one, to the next content.
func (r *Reader) nextAfterComment() bool {
	if r.src[r.pos] != '#' {
		return true
	}
	r.breakLine(r.endOfLine(r.pos))
	return r.nextContent()
}

// plainLine returns where the part of a plain text that begins at i ends on its line, without
// the blanks behind it, and what ends it: a line break, a comment, a colon or, inside brackets, a
// sign of the list.
func (r *Reader) plainLine(i int, flow bool) (end, stop int) {
	stops := uint8(isStop)
	if flow {
		stops |= isFlow
	}
	start := i
scan:
	for ; i < len(r.src); i++ {
		if class[r.src[i]]&stops == 0 {
			continue
		}
		switch r.src[i] {
		case ':':
			if r.blankAt(i+1) || flow && (r.src[i+1] == ',' || r.src[i+1] == ']' || r.src[i+1] == '}') {
				break scan
			}
		case '#':
			if i > start && class[r.src[i-1]]&isBlank != 0 {
				break scan
			}
		default:
			break scan
		}
	}
	for end = i; end > start && class[r.src[end-1]]&isBlank != 0; end-- {
	}
	return end, i
}

// mayBeginPlain reports whether a plain text may begin at i. Some texts that the library takes
// are not among these.
func (r *Reader) mayBeginPlain(i int, flow bool) bool {
	if class[r.src[i]]&noInitial == 0 {
		return true
	}
	return r.src[i] == '-' && !r.blankAt(i+1) && (!flow || class[r.src[i+1]]&isFlow == 0)
}

// plainNode returns the node of a plain text that begins at pos, nil for a merge key.
func (r *Reader) plainNode(text string) *Node {
	kind := Scalar
	switch text {
	case "<<":
		return nil
	case "~", "null", "Null", "NULL":
		kind = Null
	}
	n := r.nodeHere(kind)
	n.Value = text
	return n
}

// begin returns where the text that it begins with s starts in r.text.
func (r *Reader) begin(s string) int {
	if r.text.Cap() == 0 {
		r.text.Grow(len(s) + len(r.src) - r.pos)
	}
	from := r.text.Len()
	r.text.WriteString(s)
	return from
}

// fold writes what a line break followed by empty lines becomes.
func (r *Reader) fold(empty int) {
	if empty == 0 {
		r.text.WriteByte(' ')
	}
	r.breaks(empty)
}

func (r *Reader) breaks(n int) {
	for range n {
		r.text.WriteByte('\n')
	}
}

// closingQuote returns the offset of the quote that ends the text at start, -1 if there is none on
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

// quoted reads a text in quotes. pos is behind it afterwards.
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

// decode writes the text that begins at pos, and moves behind the quote that ends it.
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
		case class[c]&(isBlank|isBreak) != 0:
			if !r.gap() {
				return false
			}
		default:
			i := r.pos + 1
			for i < len(r.src) && class[r.src[i]]&(isBlank|isBreak) == 0 && r.src[i] != quote && r.src[i] != '\\' {
				i++
			}
			r.text.WriteString(r.src[r.pos:i])
			r.pos = i
		}
	}
	return false
}

// gap writes the blanks at pos, or what the line breaks among them become.
func (r *Reader) gap() bool {
	i := r.skipBlanks(r.pos)
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

// skipLines moves from the beginning of a line to the next character that is not blank, and
// returns the number of line breaks before it. It reports false at a document marker.
func (r *Reader) skipLines() (breaks int, ok bool) {
	for {
		if r.atMarker() {
			return 0, false
		}
		i := r.skipBlanks(r.pos)
		if i == len(r.src) || class[r.src[i]]&isBreak == 0 {
			r.pos = i
			return breaks, true
		}
		breaks++
		r.breakLine(i)
	}
}

// escape writes what the backslash at pos and the sign behind it stand for.
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

// The signs that may follow a backslash, and what each stands for.
const escapes = "0abt\tnvfre \"/\\N_LP"

var escaped = [...]rune{0, '\a', '\b', '\t', '\t', '\n', '\v', '\f', '\r', 0x1B, ' ', '"', '/', '\\', 0x85, 0xA0, 0x2028, 0x2029}

// codePoint writes the character whose number stands at pos in digits hexadecimal digits.
func (r *Reader) codePoint(digits int) bool {
	var c rune
	for range digits {
		v := strings.IndexByte("0123456789abcdef", r.at(r.pos)|0x20)
		if v < 0 || c > utf8.MaxRune {
			return false
		}
		c = c<<4 | rune(v)
		r.pos++
	}
	if !utf8.ValidRune(c) {
		return false
	}
	r.text.WriteRune(c)
	return true
}
