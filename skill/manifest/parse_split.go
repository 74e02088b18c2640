package manifest

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/filename"
)

// maxPreamble is the number of lines that are skipped in search of the front matter.
const maxPreamble = 30

const bom = "\ufeff"

// splitLines finds the front matter of every file. It returns false if there is none that ends within its limit.
func (p *parser) splitLines(src []byte) bool {
	start := 0
	if bytes.HasPrefix(src, []byte(bom)) {
		start = len(bom)
		p.problem("frontmatter-bom", place{line: 1}, "the file begins with a byte order mark")
	}
	offset, line := p.opener(src, start)
	if offset < 0 {
		p.Add(Problem{Code: "frontmatter-missing", Line: 1, Message: "SKILL.md must start with YAML front matter", Cure: missingCure(src[start:])})
		return false
	}
	t := &p.text
	t.first, t.end = line+1, 0
	closer, next, after := closing(src, offset, line)
	if open := next < 0 || closer-offset > MaxFrontMatter; open {
		p.addLines(src, offset, min(len(src), offset+MaxFrontMatter))
		x := extentOf(t.lines, true)
		if p.Profile.Strict() || !x.described || x.how == endsAlone {
			p.forget(t.first)
			p.unclosed(src, offset, line, next)
			return false
		}
		p.cut(src, &x)
	} else {
		p.addLines(src, offset, closer)
		t.end, t.after = next, after
	}
	p.checkLineEnds(src[:min(t.end+2, len(src))])
	t.count, t.source = len(t.lines), []byte(t.join(0, len(t.lines)))
	return true
}

// addLines adds the lines of the front matter that begin before an offset.
func (p *parser) addLines(src []byte, opener, before int) {
	t := &p.text
	for _, at := lineEnd(src, opener); at < before; {
		end, following := lineEnd(src, at)
		t.lines = append(t.lines, p.cleanLine(src[at:end], at, t.first+len(t.lines)))
		if at = following; following == end {
			break
		}
	}
}

// unclosed reports front matter of which no end was found within its limit. next is the offset of the end of its closing line, or negative.
func (p *parser) unclosed(src []byte, offset, line, next int) {
	switch {
	case next >= 0:
		p.problem("frontmatter-size", place{line: line}, "the front matter has more than %d bytes", MaxFrontMatter)
	case len(src)-offset > MaxFrontMatter:
		p.problem("frontmatter-size", place{line: line}, "no closing --- in the first %d bytes of the front matter", MaxFrontMatter)
	default:
		p.problem("frontmatter-unclosed", place{line: line}, "the front matter is not closed: no line --- follows")
	}
}

// opener returns the offset and number of the opening line, or -1. It reports any text before it.
func (p *parser) opener(src []byte, start int) (offset, line int) {
	first := true
	for line = 1; start < len(src) && line <= maxPreamble+1; line++ {
		end, next := lineEnd(src, start)
		text := strings.TrimRight(string(src[start:end]), " \t")
		blank := strings.TrimSpace(text) == ""
		switch {
		case text == "---" && (line == 1 || first):
			if line > 1 {
				p.problem("frontmatter-leading", place{line: 1}, "empty lines stand before the opening ---")
			}
			return start, line
		case first && strings.TrimLeft(text, " \t") == "---":
			p.problem("frontmatter-leading", place{line: line}, "spaces stand before the opening ---")
			return start, line
		case text == "---" && looksLikeManifest(src, start, line):
			p.problem("frontmatter-preamble", place{line: line}, "the front matter begins on line %d only", line)
			return start, line
		}
		first = first && blank
		if next == end {
			break
		}
		start = next
	}
	return -1, 0
}

// looksLikeManifest distinguishes front matter from a horizontal rule in the text: front matter is closed, and one of
// its lines begins with name: or description:.
func looksLikeManifest(src []byte, start, line int) bool {
	closer, next, _ := closing(src, start, line)
	if next < 0 || closer-start > MaxFrontMatter {
		return false
	}
	for l := range strings.Lines(string(src[start:closer])) {
		if l = strings.ToLower(l); strings.HasPrefix(l, "name:") || strings.HasPrefix(l, "description:") {
			return true
		}
	}
	return false
}

// closing returns the offsets at which the closing line begins and ends and the number of the line after it, for an
// opening line at start. It searches no further than the limit of the front matter requires.
func closing(src []byte, start, line int) (begin, end, after int) {
	src = src[:min(len(src), start+MaxFrontMatter+4096)]
	end, at := lineEnd(src, start)
	for at > end {
		line++
		var next int
		end, next = lineEnd(src, at)
		if bytes.Equal(bytes.TrimRight(src[at:end], " \t"), []byte("---")) {
			return at, end, line + 1
		}
		if at == next {
			break
		}
		at = next
	}
	return 0, -1, 0
}

// missingCure returns the cure for missing front matter, by what the file has instead, or "".
func missingCure(src []byte) string {
	end, _ := lineEnd(src, 0)
	switch first := strings.TrimSpace(string(src[:end])); {
	case first == "+++":
		return "TOML is not read: write YAML between two lines ---"
	case strings.HasPrefix(first, "{"):
		return "JSON is not read: write YAML between two lines ---"
	case strings.HasPrefix(first, "---"):
		return "let the first line be --- and nothing else"
	}
	return ""
}

// checkLineEnds reports line breaks that profiles may not allow.
func (p *parser) checkLineEnds(front []byte) {
	if i := bytes.Index(front, []byte("\r\n")); i >= 0 {
		line, col := offsetPlace(front, i)
		p.problem("file-crlf", place{line: line, col: col}, "lines end with CR LF")
	}
}

// cleanLine removes control characters and replaces line separators and leading no-break spaces with spaces.
func (p *parser) cleanLine(src []byte, start, line int) textLine {
	out := textLine{text: string(src), width: utf8.RuneCount(src), start: start}
	if plain, _ := plainText(src); plain {
		return out
	}
	var b strings.Builder
	col, indent := 0, true
	for _, r := range out.text {
		col++
		switch {
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte(' ')
			p.problem("frontmatter-control", place{line: line, col: col}, "the line separator %U is read as a space", r)
		case controlRune(r):
			out.removed = append(out.removed, col)
			p.stripped = append(p.stripped, line)
			p.problem("frontmatter-control", place{line: line, col: col}, "the control character %U is left out", r)
		case indent && r == '\u00a0':
			b.WriteByte(' ')
			p.problem("yaml-indent", place{line: line, col: col}, "the line is indented with a no-break space")
		default:
			indent = indent && r == ' '
			b.WriteRune(r)
		}
	}
	out.text, out.width = b.String(), utf8.RuneCountInString(b.String())
	return out
}

// plainText reports whether src is UTF-8 without a character that cleanLine changes, and whether all of it is ASCII. src may
// have line breaks.
func plainText(src []byte) (plain, ascii bool) {
	ascii = true
	for i := 0; i < len(src); {
		if len(src)-i >= 8 && printable8(binary.LittleEndian.Uint64(src[i:])) {
			i += 8
			continue
		}
		c := src[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				return false, false
			}
			i++
			continue
		}
		ascii = false
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 || controlRune(r) || r == '\u2028' || r == '\u2029' || r == '\u00a0' {
			return false, false
		}
		i += n
	}
	return true, ascii
}

// printable8 reports whether all eight bytes are printable ASCII: at least a space, not 0x7f, and without the highest
// bit. It may return false for some printable bytes.
func printable8(x uint64) bool {
	const ones = 0x0101010101010101
	return (x|(x-ones*' ')|(x+ones))&(ones*0x80) == 0
}

// controlRune reports whether r is never part of a value: control characters except tab and line break, the byte order
// mark, noncharacters, and characters that no reader sees and a model reads.
func controlRune(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 || r&0xfffe == 0xfffe || r > 0xff && filename.Invisible(r)
}

// HeadEnd returns the length of the front matter including both lines "---", or 0 if the second line is not certain to
// be there. It does not check that the text before it is front matter; Parse does.
func HeadEnd(b []byte) int {
	first := bytes.Index(b, []byte("---"))
	if first < 0 {
		return 0
	}
	for at := first + 3; ; {
		i := bytes.Index(b[at:], []byte("---"))
		if i < 0 {
			return 0
		}
		start, end := at+i, at+i+3
		for end < len(b) && (b[end] == ' ' || b[end] == '\t') {
			end++
		}
		if c := b[start-1]; (c == '\n' || c == '\r') && end < len(b) && (b[end] == '\n' || b[end] == '\r') {
			if bytes.HasPrefix(b[end:], []byte("\r\n")) {
				return end + 2
			}
			return end + 1
		}
		at += i + 1
	}
}
