// Package screentest is the screen of a terminal, for tests: it takes what a program sends and says what a person sees.
//
// It knows the sequences that the terminal library sends to an xterm, and lists those that it does not know. A Screen
// is used by one goroutine at a time.
package screentest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// Screen keeps the rows that a program leaves on the screen of a terminal, and in the scrollback above it.
type Screen struct {
	width, height int
	cells         [][]string   // "" is the second half of a wide character
	above         []string     // the scrollback
	goesOn        map[int]bool // the rows of Rows that were too long and go on in the next row
	x, y          int
	wrapNext      bool
	last          string // the last character, for REP
	rest          string // the beginning of what is not complete
	unknown       []string
}

// Unknown returns the sequences that it does not know.
func (v *Screen) Unknown() []string { return v.unknown }

// New returns an empty screen.
func New(width, height int) *Screen {
	v := &Screen{width: width, height: height, goesOn: map[int]bool{}}
	for range height {
		v.cells = append(v.cells, v.blank())
	}
	return v
}

func (v *Screen) blank() []string { return strings.Split(strings.Repeat(" ", v.width), "") }

// Rows returns the scrollback and the screen, each row without spaces at its end.
func (v *Screen) Rows() []string {
	rows := append([]string(nil), v.above...)
	for _, r := range v.cells {
		rows = append(rows, strings.TrimRight(strings.Join(r, ""), " "))
	}
	return rows
}

// Cursor returns the row of Rows and the column that the cursor is in.
func (v *Screen) Cursor() (row, column int) { return len(v.above) + v.y, v.x }

// EndsWith reports whether the rows end with want, apart from empty ones.
func (v *Screen) EndsWith(want ...string) bool {
	rows := v.Rows()
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return len(rows) >= len(want) && slices.Equal(rows[len(rows)-len(want):], want)
}

// String returns all rows as lines.
func (v *Screen) String() string { return strings.TrimRight(strings.Join(v.Rows(), "\n"), "\n") }

// Write takes what the program sends. A piece may end within a character or a sequence.
func (v *Screen) Write(s string) {
	s = v.rest + s
	for s != "" {
		n := v.one(s)
		if n == 0 {
			break
		}
		s = s[n:]
	}
	v.rest = s
}

// one takes one character or sequence and returns its length, 0 when it is not complete.
func (v *Screen) one(s string) int {
	switch s[0] {
	case '\r':
		v.x, v.wrapNext = 0, false
	case '\n':
		v.lineFeed()
	case '\b':
		v.x, v.wrapNext = max(v.x-1, 0), false
	case '\t':
		v.x = min((v.x/8+1)*8, v.width-1)
	case '\a':
	case '\x1b':
		return v.escape(s)
	default:
		first, width := ui.Cluster(s)
		if len(first) == len(s) && s[0] >= 0x80 && len(s) < 4 && !strings.HasSuffix(s, "\x00") && !valid(s) {
			return 0
		}
		v.put(first, width)
		return len(first)
	}
	return 1
}

func valid(s string) bool { return strings.ToValidUTF8(s, "") == s }

func (v *Screen) put(s string, width int) {
	if v.wrapNext || v.x+width > v.width {
		v.goesOn[len(v.above)+v.y] = true
		v.x = 0
		v.lineFeed()
	}
	v.last = s
	v.cells[v.y][v.x] = s
	for i := 1; i < width; i++ {
		v.cells[v.y][v.x+i] = ""
	}
	v.x += width
	if v.wrapNext = v.x >= v.width; v.wrapNext {
		v.x = v.width - 1
	}
}

func (v *Screen) lineFeed() {
	v.wrapNext = false
	if v.y++; v.y < v.height {
		return
	}
	v.y = v.height - 1
	v.above = append(v.above, strings.TrimRight(strings.Join(v.cells[0], ""), " "))
	v.cells = append(v.cells[1:], v.blank())
}

func (v *Screen) escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return 0
		}
		v.control(s[2:2+end], s[2+end])
		return end + 3
	case ']', 'P', '_':
		for _, close := range []string{"\a", "\x1b\\"} {
			if end := strings.Index(s, close); end >= 0 {
				return end + len(close)
			}
		}
		return 0
	case 'M':
		v.y = max(v.y-1, 0)
		return 2
	}
	v.unknown = append(v.unknown, s[:2])
	return 2
}

func (v *Screen) control(args string, final byte) {
	if strings.ContainsAny(args, "?><=$ ") || strings.IndexByte("mhlcnqtu", final) >= 0 {
		return // modes, colours and questions change no text
	}
	first, second, _ := strings.Cut(args, ";")
	number, _ := strconv.Atoi(first)
	n := max(number, 1)
	v.wrapNext = false
	row := v.cells[v.y]
	switch final {
	case 'A':
		v.y = max(v.y-n, 0)
	case 'B':
		v.y = min(v.y+n, v.height-1)
	case 'C':
		v.x = min(v.x+n, v.width-1)
	case 'D':
		v.x = max(v.x-n, 0)
	case 'G', '`':
		v.x = min(n, v.width) - 1
	case 'd':
		v.y = min(n, v.height) - 1
	case 'H':
		column, _ := strconv.Atoi(second)
		v.y, v.x = min(n, v.height)-1, min(max(column, 1), v.width)-1
	case 'J':
		v.shift(v.y, v.height)
		for y := v.y + 1; y < v.height; y++ {
			v.cells[y] = v.blank()
		}
		v.erase(row, v.x, v.width)
	case 'Z':
		v.x = max((v.x+7)/8-n, 0) * 8
	case 'K':
		delete(v.goesOn, len(v.above)+v.y)
		from, to := v.x, v.width
		if number > 0 {
			from, to = 0, []int{0, v.x + 1, v.width}[number]
		}
		v.erase(row, from, to)
	case 'X':
		v.erase(row, v.x, min(v.x+n, v.width))
	case 'L':
		v.shift(v.y, n)
		for range min(n, v.height-v.y) {
			v.cells = append(v.cells[:v.y], append([][]string{v.blank()}, v.cells[v.y:v.height-1]...)...)
		}
	case 'M':
		v.shift(v.y, -n)
		for range min(n, v.height-v.y) {
			v.cells = append(append(v.cells[:v.y], v.cells[v.y+1:]...), v.blank())
		}
	case 'P':
		copy(row[v.x:], append(append([]string(nil), row[min(v.x+n, v.width):]...), v.blank()[:n]...))
	case '@':
		copy(row[v.x:], append(v.blank()[:n], row[v.x:]...))
	case 'b':
		for range n {
			v.put(v.last, 1)
		}
	default:
		v.unknown = append(v.unknown, args+string(final))
	}
}

func (v *Screen) erase(row []string, from, to int) {
	for x := from; x < to; x++ {
		row[x] = " "
	}
}
