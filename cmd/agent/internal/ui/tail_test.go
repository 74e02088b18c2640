package ui

import (
	"slices"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"one line", "one\n", []string{"one"}},
		{"a line that goes on", "one\ntw", []string{"one", "tw"}},
		{"the last two", "one\ntwo\nthree\n", []string{"two", "three"}},
		{"empty lines", "one\n\n \ntwo\n\n", []string{"one", "two"}},
		{"a bar", "get\n 10 %\r 20 %\r 30 %", []string{"get", "30 %"}},
		{"a bar that waits", "get\n 10 %\r 20 %\r", []string{"get", "20 %"}},
		{"line ends of Windows", "one\r\ntwo\r\n", []string{"one", "two"}},
		{"escapes", "\x1b[31mred\x1b[0m\x07", []string{Line("\x1b[31mred\x1b[0m\x07")}},
	} {
		for size := 1; size < 5; size++ {
			var tail Tail
			for p := tt.text; p != ""; p = p[min(size, len(p)):] {
				tail.Add(p[:min(size, len(p))])
			}
			if got := tail.Last(2); !slices.Equal(got, tt.want) {
				t.Errorf("%s, pieces of %d: got %q, want %q", tt.name, size, got, tt.want)
			}
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	var tail Tail
	for range 10_000 {
		tail.Add(strings.Repeat("x", 1000))
	}
	if n := len(tail.Text()); n > tailLine {
		t.Errorf("%d bytes", n)
	}
	tail.Add(strings.Repeat("y\n", 10_000))
	if n := len(strings.Join(tail.lines, "")); n > tailLine+tailLines || len(tail.lines) > tailLines {
		t.Errorf("%d lines, %d bytes", len(tail.lines), n)
	}
}
