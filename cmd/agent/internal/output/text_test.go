package output

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func TestWrapped(t *testing.T) {
	s, _, _, _ := ui.Test()
	a := &Printer{Streams: s}
	long := strings.Repeat("word ", 10)
	if got := a.Wrapped(long, 2); strings.Contains(string(got), "\n") {
		t.Errorf("no terminal: got %q, want one line", got)
	}
	s.Width = 20
	tests := []struct {
		name, text string
		indent     int
		want       string
	}{
		{"fits", "a b c", 2, "a b c"},
		{"breaks", "one two three four five six", 4, "one two three\n    four five six"},
		{"exactly", "1234567 901234567890", 0, "1234567 901234567890"},
		{"one more", "1234567 9012345678901", 0, "1234567\n9012345678901"},
		{"long word", "see https://example.org/a/long/path now", 2, "see\n  https://example.org/a/long/path\n  now"},
		{"foreign", "a\x1b[2J\nb", 2, `a\x1b[2J b`},
		{"wide", "日本語 日本語 日本語x", 0, "日本語 日本語\n日本語x"},
		{"nothing", "", 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := a.Wrapped(tt.text, tt.indent); string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
