package manifest

import (
	"slices"
	"testing"
)

func TestHeadEnd(t *testing.T) {
	rows := []struct {
		name, text string
		want       string
	}{
		{"plain", "---\na: b\n---\nbody", "---\na: b\n---\n"},
		{"blanks after the dashes", "--- \na: b\n---  \nbody", "--- \na: b\n---  \n"},
		{"CRLF", "---\r\na: b\r\n---\r\nbody", "---\r\na: b\r\n---\r\n"},
		{"four dashes do not end it", "---\na: b\n----\n---\nbody", "---\na: b\n----\n---\n"},
		{"dashes in a line do not end it", "---\na: b---\n ---\n---\nbody", "---\na: b---\n ---\n---\n"},
		{"not certain at the end of what was read", "---\na: b\n---", ""},
		{"empty", "---\n---\n", "---\n---\n"},
		{"a mark at the start", "\ufeff---\na: b\n---\nx", "\ufeff---\na: b\n---\n"},
		{"none", "text", ""},
	}
	for _, r := range rows {
		if got := r.text[:HeadEnd([]byte(r.text))]; got != r.want {
			t.Errorf("%s: got %q, want %q", r.name, got, r.want)
		}
	}
}

// A summary needs only the front matter: what is wrong behind it is told when the whole file is read.
func TestSummaryOfHead(t *testing.T) {
	for _, src := range []string{"---\nname: a\ndescription: b\n---\nBody\x00\xff", "---\r\nname: a\r\ndescription: b\r\n---\r\nBody\x00\xff"} {
		for _, summary := range []bool{true, false} {
			m, problems := Parse([]byte(src), &Options{Dir: "a", Summary: summary})
			broken := slices.ContainsFunc(problems, func(p Problem) bool { return p.Fatal })
			if broken == summary || summary && m.Description != "b" {
				t.Errorf("%.20q, summary %v: %q, %v", src, summary, m.Description, problems)
			}
		}
	}
	if _, problems := Parse([]byte("---\nname: a\x00\n---\n"), &Options{Summary: true}); !slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == "file-nul" }) {
		t.Errorf("a NUL in the front matter: %v", problems)
	}
}
