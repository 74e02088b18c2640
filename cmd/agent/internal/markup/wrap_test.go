package markup

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func TestBrokenLines(t *testing.T) {
	tests := []struct {
		name  string
		line  string
		width int
		want  []string
	}{
		{"empty", "", 5, []string{""}},
		{"fits", "hello", 5, []string{"hello"}},
		{"no limit", "hello there", 0, []string{"hello there"}},
		{"at a space", "hello there", 8, []string{"hello", "there"}},
		{"space at the edge", "hello there", 5, []string{"hello", "there"}},
		{"several spaces", "hello    there", 7, []string{"hello", "there"}},
		{"spaces run over the end", "hello    ", 6, []string{"hello"}},
		{"indent stays", "    a bcd", 7, []string{"    a", "bcd"}},
		{"indent of the next rows", "  one two three", 9, []string{"  one two", "  three"}},
		{"list item", "- one two three four", 9, []string{"- one two", "  three", "  four"}},
		{"numbered item", "12. one two", 10, []string{"12. one", "    two"}},
		{"indent and a long word", "  abcdef", 4, []string{"  ab", "cdef"}},
		{"long word", "abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"long word after a short one", "a bcdefghij", 4, []string{"a", "bcde", "fghi", "j"}},
		{"wide characters", "漢字かな", 5, []string{"漢字", "かな"}},
		{"wide after narrow", "abc漢字", 4, []string{"abc", "漢字"}},
		{"narrower than a character", "漢字", 1, []string{"漢", "字"}},
		{"combining marks stay", "ae\u0301ae\u0301a", 2, []string{"ae\u0301", "ae\u0301", "a"}},
		{"emoji with skin tone", "👍🏽👍🏽", 5, []string{"👍🏽", "👍🏽"}},
		{"emoji with text form", "a ❤️ b", 3, []string{"a", "❤️", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Rows(tt.line, tt.width); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// single tells that s is one character.
func single(s string) bool {
	first, _ := ui.Cluster(s)
	return len(first) == len(s)
}

func FuzzBrokenLines(f *testing.F) {
	f.Add("hello there 漢字 👍🏽", 7)
	f.Add("   x  ", 1)
	f.Fuzz(func(t *testing.T, line string, width int) {
		if width < 2 || width > 300 {
			return
		}
		line = ui.Line(line)
		var letters strings.Builder
		for _, r := range Rows(line, width) {
			if n := ui.Columns(strings.TrimRight(r, " ")); n > width && !single(r) {
				t.Errorf("row %q has %d columns, more than %d", r, n, width)
			}
			letters.WriteString(strings.ReplaceAll(r, " ", ""))
		}
		if got, want := letters.String(), strings.ReplaceAll(line, " ", ""); got != want {
			t.Errorf("letters %q, want %q", got, want)
		}
	})
}
