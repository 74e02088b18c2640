package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// C65: what decides which programs git runs is kept, also for submodules and further work trees, and in a folder whose name has
// characters of patterns in it; there the private files of a home are hidden as well.
func TestGuardOfRepositories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[ab]*")
	for _, name := range []string{".git/HEAD", ".git/modules/a/HEAD", ".git/modules/lib/b/HEAD", ".git/worktrees/c/HEAD", ".ssh/id"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := &Guard{Home: dir}
	var c Command
	g.Protect(&c, []string{dir}, nil)
	kept := c.Keep
	for _, name := range []string{".git/hooks", ".git/config", ".git/commondir", ".git/config.worktree", ".git/modules/a/config",
		".git/modules/a/hooks", ".git/modules/lib/b/config", ".git/modules/lib/b/commondir", ".git/worktrees/c/commondir"} {
		if !slices.Contains(kept, filepath.Join(dir, name)) {
			t.Errorf("%s is not kept", name)
		}
	}
	if hidden := g.Hidden([]string{dir}, nil); !slices.Contains(hidden, filepath.Join(dir, ".ssh")) {
		t.Errorf("hidden: %q", hidden)
	}
}

// C65, security 1.2: what steers agents and installs packages is kept where it exists, and does not come to be where it does not, unless
// the user named it. Repositories in folders below are kept, too: as far as they are looked for, and the rest is said.
func TestGuardOfInstructions(t *testing.T) {
	dir := t.TempDir()
	tree{"CLAUDE.md": "x", "QWEN.md": "x", "src/Claude.MD": "x", "src/.npmrc": "x", ".hg/hgrc": "x", ".jj/x": "x", ".config/x": "x", "docs/rules.md": "x", "lib/one/.git/HEAD": "x", "lib/two/.git": "gitdir: x", "bare/HEAD": "x", "bare/objects/x": "x",
		"bare/refs/x": "x", "node_modules/p/.git/HEAD": "x"}.write(t, dir)
	if err := os.Symlink("docs/rules.md", filepath.Join(dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	c := &Command{Write: []string{dir, at("GEMINI.md"), at("lib"), at("QWEN.md")}}
	(&Guard{}).Protect(c, []string{dir, at("GEMINI.md"), at("lib"), at("QWEN.md")}, []string{at("GEMINI.md"), at("lib"), at("QWEN.md")})
	for _, tt := range []struct {
		list []string
		name string
		has  []string
		not  []string
	}{
		{c.Keep, "keep", []string{"CLAUDE.md", "AGENTS.md", "docs/rules.md", "lib/one/.git/hooks", "lib/one/.git/config", "lib/two/.git/hooks", "bare/hooks", "bare/config",
			"src/Claude.MD", "src/.npmrc", ".hg/hgrc"},
			[]string{"GEMINI.md", "QWEN.md", "QWEN.md/.git/hooks", "node_modules/p/.git/config", ".npmrc", ".github/workflows", ".config"}},
		{c.Absent, "absent", []string{".jj/repo/config.toml"}, []string{"GEMINI.md", "CLAUDE.md", ".npmrc", ".github"}},
		{c.Write, "write", []string{".", "lib"}, []string{"GEMINI.md", "QWEN.md"}},
	} {
		for _, name := range tt.has {
			if !slices.Contains(tt.list, at(name)) {
				t.Errorf("%s has not %s: %q", tt.name, name, tt.list)
			}
		}
		for _, name := range tt.not {
			if slices.Contains(tt.list, at(name)) {
				t.Errorf("%s has %s", tt.name, name)
			}
		}
	}
	if len(c.Missing) > 0 {
		t.Errorf("missing: %q", c.Missing)
	}
	deep := filepath.Join(dir, strings.Repeat("x/", deepestSearched+2), ".git")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	c = &Command{}
	(&Guard{}).Protect(c, []string{dir}, nil)
	if len(c.Missing) != 1 || slices.Contains(c.Keep, filepath.Join(deep, "config")) {
		t.Errorf("missing: %q", c.Missing)
	}
}
