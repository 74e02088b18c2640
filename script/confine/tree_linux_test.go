package confine

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// daemons starts processes that leave the session twice over, ignore signals, hold the pipes and write to a file again and again.
const daemons = `
import os, signal, sys, time
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
count = int(sys.argv[1])
r, w = os.pipe()
for i in range(count):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        f = open("beat", "a")
        os.write(w, b".")
        while True:
            f.write("."); f.flush(); time.sleep(0.02)
        os._exit(0)
started = 0
while started < count: started += len(os.read(r, 4096))
print("started", flush=True)
%s
`

// beats reports whether something still writes to the file of the daemons.
func beats(t *testing.T, dir string) bool {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "beat"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	time.Sleep(150 * time.Millisecond)
	return size() != before
}

// R176, security 2.5 #64, #65, 2.15 SB1: no daemon outlives the call, however it ends. The supervisor of tier B cannot be stopped.
func TestNoDaemonSurvives(t *testing.T) {
	ends := []struct {
		name   string
		attack bool
		end    string
	}{
		{"it ends", false, ""},
		{"it is ended", false, "time.sleep(60)"},
		{"it attacks the supervisor", true, `
import resource
for pid in (os.getppid(), -os.getppid(), -1):
    for s in (9, 19, 3, 11):
        try: os.kill(pid, s)
        except OSError: pass
for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
    try: resource.prlimit(os.getppid(), what, (1, 1))
    except OSError: pass
os.kill(os.getpid(), 9)`},
	}
	for _, i := range tiers() {
		for _, e := range ends {
			if i.name == "off" && e.attack {
				continue // it would succeed: nothing but seccomp protects the supervisor
			}
			t.Run(i.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				c := i.command(t, python, "-c", fmt.Sprintf(daemons, e.end), "20")
				c.Grace = 100 * time.Millisecond
				if strings.Contains(e.end, "sleep") {
					c.Timeout = time.Second
				}
				out := until(t, i.runner(t, Options{}), c, func(out *runner.Output) bool { return string(out.Stdout) == "started\n" })
				if string(out.Stdout) != "started\n" {
					t.Errorf("got %q, %s", out.Stdout, out.Stderr)
				}
				if beats(t, c.Dir) {
					t.Error("a daemon is alive")
				}
			})
		}
	}
}

// The same daemons without a supervisor survive: the test above can fail.
func TestDaemonsSurviveWithout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(python, "-c", fmt.Sprintf(strings.ReplaceAll(daemons, "while True:\n            f.write", "while os.path.exists('beat') and not os.path.exists('stop'):\n            f.write"), ""), "3")
	cmd.Dir, cmd.Env = dir, []string{}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		write(t, filepath.Join(dir, "stop"), "")
		waitFor(t, func() bool { return !beats(t, dir) })
	})
	waitFor(t, func() bool { return beats(t, dir) })
}

// engineMarker makes this test binary an engine that runs one command and is killed.
const engineMarker = "CONFINE_TEST_ENGINE"

// R176, security 2.5 #85, 2.15 SB21: when the engine is killed, everything that it started goes at once, long before it would end by
// itself, and the next engine removes its cgroups.
func TestEngineKilled(t *testing.T) {
	t.Parallel()
	if without, ok := os.LookupEnv(engineMarker); ok {
		engine(t, strings.Fields(without))
		return
	}
	each(t, func(t *testing.T, i tier) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cmd := exec.Command(self, "-test.run=^TestEngineKilled$")
		cmd.Dir = dir
		cmd.Env = []string{engineMarker + "=" + strings.Join(i.without, " "), "TMPDIR=" + dir, "PATH=/usr/bin:/bin", asUser + "=" + os.Getenv(asUser)}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			_, err := os.Stat(filepath.Join(dir, "ready"))
			return err == nil
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_ = cmd.Wait()
		waitFor(t, func() bool { return !beats(t, dir) })
		t.Logf("gone %s after the engine", time.Since(begun))
		if os.Getuid() == 0 {
			waitFor(t, func() bool {
				sweepCgroups()
				left, err := filepath.Glob(fmt.Sprintf("%s/*/%s%d-*", cgroupRoot, cgroupPrefix, cmd.Process.Pid))
				return err == nil && len(left) == 0
			})
		}
	})
}

// engine runs daemons in the current folder until it is killed.
func engine(t *testing.T, without []string) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	i := tier{without: without, confine: runner.ConfineRequired}
	c := i.command(t, python, "-c", fmt.Sprintf(daemons, "open('ready', 'w').close()\ntime.sleep(3600)"), "5")
	c.Dir, c.Write, c.Limits, c.Timeout = dir, []string{dir}, runner.Limits{Memory: 1 << 30, Processes: 100}, time.Hour
	run(t, i.runner(t, Options{}), c)
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatal("waited for a minute")
}

// security 2.5 #58: a descriptor without close-on-exec of the engine does not reach a command.
func TestDescriptorsAreClosed(t *testing.T) {
	fd, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	plain := exec.Command("/bin/ls", "/proc/self/fd")
	plain.Env = []string{}
	before, err := plain.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(before, []byte("\n"+strconv.Itoa(fd)+"\n")) {
		t.Errorf("control: it does not reach a plain command: %s", before)
	}
	each(t, func(t *testing.T, i tier) {
		out := run(t, i.runner(t, Options{}), i.command(t, "/bin/ls", "/proc/self/fd"))
		if got := strings.Fields(string(out.Stdout)); len(got) != 4 {
			t.Errorf("got %v", got)
		}
	})
}

// security 2.15 SB2: nothing that a command does to the limits of the engine succeeds.
func TestEngineLimitsStay(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		out := run(t, i.runner(t, Options{}), i.command(t, python, "-c", `
import resource, sys
for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
    try: resource.prlimit(int(sys.argv[1]), what, (0, 0)); print("set")
    except OSError as e: print(e.strerror)
`, strconv.Itoa(os.Getpid())))
		s := bufio.NewScanner(bytes.NewReader(out.Stdout))
		for s.Scan() {
			if s.Text() != "Operation not permitted" {
				t.Errorf("got %s", s.Text())
			}
		}
		f, err := os.CreateTemp(t.TempDir(), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("x"); err != nil {
			t.Error(err)
		}
		f.Close()
	})
}

// A thousand hostile daemons at once.
func TestThousandDaemons(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	count := "1000"
	if os.Getenv(asUser) != "" {
		count = "200" // root has had a thousand
	}
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", fmt.Sprintf(strings.ReplaceAll(daemons, "0.02", "0.5"), ""), count)
		c.Timeout = 5 * time.Minute
		begun := time.Now()
		out := run(t, i.runner(t, Options{}), c)
		if string(out.Stdout) != "started\n" {
			t.Errorf("got %q, %s", out.Stdout, out.Stderr)
		}
		t.Logf("%s in all", time.Since(begun))
		time.Sleep(time.Second)
		if beats(t, c.Dir) {
			t.Error("a daemon is alive")
		}
	})
}
