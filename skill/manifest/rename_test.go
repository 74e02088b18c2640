package manifest

import (
	"bytes"
	"strings"
	"testing"
)

// C43: another name changes that name and nothing else.
func TestRename(t *testing.T) { // C43, R151
	const body = "\ndescription: Does it. # as named\n---\n\nname: csv\n"
	for _, tt := range []struct{ name, src, want string }{
		{"plain", "---\nname: csv" + body, "---\nname: tables" + body},
		{"quoted", "---\nname: \"csv\"" + body, "---\nname: tables" + body},
		{"single quotes", "---\nname: 'csv' # mine" + body, "---\nname: tables # mine" + body},
		{"comment", "---\nname: csv   # the name" + body, "---\nname: tables   # the name" + body},
		{"other case of the key", "---\nName: csv" + body, "---\nName: tables" + body},
		{"none", "---\ndescription: Does it.\n---\n", "---\nname: tables\ndescription: Does it.\n---\n"},
		{"line ends", "---\r\nname: csv\r\ndescription: x y\r\n---\r\nB\r\n", "---\r\nname: tables\r\ndescription: x y\r\n---\r\nB\r\n"},
		{"none, line ends", "---\r\ndescription: x y\r\n---\r\nB\r\n", "---\r\nname: tables\r\ndescription: x y\r\n---\r\nB\r\n"},
		{"not the first key", "---\ndescription: >\n  a\n  b\nname: csv\n---\n", "---\ndescription: >\n  a\n  b\nname: tables\n---\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Rename([]byte(tt.src), "csv", "tables")
			if err != nil || string(got) != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestRenameRefuses(t *testing.T) {
	for _, tt := range []struct{ name, src, to string }{
		{"a name that is none", "---\nname: csv\ndescription: x\n---\n", "../x"},
		{"no front matter", "# csv\n", "tables"},
		{"twice", "---\nname: csv\nname: pdf\ndescription: x\n---\n", "tables"},
		{"a block", "---\nname: >-\n  csv\ndescription: x\n---\n", "tables"},
		{"an escape", "---\nname: \"\\x63sv\"\ndescription: x\n---\n", "tables"},
		{"a list", "---\nname: [csv]\ndescription: x\n---\n", "tables"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Rename([]byte(tt.src), "csv", tt.to); err == nil {
				t.Errorf("no error, and the text %q", got)
			}
		})
	}
}

// A renamed text has the new name, and reads as before apart from it; everything after the front matter is the same bytes.
func FuzzRename(f *testing.F) {
	for _, s := range append(seeds(f), "---\nname: 'a' # b\ndescription: c\n---\nname: a\n") {
		f.Add([]byte(s), "my-skill", "Other_1")
		f.Add([]byte(s), "", "no")
	}
	f.Add([]byte("---\n}ame: 1.0\ndescription: A test skill\n---"), "x", "no") // no YAML: a name could be added and not be found again
	f.Fuzz(func(t *testing.T, src []byte, dir, name string) {
		before := bytes.Clone(src)
		out, err := Rename(src, dir, name)
		if !bytes.Equal(src, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		old, _ := Parse(src, &Options{Dir: dir})
		m, problems := Parse(out, &Options{Dir: name})
		if m.Name != name || m.Body != old.Body || m.Description != old.Description {
			t.Errorf("%q became %q, which reads %+v", src, out, m)
		}
		for _, p := range problems {
			if p.Fatal {
				t.Errorf("%q became %q: %v", src, out, p)
			}
		}
		again, err := Rename(out, name, name)
		if err != nil || strings.Count(string(again), "\n") != strings.Count(string(out), "\n") {
			t.Errorf("again: %q became %q, %v", out, again, err)
		}
	})
}
