package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/proc"
)

// python3 runs a program text with the real Python.
func python3(t *testing.T, program string, change func(*Command)) *Output {
	t.Helper()
	path := realPython(t)
	c := &Command{
		Path: path, Args: []string{path, "-I", "-S", "-c", program}, Dir: t.TempDir(), Env: []string{"A=1"},
		Timeout: 2 * time.Minute, Grace: 2 * time.Second, MaxStdout: 1 << 20,
	}
	if change != nil {
		change(c)
	}
	out, err := Exec{}.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestExec(t *testing.T) {
	out := python3(t, "import os, sys; print(sorted(os.environ), sys.stdin.read() == '', os.getsid(0) == os.getpid()); print('e', file=sys.stderr); sys.exit(3)", nil)
	if got, want := string(out.Stdout), "['A', 'LC_CTYPE'] True True\n"; got != want && got != "['A'] True True\n" {
		t.Errorf("got %q, want %q", got, want)
	}
	if string(out.Stderr) != "e\n" || out.ExitCode != 3 || out.Truncated || out.TimedOut || out.Stopped || out.Signal != "" || out.Duration <= 0 {
		t.Errorf("got %+v", out)
	}
}

// No terminal is in reach of a script (security 2.5 #80 asks for setsid).
func TestExecHasNoTerminal(t *testing.T) {
	out := python3(t, "open('/dev/tty')", nil)
	if !strings.Contains(string(out.Stderr), "No such device or address") && !strings.Contains(string(out.Stderr), "No such file") {
		t.Errorf("got %s", out.Stderr)
	}
}

func TestExecRefuses(t *testing.T) {
	for name, c := range map[string]*Command{
		"relative":        {Path: "true", Args: []string{"true"}, Dir: "/", Timeout: time.Second},
		"no list":         {Path: "/bin/true", Dir: "/", Timeout: time.Second},
		"no timeout":      {Path: "/bin/true", Args: []string{"true"}, Dir: "/"},
		"not there":       {Path: "/nowhere/x", Args: []string{"x"}, Dir: "/", Timeout: time.Second},
		"no folder":       {Path: "/bin/true", Args: []string{"true"}, Timeout: time.Second},
		"relative folder": {Path: "/bin/true", Args: []string{"true"}, Dir: ".", Timeout: time.Second},
	} {
		if _, err := (Exec{}).Run(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Exec{}).Run(done, &Command{Path: "/bin/true", Args: []string{"true"}, Dir: "/", Timeout: time.Second}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// C31, R103, security 2.5 #60: what passes a limit is drained and dropped, and does not block.
func TestExecCapsOutput(t *testing.T) {
	out := python3(t, `
import sys
for i in range(64):
    sys.stdout.write("o" * (1 << 20)); sys.stderr.write("e" * (1 << 20))
sys.stderr.write("end")
`, func(c *Command) { c.MaxStdout = 1000 })
	if len(out.Stdout) != 1000 || out.Total != 64<<20 || !out.Truncated || out.Stopped || out.ExitCode != 0 {
		t.Errorf("got %d of %d bytes, truncated %v, exit %d", len(out.Stdout), out.Total, out.Truncated, out.ExitCode)
	}
	if len(out.Stderr) != 64<<10 || !strings.HasSuffix(string(out.Stderr), "eend") {
		t.Errorf("got %d bytes of stderr", len(out.Stderr))
	}
	out = python3(t, "while True: print('x' * 1000)", func(c *Command) { c.StopAtMax = true })
	if !out.Stopped || out.TimedOut || len(out.Stdout) != 1<<20 {
		t.Errorf("got %d bytes, stopped %v", len(out.Stdout), out.Stopped)
	}
	out = python3(t, "print('x' * 999)", func(c *Command) { c.StopAtMax, c.MaxStdout = true, 1000 })
	if out.Stopped || out.Truncated || out.ExitCode != 0 {
		t.Errorf("exactly the limit: got %+v", out)
	}
}

// security 2.5 #60: both streams byte by byte.
func TestExecInterleaved(t *testing.T) {
	out := python3(t, "import os\nfor i in range(20000): os.write(1, b'o'); os.write(2, b'e')", nil)
	if len(out.Stdout) != 20000 || len(out.Stderr) != 20000 {
		t.Errorf("got %d and %d bytes", len(out.Stdout), len(out.Stderr))
	}
}

// security 2.5 #61, #69: time is measured on the clock, TERM comes before KILL.
func TestExecTimeout(t *testing.T) {
	tests := []struct{ name, program, stdout, signal string }{
		{"sleeps", "import time; print('so far', flush=True); time.sleep(60)", "so far\n", "terminated"},
		{"spins", "while True: pass", "", "terminated"},
		{"is silent", "import time\nwhile True: time.sleep(0.05)", "", "terminated"},
		{"ends on TERM", "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *a: (print('bye', flush=True), sys.exit(9)))\ntime.sleep(60)", "bye\n", ""},
		{"ignores TERM", "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\nwhile True: time.sleep(60)", "ready\n", "killed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// On a busy machine a program may not be ready when its time is up, or not have ended in its grace.
			for times := time.Duration(1); ; times *= 4 {
				out := python3(t, tt.program, func(c *Command) { c.Timeout, c.Grace = times*time.Second, times*300*time.Millisecond })
				if !out.TimedOut || out.Duration > times*2*time.Second+30*time.Second {
					t.Errorf("got timed out %v, after %s", out.TimedOut, out.Duration)
				}
				if string(out.Stdout) == tt.stdout && out.Signal == tt.signal {
					return
				}
				if times > 20 {
					t.Fatalf("got %q, signal %q", out.Stdout, out.Signal)
				}
			}
		})
	}
}

func TestExecCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := realPython(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "started")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer cancel()
		f, err := os.Open(fifo) // until the script opens it too
		if err == nil {
			f.Close()
		}
	}()
	out, err := Exec{}.Run(ctx, &Command{Path: path, Args: []string{path, "-I", "-c", "import time; open('started', 'w').close(); time.sleep(60)"},
		Dir: dir, Timeout: time.Minute, Grace: time.Second})
	if !errors.Is(err, context.Canceled) || out == nil || out.TimedOut {
		t.Errorf("got %+v, %v", out, err)
	}
}

// alive reports whether a process is running, a zombie not counted.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(b, []byte(") "))
	return !bytes.HasPrefix(after, []byte("Z"))
}

// security 2.5 #64: the group is killed with the call; a child that holds the pipes causes no delay.
func TestExecKillsItsGroup(t *testing.T) {
	var out *Output
	for range 10 { // a call that waits for the child never takes less than proc.WaitDelay, one that does not does so on a busy machine
		out = python3(t, `
import os, signal, sys, time
pid = os.fork()
if pid == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
print(pid)
`, nil)
		if out.Duration < proc.WaitDelay {
			break
		}
	}
	if out.ExitCode != 0 || out.Duration >= proc.WaitDelay {
		t.Errorf("got exit %d after %s", out.ExitCode, out.Duration)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		t.Fatal(err)
	}
	if fd, err := unix.PidfdOpen(pid, 0); err == nil { // killed, and perhaps not quite gone
		defer unix.Close(fd)
		n, err := 0, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000)
		}
		if n != 1 {
			t.Errorf("child %d is alive: %v", pid, err)
		}
	}
}

// security 2.5 #64: a script that closes its output runs on until its time is up.
func TestExecClosedOutput(t *testing.T) {
	out := python3(t, "import os, time; os.close(1); os.close(2); time.sleep(60)", func(c *Command) { c.Timeout = 500 * time.Millisecond })
	if !out.TimedOut {
		t.Errorf("got %+v", out)
	}
}

// Open until there is a sandbox: what leaves the process group outlives the call, and the call does not
// wait for it. Its limits stay with it. When the sandbox is there this test turns round.
func TestExecDaemonSurvives(t *testing.T) {
	out := python3(t, `
import os, sys, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.write(w, str(os.getpid()).encode())
    time.sleep(60)
    os._exit(0)
print(os.read(r, 20).decode())
`, func(c *Command) { c.Limits.OpenFiles = 77 })
	pid := strings.TrimSpace(string(out.Stdout))
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("got %q, %s", out.Stdout, out.Stderr)
	}
	defer syscall.Kill(n, syscall.SIGKILL)
	if out.Duration < proc.WaitDelay || out.Duration > proc.WaitDelay+40*time.Second {
		t.Errorf("the call took %s with its pipes held", out.Duration)
	}
	if !alive(t, pid) {
		t.Error("the daemon is gone: document it")
	}
	var l unix.Rlimit
	if err := unix.Prlimit(n, unix.RLIMIT_NOFILE, nil, &l); err != nil || l.Max != 77 {
		t.Errorf("got %v, %v", l, err)
	}
}

func TestExecLimits(t *testing.T) {
	out := python3(t, `
import resource as r
print([r.getrlimit(x) for x in (r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CPU, r.RLIMIT_CORE)])
`, func(c *Command) {
		c.Limits = Limits{FileSize: 1 << 20, OpenFiles: 100, CPU: 3500 * time.Millisecond}
	})
	if got, want := string(out.Stdout), "[(1048576, 1048576), (100, 100), (4, 6), (0, 0)]\n"; got != want {
		t.Errorf("got %s, want %s; %s", got, want, out.Stderr)
	}
	out = python3(t, `
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
open('big', 'wb').write(b'x' * (2 << 20))
`, func(c *Command) { c.Limits = Limits{FileSize: 1 << 20} })
	if out.Signal != "file size limit exceeded" || out.ExitCode != 128+int(syscall.SIGXFSZ) {
		t.Errorf("got %q, %d", out.Signal, out.ExitCode)
	}
	out = python3(t, "while True: pass", func(c *Command) { c.Limits = Limits{CPU: time.Second} })
	if out.Signal != "CPU time limit exceeded" {
		t.Errorf("got %q, %d", out.Signal, out.ExitCode)
	}
}

// security 1.2: a program's limits hold from its first instruction on, however busy the machine is.
func TestExecLimitsComeFirst(t *testing.T) {
	for range 40 {
		out, err := Exec{}.Run(t.Context(), &Command{Path: "/bin/cat", Args: []string{"cat", "/proc/self/limits"},
			Dir: "/", Timeout: time.Minute, Grace: time.Second, MaxStdout: 1 << 16, Limits: Limits{OpenFiles: 77}})
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`Max open files +77 +77 `).Match(out.Stdout) {
			t.Fatalf("got\n%s", out.Stdout)
		}
	}
}

// realPython is the path of this machine's own python3, behind a script that chooses among versions.
func realPython(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-I", "-S", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
