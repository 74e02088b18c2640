package yamlnode

import "strings"

// textHeader is the first line of a block text: "|" or ">" and what follows.
type textHeader struct {
	folded bool
	chomp  byte // '+' keeps the line breaks at the end, '-' drops them, 0 keeps one
	indent int  // the indentation relative to the parent; 0 means that of the first line
}

// textState describes the lines of a block text read so far. A single line is not copied.
type textState struct {
	textHeader
	lines      int  // lines with content
	copied     bool // the text is in Reader.text, from offset from
	from       int
	start, end int  // the last line
	broken     bool // a line break follows the last line
	empty      int  // empty lines after the last line
	indented   bool // the last line begins with a space or a tab
}

// blockText reads a literal or folded text. Its lines are indented more than parent.
func (r *Reader) blockText(parent int) *Node {
	n := r.nodeHere(Scalar)
	n.Quoted = true
	h, ok := r.textHeader()
	if !ok {
		return nil
	}
	state := textState{textHeader: h}
	indent := parent + h.indent
	if h.indent == 0 {
		if indent, ok = r.textIndent(&state, parent); !ok {
			return nil
		}
	}
	if !r.textLines(&state, indent) || !r.nextContent() {
		return nil
	}
	n.Value = r.endText(&state)
	return n
}

// textHeader reads the header at pos and moves to the beginning of the next line.
func (r *Reader) textHeader() (h textHeader, ok bool) {
	h.folded = r.src[r.pos] == '>'
	i := r.pos + 1
	for {
		switch c := r.at(i); {
		case (c == '+' || c == '-') && h.chomp == 0:
			h.chomp = c
		case c >= '1' && c <= '9' && h.indent == 0:
			h.indent = int(c - '0')
		default:
			end := r.skipWhite(i)
			if c := r.at(end); c == '#' && end > i {
				end = r.endOfLine(end)
			} else if class[c]&isBreak == 0 {
				return h, false
			}
			r.breakLine(end)
			return h, true
		}
		i++
	}
}

// textIndent skips the empty lines before a text and returns the column of its first line. It
// reports false if one of the empty lines is longer. For a text without lines it returns any column
// that is possible.
func (r *Reader) textIndent(state *textState, parent int) (indent int, ok bool) {
	longest := 0
	for {
		i := r.pos
		for i < len(r.src) && r.src[i] == ' ' {
			i++
		}
		indent = i - r.pos
		switch {
		case i == len(r.src):
			return parent + 1, indent == 0
		case class[r.src[i]]&isBreak != 0:
			longest = max(longest, indent)
			state.empty++
			r.breakLine(i)
			continue
		case r.src[i] == '\t':
			return 0, false
		case indent <= parent:
			return parent + 1, true
		}
		return indent, longest <= indent
	}
}

// textLines reads the lines that are indented to the column indent.
func (r *Reader) textLines(state *textState, indent int) bool {
	for {
		i := r.pos
		for i < r.pos+indent && i < len(r.src) && r.src[i] == ' ' {
			i++
		}
		if i == len(r.src) {
			return r.pos == i // a last line of spaces without a line break is left to the library
		}
		if class[r.src[i]]&isBreak != 0 {
			state.empty++
			r.breakLine(i)
			continue
		}
		if i < r.pos+indent {
			return r.src[i] != '\t'
		}
		end := r.endOfLine(i)
		if end == len(r.src) && strings.Trim(r.src[i:], " \t") == "" {
			return false // a last line of white space too
		}
		r.addLine(state, i, end)
		r.breakLine(end)
	}
}

// addLine adds the line from start to end, which has content, to the text.
func (r *Reader) addLine(state *textState, start, end int) {
	indented := class[r.src[start]]&isWhite != 0
	if !state.copied && state.lines+state.empty > 0 {
		state.from = r.begin(r.src[state.start:state.end])
		state.copied = true
	}
	if state.lines > 0 {
		if !state.folded || state.indented || indented {
			r.text.WriteByte('\n')
		} else if state.empty == 0 {
			r.text.WriteByte(' ')
		}
	}
	if state.copied {
		r.breaks(state.empty)
		r.text.WriteString(r.src[start:end])
	}
	state.start, state.end, state.broken = start, end, end < len(r.src)
	state.lines++
	state.empty, state.indented = 0, indented
}

// endText returns the text with the line breaks that it ends with.
func (r *Reader) endText(state *textState) string {
	breaks := 0
	if state.broken && state.chomp != '-' {
		breaks = 1
	}
	if state.chomp == '+' {
		breaks += state.empty
	}
	if !state.copied {
		if breaks == 0 || breaks == 1 && r.at(state.end) == '\n' && state.lines == 1 {
			return r.src[state.start : state.end+breaks]
		}
		state.from = r.begin(r.src[state.start:state.end])
	}
	r.breaks(breaks)
	return r.text.String()[state.from:]
}
