package chat

import (
	"bytes"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// drawing is what the library draws, and the width of the screen that it draws for.
type drawing struct {
	screen
	width int
}

// joinWriter writes to the terminal in whole frames. The library prints finished rows at once and draws the live ones a
// moment later: in between, the screen would show the same text twice. Printed rows wait for the next drawing.
//
// When the window becomes narrower, most terminals break rows that are now too long. The library does not know that, and would leave
// a part of the old live rows on the screen. So the writer erases them before the next frame.
type joinWriter struct {
	file  *os.File
	crops bool   // the terminal cuts such rows instead
	first func() // called at the first frame

	mu   sync.Mutex
	held []byte
	next drawing // what the library draws next
	last drawing // what is on the screen
}

// maxJoined is how many bytes may wait.
const maxJoined = 1 << 16

func (j *joinWriter) Read(b []byte) (int, error) { return j.file.Read(b) }
func (j *joinWriter) Close() error               { return j.file.Close() }
func (j *joinWriter) Fd() uintptr                { return j.file.Fd() }

// draws takes what the library draws next.
func (j *joinWriter) draws(f drawing) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.next = f
}

// Write writes the bytes that wait, and then b. Printed rows, which begin with a carriage return, wait.
func (j *joinWriter) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.held = append(j.held, b...)
	if len(b) > 0 && b[0] == '\r' && len(j.held) < maxJoined {
		return len(b), nil
	}
	if j.first != nil && bytes.Contains(b, []byte(ansi.SetModeBracketedPaste)) { // part of the first frame
		j.first()
		j.first = nil
	}
	return len(b), j.flush()
}

func (j *joinWriter) flush() error {
	width, height, err := term.GetSize(j.file.Fd())
	if err == nil && width > 0 && width < j.last.width && !j.crops {
		j.held = append([]byte(j.last.erase(width, height)), j.held...)
	}
	if j.last = j.next; err == nil && width > 0 && j.last.width > width {
		j.last.rows = nil // the library gets the new width soon, and draws all rows again
	}
	_, err = j.file.Write(j.held)
	j.held = j.held[:0]
	return err
}

// erase returns the sequence that erases a drawing whose rows the terminal has broken, and moves the cursor to where the library believes
// it to be.
func (f *drawing) erase(width, height int) string {
	up := f.y
	for i, row := range f.rows {
		if row = ansi.Strip(row); i < f.y {
			up += breaks(row, width)
		} else if i == f.y {
			row = before(row, f.x)
			up += breaks(row+strings.Repeat(" ", f.x-ui.Columns(row)+1), width) // the cursor is a column, too
		}
	}
	seq := "\r" + ansi.EraseScreenBelow + strings.Repeat("\n", max(min(f.y, height-1), 0))
	if up > 0 {
		seq = ansi.CursorUp(up) + seq
	}
	if f.x > 0 {
		seq += ansi.CursorForward(f.x)
	}
	return seq
}

// breaks returns how often a terminal of that width breaks a row.
func breaks(row string, width int) (n int) {
	for used := 0; row != ""; {
		first, w := ui.Cluster(row)
		if used += w; used > width {
			n, used = n+1, w
		}
		row = row[len(first):]
	}
	return n
}

// before returns the part of a row before a column.
func before(row string, x int) string {
	for rest := row; rest != ""; {
		first, w := ui.Cluster(rest)
		if x -= w; x < 0 {
			return row[:len(row)-len(rest)]
		}
		rest = rest[len(first):]
	}
	return row
}
