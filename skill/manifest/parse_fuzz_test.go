package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// seeds are texts that reach far into the parser.
func seeds(f *testing.F) []string {
	text, err := os.ReadFile("../check/testdata/spec_edge.json")
	if err != nil {
		f.Fatal(err)
	}
	var rows []struct{ Raw string }
	if err := json.Unmarshal(text, &rows); err != nil {
		f.Fatal(err)
	}
	out := []string{
		"\ufeff\n\n---  \nName: My_Skill\ndescription: a: b # c\nallowed_tools: - Read\nversion: 1.0\ntags: [a, b]\n--- \n",
		"---\r\nname: x\r\nmetadata:\r\n  a: b: c\r\nauthor: y\r\ndescription: \"x\" y\r\n---\r\nbody",
		"# x\n```yaml\n---\nname: x\ndescription: y\n---\n",
		"---\nname: x\ndescription: >\ny\n- z\n\n# T\n\nB\n----\n---# C\n---\n",
		"---\nname: x\ndescription: y\nz: w\ntags:\n  - a\n- b\nc\n...\n| d |\nallowed-tools: Read",
		"---\nname: x\n\"a\": &x [*x]\n...\n--- y\n\tz: \u00a0\u2028\u0007\n---",
	}
	for _, r := range rows {
		out = append(out, r.Raw)
	}
	return out
}

func everyColumn() []*Profile {
	var out []*Profile
	for _, name := range Profiles() {
		out = append(out, &Profile{Name: name})
	}
	return out
}

// byLines are the problems of front matter that YAML cannot read.
var byLines = map[string]bool{"frontmatter-closer": true, "frontmatter-open": true, "yaml-flush": true}

// Whatever the text: no panic, never nil, places inside the file, texts that are text. Profiles change what is a problem, never what
// is read, but for the end of the front matter, which the default profile finds by its lines.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add([]byte(s), "my-skill")
	}
	f.Fuzz(func(t *testing.T, src []byte, dir string) {
		before := bytes.Clone(src)
		var first *Manifest
		for _, profile := range everyColumn() {
			m, problems := Parse(src, &Options{Dir: dir, Profile: profile})
			if profile.Name != "spec" { // where names may have letters of any script
				checkSound(t, src, m, problems)
			}
			if first == nil && !slices.ContainsFunc(problems, func(p Problem) bool { return byLines[p.Code] }) {
				first = m
			}
			if b, more := Parse(src, &Options{Dir: dir, Profile: profile, Borrow: true}); !reflect.DeepEqual(b, m) || !reflect.DeepEqual(more, problems) {
				t.Errorf("%s: borrowed %+v, %v, want %+v, %v", profile.Name, b, more, m, problems)
			}
			if first != nil && (m.Description != first.Description || m.Body != first.Body || len(m.Fields) != len(first.Fields)) {
				t.Errorf("%s reads %+v, the default profile %+v", profile.Name, m, first)
			}
		}
		if !bytes.Equal(src, before) {
			t.Error("the input was changed")
		}
	})
}

// Fixing twice is fixing once, and the result reads alike.
func FuzzFix(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add([]byte(s), "my-skill", false)
		f.Add([]byte(s), "my-skill", true)
	}
	f.Fuzz(func(t *testing.T, src []byte, dir string, strict bool) {
		o := &Options{Dir: dir}
		if strict {
			o.Profile = &Profile{Name: "spec"}
		}
		once, changed, err := Fix(src, o)
		if (len(changed) > 0) == bytes.Equal(once, src) {
			t.Fatalf("%d changes, %v, made %q of %q", len(changed), err, once, src)
		}
		if err != nil {
			return
		}
		if !sameMeaning(src, once, o) {
			t.Errorf("%q reads otherwise than %q", once, src)
		}
		if twice, more, err := Fix(once, o); len(more) > 0 || err != nil || !bytes.Equal(twice, once) {
			t.Errorf("the second time %q, %v, %v, made of %q", twice, more, err, once)
		}
	})
}

// A name that a manifest gives leads to one that callers may ask for, and its canonical form is
// stable and found again.
func FuzzName(f *testing.F) {
	for _, s := range []string{"My_Skill", "../../etc/passwd", "con", "__pycache__", "é", " x ", "-", "\u212a", strings.Repeat("a", 65)} {
		f.Add(s, "dir")
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, name, dir string) {
		got := fallbackName(name, dir)
		if CheckName(got) != nil || Canonical(Canonical(got)) != Canonical(got) || CheckName(Canonical(got)) != nil {
			t.Errorf("%q in %q is called %q", name, dir, got)
		}
		if CheckName(name) == nil && strings.ContainsAny(name, "/\\.~%*?[{\x00") {
			t.Errorf("%q may be asked for", name)
		}
	})
}
