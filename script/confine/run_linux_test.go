package confine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script/runner"
)

// each runs a test in every tier that confines.
func each(t *testing.T, test func(*testing.T, tier)) {
	t.Helper()
	for _, i := range confined() {
		t.Run(i.name, func(t *testing.T) { test(t, i) })
	}
}

// until runs a command whose time is up at some time, and gives it more as long as it was not ready by then: a busy machine may need
// long to start it.
func until(t *testing.T, r *Runner, c *runner.Command, ready func(*runner.Output) bool) *runner.Output {
	t.Helper()
	for {
		out := run(t, r, c)
		if ready(out) || c.Timeout > time.Minute {
			return out
		}
		c.Timeout *= 5
	}
}

// slow takes some time for the first piece that is written to it.
type slow struct {
	once sync.Once
	wait time.Duration
}

// Write waits.
func (s *slow) Write(b []byte) (int, error) {
	s.once.Do(func() { time.Sleep(s.wait) })
	return len(b), nil
}

// Close does nothing.
func (s *slow) Close() error { return nil }

// Output that is read late, as by a busy machine, is not lost: the command has ended long before.
func TestLateOutput(t *testing.T) {
	for _, i := range tiers() {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			c := i.command(t, "/bin/bash", "-c", "printf %060000d 1") // more than is read at once, and less than a pipe has
			c.Out = &slow{wait: proc.WaitDelay + time.Second}
			if got := run(t, i.runner(t, Options{}), c); len(got.Stdout) != 60000 || got.ExitCode != 0 {
				t.Errorf("got %d bytes, code %d", len(got.Stdout), got.ExitCode)
			}
		})
	}
}

// R179, C31, security 2.5 #52, #60, #64, #69: a sandboxed command has the results of one without a sandbox.
func TestOutput(t *testing.T) {
	tests := []struct {
		name, program string
		change        func(*runner.Command)
		want          runner.Output
	}{
		{"plain", "echo out; echo err >&2; exit 3", nil, runner.Output{Stdout: []byte("out\n"), Total: 4, Stderr: []byte("err\n"), ExitCode: 3}},
		{"a code of a signal", "exit 137", nil, runner.Output{ExitCode: 137}},
		{"a signal", "kill -SEGV $$", nil, runner.Output{ExitCode: 139, Signal: "segmentation fault"}},
		{"kills itself", "kill -KILL $$", nil, runner.Output{ExitCode: 137, Signal: "killed"}},
		{"timeout", "echo so far; sleep 60", func(c *runner.Command) { c.Timeout = time.Second },
			runner.Output{Stdout: []byte("so far\n"), Total: 7, ExitCode: 143, Signal: "terminated", TimedOut: true}},
		{"ends on TERM", "trap 'echo bye; exit 9' TERM; sleep 60 & wait", func(c *runner.Command) { c.Timeout = time.Second },
			runner.Output{Stdout: []byte("bye\n"), Total: 4, ExitCode: 9, TimedOut: true}},
		{"ignores TERM", "trap '' TERM; echo ready; while :; do :; done", func(c *runner.Command) { c.Timeout, c.Grace = time.Second, 100*time.Millisecond },
			runner.Output{Stdout: []byte("ready\n"), Total: 6, ExitCode: 137, Signal: "killed", TimedOut: true}},
		{"truncated", "printf 0123456789", func(c *runner.Command) { c.MaxStdout = 4 },
			runner.Output{Stdout: []byte("0123"), Total: 10, Truncated: true}},
		{"stopped", "while :; do echo 0123456789; done", func(c *runner.Command) { c.MaxStdout, c.StopAtMax = 4, true },
			runner.Output{Stdout: []byte("0123"), Truncated: true, Stopped: true, ExitCode: -1}},
		{"leaves a child with the pipes", "sleep 60 & echo done", nil, runner.Output{Stdout: []byte("done\n"), Total: 5}},
		{"closes its output", "exec >&- 2>&-; sleep 60", func(c *runner.Command) { c.Timeout = time.Second },
			runner.Output{ExitCode: 143, Signal: "terminated", TimedOut: true}},
		{"input", "wc -c", func(c *runner.Command) { c.Stdin = make([]byte, runner.MaxStdin) }, runner.Output{Stdout: []byte("1048576\n"), Total: 8}},
		{"input that nobody reads", "exit 4", func(c *runner.Command) { c.Stdin = make([]byte, runner.MaxStdin) }, runner.Output{ExitCode: 4}},
		{"no input", "cat", nil, runner.Output{}},
		{"arguments", `printf '%s|' "$0" "$@"`, func(c *runner.Command) { c.Args = append(c.Args, "a;b", "$(id)", "\n'\"") },
			runner.Output{Stdout: []byte("a;b|$(id)|\n'\"|"), Total: 14}},
	}
	for _, i := range tiers() {
		for _, tt := range tests {
			t.Run(i.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				c := i.command(t, "/bin/bash", "-c", tt.program)
				if tt.change != nil {
					tt.change(c)
				}
				right := func(got *runner.Output) bool {
					want := tt.want
					if want.Stopped { // how it ended depends on the time
						want.ExitCode, want.Signal, want.Total = got.ExitCode, got.Signal, got.Total
					}
					return string(got.Stdout) == string(want.Stdout) && string(got.Stderr) == string(want.Stderr) && got.ExitCode == want.ExitCode && got.Signal == want.Signal &&
						got.Total == want.Total && got.TimedOut == want.TimedOut && got.Stopped == want.Stopped && got.Truncated == want.Truncated
				}
				ready := right
				if !tt.want.TimedOut {
					ready = func(*runner.Output) bool { return true }
				}
				got := until(t, i.runner(t, Options{}), c, ready)
				if got.Duration <= 0 || got.Duration > c.Timeout+40*time.Second {
					t.Errorf("took %s", got.Duration)
				}
				if !right(got) {
					t.Errorf("got %+v\nwant %+v", got, tt.want)
				}
			})
		}
	}
}

// The grant of the root folder opens what is in it, and nothing of what is made for the command alone.
func TestGrantOfTheRoot(t *testing.T) {
	i := confined()[0]
	temp := t.TempDir() // mostly in the machine's /tmp, of which the command has its own
	if !strings.HasPrefix(temp, "/tmp/") {
		t.Skipf("%s is not in /tmp", temp)
	}
	for name, change := range map[string]func(*runner.Command){
		"read":  func(c *runner.Command) { c.Read = []string{"/"} },
		"write": func(c *runner.Command) { c.Write = []string{"/"} },
	} {
		c := i.command(t, "bash", "-c", `for at in /var /usr/bin /tmp "$1" "/proc/$2" /dev/kmsg; do test -e "$at" && echo "$at"; done`, "bash", temp, strconv.Itoa(os.Getpid()))
		c.Dir, c.Write = "/usr", nil
		change(c)
		if got := strings.Fields(string(run(t, i.runner(t, Options{}), c).Stdout)); !slices.Equal(got, []string{"/var", "/usr/bin", "/tmp"}) {
			t.Errorf("%s: it sees %q", name, got)
		}
	}
}

// HOME is in the command's /etc/passwd, and adds no user to it.
func TestHomeInPasswd(t *testing.T) {
	i := confined()[0]
	for home, want := range map[string]string{
		"/h":            "user:/h",
		"/h\nevil":      "user:/",
		"/h:/bin/false": "user:/",
		"h":             "user:/",
	} {
		c := i.command(t, "bash", "-c", `while IFS=: read -r name x id group about home shell; do echo "$name:$home"; done </etc/passwd`)
		c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home}
		if got := strings.Fields(string(run(t, i.runner(t, Options{}), c).Stdout)); len(got) != 3 || got[1] != want {
			t.Errorf("HOME=%q: got %q, want %q", home, got, want)
		}
	}
}

// security 2.5 #60, #61: more on stderr than anybody keeps, both streams byte by byte, and output without line ends until the time is
// up: nothing is blocked, each stream has its own limit, and the clock counts.
func TestStreams(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		t.Parallel()
		r := i.runner(t, Options{})
		out := run(t, r, i.command(t, python, "-c", `
import os
for n in range(64): os.write(2, b"e" * (1 << 20))
os.write(2, b"end"); os.write(1, b"done")`))
		if string(out.Stdout) != "done" || len(out.Stderr) != 64<<10 || !strings.HasSuffix(string(out.Stderr), "eend") || out.ExitCode != 0 {
			t.Errorf("flood: got %q, %d bytes of stderr, code %d", out.Stdout, len(out.Stderr), out.ExitCode)
		}
		out = run(t, r, i.command(t, python, "-c", "import os\nfor n in range(5000): os.write(1, b'o'); os.write(2, b'e')"))
		if len(out.Stdout) != 5000 || len(out.Stderr) != 5000 {
			t.Errorf("in turns: got %d and %d bytes", len(out.Stdout), len(out.Stderr))
		}
		c := i.command(t, python, "-c", "import os, time\nwhile True: os.write(1, b'.'); time.sleep(0.02)")
		c.Timeout = time.Second
		out = until(t, r, c, func(out *runner.Output) bool { return len(out.Stdout) > 1 })
		if !out.TimedOut || out.Total < 2 || strings.Trim(string(out.Stdout), ".") != "" {
			t.Errorf("slowly: got %+v", out)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		r := i.runner(t, Options{})
		c := i.command(t, "/bin/sh", "-c", "true")
		c.Path = filepath.Join(c.Dir, "nothing")
		if _, err := r.Run(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no program: got %v", err)
		}
		c = i.command(t, "/bin/sh", "-c", "true")
		c.Dir = filepath.Join(c.Dir, "nothing")
		if _, err := r.Run(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no folder: got %v", err)
		}
		c = i.command(t, "/bin/sh", "-c", "true")
		c.Timeout = 0
		if _, err := r.Run(t.Context(), c); err == nil {
			t.Error("no timeout: no error")
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Run(done, i.command(t, "/bin/sh", "-c", "true")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		c = i.command(t, "/bin/sh", "-c", "echo ready; sleep 60")
		for patience := 200 * time.Millisecond; ; patience *= 5 { // until it is long enough for the command to begin
			later, stop := context.WithTimeout(t.Context(), patience)
			out, err := r.Run(later, c)
			stop()
			begun := out != nil && string(out.Stdout) == "ready\n"
			if !errors.Is(err, context.DeadlineExceeded) || out != nil && out.TimedOut || !begun && patience > 30*time.Second {
				t.Errorf("got %+v, %v", out, err)
			}
			if begun || t.Failed() {
				break
			}
		}
	})
}

// security 2.15 SB15: no part of a path that is mounted is a symbolic link. What became one since somebody looked is left out and named,
// but the command does not start without a folder of its own.
func TestLinkedPathIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		secret, other := t.TempDir(), t.TempDir()
		write(t, filepath.Join(secret, "skill"), "secret")
		if err := os.Symlink(secret, filepath.Join(other, "link")); err != nil {
			t.Fatal(err)
		}
		for _, change := range []func(*runner.Command, string){
			func(c *runner.Command, path string) { c.Read = []string{path} },
			func(c *runner.Command, path string) { c.Write = append(c.Write, path) },
		} {
			c := i.command(t, "/bin/cat", filepath.Join(other, "link", "skill"))
			change(c, filepath.Join(other, "link"))
			out := run(t, i.runner(t, Options{}), c)
			if named := strings.Join(out.Sandbox.Missing, "\n"); out.ExitCode == 0 || !strings.Contains(named, filepath.Join(other, "link")+" leads through a symbolic link") {
				t.Errorf("got %+v, missing %s", out, named)
			}
		}
		c := i.command(t, "/bin/true")
		c.Own = []string{filepath.Join(other, "link")}
		c.Write = append(c.Write, c.Own...)
		out, err := i.runner(t, Options{}).Run(t.Context(), c)
		if i.name == "A" && (err == nil || !strings.Contains(err.Error(), "symbolic link")) {
			t.Errorf("a folder of its own: got %+v, %v", out, err)
		}
	})
}

// R179: without a sandbox for files and network nothing runs that must have one; the error says what is missing. Nothing lets what is
// not required run in silence.
func TestRequired(t *testing.T) {
	weak := tier{"C", []string{Namespaces, Landlock}, runner.ConfineRequired}
	r := weak.runner(t, Options{})
	var none *runner.SandboxError
	if out, err := r.Run(t.Context(), weak.command(t, "/bin/true")); !errors.As(err, &none) || none.Layer != Namespaces || none.Cure == "" {
		t.Errorf("got %+v, %v", out, err)
	}
	weak.confine = runner.ConfineAuto
	out := run(t, r, weak.command(t, python, "-c", "import socket; socket.socket()"))
	if out.Sandbox.Tier != "C" || len(out.Sandbox.Missing) != 2 || !strings.Contains(string(out.Stderr), "PermissionError") {
		t.Errorf("got %+v, %s", out.Sandbox, out.Stderr)
	}
	nothing := tier{"E", []string{Namespaces, Landlock, seccomp}, runner.ConfineRequired}
	if out, err := nothing.runner(t, Options{}).Run(t.Context(), nothing.command(t, "/bin/true")); !errors.As(err, &none) {
		t.Errorf("got %+v, %v", out, err)
	}
	off := tier{"off", nil, runner.ConfineOff}
	out = run(t, off.runner(t, Options{}), off.command(t, python, "-c", "import os, socket; socket.socket(); os.listdir('/'); os.kill(os.getppid(), 9)"))
	if out.Sandbox.Tier != "off" || !strings.Contains(string(out.Stderr), "PermissionError") {
		t.Errorf("got %+v, %s", out.Sandbox, out.Stderr)
	}
}

func TestReport(t *testing.T) {
	for _, i := range confined() {
		if got := i.runner(t, Options{}).Report(t.Context()); got.Tier != i.name || len(got.Layers) < 3 {
			t.Errorf("got %+v, want %s", got, i.name)
		}
	}
}

// What a machine lacks is found out while a command is set up, and noted once: the command runs with what is left.
func TestFallsBack(t *testing.T) {
	r, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.lose(&lostLayer{layer: Namespaces, err: errors.New("refused")})
	if r.lose(&lostLayer{layer: Namespaces, err: errors.New("again")}) {
		t.Error("lost twice")
	}
	i := tier{confine: runner.ConfineRequired}
	if out := run(t, r, i.command(t, "/bin/true")); out.Sandbox.Tier != "B" || out.Sandbox.Missing[0] != "namespaces: refused" {
		t.Errorf("got %+v", out.Sandbox)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Without: []string{"nothing"}}} {
		if _, err := New(&o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// security 2.5 #80: a command has a session of its own, and so no terminal, whatever the engine has.
func TestOwnSession(t *testing.T) {
	engine, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", "import os; print(os.getsid(0))")
		got := strings.TrimSpace(string(run(t, i.runner(t, Options{}), c).Stdout))
		if got == "" || got == "0" || i.name == "B" && got == strconv.Itoa(engine) { // 0 is one outside of the namespace
			t.Errorf("got session %q, the engine has %d", got, engine)
		}
	})
}
