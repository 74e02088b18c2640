package skill

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// Check finds what Validate finds, whatever the manifest is, under every profile.
func FuzzCheck(f *testing.F) {
	for _, text := range append(skimmed, notSkimmed...) {
		f.Add(text)
	}
	for _, text := range skimmed {
		f.Add(text + "\n\n  \nSee [a](references/a.md), [b](references/b.md) and `scripts/c.py`.\n```\n[d](d)\n")
		f.Add(text + "\x00")
		f.Add(text + "\xff")
		f.Add(text + "\r\n\rSee [b](../b)\r")
		f.Add(strings.TrimSuffix(text, "\n"))
		f.Add(text + strings.Repeat("a line of text\n", 501))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var lent bytes.Buffer
		fsys := folder(map[string]string{"SKILL.md": text, "references/a.md": "", "nul.txt": ""})
		for _, dir := range []string{"my-skill", ""} {
			for _, profile := range everyProfile() {
				m, want := Validate(fsys, dir, &ValidateOptions{Profile: profile, Path: "x"})
				name, got := Check(fsys, dir, &ValidateOptions{Profile: profile, Path: "x", Buffer: &lent})
				clear(lent.Bytes()) // nothing that was returned lies in it
				if name != m.Name || !reflect.DeepEqual(got, want) {
					t.Fatalf("%q in %q under %s\ngot  %q %v\nwant %q %v", text, dir, profile.Name, name, got, m.Name, want)
				}
			}
		}
	})
}

// Most manifests are not parsed: Check is worth its lines only if that is so.
func TestCheckSkims(t *testing.T) {
	for _, text := range skimmed {
		text += "\n\nThe body.\n\n"
		got := skimText([]byte(text), &ParseOptions{Dir: "my-skill"})
		if got.m != nil || len(got.problems) > 0 {
			t.Errorf("%q was parsed: %+v, %v", text, got.m, got.problems)
		}
		want, _ := Parse([]byte(text), &ParseOptions{Dir: "my-skill"})
		if string(got.body) != want.Body || got.line != want.BodyLine {
			t.Errorf("%q: body %q from line %d, want %q from line %d", text, got.body, got.line, want.Body, want.BodyLine)
		}
	}
}

func TestFoldedPathASCII(t *testing.T) { // security 2.2 #25
	for c := range rune(0x80) {
		if got, want := foldedPath(string(c)), foldedPath(string(c)+"é"); got+"É" != want {
			t.Errorf("%q: got %q, beside another letter %q", c, got, want)
		}
	}
}
