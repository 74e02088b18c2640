package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var skimmed = []string{
	"---\nname: my-skill\ndescription: Does a thing, well.\n---\nbody\n",
	"---\nname: my-skill\ndescription: \"Note: does a thing\"\nlicense: Apache-2.0\n---\n",
	"---\nname: my-skill\ndescription: >-\n  Two lines\n  of text.\nlicense: MIT\n---\n",
	"---\nname: my-skill\ndescription: >\n  Two lines\n  of text.\nlicense: MIT\n---\n",
	"---\nname: my-skill\ndescription: Résumé — of a thing\nmetadata:\n  author: org-1\n  version: \"1.10\"\n  category: pdf\n---\n",
	"---\nname: my-skill\ndescription: x\ncompatibility: Requires git, jq\nallowed-tools: Bash(git:*) Read\n---\n",
	"---\nlicense: MIT\ndescription: Uses http://example.com/#a and a-b\nname: my-skill\n---\n",
}

var notSkimmed = []string{
	"---\nname: my-skill\ndescription: a: b\n---\n",
	"---\nname: my-skill\ndescription: a #b\n---\n",
	"---\nname: my-skill\ndescription: \"a\\nb\"\n---\n",
	"---\nname: my-skill\ndescription: yes\n---\n",
	"---\nname: my-skill\ndescription: 1.10\n---\n",
	"---\nname: other\ndescription: x\n---\n",
	"---\nname: my-skill\nname: my-skill\ndescription: x\n---\n",
	"---\nname: my-skill\ndescription: x\n  goes on\n---\n",
	"---\nname: my-skill\ndescription: x\n\tlicense: MIT\n---\n",
	"---\nname: my-skill\ndescription: x\nmetadata:\n  tags: a b\n---\n",
	"---\nname: my-skill\ndescription: x\nmetadata:\n  requires: gh\n---\n",
	"---\nname: my-skill\ndescription: x\nmetadata:\n  version: \"1\"\n  version: \"2\"\n---\n",
	"---\nname: my-skill\ndescription: >-\n  a\n\n  b\nlicense: MIT\n---\n",
	"---\nname: my-skill\ndescription: >-\n  a\n   b\nlicense: MIT\n---\n",
	"---\nname: my-skill\ndescription: x\nunknown: y\n---\n",
	"---\nname: my-skill\ndescription: x\u2028y\n---\n",
	"---\nname: my-skill\n---\n",
	"\n---\nname: my-skill\ndescription: x\n---\n",
	"---\r\nname: my-skill\r\ndescription: x\r\n---\r\n",
	"---\nname: my-skill\ndescription: x\nallowed-tools:\n---\n",
	"---\nname: my-skill\ndescription: x\n",
}

func TestSkim(t *testing.T) {
	for _, text := range skimmed {
		if !agree(t, "my-skill", []byte(text)) {
			t.Errorf("not skimmed: %q", text)
		}
	}
	for _, text := range notSkimmed {
		if agree(t, "my-skill", []byte(text)) {
			t.Errorf("skimmed: %q", text)
		}
	}
}

// agree checks what skim makes of a text in a folder against Parse, under every profile.
func agree(t *testing.T, dir string, text []byte) bool {
	t.Helper()
	before := string(text)
	var p Plain
	ok := Skim(&p, text, dir)
	if string(text) != before {
		t.Fatalf("skim wrote to its input %q", before)
	}
	if !ok {
		return false
	}
	for _, profile := range everyProfile() {
		m, problems := Parse(text[:HeadEnd(text)], &Options{Dir: dir, Profile: profile})
		problems = slices.DeleteFunc(problems, func(p Problem) bool { return strings.HasPrefix(p.Code, "body-") })
		if len(problems) > 0 {
			t.Fatalf("%q is skimmed, and Parse says under %s: %v", text, profile.Name, problems[0].Error())
		}
		got := fmt.Sprintf("%q %q %q", dir, p.Description, p.Version)
		if want := fmt.Sprintf("%q %q %q", m.Name, m.Description, m.Version); got != want {
			t.Fatalf("%q under %s\ngot  %s\nwant %s", text, profile.Name, got, want)
		}
		if m.Brief != Brief(m.Description) || m.WhenToUse != "" || m.Priority != 0 || len(m.Tags)+len(m.Requires) > 0 ||
			!m.Triggers.Empty() || !m.DefaultEnabled || m.DisableModelInvocation || !m.UserInvocable || m.MinVersion+m.MaxVersion != "" {
			t.Fatalf("%q is skimmed, and has more to keep: %+v", text, m)
		}
	}
	return true
}

func FuzzSkim(f *testing.F) {
	for _, text := range append(skimmed, notSkimmed...) {
		f.Add("my-skill", []byte(text))
	}
	for _, name := range append(oddNames, "a", "a1", "a-1-b", strings.Repeat("a", MaxName)) {
		f.Add(name, []byte("---\nname: "+name+"\ndescription: x\n---\n"))
	}
	f.Fuzz(func(t *testing.T, dir string, text []byte) { agree(t, dir, text) })
}

// oddNames are names that mean something else to some system or reader.
var oddNames = []string{"nul", "con", "aux", "prn", "com0", "com9", "lpt1", "NUL", "true", "yes", "null", "~", "-", "1", "1e3", "a_b", "a--b", "a-", "__pycache__", "."}

// security 2.2 #24: a device's name is never a skill's, whichever path reads it.
func TestOddNames(t *testing.T) {
	for _, name := range oddNames {
		text := []byte("---\nname: " + name + "\ndescription: x\n---\n")
		if agree(t, name, text) {
			t.Errorf("skimmed: %q", text)
		}
		m, _ := Parse(text, &Options{Dir: name})
		if err := CheckName(m.Name); err != nil {
			t.Errorf("%s is called %q: %v", name, m.Name, err)
		}
	}
}

// The fast path is worth its lines only if most manifests take it.
func TestSkimTakesGeneratedTrees(t *testing.T) {
	dir := filepath.Join(os.Getenv("AGENT_BENCH_TREES"), "1000", "skills")
	names, err := os.ReadDir(dir)
	if err != nil {
		return // there is no tree: the corpus above has every form that it has
	}
	taken := 0
	for _, d := range names {
		text, err := os.ReadFile(filepath.Join(dir, d.Name(), "SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		var p Plain
		if Skim(&p, text, d.Name()) {
			taken++
		}
	}
	if taken*10 < len(names)*9 {
		t.Errorf("skimmed %d of %d", taken, len(names))
	}
}

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

func everyProfile() (out []*Profile) {
	for _, name := range Profiles() {
		out = append(out, &Profile{Name: name})
	}
	return out
}
