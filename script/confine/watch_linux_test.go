package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// C65, security 1.2: without namespaces what is kept is put back when the command has ended, whatever was done to it, and the result
// says so. What the command made of it is not lost. Without Keep each attempt succeeds.
func TestKeepIsPutBack(t *testing.T) {
	i := confined()[1]
	for _, keep := range []bool{true, false} {
		for _, a := range changes {
			t.Run(map[bool]string{true: "kept/", false: "control/"}[keep]+a.name, func(t *testing.T) {
				t.Parallel()
				c := i.command(t, "/bin/sh", "-ec", a.program)
				project(t, c.Dir)
				for _, name := range keptIn {
					if keep {
						c.Keep = append(c.Keep, filepath.Join(c.Dir, name))
					}
				}
				before := keptState(t, c.Dir)
				out := run(t, i.runner(t, Options{}), c)
				if out.ExitCode != 0 {
					t.Fatalf("got %d, %s", out.ExitCode, out.Stderr)
				}
				after := keptState(t, c.Dir)
				if (before == after) != keep {
					t.Errorf("changed:\n%s\nbefore:\n%s", after, before)
				}
				if (len(out.Undone) > 0) != keep {
					t.Errorf("undone: %+v", out.Undone)
				}
				for _, u := range out.Undone {
					if u.Err != nil {
						t.Error(u)
					}
				}
			})
		}
	}
}

// keptState returns what is at the paths of keptIn.
func keptState(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	for _, name := range append([]string{"sub/.git"}, keptIn...) {
		path := filepath.Join(dir, name)
		err := filepath.Walk(path, func(path string, info os.FileInfo, err error) error {
			if err != nil {
				return nil // there is nothing
			}
			out.WriteString(path + " " + info.Mode().String() + "\n")
			if info.Mode().IsRegular() {
				b, err := os.ReadFile(path)
				out.Write(b)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// What has another name after the command is a file of its own again: nothing changes it by that name.
func TestKeepPutBackHasOneName(t *testing.T) {
	i := confined()[1]
	c := i.command(t, "/bin/sh", "-ec", "ln .git/hooks/pre-commit y")
	project(t, c.Dir)
	hook := filepath.Join(c.Dir, ".git/hooks/pre-commit")
	c.Keep = []string{filepath.Dir(hook)}
	out := run(t, i.runner(t, Options{}), c)
	a, err := os.Stat(hook)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(filepath.Join(c.Dir, "y"))
	if err != nil || os.SameFile(a, b) || len(out.Undone) != 1 {
		t.Errorf("got %+v, %v, %v: one file %t", out, err, out.Undone, os.SameFile(a, b))
	}
}

// A command that is ended is compared, too. Its new files stay.
func TestKeepAfterATimeout(t *testing.T) {
	t.Parallel()
	i := confined()[1]
	c := i.command(t, "/bin/sh", "-c", "echo x > .mcp.json; echo x > new; sleep 60")
	c.Timeout, c.Keep = time.Second, []string{filepath.Join(c.Dir, ".mcp.json")}
	out := until(t, i.runner(t, Options{}), c, func(*runner.Output) bool {
		_, err := os.Stat(filepath.Join(c.Dir, "new"))
		return err == nil
	})
	if len(out.Undone) != 1 || out.Undone[0].Moved == "" || !out.TimedOut {
		t.Errorf("got %+v", out)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "new")); err != nil {
		t.Error(err)
	}
	if moved, _ := filepath.Glob(filepath.Join(c.Dir, asidePrefix+"*", "*")); len(moved) != 1 {
		t.Errorf("moved: %q", moved)
	}
}

// Commands that run at the same time: what the first changed is not what the second puts back.
func TestKeepOfOverlappingRuns(t *testing.T) {
	t.Parallel()
	i := confined()[1]
	r := i.runner(t, Options{})
	dir := t.TempDir()
	project(t, dir)
	command := func(program string) *runner.Command {
		c := i.command(t, "/bin/sh", "-c", program)
		c.Dir, c.Write, c.Keep = dir, []string{dir}, []string{filepath.Join(dir, ".git/config")}
		return c
	}
	done := make(chan *runner.Output, 2)
	start := func(program string) {
		go func() {
			out, err := r.Run(t.Context(), command(program))
			if err != nil {
				t.Error(err)
			}
			done <- out
		}()
	}
	config := filepath.Join(dir, ".git/config")
	start("echo evil > .git/config; touch one; while [ ! -e go ]; do sleep 0.01; done")
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, "one")); return err == nil })
	start("touch two; while [ ! -e later ]; do sleep 0.01; done")
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, "two")); return err == nil })
	write(t, filepath.Join(dir, "go"), "")
	<-done
	write(t, filepath.Join(dir, "later"), "")
	<-done
	if b, err := os.ReadFile(config); err != nil || string(b) != "old\n" {
		t.Errorf("got %q, %v", b, err)
	}
}

// A folder with too much to remember, or one that another engine watches, is read-only.
func TestKeepThatCannotBeWatched(t *testing.T) {
	t.Parallel()
	i := confined()[1]
	c := i.command(t, "/bin/sh", "-c", "echo x > new")
	big := filepath.Join(c.Dir, ".claude")
	if err := os.Mkdir(big, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(big, "x"), "")
	if err := os.Truncate(filepath.Join(big, "x"), mostSavedBytes+1); err != nil {
		t.Fatal(err)
	}
	c.Keep = []string{big}
	if out := run(t, i.runner(t, Options{}), c); out.ExitCode == 0 || !strings.Contains(strings.Join(out.Sandbox.Missing, "\n"), "is read-only") {
		t.Errorf("got %+v, %+v", out, out.Sandbox)
	}
}

// What must not come to be does not, in each tier; what is made elsewhere stays. A folder with a watched path is released.
func TestAbsent(t *testing.T) {
	for _, i := range confined() {
		for _, program := range []string{"echo x > AGENTS.md", "mkdir AGENTS.md && echo x > AGENTS.md/x", "ln -s new AGENTS.md", "mkfifo AGENTS.md",
			"mkdir x && chmod 555 x && mv x AGENTS.md", "mv sub away; ln -s . sub; echo x > AGENTS.md"} {
			t.Run(i.name+"/"+program, func(t *testing.T) {
				t.Parallel()
				c := i.command(t, "/bin/sh", "-ec", "echo x > new; "+program)
				project(t, c.Dir)
				c.Absent = []string{filepath.Join(c.Dir, "AGENTS.md"), filepath.Join(c.Dir, "sub", "CLAUDE.md")}
				r := i.runner(t, Options{})
				out := run(t, r, c)
				if out.ExitCode != 0 || len(out.Undone) == 0 || out.Undone[0].Err != nil {
					t.Errorf("got %+v, %s", out, out.Stderr)
				}
				if _, err := os.Lstat(filepath.Join(c.Dir, "AGENTS.md")); err == nil {
					t.Error("it is there")
				}
				if _, err := os.Lstat(filepath.Join(c.Dir, "new")); err != nil {
					t.Error(err)
				}
				if len(r.watcher.folders) > 0 {
					t.Errorf("left: %v", r.watcher.folders)
				}
			})
		}
	}
}
