package confine

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// security 2.15 SB6: the processes that a user has already do not count for a command.
func TestManyProcessesOfUser(t *testing.T) {
	const others = 60
	for range others {
		cmd := exec.Command("/bin/sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", `
import os, time
for i in range(10):
    if os.fork() == 0: time.sleep(0.3); os._exit(0)
for i in range(10): os.wait()
print("all")`)
		c.Limits.Processes = 40
		if out := run(t, i.runner(t, Options{}), c); string(out.Stdout) != "all\n" {
			t.Errorf("got %q, %s", out.Stdout, out.Stderr)
		}
	})
}

// oldKernel makes this test binary an engine whose kernel has no clone3.
const oldKernel = "CONFINE_TEST_OLD_KERNEL"

// security 2.15 SB13: a container that refuses clone3 takes no layer away, as root with a cgroup, and as a user.
func TestWithoutClone3(t *testing.T) {
	t.Parallel()
	if without, ok := os.LookupEnv(oldKernel); ok {
		refuseClone3(t)
		i := tier{without: strings.Fields(without), confine: runner.ConfineRequired}
		c := i.command(t, "/bin/sh", "-c", "echo ran")
		c.Limits = runner.Limits{Memory: 1 << 30, Processes: 100}
		out := run(t, i.runner(t, Options{}), c)
		t.Logf("tier=%s missing=%q stdout=%s", out.Sandbox.Tier, out.Sandbox.Missing, out.Stdout)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/sh", "-c", "echo ran")
		c.Limits = runner.Limits{Memory: 1 << 30, Processes: 100}
		usual := run(t, i.runner(t, Options{}), c).Sandbox

		cmd := exec.Command(self, "-test.run=^TestWithoutClone3$", "-test.v")
		cmd.Env = []string{oldKernel + "=" + strings.Join(i.without, " "), "TMPDIR=" + t.TempDir(), "PATH=/usr/bin:/bin", asUser + "=" + os.Getenv(asUser), "GORACE=" + os.Getenv("GORACE")}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "tier="+i.name) || !strings.Contains(string(out), "stdout=ran") {
			t.Errorf("%v: %s", err, out)
		}
		if len(usual.Missing) == 0 && !strings.Contains(string(out), "missing=[]") {
			t.Errorf("a layer is lost: %s", out)
		}
	})
}

// refuseClone3 makes clone3 fail in this process and its children, as a kernel without it does.
func refuseClone3(t *testing.T) {
	t.Helper()
	program := []syscall.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_CLONE3},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	filter := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		t.Fatal(errno)
	}
	if _, _, errno := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0); errno != unix.ENOSYS {
		t.Fatalf("clone3: %v", errno)
	}
}

// In tier B files are confined with each version of Landlock, also with those that do not see how a file is emptied; what an old one
// lets pass is said. The control is the older one without the filter.
func TestOlderLandlock(t *testing.T) {
	const attack = `
import os, sys
def emptied(how):
    try: how()
    except OSError as e: return e.strerror
    return "emptied" if os.stat(sys.argv[1]).st_size == 0 else "whole"
print(emptied(lambda: os.truncate(sys.argv[1], 0)))
print(emptied(lambda: os.open(sys.argv[1], os.O_RDONLY | os.O_TRUNC)))
print(emptied(lambda: os.open(sys.argv[1], 3 | os.O_TRUNC)))
print(emptied(lambda: os.open(sys.argv[1], os.O_WRONLY)))
open("own", "w").write("x"); open("own", "w").close(); os.ftruncate(os.open("own", os.O_RDWR), 9)
print(os.stat("own").st_size)`
	newest := func() int { return confined()[1].runner(t, Options{}).abi() }()
	for abi := 1; abi <= newest; abi++ {
		for _, without := range [][]string{{Namespaces}, {Namespaces, seccomp}} {
			if len(without) > 1 && abi != truncates-1 {
				continue
			}
			i := tier{"B", without, runner.ConfineAuto}
			r := i.runner(t, Options{})
			r.version = abi + 1
			c := i.command(t, python, "-c", attack, filepath.Join(t.TempDir(), "file"))
			write(t, c.Args[3], "text")
			c.Read = []string{filepath.Dir(c.Args[3])}
			out := run(t, r, c)
			whole := !strings.Contains(string(out.Stdout), "emptied") && strings.HasSuffix(string(out.Stdout), "denied\n9\n")
			if whole != (len(without) == 1) {
				t.Errorf("landlock %d without %v: got %s%s", abi, without, out.Stdout, out.Stderr)
			}
			if said := strings.Contains(strings.Join(out.Sandbox.Missing, "\n"), "signals: "); said != (abi < scopes) {
				t.Errorf("landlock %d: missing %q", abi, out.Sandbox.Missing)
			}
		}
	}
}

// security 2.15 UV19: a program whose library lies outside of what a command may read is refused by its loader, which names the
// library, and never takes another one; with the library it runs.
func TestLibraryOutside(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/sh", "-c", `exec "$0"`, "program")
		program, err := os.ReadFile("/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(program, []byte("\x00libc.so.6\x00")) {
			t.Fatal("/bin/true has no library")
		}
		program = bytes.ReplaceAll(program, []byte("\x00libc.so.6\x00"), []byte("\x00libq.so.6\x00"))
		path := filepath.Join(c.Dir, "program")
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		c.Args[3] = path
		outside := t.TempDir()
		found, err := filepath.Glob("/lib/*-linux-gnu*/libc.so.6")
		if err != nil || len(found) == 0 {
			t.Fatalf("no libc: %v", err)
		}
		copyTo(t, found[0], filepath.Join(outside, "libq.so.6"))
		c.Env = append(c.Env, "LD_LIBRARY_PATH="+outside)
		out := run(t, i.runner(t, Options{}), c)
		if out.ExitCode != 127 || !strings.Contains(string(out.Stderr), "libq.so.6") {
			t.Errorf("got %d, %s", out.ExitCode, out.Stderr)
		}
		c.Read = append(c.Read, outside)
		if out := run(t, i.runner(t, Options{}), c); out.ExitCode != 0 {
			t.Errorf("with the library: got %d, %s", out.ExitCode, out.Stderr)
		}
	})
}
