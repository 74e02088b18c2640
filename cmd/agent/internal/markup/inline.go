package markup

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// cell is one character with how it is shown.
type cell struct {
	text  string
	sgr   string
	width int
}

// cells appends the characters of a text.
func cells(to []cell, text, sgr string) []cell {
	for text != "" {
		first, width := ui.Cluster(text)
		text = text[len(first):]
		to = append(to, cell{first, sgr, width})
	}
	return to
}

// inline reads strong text, emphasis, code and links of a line that arrives in pieces.
type inline struct {
	raw    bool   // marks stay
	base   string // how the whole line is shown
	wait   string // what is not decided yet
	before byte   // the last byte that was decided
	strong bool
	em     bool
}

// read takes a piece of the line and returns what is decided. With last, all of it is.
func (n *inline) read(piece string, last bool) (out []cell) {
	n.wait += piece
	for n.wait != "" {
		size, part, decided := n.next(n.wait, last)
		if !decided {
			return out
		}
		out = append(out, part...)
		n.before, n.wait = n.wait[size-1], n.wait[size:]
	}
	return out
}

// next reads what s begins with: its size in bytes and what is shown of it. It is not decided if that depends on what follows.
func (n *inline) next(s string, last bool) (size int, out []cell, decided bool) {
	open := s[:min(len(s), maxOpen)] // further away nothing ends
	whole := last || len(s) >= maxOpen
	literal := func(size int) (int, []cell, bool) { return size, cells(nil, s[:size], n.sgr()), true }
	run := 0
	if s[0] == '`' || s[0] == '*' {
		run = len(s) - len(strings.TrimLeft(s, s[:1]))
	}
	switch {
	case n.raw || strings.IndexByte("\\`*[", s[0]) < 0:
		end := strings.IndexAny(s[1:], "\\`*[") + 1
		if end == 0 || n.raw {
			end = len(s)
		}
		return literal(end)
	case s[0] == '\\':
		if len(s) < 2 && !last {
			return 0, nil, false
		}
		if len(s) >= 2 && strings.IndexByte("\\`*_[]|#", s[1]) >= 0 {
			return 2, cells(nil, s[1:2], n.sgr()), true
		}
		return literal(1)
	case s[0] == '[':
		return n.link(s, open, whole, literal)
	case run == len(s) && !last && run < maxOpen: // it may be longer
		return 0, nil, false
	case s[0] == '`':
		end, known := closing(open, run, whole)
		if !known {
			return 0, nil, false
		}
		if end < 0 {
			return literal(min(run, maxOpen))
		}
		text := s[run:end]
		if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' {
			text = text[1 : len(text)-1]
		}
		return end + run, cells(nil, text, join(n.base, "36")), true
	}
	return n.stars(s, open, run, whole, literal)
}

// closing returns where a run of that many backticks closes the one that s begins with, -1 for nowhere.
func closing(s string, run int, whole bool) (at int, known bool) {
	for i := run; i < len(s); {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			break
		}
		i += j
		size := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		switch {
		case i+size == len(s) && !whole:
			return 0, false // it may be longer
		case size == run:
			return i, true
		}
		i += size
	}
	return -1, whole
}

// link reads [TEXT](ADDRESS).
func (n *inline) link(s, open string, whole bool, literal func(int) (int, []cell, bool)) (int, []cell, bool) {
	mid := strings.IndexByte(open, ']')
	switch {
	case mid < 0 && !whole, mid == len(open)-1 && !whole:
		return 0, nil, false
	case mid < 0, mid+1 >= len(open), open[mid+1] != '(':
		return literal(1)
	}
	end := strings.IndexByte(open[mid:], ')') + mid
	switch {
	case end < mid && !whole:
		return 0, nil, false
	case end < mid:
		return literal(1)
	}
	text, address := s[1:mid], s[mid+2:end]
	out := cells(nil, text, join(n.sgr(), "4"))
	if address != text && address != "" {
		out = cells(out, " ("+address+")", join(n.base, "2"))
	}
	return end + 1, out, true
}

// stars reads ** and *.
func (n *inline) stars(s, open string, run int, whole bool, literal func(int) (int, []cell, bool)) (int, []cell, bool) {
	if run >= 2 {
		if n.strong {
			n.strong = false
			return 2, nil, true
		}
		switch at := strings.Index(open[2:], "**"); {
		case at > 0 && open[2] != ' ':
			n.strong = true
			return 2, nil, true
		case at < 0 && !whole && len(open) > 2 && open[2] != ' ':
			return 0, nil, false
		}
		return literal(2)
	}
	switch {
	case n.em && n.before != ' ':
		n.em = false
		return 1, nil, true
	case len(s) > 1 && (s[1] == ' ' || word(n.before)), n.em:
		return literal(1)
	}
	for i := 2; i < len(open); i++ {
		if open[i] != '*' || open[i-1] == ' ' || open[i-1] == '*' {
			continue
		}
		if i+1 == len(open) && !whole {
			return 0, nil, false // it may be two
		}
		if i+1 == len(open) || open[i+1] != '*' {
			n.em = true
			return 1, nil, true
		}
		i++
	}
	if !whole {
		return 0, nil, false
	}
	return literal(1)
}

func word(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= 0x80
}

// sgr is how text is shown now.
func (n *inline) sgr() string {
	out := n.base
	if n.strong && n.base != "1" {
		out = join(out, "1")
	}
	if n.em {
		out = join(out, "3")
	}
	return out
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ";" + b
}
