// Package markdown finds code in Markdown, line by line.
package markdown

import (
	"slices"
	"strings"
)

// Spans finds code spans. It keeps its memory from line to line; the zero value is ready to use.
type Spans struct {
	runs [][2]int // of `
	next []int    // for each run the following one of the same length, 0 without one
	last []int    // the run of each length that was seen last, 0 without one
}

// Append appends where the contents of a line's code spans begin and end. A span ends with as many ` as it begins with.
func (m *Spans) Append(out [][2]int, line string) [][2]int {
	m.runs, m.last = m.runs[:0], m.last[:0]
	for i := strings.IndexByte(line, '`'); i >= 0 && i < len(line); {
		begin := i
		for i < len(line) && line[i] == '`' {
			i++
		}
		m.runs = append(m.runs, [2]int{begin, i})
		for len(m.last) <= i-begin {
			m.last = append(m.last, 0)
		}
		n := strings.IndexByte(line[i:], '`')
		if n < 0 {
			break
		}
		i += n
	}
	if len(m.runs) < 2 {
		return out
	}
	m.next = slices.Grow(m.next[:0], len(m.runs))[:len(m.runs)]
	for i, run := range slices.Backward(m.runs) {
		length := run[1] - run[0]
		m.next[i], m.last[length] = m.last[length], i
	}
	for i := 0; i < len(m.runs); i++ {
		if m.next[i] > 0 {
			out = append(out, [2]int{m.runs[i][1], m.runs[m.next[i]][0]})
			i = m.next[i]
		}
	}
	return out
}

// Margin returns the length of what may stand before a fence: the marks of quotes and of a list.
func Margin(line string) int {
	skip := func(from int, chars string) int {
		for from < len(line) && strings.IndexByte(chars, line[from]) >= 0 {
			from++
		}
		return from
	}
	begin := skip(0, " \t>")
	mark := skip(begin, "0123456789")
	end := skip(mark, ".)")
	if mark == begin {
		end = skip(mark, "-*+")
	}
	if text := skip(end, " \t"); end == mark+1 && text > end {
		return text
	}
	return begin
}

// Fence returns the run of ` or ~ that a line of a code fence begins with, "" for other lines, and the text after it.
func Fence(line string) (mark, info string) {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return "", ""
	}
	s := line[Margin(line):]
	if len(s) < 3 || s[0] != '`' && s[0] != '~' || s[1] != s[0] || s[2] != s[0] {
		return "", ""
	}
	info = strings.TrimLeft(s, s[:1])
	mark, info = s[:len(s)-len(info)], strings.TrimSpace(info)
	if s[0] == '`' && strings.IndexByte(info, '`') >= 0 { // it is a code span
		return "", ""
	}
	return mark, info
}
