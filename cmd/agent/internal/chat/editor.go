package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// maxInput is the largest size of a prompt in bytes.
const maxInput = 1 << 20

// editor holds the text being typed and the position of the cursor. It keeps the text as it was typed or pasted, and
// sanitises only what it shows.
type editor struct {
	text string
	at   int // byte offset, between two characters
}

// insert adds s at the cursor. It returns false, and does nothing, when the text would become too long.
func (e *editor) insert(s string) bool {
	if len(e.text)+len(s) > maxInput {
		return false
	}
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
	return true
}

func (e *editor) set(s string) { e.text, e.at = s, len(s) }

// left and right return the position one character before and after i.
func (e *editor) left(i int) int {
	if i == 0 {
		return 0
	}
	for at := e.lineStart(i - 1); ; {
		next := e.right(at)
		if next >= i {
			return at
		}
		at = next
	}
}

func (e *editor) right(i int) int {
	if i >= len(e.text) {
		return len(e.text)
	}
	if e.text[i] == '\n' {
		return i + 1
	}
	first, _ := ui.Cluster(e.text[i:])
	return i + len(first)
}

// wordLeft returns the position of the beginning of the word before i, wordRight that of the end of the word after i.
func (e *editor) wordLeft(i int) int {
	for _, word := range []bool{false, true} {
		for i > 0 {
			r, size := utf8.DecodeLastRuneInString(e.text[:i])
			if isWord(r) != word {
				break
			}
			i -= size
		}
	}
	return i
}

func (e *editor) wordRight(i int) int {
	for _, word := range []bool{false, true} {
		for i < len(e.text) {
			r, size := utf8.DecodeRuneInString(e.text[i:])
			if isWord(r) != word {
				break
			}
			i += size
		}
	}
	return i
}

func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '_' }

func (e *editor) lineStart(i int) int { return strings.LastIndexByte(e.text[:i], '\n') + 1 }

func (e *editor) lineEnd(i int) int {
	if n := strings.IndexByte(e.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(e.text)
}

// remove deletes the text between the cursor and another position.
func (e *editor) remove(to int) {
	from, to := min(e.at, to), max(e.at, to)
	e.text = e.text[:from] + e.text[to:]
	e.at = from
}

// key handles an editing key. It reports whether k is one.
func (e *editor) key(k string) bool {
	switch k {
	case "left", "ctrl+b":
		e.at = e.left(e.at)
	case "right", "ctrl+f":
		e.at = e.right(e.at)
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordLeft(e.at)
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.wordRight(e.at)
	case "home", "ctrl+a":
		e.at = e.lineStart(e.at)
	case "end", "ctrl+e":
		e.at = e.lineEnd(e.at)
	case "backspace", "ctrl+h":
		e.remove(e.left(e.at))
	case "delete", "ctrl+d":
		e.remove(e.right(e.at))
	case "alt+backspace", "ctrl+w", "ctrl+backspace":
		e.remove(e.wordLeft(e.at))
	case "alt+delete", "alt+d", "ctrl+delete":
		e.remove(e.wordRight(e.at))
	case "ctrl+u":
		e.remove(e.lineStart(e.at))
	case "ctrl+k":
		e.remove(e.lineEnd(e.at))
	default:
		return false
	}
	return true
}

// inputRow is one row of the shown text, with the position of each of its characters in the text and on the screen.
type inputRow struct {
	text  string
	at    []int // offset in the editor's text of each character, and of the end of the row
	x     []int // the column of each
	width int
}

// layout returns the shown rows at a width, and the position of the cursor in them.
func (e *editor) layout(width int) (rows []inputRow, x, y int) {
	rows = []inputRow{{}}
	last := &rows[0]
	for i := 0; i < len(e.text); {
		next := e.right(i)
		shown, w := "", 0
		if e.text[i] != '\n' {
			if shown = e.text[i:next]; shown == "\t" {
				shown = "    "
			}
			shown = ui.Line(shown)
			w = ui.Columns(shown)
			if last.width+w > width && last.width > 0 {
				rows = append(rows, inputRow{})
				last = &rows[len(rows)-1]
			}
		}
		last.at, last.x = append(last.at, i), append(last.x, last.width)
		last.text += shown
		last.width += w
		if e.text[i] == '\n' {
			rows = append(rows, inputRow{})
			last = &rows[len(rows)-1]
		}
		i = next
	}
	if last.width >= width { // the cursor needs a column
		rows = append(rows, inputRow{})
		last = &rows[len(rows)-1]
	}
	last.at, last.x = append(last.at, len(e.text)), append(last.x, last.width)
	for y := range rows {
		for i, at := range rows[y].at {
			if at == e.at {
				return rows, rows[y].x[i], y
			}
		}
	}
	return rows, last.width, len(rows) - 1
}

// vertical moves the cursor by one row. It reports whether there was one.
func (e *editor) vertical(by, width int) bool {
	rows, x, y := e.layout(width)
	y += by
	if y < 0 || y >= len(rows) {
		return false
	}
	r := rows[y]
	for i := range r.at {
		if r.x[i] > x {
			break
		}
		e.at = r.at[i]
	}
	return true
}
