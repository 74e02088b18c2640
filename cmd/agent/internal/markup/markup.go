// Package markup turns Markdown that arrives in pieces into rows of a terminal.
//
// A row that was returned never changes, whatever comes, and the rows are the same whatever the pieces are. So a construct waits, as
// long as it is short, until it is known what it is: text between stars or backticks for its end, a table for its last line. Text is
// foreign: all of it passes the sanitiser of package ui. Time and memory are linear in the text.
package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// Bounds of what is waited for.
const (
	maxPiece  = 512     // bytes that are taken at once
	maxHeld   = 128     // bytes of combining marks and joined characters
	maxHead   = 24      // bytes at the beginning of a line, until its kind is known
	maxOpen   = 400     // bytes of text between stars, backticks or brackets
	maxTable  = 4 << 10 // bytes of a line of a table
	maxLive   = 20      // lines of a table: then the widths of its columns are settled
	maxBlocks = 100     // of code that are kept
	maxBlock  = 1 << 20 // bytes of one
)

// Flow is a text that arrives in pieces. The zero value is ready; it must not be copied after the first use.
type Flow struct {
	// Paint shows text with parameters of SGR, such as "1" for bold. Without it the marks of Markdown stay where only colours would show
	// what they mean.
	Paint func(sgr, text string) string

	// Copy says in the row above a block of code how /copy names it.
	Copy bool

	held  string // as it came: its end may be half a character
	width int
	some  bool // there was a row
	empty int  // empty lines that wait for the next row

	line  line
	plain []byte   // the line, without a screen
	fence *fence   // that is open
	maybe string   // a line that is the head of a table if the next one says so
	table *table   // that is open
	code  []string // the blocks, as they came
	first int      // how many blocks are no longer kept
}

// line is the line that is being read.
type line struct {
	begun bool   // its kind is known
	head  string // what was read before
	inline
	wrapper
	column int // where it ends, for tabs
}

// Add takes a piece, for a screen of that width, and returns the rows that are finished. Without a screen, width is 0: then the rows are
// the lines as they are.
func (f *Flow) Add(piece string, width int) []string {
	var rows []string
	for piece != "" { // the rest of a long piece would be looked at again and again
		s := f.held + piece[:min(len(piece), maxPiece)]
		piece = piece[min(len(piece), maxPiece):]
		n := settled(s)
		f.held = s[n:]
		rows = append(rows, f.take(s[:n], width)...)
	}
	return rows
}

// End takes the rest as the end of the text, and returns the last rows.
func (f *Flow) End(width int) []string {
	rows := f.take(f.held, width)
	rows = append(rows, f.finish()...)
	rows = append(rows, f.flush()...)
	if f.fence != nil {
		f.keep(f.fence.text)
	}
	*f = Flow{Paint: f.Paint, Copy: f.Copy, code: f.code, first: f.first}
	return rows
}

// Live returns the rows that are not finished, as they would be if the text ended here.
func (f *Flow) Live(width int) []string {
	c := *f
	c.line = f.line.clone()
	if f.table != nil {
		c.table = f.table.clone()
	}
	if f.fence != nil {
		fence := *f.fence
		fence.text, fence.start, fence.full = nil, 0, true
		c.fence = &fence
	}
	c.code, c.first = nil, f.first+len(f.code) // what is not finished is no block
	return c.End(width)
}

// Block returns block N of code, counted from 1, exactly as it came, and how many blocks there are. An empty block, and
// one that was too long, is not kept.
func (f *Flow) Block(n int) (text string, ok bool, count int) {
	count = f.first + len(f.code)
	if at := n - 1 - f.first; at >= 0 && at < len(f.code) {
		return f.code[at], f.code[at] != "", count
	}
	return "", false, count
}

func (f *Flow) take(s string, width int) []string {
	f.width = width
	var rows []string
	for s != "" {
		raw, rest, ended := strings.Cut(s, "\n")
		s = rest
		if f.fence != nil {
			f.fence.collect(raw, ended)
		}
		if ended {
			raw = strings.TrimSuffix(raw, "\r")
		}
		text := ui.Prose(raw)
		if width > 0 { // elsewhere tabs stay: a pipe gets the code as the model wrote it
			text, f.line.column = ui.Untab(text, f.line.column)
		}
		rows = append(rows, f.part(text)...)
		if ended {
			rows = append(rows, f.finish()...)
		}
	}
	return rows
}

// part takes a part of a line.
func (f *Flow) part(text string) []string {
	l := &f.line
	switch {
	case l.begun:
		return f.flow(text, false)
	case f.width <= 0:
		f.plain = append(f.plain, text...)
		return nil
	}
	l.head += text
	most, trimmed := maxHead, strings.TrimLeft(l.head, " ")
	if f.fence == nil && (strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")) {
		most = maxTable
	}
	if len(trimmed) <= most && len(l.head) <= maxTable {
		return nil
	}
	rows, head := f.flush(), l.head
	l.head, l.begun = "", true
	return append(rows, f.flow(f.begin(head), false)...)
}

// begin notes what kind of line begins, and returns its text.
func (f *Flow) begin(head string) string {
	if f.fence != nil {
		f.line.wrapper = wrapper{lead: "  ", hang: "» ", exact: true}
		return head
	}
	text := strings.TrimLeft(head, " ")
	indent := min(len(head)-len(text), f.width/2)
	lead, hang := strings.Repeat(" ", indent), strings.Repeat(" ", indent)
	f.line.inline = inline{raw: f.Paint == nil}
	switch level := len(text) - len(strings.TrimLeft(text, "#")); {
	case level > 0 && level <= 6 && strings.HasPrefix(text[level:], " "):
		f.line.base, hang = "1", ""
		if f.Paint != nil {
			text = strings.TrimLeft(text[level:], " ")
		}
	case strings.HasPrefix(text, "> "):
		text, f.line.base = text[2:], "2"
		lead, hang = lead+"│ ", hang+"│ "
	case strings.HasPrefix(text, "- "), strings.HasPrefix(text, "* "), strings.HasPrefix(text, "+ "):
		text = text[2:]
		lead, hang = lead+"• ", hang+"  "
	default:
		if n := digits(text); n > 0 && n < 4 && strings.HasPrefix(text[n:], ". ") {
			lead, hang = lead+text[:n+2], hang+strings.Repeat(" ", n+2)
			text = text[n+2:]
		}
	}
	if len(hang)+4 > f.width {
		hang = ""
	}
	f.line.wrapper = wrapper{lead: lead, hang: hang}
	return text
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// flow takes text of a line whose kind is known, and returns the rows that are finished.
func (f *Flow) flow(text string, last bool) []string {
	l := &f.line
	var cells []cell
	if f.fence != nil {
		cells = f.fence.read(text, last, f.Paint != nil)
	} else {
		cells = l.read(text, last)
	}
	rows := l.fill(cells, f.width, last, f.Paint)
	return f.spaced(rows)
}

// spaced returns rows with the empty one that waited for them.
func (f *Flow) spaced(rows []string) []string {
	if len(rows) == 0 {
		return nil
	}
	if f.empty > 0 {
		rows = append(make([]string, f.empty), rows...)
	}
	f.some, f.empty = true, 0
	return rows
}

// blank notes an empty line. On a screen several are one.
func (f *Flow) blank() {
	if f.some && (f.empty == 0 || f.width <= 0) {
		f.empty++
	}
}

// finish ends the line.
func (f *Flow) finish() (rows []string) {
	l := &f.line
	head := l.head
	defer func() { f.line = line{} }()
	trimmed := strings.TrimSpace(head)
	switch {
	case l.begun:
		return f.flow("", true)
	case f.width <= 0:
		text := strings.TrimRight(string(f.plain), " \t")
		switch trimmed = strings.TrimSpace(text); {
		case f.fence != nil && f.fence.ends(trimmed):
			f.close()
		case f.fence == nil && f.Copy: // without Copy the blocks are not needed
			f.fence = newFence(trimmed)
		}
		if f.plain = f.plain[:0]; text == "" {
			f.blank()
			return nil
		}
		return f.spaced([]string{text})
	case f.fence != nil && f.fence.ends(trimmed):
		f.close()
		return nil
	case f.fence != nil:
		return f.flow(f.begin(head), true)
	case strings.HasPrefix(trimmed, "|") && len(head) <= maxTable:
		return f.row(head, trimmed)
	}
	rows = f.flush()
	fence := newFence(trimmed)
	switch {
	case trimmed == "":
		f.blank()
		return rows
	case fence != nil:
		f.fence = fence
		about := f.fence.lang
		if f.Copy {
			about = f.fence.label(f.first + len(f.code) + 1)
		}
		if about == "" {
			return rows
		}
		return append(rows, f.spaced([]string{f.paint("2", ui.Truncate("  "+about, f.width))})...)
	case trimmed == "---", trimmed == "***", trimmed == "___":
		return append(rows, f.spaced([]string{f.paint("2", strings.Repeat("─", min(f.width, 40)))})...)
	}
	return append(rows, f.flow(f.begin(head), true)...)
}

// row takes a line of a table, or of what may become one.
func (f *Flow) row(line, trimmed string) []string {
	switch {
	case f.table == nil && f.maybe == "":
		f.maybe = line
		return nil
	case f.table == nil && delimits(trimmed):
		f.table, f.maybe = newTable(f.maybe, trimmed, f.Paint == nil), ""
		return nil
	case f.table == nil:
		rows := f.flush()
		f.maybe = line
		return rows
	}
	return f.spaced(f.table.add(line, f.width, f.Paint))
}

// flush returns the table that ends here, or the line that did not become one.
func (f *Flow) flush() []string {
	switch {
	case f.table != nil:
		rows := f.table.end(f.width, f.Paint)
		f.table = nil
		return f.spaced(rows)
	case f.maybe != "":
		was := f.line
		f.line = line{}
		text := f.begin(f.maybe)
		f.maybe = ""
		rows := f.flow(text, true)
		f.line = was
		return rows
	}
	return nil
}

// close ends the block of code.
func (f *Flow) close() {
	f.keep(f.fence.text[:f.fence.start])
	f.fence = nil
}

// keep keeps a block of code, unless it was too long to be kept whole.
func (f *Flow) keep(text []byte) {
	if f.fence.full {
		text = nil
	}
	if f.code = append(f.code, string(text)); len(f.code) > maxBlocks {
		f.code, f.first = f.code[1:], f.first+1
	}
}

func (f *Flow) paint(sgr, text string) string {
	if f.Paint == nil {
		return text
	}
	return f.Paint(sgr, text)
}

// settled returns how much of s can be sanitised for good. The rest may change with what follows: the last character, which marks and
// joiners extend, the one before a joiner at its end, or a part of a character's bytes.
func settled(s string) int {
	end := len(s)
	if end == 0 || s[end-1] == '\n' {
		return end
	}
	if s[end-1] < 0x80 && (end == 1 || s[end-2] < 0x80) {
		return end - 1
	}
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:end]) {
				end = i
			}
			break
		}
	}
	from := max(0, end-maxHeld)
	for from > 0 && from < end && !utf8.RuneStart(s[from]) {
		from++
	}
	last := from
	for i := from; i < end; {
		first, _ := ui.Cluster(s[i:end])
		if r, _ := utf8.DecodeLastRuneInString(s[from:i]); !joiner(r) {
			last = i
		}
		i += len(first)
	}
	return last
}

// joiner reports whether r is a zero-width joiner or non-joiner: what is shown of it depends on both its neighbours.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }
