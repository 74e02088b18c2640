package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// changes are ways to change what is kept in the folder that project makes.
var changes = []struct{ name, program string }{
	{"write", "echo x >> .git/hooks/pre-commit"},
	{"new file", "echo x > .git/hooks/new"},
	{"remove", "rm -f .git/hooks/pre-commit"},
	{"remove folder", "rm -rf .git/hooks && [ ! -e .git/hooks ]"},
	{"replace", "echo x > y && mv y .git/hooks/pre-commit"},
	{"move away", "perl -e 'rename(qw(.git/hooks away)) or die $!'"},
	{"move the folder above", "mv .git away && mkdir -p .git/hooks && echo x > .git/hooks/new"},
	{"chmod", "chmod 777 .git/hooks/pre-commit"},
	{"hard link", "ln .git/hooks/pre-commit y && echo x >> y"},
	{"link", "ln -s .git/hooks y && echo x > y/new"},
	{"a file", "echo x >> .gitmodules"},
	{"replace a file", "echo x > y && mv -f y .gitmodules"},
	{"absent folder", "mkdir .agents && echo x > .agents/x"},
	{"absent below absent", "mkdir -p .claude/commands && echo x > .claude/commands/x"},
	{"absent file", "echo x > .mcp.json"},
	{"absent by move", "mkdir y && mv -T y .agents"},
	{"another common folder", "echo ../evil > .git/commondir"},
	{"another common folder by move", "echo ../evil > y && mv -f y .git/commondir"},
	{"settings of a work tree", "echo x > .git/config.worktree"},
	{"a file in place of a repository", "echo gitdir: evil > sub/.git"},
	{"another file in place of a repository", "echo gitdir: evil > y && mv -f y sub/.git"},
	{"below an existing folder", "mkdir -p .vscode/x && echo x > .vscode/x/tasks.json"},
}

// keptIn are the paths that are kept in such a folder.
var keptIn = []string{".git/hooks", ".git/config", ".gitmodules", ".agents", ".claude/commands", ".mcp.json", ".vscode/x",
	".git/commondir", ".git/config.worktree", "sub/.git/hooks", "sub/.git/config"}

// C65, security 1.2: what is kept below a writable folder stays, in every disguise, whether it exists or not. Without Keep each
// attempt succeeds.
func TestKeep(t *testing.T) {
	i := confined()[0]
	for _, keep := range []bool{true, false} {
		for _, a := range changes {
			t.Run(map[bool]string{true: "kept/", false: "control/"}[keep]+a.name, func(t *testing.T) {
				t.Parallel()
				c := i.command(t, "/bin/sh", "-ec", a.program)
				project(t, c.Dir)
				if keep {
					for _, name := range keptIn {
						c.Keep = append(c.Keep, filepath.Join(c.Dir, name))
					}
				}
				before := listed(t, c.Dir)
				out := run(t, i.runner(t, Options{}), c)
				if (out.ExitCode != 0) != keep {
					t.Errorf("got %d, %s", out.ExitCode, out.Stderr)
				}
				if keep && strings.ReplaceAll(listed(t, c.Dir), "y\n", "") != before {
					t.Errorf("changed:\n%s\nbefore:\n%s", listed(t, c.Dir), before)
				}
				if keep && len(out.Sandbox.Missing) > 0 {
					t.Errorf("got %+v", out.Sandbox)
				}
			})
		}
	}
}

// project makes a repository with hooks.
func project(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{".git/hooks", ".vscode", "sub"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".git/hooks/pre-commit", ".git/config", ".gitmodules", "sub/.git"} {
		write(t, filepath.Join(dir, name), "old\n")
	}
}

// listed returns the paths below a folder with the content of files.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel != "." {
			all.WriteString(rel + "\n")
		}
		if info.Mode().IsRegular() && rel != "y" {
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// The placeholder of a path that is missing stays as long as a run needs it.
func TestPlaceholderIsShared(t *testing.T) {
	t.Parallel()
	i := confined()[0]
	r := i.runner(t, Options{})
	dir := t.TempDir()
	command := func(program string) *runner.Command {
		c := i.command(t, "/bin/sh", "-c", program)
		c.Dir, c.Write, c.Keep = dir, []string{dir}, []string{filepath.Join(dir, ".agents")}
		return c
	}
	done := make(chan *runner.Output)
	go func() {
		out, err := r.Run(t.Context(), command("while [ ! -e go ]; do sleep 0.01; done; echo x > .agents/x || mkdir .agents"))
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, ".agents")); return err == nil })
	time.Sleep(100 * time.Millisecond) // the first run is set up
	run(t, r, command("true"))
	write(t, filepath.Join(dir, "go"), "")
	if out := <-done; out == nil || out.ExitCode == 0 {
		t.Errorf("got %+v", out)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".agents")); err == nil {
		t.Error("the placeholder is left")
	}
}

// A link in place of what is kept is put back if it is replaced. One on the way is said.
func TestKeepThatIsALink(t *testing.T) {
	t.Parallel()
	for _, i := range confined() {
		c := i.command(t, "/bin/sh", "-ec", "rm AGENTS.md; echo x > AGENTS.md")
		for _, name := range []string{"AGENTS.md", "link"} {
			if err := os.Symlink("CLAUDE.md", filepath.Join(c.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		c.Keep = []string{filepath.Join(c.Dir, "AGENTS.md"), filepath.Join(c.Dir, "link", "x"), "/usr/x"}
		out := run(t, i.runner(t, Options{}), c)
		said := strings.Join(out.Sandbox.Missing, "\n")
		if len(out.Undone) != 1 || !strings.Contains(said, "link is a symbolic link") || strings.Contains(said, "AGENTS.md is") {
			t.Errorf("tier %s: got %+v, %+v", i.name, out, out.Sandbox)
		}
		if target, err := os.Readlink(filepath.Join(c.Dir, "AGENTS.md")); err != nil || target != "CLAUDE.md" {
			t.Errorf("tier %s: got %q, %v", i.name, target, err)
		}
	}
}

// What stands for an absent file of a repository does no harm to git, in the sandbox and outside of it, and is gone afterwards.
func TestKeepLeavesGitWorking(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/git"); err != nil {
		t.Fatal(err)
	}
	c := confined()[0].command(t, "/bin/sh", "-ec", `git init -q . && git config extensions.worktreeConfig true`)
	if out := run(t, confined()[0].runner(t, Options{}), c); out.ExitCode != 0 {
		t.Fatalf("got %+v, %s", out, out.Stderr)
	}
	for _, name := range []string{".git/hooks", ".git/config", ".git/commondir", ".git/config.worktree"} {
		c.Keep = append(c.Keep, filepath.Join(c.Dir, name))
	}
	c.Args[2] = `test -f .git/commondir && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x && git branch b && git status && git log`
	if out := run(t, confined()[0].runner(t, Options{}), c); out.ExitCode != 0 {
		t.Errorf("got %d, %s", out.ExitCode, out.Stderr)
	}
	for _, name := range []string{"commondir", "config.worktree"} {
		if _, err := os.Lstat(filepath.Join(c.Dir, ".git", name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}
