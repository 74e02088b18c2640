package yamlnode

import (
	"strings"
	"unicode/utf8"
)

// The properties of a byte.
const (
	isBad     = 1 << iota // a control character, which is left to the library
	isReturn              // CR
	isBreak               // LF or CR
	isWhite               // space or tab
	isStop                // may end a plain text
	isFlow                // ends a plain text in brackets
	noInitial             // does not begin a plain text, or not in all places
)

// class holds the properties of each byte. Bytes outside ASCII have none.
var class = [256]uint8{
	0x00: isBad, 0x01: isBad, 0x02: isBad, 0x03: isBad, 0x04: isBad, 0x05: isBad, 0x06: isBad, 0x07: isBad, 0x08: isBad,
	'\t': isWhite | noInitial, '\n': isBreak | isStop | noInitial, 0x0B: isBad, 0x0C: isBad,
	'\r': isReturn | isBreak | isStop | noInitial, 0x0E: isBad, 0x0F: isBad,
	0x10: isBad, 0x11: isBad, 0x12: isBad, 0x13: isBad, 0x14: isBad, 0x15: isBad, 0x16: isBad, 0x17: isBad,
	0x18: isBad, 0x19: isBad, 0x1A: isBad, 0x1B: isBad, 0x1C: isBad, 0x1D: isBad, 0x1E: isBad, 0x1F: isBad, 0x7F: isBad,
	' ': isWhite | noInitial, ':': isStop | noInitial, '#': isStop | noInitial,
	',': isFlow | noInitial, '[': isFlow | noInitial, ']': isFlow | noInitial, '{': isFlow | noInitial, '}': isFlow | noInitial,
	'-': noInitial, '?': noInitial, '&': noInitial, '*': noInitial, '!': noInitial, '|': noInitial, '>': noInitial,
	'\'': noInitial, '"': noInitial, '%': noInitial, '@': noInitial, '`': noInitial,
}

// checkSource reports whether src is valid UTF-8 of printable characters whose lines end with LF
// or CR LF. The rest of the scanner relies on that: an LF follows every CR.
func (r *Reader) checkSource() bool {
	var found, bits uint8
	for i := 0; i < len(r.src); i++ {
		if rest := r.src[i:]; len(rest) >= 8 && printable8(rest) {
			i += 7
			continue
		}
		c := r.src[i]
		found |= class[c]
		bits |= c
	}
	r.ascii = bits < utf8.RuneSelf
	if found&isBad != 0 || found&isReturn != 0 && strings.Count(r.src, "\r") != strings.Count(r.src, "\r\n") {
		return false
	}
	return r.ascii || printable(r.src)
}

// printable8 reports whether the first eight bytes of s are printable ASCII: none has the highest bit, none is below a
// space, none is 0x7f. It may miss some that are.
func printable8(s string) bool {
	const ones = 0x0101010101010101
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (x|(x-ones*' ')|(x+ones))&(ones*0x80) == 0
}

// printable reports whether s is valid UTF-8 and has outside ASCII no control characters, no line
// breaks, no byte order marks and no non-characters.
func printable(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && size == 1, c < 0xA0, c == 0x2028, c == 0x2029, c == 0xFEFF, c == 0xFFFE, c == 0xFFFF:
			return false
		}
		i += size
	}
	return true
}

// at returns the byte at offset i, or LF at the end of the source.
func (r *Reader) at(i int) byte {
	if i < len(r.src) {
		return r.src[i]
	}
	return '\n'
}

// spaceAt reports whether there is a space, a tab, a line break or the end of the source at offset i.
func (r *Reader) spaceAt(i int) bool {
	return class[r.at(i)]&(isWhite|isBreak) != 0
}

// skipWhite returns the offset of the first byte at or after i that is not a space or a tab.
func (r *Reader) skipWhite(i int) int {
	for i < len(r.src) && class[r.src[i]]&isWhite != 0 {
		i++
	}
	return i
}

// column returns the column of offset i, which lies on the current line, in code points from 1.
func (r *Reader) column(i int) int {
	if r.ascii {
		return i - r.lineStart + 1
	}
	if r.countedAt < r.lineStart || i < r.countedAt {
		r.counted, r.countedAt = 1, r.lineStart
	}
	r.counted += utf8.RuneCountInString(r.src[r.countedAt:i])
	r.countedAt = i
	return r.counted
}

// breakLine moves past the line break at offset i. At the end of the source it stays there.
func (r *Reader) breakLine(i int) {
	switch {
	case i >= len(r.src):
		r.pos = len(r.src)
		return
	case r.src[i] == '\r':
		i++
	}
	r.pos, r.line, r.lineStart = i+1, r.line+1, i+1
}

// endOfLine returns the offset of the line break at or after i, or of the end of the source.
func (r *Reader) endOfLine(i int) int {
	end := strings.IndexByte(r.src[i:], '\n')
	if end < 0 {
		return len(r.src)
	}
	end += i
	if end > i && r.src[end-1] == '\r' {
		end--
	}
	return end
}

// finishLine moves from the end of a value to the next content. It reports false if more than white
// space and a comment follows the value on its line.
func (r *Reader) finishLine() bool {
	i := r.skipWhite(r.pos)
	if c := r.at(i); c == '#' && i > r.pos {
		i = r.endOfLine(i)
	} else if class[c]&isBreak == 0 {
		return false
	}
	r.breakLine(i)
	return r.nextContent()
}

// nextContent moves from the beginning of a line to the next content and sets r.indent. It reports
// false for what is left to the library: a tab before the content and a document marker.
func (r *Reader) nextContent() bool {
	for {
		if _, ok := r.nextLine(); !ok {
			return false
		}
		if r.indent < 0 || r.src[r.pos] != '#' {
			return true
		}
		r.breakLine(r.endOfLine(r.pos))
	}
}

// nextLine is like nextContent but stops at comments too. It returns the number of empty lines.
func (r *Reader) nextLine() (empty int, ok bool) {
	for {
		i := r.pos
		for i < len(r.src) && r.src[i] == ' ' {
			i++
		}
		if i == len(r.src) {
			r.pos, r.indent = i, -1
			return empty, true
		}
		if class[r.src[i]]&isBreak != 0 {
			empty++
			r.breakLine(i)
			continue
		}
		r.indent, r.pos = i-r.pos, i
		return empty, r.src[i] != '\t' && !r.atMarker()
	}
}

// atMarker reports whether pos is at a line that begins like a document marker.
func (r *Reader) atMarker() bool {
	if r.pos != r.lineStart {
		return false
	}
	rest := r.src[r.pos:]
	return strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")
}
