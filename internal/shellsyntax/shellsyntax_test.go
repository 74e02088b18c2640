package shellsyntax

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// What strangers wrote is read up to the first fault, and within bounds.
func TestWalk(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   string // the commands
	}{
		{"a 1\nif b; then c $(d); fi", "a b c d"},
		{"a\nb (\nc", "a"},
		{"", ""},
		{"a\n" + strings.Repeat("$(", 100_000), "a"},
		{"a\n" + strings.Repeat("if ", 100_000), "a"},
		{"a\n: " + strings.Repeat("-", 100_000), "a"},
	} {
		var got []string
		Walk(tt.source, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				got = append(got, c.Args[0].Lit())
			}
			return true
		})
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%.40q: got %q", tt.source, got)
		}
	}
	Walk("a", func(syntax.Node) bool { panic("as the parser does") })
}
