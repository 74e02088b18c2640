package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Published figures are comparable only if the bytes of a skill never change.
func TestSkillsNeverChange(t *testing.T) {
	h := sha256.New()
	for i := range 200 {
		s := newSkill(i)
		fmt.Fprintln(h, s.name, s.keywords)
		for _, f := range s.files {
			fmt.Fprintln(h, f.path, f.mode, f.content)
		}
	}
	const want = "fcfab2da892f94e9c53ab64c2b6a755c83d03570a2f77e7cc14949747af68111"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the first 200 skills have the digest %s, want %s", got, want)
	}
}

func TestSameSkillInEveryTree(t *testing.T) {
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	for out, n := range map[string]int{small: 3, large: 20} {
		if err := run(&options{out: out, count: n}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadFile(filepath.Join(small, "names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(names)) {
		path := filepath.Join("skills", name, "SKILL.md")
		got, err := os.ReadFile(filepath.Join(small, path))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(large, path))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s differs between a tree of 3 and one of 20", path)
		}
	}
}

func TestRefusesToMixTrees(t *testing.T) {
	dir := t.TempDir()
	if err := run(&options{out: dir, count: 1, layout: "nested"}); err != nil {
		t.Fatal(err)
	}
	if err := run(&options{out: dir, count: 1, layout: "nested"}); err == nil {
		t.Error("a second run into the same folder succeeded, want an error")
	}
}

// Copies of other manifests get unique names; nothing else changes. Broken ones are copied, too.
func TestRealManifests(t *testing.T) {
	from, out := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		full := filepath.Join(from, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/b/SKILL.md", "---\r\nname: \"PDF Forms\"\r\ndescription: x\r\n---\r\nname: in the body\r\n")
	write("c/SKILL.md", "---\ndescription: y\nname: csv\nlicense: MIT\n---\nBody.\n")
	write("d/SKILL.md", "No front matter.\n")
	write("e/README.md", "---\nname: e\ndescription: z\n---\n")
	if err := run(&options{out: out, count: 4, from: from}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"s-pdf-forms-00000": "---\r\nname: s-pdf-forms-00000\r\ndescription: x\r\n---\r\nname: in the body\r\n",
		"s-csv-00001":       "---\ndescription: y\nname: s-csv-00001\nlicense: MIT\n---\nBody.\n",
		"s-d-00002":         "No front matter.\n",
		"s-pdf-forms-00003": "---\r\nname: s-pdf-forms-00003\r\ndescription: x\r\n---\r\nname: in the body\r\n",
	} {
		got, err := os.ReadFile(filepath.Join(out, "skills", name, "SKILL.md"))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	if err := run(&options{out: t.TempDir(), count: 3, from: t.TempDir()}); err == nil {
		t.Error("a folder without manifests is accepted, want an error")
	}
}

// The usual shapes are read without the YAML library, which takes hundreds of allocations.
func TestFrontMatterIsReadQuickly(t *testing.T) {
	const skills, most = 1000, 2
	var r yamlnode.Reader
	slow := 0
	for i := range skills {
		_, front, _ := strings.Cut(string(frontOf([]byte(newSkill(i).files[0].content))), "\n")
		src := []byte(front)
		if testing.AllocsPerRun(1, func() {
			if _, err := r.Parse(src, nil); err != nil {
				t.Fatalf("%q: %v", src, err)
			}
		}) > most {
			slow++
		}
	}
	if slow*50 > skills {
		t.Errorf("%d of %d take more than %d allocations", slow, skills, most)
	}
}
