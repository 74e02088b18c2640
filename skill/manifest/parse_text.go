package manifest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// frontText is the front matter without control characters, each line ending with LF.
type frontText struct {
	source []byte
	ascii  bool       // source is printable ASCII, tabs and line breaks; it may be so if this is false
	count  int        // number of lines
	lines  []textLine // see split
	first  int        // line of the file on which source begins
	how    ending     // how it ends
	end    int        // offset of the closing line's end in the file, or of the body's first line if none closes it
	after  int        // line of the file that follows
}

type textLine struct {
	text    string
	width   int   // code points of text
	start   int   // offset in the file
	added   int   // spaces at its beginning that are not in the file
	removed []int // columns of the file that are not in text, ascending
}

const opening = "---\n"

// plain reads the front matter of nearly all files: nothing precedes it, lines end with LF, and no character has to be
// removed. It leaves the lines to split.
func (t *frontText) plain(src []byte) bool {
	if !bytes.HasPrefix(src, []byte(opening)) {
		return false
	}
	closer := len(opening) - 1 // offset of a possible line break before the closing line
	for {
		i := bytes.Index(src[closer:min(len(src), MaxFrontMatter)], []byte("\n---"))
		if i < 0 {
			return false
		}
		closer += i + 1
		t.end = closer + len("---")
		for t.end < len(src) && (src[t.end] == ' ' || src[t.end] == '\t') {
			t.end++
		}
		if t.end == len(src) || src[t.end] == '\r' {
			return false
		}
		if src[t.end] == '\n' {
			break
		}
	}
	t.source = src[len(opening):closer]
	var plain bool
	if plain, t.ascii = plainText(t.source); !plain {
		return false
	}
	t.count = bytes.Count(t.source, []byte{'\n'})
	t.first, t.after = 2, t.count+3
	return true
}

// split cuts the source into lines, unless that has been done. Only repairs use the lines.
func (t *frontText) split() {
	if len(t.lines) > 0 {
		return
	}
	start := len(opening)
	for line := range bytes.Lines(t.source) {
		text := string(bytes.TrimSuffix(line, []byte{'\n'}))
		t.lines = append(t.lines, textLine{text: text, width: utf8.RuneCountInString(text), start: start})
		start += len(line)
	}
}

// closer returns the offset of the line that closes the front matter, or that of the body's first line if none does.
func (t *frontText) closer(src []byte) int {
	at := t.end
	for at > 0 && src[at-1] != '\n' && src[at-1] != '\r' {
		at--
	}
	return at
}

// place returns the line and column in the file for a line and column of source.
func (t *frontText) place(line, col int) (int, int) {
	switch {
	case line < 1:
		return t.first, 1
	case line > t.count:
		return t.after - 1, 1
	case len(t.lines) == 0: // nothing was removed
		return t.first + line - 1, max(col, 1)
	}
	l := &t.lines[line-1]
	col = min(max(col, 1+l.added), l.width+1) - l.added
	for _, at := range l.removed {
		if at <= col {
			col++
		}
	}
	return t.first + line - 1, col
}

// join returns the lines from index from up to, not including, index to as one text.
func (t *frontText) join(from, to int) string {
	var b strings.Builder
	for _, l := range t.lines[from:to] {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// body returns the text after the closing line, with LF as its line break and without surrounding blank lines, and the
// line on which it begins; 0 for none.
func (t *frontText) body(src []byte) ([]byte, int) {
	rest := src[t.end:]
	if bytes.IndexByte(rest, '\r') >= 0 {
		rest = bytes.ReplaceAll(rest, []byte("\r\n"), []byte("\n"))
		rest = bytes.ReplaceAll(rest, []byte("\r"), []byte("\n"))
	}
	line := t.after
	rest = bytes.TrimPrefix(rest, []byte("\n")) // the line break of the closing line
	for {
		first, more, ok := bytes.Cut(rest, []byte("\n"))
		if !ok || len(bytes.TrimSpace(first)) > 0 {
			break
		}
		rest, line = more, line+1
	}
	rest = bytes.TrimRight(rest, " \t\n\v\f")
	if len(bytes.TrimSpace(rest)) == 0 {
		return nil, 0
	}
	return rest, line
}

// unreadable returns the problem if src cannot be the text of a manifest at all, or nil.
func unreadable(src []byte) *Problem {
	switch {
	case len(src) > MaxManifest:
		return &Problem{Code: "file-size", Line: 1, Message: fmt.Sprintf("the file has more than %d bytes", MaxManifest)}
	case utf16Text(src):
		return &Problem{Code: "file-utf16", Line: 1, Message: "the file is UTF-16, not UTF-8"}
	case bytes.IndexByte(src, 0) >= 0:
		line, col := offsetPlace(src, bytes.IndexByte(src, 0))
		return &Problem{Code: "file-nul", Line: line, Col: col, Message: "the file holds a NUL character"}
	case !utf8.Valid(src):
		line, col := offsetPlace(src, invalidAt(src))
		return &Problem{Code: "file-utf8", Line: line, Col: col, Message: fmt.Sprintf("byte 0x%02x is not UTF-8 here", src[invalidAt(src)])}
	}
	return nil
}

func utf16Text(src []byte) bool {
	return len(src) > 3 && (src[0] == 0xff && src[1] == 0xfe || src[0] == 0xfe && src[1] == 0xff ||
		src[0] == '-' && src[1] == 0 && src[3] == 0 || src[0] == 0 && src[1] == '-' && src[2] == 0)
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// offsetPlace returns the line and column of a byte offset.
func offsetPlace(src []byte, at int) (line, col int) {
	line, start := 1, 0
	for start < at {
		end, next := lineEnd(src, start)
		if next > at || next == end {
			break
		}
		line, start = line+1, next
	}
	return line, utf8.RuneCount(src[start:at]) + 1
}

// lineEnd returns the end of the line that begins at start, and the start of the next line. The two are equal if no
// line break follows.
func lineEnd(src []byte, start int) (end, next int) {
	for end = start; end < len(src); end++ {
		switch {
		case src[end] == '\n':
			return end, end + 1
		case src[end] == '\r' && end+1 < len(src) && src[end+1] == '\n':
			return end, end + 2
		case src[end] == '\r':
			return end, end + 1
		}
	}
	return end, end
}
