package ui

import "strings"

// Bounds of a Tail.
const (
	tailLines = 200
	tailLine  = 2 << 10 // bytes
)

// Tail keeps the last lines of an output that comes in pieces. What follows a carriage return takes the place of its line, as in a
// terminal. The zero value is ready for use. It is for one goroutine at a time.
type Tail struct {
	lines []string // the last one may go on
}

// Add takes the next piece of the output. It may be foreign text.
func (t *Tail) Add(text string) {
	for i, part := range strings.Split(text, "\n") {
		if i > 0 || len(t.lines) == 0 {
			t.lines = append(t.lines, "")
		}
		last := &t.lines[len(t.lines)-1]
		if *last += part; strings.Contains(*last, "\r") {
			ended := strings.TrimRight(*last, "\r") // a line end, or the end of what will be replaced
			*last = ended[strings.LastIndexByte(ended, '\r')+1:] + (*last)[len(ended):]
		}
		*last = (*last)[:min(len(*last), tailLine)]
		if over := len(t.lines) - tailLines; over > 0 {
			t.lines = t.lines[over:]
		}
	}
}

// Text returns all lines that are kept. They are foreign text.
func (t *Tail) Text() string { return strings.Join(t.lines, "\n") }

// Last returns the last lines that are not empty, sanitised; at most n.
func (t *Tail) Last(n int) []string {
	var out []string
	for i := len(t.lines) - 1; i >= 0 && len(out) < n; i-- {
		if line := strings.TrimSpace(Line(strings.TrimRight(t.lines[i], "\r"))); line != "" {
			out = append([]string{line}, out...)
		}
	}
	return out
}
