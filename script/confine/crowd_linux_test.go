package confine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// sessions is a fork bomb whose processes are each in a session of their own, and go on when they cannot fork.
const sessions = `
import os, time
while True:
    try:
        if os.fork() == 0: os.setsid()
        with open("beat", "a") as f: f.write(".")
    except (OSError, MemoryError): time.sleep(0.02)`

// security 2.5 #66: other commands run as ever while a fork bomb goes on.
func TestBesideForkBomb(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		// 64 interpreters must fit into the memory: a bomb that is killed for it ends too early
		r, limits := i.runner(t, Options{}), runner.Limits{Processes: 64, Memory: 2 << 30}
		duringForkBomb(t, i, r, limits, func() {
			c := i.command(t, "/bin/sh", "-c", "echo as ever | cat")
			c.Limits = limits
			if out := run(t, r, c); string(out.Stdout) != "as ever\n" {
				t.Errorf("got %+v, %s", out, out.Stderr)
			}
		})
	})
}

// duringForkBomb calls others some times while a fork bomb goes on, ends it, and looks for what is left of it.
func duringForkBomb(t *testing.T, i tier, r *Runner, limits runner.Limits, others func()) {
	t.Helper()
	c := i.command(t, python, "-c", sessions)
	c.Timeout, c.Grace, c.Limits = 10*time.Minute, 100*time.Millisecond, limits
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out *runner.Output // once it has ended
	ended := make(chan error, 1)
	go func() {
		var err error
		out, err = r.Run(ctx, c)
		ended <- err
	}()
	waitFor(t, func() bool {
		info, err := os.Stat(filepath.Join(c.Dir, "beat"))
		return err == nil && info.Size() > 100
	})
	for range 5 {
		others()
	}
	select {
	case err := <-ended:
		t.Fatalf("the fork bomb has ended: %v, %+v", err, out)
	default:
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if beats(t, c.Dir) {
		t.Error("something is alive")
	}
}

// strictMarker makes this test binary an engine with its own limits.
const strictMarker = "CONFINE_TEST_STRICT"

// strict runs this test again in each tier, as an engine whose limits set changes: no process gets them back.
func strict(t *testing.T, limits map[int]uint64, test func(*testing.T, tier)) {
	t.Helper()
	if without, ok := os.LookupEnv(strictMarker); ok {
		for resource, n := range limits {
			if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
				t.Fatal(err)
			}
		}
		test(t, tier{without: strings.Fields(without), confine: runner.ConfineRequired})
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, i tier) {
		cmd := exec.Command(self, "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$")
		cmd.Env = []string{strictMarker + "=" + strings.Join(i.without, " "), "TMPDIR=" + t.TempDir(), "PATH=/usr/bin:/bin", asUser + "=" + os.Getenv(asUser), "GORACE=" + os.Getenv("GORACE")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// security 2.15 SB5: a fork bomb that may have more processes than its user leaves the engine some, and none is alive at the end.
func TestForkBombOfFullUser(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may have any number of processes: TestAsUser runs this")
	}
	strict(t, map[int]uint64{unix.RLIMIT_NPROC: tasks(os.Getuid()) + 100}, func(t *testing.T, i tier) {
		duringForkBomb(t, i, i.runner(t, Options{}), runner.Limits{Processes: 4096, Memory: 1 << 30}, func() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				t.Error(err)
			}
		})
	})
}

// A user whose own limits are lower than those of a command can run it, and keeps them.
func TestLowerLimitsOfUser(t *testing.T) {
	strict(t, map[int]uint64{unix.RLIMIT_NOFILE: 200, unix.RLIMIT_FSIZE: 1 << 20, unix.RLIMIT_CPU: 300}, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", "import resource as r; print([r.getrlimit(x) for x in (r.RLIMIT_NOFILE, r.RLIMIT_FSIZE, r.RLIMIT_CPU)])")
		c.Limits = runner.Limits{OpenFiles: 1024, FileSize: 1 << 28, CPU: time.Hour}
		if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != "[(200, 200), (1048576, 1048576), (300, 300)]\n" {
			t.Errorf("got %s%s", out.Stdout, out.Stderr)
		}
	})
}
