package diff

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	long := strings.Repeat("é", 20)
	for _, tt := range []struct {
		name, old, new string
		o              Options
		want           []string
		summary        string
	}{
		{"equal", "a\n", "a\n", Options{}, nil, "+0 -0"},
		{"a new file", "", "a\nb\n", Options{}, []string{"@@ -0,0 +1,2 @@", "+a", "+b"}, "+2 -0"},
		{"emptied", "a\n", "", Options{}, []string{"@@ -1,1 +0,0 @@", "-a"}, "+0 -1"},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", Options{}, []string{"@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"}, "+1 -1"},
		{"no end of line", "a\n", "a", Options{}, []string{"@@ -1,1 +1,1 @@", "-a", "+a", `\ No newline at end of file`}, "+1 -1"},
		{"lines like a header", "", "++ x\n-- y\n@@ z\n", Options{}, []string{"@@ -0,0 +1,3 @@", "+++ x", "+-- y", "+@@ z"}, "+3 -0"},
		{"too many lines", "", "a\nb\nc\nd\n", Options{Lines: 3}, []string{"@@ -0,0 +1,4 @@", "+a", "+b", "… 2 lines more"}, "+4 -0"},
		{"as many lines as fit", "", "a\nb\n", Options{Lines: 3}, []string{"@@ -0,0 +1,2 @@", "+a", "+b"}, "+2 -0"},
		{"a long line", "", long + "\n", Options{Width: 24}, []string{"@@ -0,0 +1,1 @@", "+" + strings.Repeat("é", 11) + " … 18 bytes more"}, "+1 -0"},
		{"Windows", "a\r\nb\r\n", "a\r\nc\r\n", Options{}, []string{"@@ -1,2 +1,2 @@", " a", "-b", "+c"}, "+1 -1"},
		{"to Windows", "a\n", "a\r\n", Options{}, []string{"@@ -1,1 +1,1 @@", "-a", "+a\r"}, "+1 -1"},
		{"binary", "a\n", "\x00\n", Options{}, []string{"(not shown as text: 2 bytes become 2 bytes)"}, "+0 -0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Of([]byte(tt.old), []byte(tt.new), tt.o)
			if !slices.Equal(d.Lines, tt.want) || d.Summary() != tt.summary {
				t.Errorf("got %q %s\nwant %q %s", d.Lines, d.Summary(), tt.want, tt.summary)
			}
			if cut := strings.Contains(strings.Join(d.Lines, "\n"), "… "); d.Cut != cut {
				t.Errorf("Cut is %t", d.Cut)
			}
		})
	}
}
