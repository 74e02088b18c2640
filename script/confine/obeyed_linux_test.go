package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/script/runner"
)

// obeyedPaths are all names of the table, at the top and below it. A repository is there in both.
func obeyedPaths() []string {
	var out []string
	for _, name := range obeyed.Names() {
		out = append(out, name, "src/"+name)
		if first, _, _ := strings.Cut(name, "/"); !filename.IsRepository(first) { // in another case it is none here
			out = append(out, "src/"+strings.ToUpper(name))
		}
	}
	return out
}

// guarded returns a command that may write its folder, with the guard that scripts and bash have.
func guarded(t *testing.T, i tier, program string) *runner.Command {
	t.Helper()
	c := i.command(t, "/bin/sh", "-c", program)
	for _, git := range []string{".git", "src/.git"} {
		for _, name := range []string{"HEAD", "config", "objects/x", "refs/x"} {
			file := filepath.Join(c.Dir, git, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, file, "old\n")
		}
	}
	return c
}

func protect(c *runner.Command, granted ...string) {
	(&runner.Guard{}).Protect(c, []string{c.Dir}, granted)
}

// attempt writes each of the paths in the file list, as far as it can.
const attempt = `while read -r p; do mkdir -p "$(dirname "$p")" 2>/dev/null; { echo evil >> "$p"; } 2>/dev/null; done < list; true`

// M4, C65: each name of the table, new or there before, at the top and in a folder below, is as it was after a command that writes it,
// in each tier. What was moved aside is named.
func TestObeyed(t *testing.T) {
	for _, i := range confined() {
		for _, there := range []bool{false, true} {
			t.Run(i.name+map[bool]string{true: "/there", false: "/new"}[there], func(t *testing.T) {
				t.Parallel()
				c := guarded(t, i, attempt)
				all := obeyedPaths()
				for _, name := range all {
					file := filepath.Join(c.Dir, name)
					if _, err := os.Lstat(file); there && err != nil && os.MkdirAll(filepath.Dir(file), 0o755) == nil {
						_ = os.WriteFile(file, []byte("old\n"), 0o600) // some names lie below others
					}
				}
				protect(c)
				write(t, filepath.Join(c.Dir, "list"), strings.Join(all, "\n")+"\nmain.go\n.gitignore\n.pytest_cache/x\n.github/workflows/x\n")
				before := obeyedState(c.Dir, all)
				out := run(t, i.runner(t, Options{}), c)
				if diff := cmp.Diff(before, obeyedState(c.Dir, all)); diff != "" {
					t.Error(diff)
				}
				for _, u := range out.Undone {
					if u.Err != nil || !there && u.Moved == "" {
						t.Errorf("got %+v", u)
					}
				}
				if !there && len(out.Undone) < len(all)/2 {
					t.Errorf("only %d are named", len(out.Undone))
				}
				for _, name := range []string{"main.go", ".gitignore", ".pytest_cache/x", ".github/workflows/x"} {
					if b, err := os.ReadFile(filepath.Join(c.Dir, name)); err != nil || string(b) != "evil\n" {
						t.Errorf("%s: got %q, %v", name, b, err)
					}
				}
			})
		}
	}
}

// obeyedState returns which of some paths are there, and with which content.
func obeyedState(dir string, names []string) []string {
	var out []string
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			out = append(out, name+" "+string(b))
		}
	}
	return out
}

// While a command runs nothing stands for what is not there, and what the user granted by name stays.
func TestObeyedWithoutPlaceholders(t *testing.T) {
	for _, i := range confined() {
		c := i.command(t, "/bin/sh", "-c", "ls -A; echo x > CLAUDE.md; mkdir .vscode; echo x > .vscode/x; echo x > .npmrc")
		protect(c, filepath.Join(c.Dir, "CLAUDE.md"), filepath.Join(c.Dir, ".vscode"))
		out := run(t, i.runner(t, Options{}), c)
		if len(out.Stdout) > 0 || len(out.Undone) != 1 || filepath.Base(out.Undone[0].Path) != ".npmrc" || !strings.Contains(out.Undone[0].Why, "package managers obey .npmrc") {
			t.Errorf("tier %s: got %q, %+v", i.name, out.Stdout, out.Undone)
		}
		if b, err := os.ReadFile(filepath.Join(c.Dir, ".vscode/x")); err != nil || string(b) != "x\n" {
			t.Errorf("tier %s: got %q, %v", i.name, b, err)
		}
	}
}

// What one command made is not there before another one that began later, when it has been moved aside.
func TestObeyedOfOverlappingRuns(t *testing.T) {
	t.Parallel()
	i := confined()[0]
	r := i.runner(t, Options{})
	dir := t.TempDir()
	command := func(program string) *runner.Command {
		c := i.command(t, "/bin/sh", "-c", program)
		c.Dir, c.Write = dir, []string{dir}
		return c
	}
	done := make(chan *runner.Output, 2)
	start := func(c *runner.Command) {
		protect(c)
		go func() {
			out, err := r.Run(t.Context(), c)
			if err != nil {
				t.Error(err)
			}
			done <- out
		}()
	}
	start(command("mkdir .odd; while [ ! -e go ]; do sleep 0.01; done"))
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, ".odd")); return err == nil })
	start(command("touch two; while [ -e .odd ]; do sleep 0.01; done; mkdir .odd"))
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, "two")); return err == nil })
	write(t, filepath.Join(dir, "go"), "")
	for range 2 {
		if out := <-done; out == nil || len(out.Undone) != 1 {
			t.Errorf("got %+v", out)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".odd")); err == nil {
		t.Error("it is left")
	}
}
