package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Published figures compare only while a skill keeps its bytes.
func TestSkillsNeverChange(t *testing.T) {
	h := sha256.New()
	for i := range 200 {
		s := newSkill(i)
		fmt.Fprintln(h, s.name, s.keywords)
		for _, f := range s.files {
			fmt.Fprintln(h, f.path, f.mode, f.content)
		}
	}
	const want = "34ead53e37e9806a1367e35b8f4c7f9e66d5106487c519679619c55da523c604"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the first 200 skills have the digest %s, want %s", got, want)
	}
}

func TestSameSkillInEveryTree(t *testing.T) {
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	for out, n := range map[string]int{small: 3, large: 20} {
		if err := run(out, n, false); err != nil {
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
	if err := run(dir, 1, true); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, 1, true); err == nil {
		t.Error("a second run into the same folder succeeded, want an error")
	}
}
