package skilluri

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ uri, name, file string }{
		{"skill://a/SKILL.md", "a", "SKILL.md"},
		{"skill://a", "a", "."},
		{"skill://a/docs/%C3%BC%20b.md", "a", "docs/ü b.md"},
		{"skill://a/", "", ""},
		{"skill:///SKILL.md", "", ""},
		{"skill://a/.", "", ""},
		{"skill://a/%2e%2e/b", "", ""},
		{"skill://a/../b", "", ""},
		{"skill://a/b/", "", ""},
		{"skill://a//b", "", ""},
		{"skill://a/docs%2Fb.md", "", ""},
		{"skill://a/%zz", "", ""},
		{"skill://a/b?x", "", ""},
		{"skill://a/b#x", "", ""},
		{"file:///etc/passwd", "", ""},
	} {
		name, file, ok := Parse(tt.uri)
		if name != tt.name || file != tt.file || ok != (tt.name != "") {
			t.Errorf("%s: got %q, %q, %t", tt.uri, name, file, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("skill://a/b%20c")
	f.Fuzz(func(t *testing.T, uri string) {
		if name, file, ok := Parse(uri); ok && Of(name, file) != uri {
			t.Errorf("%q is %q, %q", uri, name, file)
		}
	})
}

const sum = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// entry returns the text of an entry of the skill a with some more files, each {"uri": …}.
func entry(uri, front, more string) string {
	return fmt.Sprintf(`{"uri":%q,"frontmatter":%s,"resources":[{"uri":%q,"digest":%q,"size":1}%s]}`, uri, front, uri, sum, more)
}

func TestParseEntry(t *testing.T) {
	const a, front = "skill://a/SKILL.md", `{"name":"a","description":"About."}`
	file := func(uri string) string { return fmt.Sprintf(`,{"uri":%q,"digest":%q,"size":2}`, uri, sum) }
	for _, tt := range []struct{ text, path, wrong string }{
		{entry(a, front, ""), "a", ""},
		{entry("skill://x.y/b/a/SKILL.md", front, ""), "x.y/b/a", ""},
		{entry("github://x/b/a/SKILL.md", front, ""), "github:/x/b/a", ""},
		{entry(a, front, file("skill://a/docs/a%20b.md")+file("skill://a/x/SKILL.md")), "a", ""},
		{`{"uri":"skill://a/SKILL.md","frontmatter":` + front + `,"resources":"dynamic"}`, "a", ""},
		{`{"uri":"skill://a/SKILL.md","frontmatter":` + front + `,"resources":"other"}`, "", `neither a list nor "dynamic"`},
		{`{"uri":"skill://a/SKILL.md","frontmatter":` + front + `}`, "", `neither a list nor "dynamic"`},
		{`{"uri":"skill://a/SKILL.md","frontmatter":` + front + `,"resources":null}`, "", `neither a list nor "dynamic"`},
		{`{"uri":"skill://a/SKILL.md","frontmatter":` + front + `,"resources":[]}`, "", "SKILL.md is not among its files"},
		{entry("skill://github:/b/a/SKILL.md", front, ""), "", "its address"},
		{entry("skill://u@h/a/SKILL.md", front, ""), "", "its address"},
		{entry("skill:///a/SKILL.md", front, ""), "", "its address"},
		{entry("skill://x/%2e%2e/a/SKILL.md", front, ""), "", "its address"},
		{entry("skill://x/../a/SKILL.md", front, ""), "", "its address"},
		{entry("skill://SKILL.md", front, ""), "", "its address"},
		{entry("SKILL://a/SKILL.md", front, ""), "", "its address"},
		{entry("/a/SKILL.md", front, ""), "", "its address"},
		{entry("skill://b/SKILL.md", front, ""), "", "not the last part of its address"},
		{entry(a, `[]`, ""), "", "not an object"},
		{entry(a, `{"name":"a"}`, ""), "", "no name or no description"},
		{entry(a, front, file("skill://a/%2e%2e/b")), "", "is not below"},
		{entry(a, front, file(`skill://a/x%5Cy`)), "", "is not below"},
		{entry(a, front, file("skill://a/x%2Fy")), "", "is not below"},
		{entry(a, front, file("skill://a//etc/passwd")), "", "is not below"},
		{entry(a, front, file("/etc/passwd")), "", "is not below"},
		{entry(a, front, file("file:///etc/passwd")), "", "is not below"},
		{entry(a, front, file("skill://b/x")), "", "is not below"},
		{entry(a, front, file("skill://a/x?y")), "", "is not below"},
		{entry(a, front, file("skill://a/x%00")), "", "is not below"},
		{entry(a, front, file("skill://a/x")+file("skill://a/%78")), "", "is there twice"},
		{entry(a, front, file("skill://a/x")+file("skill://a/x/y")), "", "is a folder, too"},
		{entry(a, front, `,{"uri":"skill://a/x","digest":"sha256:AA","size":1}`), "", "64 hexadecimal digits"},
		{entry(a, front, `,{"uri":"skill://a/x","digest":"`+sum+`"}`), "", "has no size"},
		{entry(a, front, `,{"uri":"skill://a/x","digest":"`+sum+`","size":-1}`), "", "has no size"},
		{entry(a, front, `,{"uri":"skill://a/x","digest":"`+sum+`","size":16777216}`), "", "over 16777216 bytes"},
		{entry(a, front, strings.Repeat(file("skill://a/x"), 512)), "", "513 files"},
	} {
		e, err := ParseEntry([]byte(tt.text))
		switch {
		case tt.wrong == "" && err != nil, tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%.200s: error %v, want %q", tt.text, err, tt.wrong)
		case err == nil && e.Path() != tt.path:
			t.Errorf("%.200s: path %q, want %q", tt.text, e.Path(), tt.path)
		}
	}
}

func TestDiffers(t *testing.T) {
	for _, tt := range []struct{ yaml, front, field string }{
		{"name: a\nversion: 1.10\ntags: [x, 2]", `{"tags":["x",2],"version":1.1,"name":"a"}`, ""},
		{"name: a\nversion: \"1.10\"", `{"name":"a","version":1.1}`, "version"},
		{"name: a\nmetadata: {k: v}", `{"name":"a","metadata":{"k":"w"}}`, "metadata"},
		{"name: a\nhooks: []", `{"name":"a"}`, "hooks"},
		{"name: a", `{"name":"a","license":"MIT"}`, "license"},
		{"name: a\nx: null", `{"name":"a","x":null}`, ""},
		{"name: a\nx: null", `{"name":"a"}`, "x"},
		{"name: a\nx: 100", `{"name":"a","x":1e2}`, ""},
		{"name: a\nx: {n: [1.0]}", `{"name":"a","x":{"n":[1]}}`, ""},
		{"name: a\nx: [1, 2]", `{"name":"a","x":[2,1]}`, "x"},
		{"name: a\nz: 1\nb: 2", `{"name":"a"}`, "b"},
	} {
		front, err := FrontMatter([]byte("---\n" + tt.yaml + "\n---\n\nBody\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Differs(front, []byte(tt.front)); err != nil || got != tt.field {
			t.Errorf("%s, %s: %q, %v, want %q", tt.yaml, tt.front, got, err, tt.field)
		}
	}
}

// An entry that is taken has no file outside of its folder, and each once.
func FuzzParseEntry(f *testing.F) {
	f.Add(entry("skill://a/SKILL.md", `{"name":"a","description":"About."}`, `,{"uri":"skill://a/x/y%20z","digest":"`+sum+`","size":2}`))
	f.Add(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"About."},"resources":"dynamic"}`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEntry([]byte(text))
		if err != nil {
			return
		}
		if !fs.ValidPath(e.Path()) || e.Path() == "." {
			t.Errorf("path %q", e.Path())
		}
		seen := map[string]bool{}
		for _, r := range e.Resources {
			if !fs.ValidPath(r.File()) || seen[r.File()] || !strings.HasPrefix(r.URI, strings.TrimSuffix(e.URI, Manifest)) {
				t.Errorf("file %q of %q", r.File(), r.URI)
			}
			seen[r.File()] = true
		}
		if !e.Dynamic() && !seen[Manifest] {
			t.Error("no manifest")
		}
	})
}
