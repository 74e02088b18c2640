package skilluri

import "testing"

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
