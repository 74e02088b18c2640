package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func withCommands(t *testing.T, root string) *Catalog {
	t.Helper()
	return opened(t, &Options{Layers: []Layer{{Name: "claude", Source: Commands(root, nil)}}})
}

// R57: each file is a skill, whatever its front matter lacks.
func TestCommands(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{
		"plain.md":             "\n# Review the *change*: all of it\n\nThen stop.\n",
		"empty.md":             "",
		"own.md":               "---\nname: other\ndescription: Its own.\n---\nText.\n",
		"half.md":              "---\nallowed-tools: Read\n---\n## It's half\n",
		"web/front/page.md":    "---\ndescription: A page.\n---\nText.\n",
		"a/b/c/d.md":           "Deep enough.",
		"a/b/c/d/e.md":         "Too deep.",
		"rule.md":              "Text.\n\n---\n\nMore.\n",
		"unclosed.md":          "---\nname: x\n",
		"README.md":            "About these.",
		".hidden.md":           "x",
		"notes.txt":            "x",
		"link.md":              "-> plain.md",
		"big.md":               strings.Repeat("x", 2<<20),
		"bytes.md":             "Caf\xff\x00\x1b[31m it's\n",
		"node_modules/.x/y.md": "x",
	})
	c := withCommands(t, root)
	var got []string
	for e := range c.All() {
		got = append(got, fmt.Sprintf("%s %s %q", e.Name(), e.State(), e.Description()))
	}
	wantLines(t, "commands", got,
		`big broken ""`,
		`bytes broken ""`,
		`d enabled "Deep enough."`,
		`empty enabled "A command without a text."`,
		`half enabled "It's half"`,
		`other enabled "Its own."`,
		`page enabled "A page."`,
		`plain enabled "Review the *change*: all of it"`,
		`rule enabled "Text."`,
		`unclosed broken ""`,
	)
	for _, name := range []string{"plain", "half", "rule", "page", "empty"} {
		e := find(t, c, name)
		if p := e.Problems(); len(p) > 0 {
			t.Errorf("%s: problems %v", name, p)
		}
		if _, err := e.Location(t.Context()); !errors.Is(err, ErrNoFolder) || !strings.HasPrefix(e.Where(), root) || !strings.HasSuffix(e.Where(), ".md") {
			t.Errorf("%s: location %v, where %s", name, err, e.Where())
		}
	}
	s := loaded(t, c, "rule")
	if text, err := s.ReadFile("SKILL.md"); err != nil || !strings.HasSuffix(string(text), "---\nText.\n\n---\n\nMore.\n") {
		t.Errorf("the manifest is %q, %v", text, err)
	}
	if got := s.Manifest().Body; got != "Text.\n\n---\n\nMore." {
		t.Errorf("the body is %q", got)
	}
}

// A change of a command is a change of the skill, and the line of what its front matter has stays.
func TestCommandsRefresh(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a.md": "One."})
	c := withCommands(t, root)
	disk(t, root, map[string]string{"a.md": "---\nallowed-tools: Read\nunknown: 1\n---\nTwo.", "b.md": "Three."})
	next, err := c.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, next, "a"); got.Description() != "Two." || loaded(t, next, "a").Manifest().Fields[1].Line != 3 {
		t.Errorf("after the change: %q, %v", got.Description(), loaded(t, next, "a").Manifest().Fields)
	}
	if got := find(t, next, "b").Description(); got != "Three." {
		t.Errorf("the new one says %q", got)
	}
	if err := os.Remove(filepath.Join(root, "b.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := find(t, next, "b").Load(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a command that is gone: %v", err)
	}
}

func TestCommandsBounds(t *testing.T) {
	files := map[string]string{}
	for i := range maxCommands + 5 {
		files[fmt.Sprintf("c%04d.md", i)] = "Text."
	}
	c := withCommands(t, disk(t, t.TempDir(), files))
	n := 0
	for range c.All() {
		n++
	}
	if p := c.Problems(); n != maxCommands || len(p) != 1 || p[0].Code != "discovery-bound" {
		t.Errorf("%d commands, problems %v", n, p)
	}
}

func TestCommandsOutside(t *testing.T) {
	base := disk(t, t.TempDir(), map[string]string{"project/f": "", "other/a.md": "Text.", "project/commands": "-> ../other"})
	within := Commands(filepath.Join(base, "project", "commands"), &CommandOptions{Within: filepath.Join(base, "project")})
	for name, source := range map[string]Source{"outside": within, "no name": Commands("", nil), "relative": Commands(base, &CommandOptions{Within: "x"}),
		"a file": Commands(filepath.Join(base, "project", "f"), nil)} {
		c := opened(t, &Options{Layers: []Layer{{Name: "claude", Source: source}}})
		if p := c.Problems(); len(p) != 1 || p[0].Code != "source-unreadable" {
			t.Errorf("%s: problems %v", name, p)
		}
	}
	c := withCommands(t, filepath.Join(base, "none"))
	if p := c.Problems(); len(p) != 0 {
		t.Errorf("a folder that does not exist: problems %v", p)
	}
}

func TestCommandTree(t *testing.T) {
	if err := fstest.TestFS(commandTree("text"), "SKILL.md"); err != nil {
		t.Error(err)
	}
}

// Whatever a command has, its text is kept, and its head parses.
func FuzzCommandText(f *testing.F) {
	f.Add("x", "Text.")
	f.Add("a'b", "---\nname: x\n---\ntext")
	f.Add("x", "\ufeff---\r\ndescription: |\r\n  two\r\n---\r\n")
	f.Add("x", "# '\x00\xff")
	f.Fuzz(func(t *testing.T, stem, text string) {
		got := string(commandText(stem, []byte(text)))
		if len(got) < len(text) || !strings.HasSuffix(got, text[max(0, len(text)-1):]) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
