package confine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// security 2.5 #66, #68, 2.15 SB10: each limit holds. The control without it shows that the program would go on.
func TestLimits(t *testing.T) {
	const forks = `
import os, time
n = 0
try:
    while n < 300:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except OSError as e: print(e.strerror)
print(n < 100)`
	tests := []struct {
		name, program string
		limits        runner.Limits
		with, without string
	}{
		{"file size", `
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try: open("big", "wb").write(b"x" * (2 << 20))
except OSError as e: print(e.strerror)`, runner.Limits{FileSize: 1 << 20}, "File too large\n", ""},
		{"open files", `
import os
try:
    for i in range(500): os.dup(0)
except OSError as e: print(e.strerror)`, runner.Limits{OpenFiles: 100}, "Too many open files\n", ""},
		{"processor", `
import resource; print(resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_CORE))`,
			runner.Limits{CPU: 3500 * time.Millisecond}, "(4, 6) (0, 0)\n", "(-1, -1) (0, 0)\n"},
		{"processes", forks, runner.Limits{Processes: 50}, "Resource temporarily unavailable\nTrue\n", "False\n"},
	}
	each(t, func(t *testing.T, i tier) {
		for _, tt := range tests {
			for limits, want := range map[runner.Limits]string{tt.limits: tt.with, {}: tt.without} {
				c := i.command(t, python, "-c", tt.program)
				c.Limits = limits
				if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != want {
					t.Errorf("%s with %+v: got %q, %s", tt.name, limits, out.Stdout, out.Stderr)
				}
			}
		}
	})
}

// security 2.15 SB10, SB7: memory of all processes together, also where no cgroup can be made; shared pages count once.
func TestMemory(t *testing.T) {
	t.Parallel()
	const grow = `
import os, sys
def grow():
    b = bytearray(180 << 20)
    for i in range(0, len(b), 4096): b[i] = 1
    return b
if os.fork() == 0:
    b = grow(); os.read(0, 1); import time; time.sleep(60)
b = grow()
import time; time.sleep(int(sys.argv[1]))
print("has it all")`
	each(t, func(t *testing.T, i tier) {
		t.Parallel()
		for limit, killed := range map[uint64]bool{256 << 20: true, 600 << 20: false} {
			seconds := "1" // in which the control could be ended
			if killed && os.Getuid() != 0 {
				seconds = "50"
			}
			c := i.command(t, python, "-c", grow, seconds)
			c.Limits.Memory = limit
			out := run(t, i.runner(t, Options{}), c)
			// A cgroup may end one of the two processes alone.
			if got := out.Signal == "killed"; got != killed && (os.Getuid() != 0 || !killed) {
				t.Errorf("limit %d: got %q %q %s", limit, out.Signal, out.Stdout, out.Stderr)
			}
			if out.Outgrown != killed {
				t.Errorf("limit %d: outgrown is %t", limit, out.Outgrown)
			}
		}
		c := i.command(t, python, "-c", `
import mmap, os, time
m = mmap.mmap(-1, 180 << 20)
for i in range(0, len(m), 4096): m[i] = 1
for i in range(4):
    if os.fork() == 0:
        for i in range(0, len(m), 4096): m[i]
        time.sleep(1); os._exit(0)
time.sleep(1.2)
print("shared")`)
		c.Limits.Memory = 400 << 20
		if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != "shared\n" {
			t.Errorf("shared pages: got %q %q %s", out.Signal, out.Stdout, out.Stderr)
		}
	})
}

// security 2.5 #68: the private folders of tier A have a size, and nothing of them is left outside.
func TestPrivateFolders(t *testing.T) {
	t.Parallel()
	i := confined()[0]
	c := i.command(t, python, "-c", `
for path in ("/tmp/x", "/dev/shm/x"):
    try: open(path, "wb").write(b"x" * (80 << 20)); print("written")
    except OSError as e: print(e.strerror)
try:
    for i in range(70000): open("/tmp/f%d" % i, "w").close()
except OSError as e: print(e.strerror)`)
	out := run(t, i.runner(t, Options{temp: 16 << 20}), c)
	if string(out.Stdout) != strings.Repeat("No space left on device\n", 3) {
		t.Errorf("got %s%s", out.Stdout, out.Stderr)
	}
	if _, err := os.Stat("/tmp/f1"); err == nil {
		t.Error("/tmp/f1 is outside")
	}
}

// A fork bomb until the deadline does not bring down what ends it. security 2.5 #66, 2.15 SB5
func TestForkBomb(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/bash", "-c", `f() { echo . >> beat; f | f & }; f; sleep 60`)
		c.Timeout, c.Grace, c.Limits = 2*time.Second, 100*time.Millisecond, runner.Limits{Processes: 64, Memory: 512 << 20}
		r := i.runner(t, Options{})
		for bombed := false; !bombed && c.Timeout <= time.Minute; c.Timeout *= 5 {
			out, err := r.Run(t.Context(), c)
			_, noBeat := os.Stat(filepath.Join(c.Dir, "beat"))
			switch bombed = noBeat == nil; {
			case err != nil:
				t.Fatal(err) // also if it took the last process before its stage had a word
			case bombed && os.Geteuid() == 0 && !out.Crowded:
				t.Errorf("it is not said that it had all processes: %+v", out)
			case out.Duration > c.Timeout+40*time.Second:
				t.Errorf("took %s", out.Duration)
			}
		}
		if beats(t, c.Dir) {
			t.Error("something is alive")
		}
	})
}

// security 2.5 #86: runs at the same time do not disturb each other.
func TestParallelRuns(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		r := i.runner(t, Options{})
		errs := make(chan error)
		const runs = 64
		before := openFiles(t)
		for n := range runs {
			c := i.command(t, "/bin/sh", "-c", "echo $0 > f; cat f", strconv.Itoa(n))
			go func() {
				out, err := r.Run(t.Context(), c)
				if err == nil && string(out.Stdout) != strconv.Itoa(n)+"\n" {
					t.Errorf("got %+v", out)
				}
				errs <- err
			}()
		}
		for range runs {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		waitFor(t, func() bool { return openFiles(t) <= before })
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
