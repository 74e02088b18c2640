package confine

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/agent-base/agent-base/script/runner"
)

// expected says what a probe of testdata/probe.py prints in each tier: ALLOWED, one of some errors, or "!" for anything but
// ALLOWED. Control is what it prints without the sandbox, as root and as a user: "" where this machine cannot show it.
var expected = []struct{ probe, a, b, root, user string }{
	{"read a secret", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"list the folder of a secret", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"write beside a secret", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"stat a secret", "ENOENT", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"read a secret through a link", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"read a secret below /proc/self/root", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"read a secret below /proc/1/root", "!", "!", "", ""},
	{"start a program through the loader", "EACCES", "EACCES", "ALLOWED", "ALLOWED"},
	{"read /etc/shadow", "ENOENT", "EACCES", "ALLOWED", ""},
	{"write the skill", "EROFS EACCES", "EACCES", "ALLOWED", "ALLOWED"},
	{"new file in the skill", "EROFS EACCES", "EACCES", "ALLOWED", "ALLOWED"},
	{"chmod the skill", "EROFS", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"utime the skill", "EROFS", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"xattr on the skill", "EROFS", "ALLOWED EOPNOTSUPP", "", ""},
	{"truncate the skill", "EROFS EACCES", "EACCES", "ALLOWED", "ALLOWED"},
	{"write to the system", "EROFS EACCES", "EACCES", "ALLOWED", ""},
	{"write to /var/tmp", "ENOENT EROFS", "EACCES", "ALLOWED", "ALLOWED"},
	{"open a disk", "ENOENT", "EACCES", "", ""},
	{"open /dev/mem", "ENOENT", "EACCES ENOENT", "", ""},
	{"make a device", "EPERM EACCES", "EPERM EACCES", "ALLOWED", ""},

	{"connect", "ECONNREFUSED", "EACCES", "ALLOWED", "ALLOWED"},
	{"connect over IPv6", "ECONNREFUSED EADDRNOTAVAIL", "EACCES", "", ""},
	{"udp", "EACCES", "EACCES", "ALLOWED", "ALLOWED"},
	{"mptcp", "EACCES", "EACCES", "", ""},
	{"listen", "ALLOWED", "EACCES", "ALLOWED", "ALLOWED"}, // tier A has a network of its own for it
	{"connect to another machine", "ENETUNREACH", "EACCES", "", ""},
	{"other interfaces", "no", "ALLOWED no", "", ""},
	{"raw socket", "EACCES", "EACCES", "ALLOWED", ""},
	{"netlink", "EACCES", "EACCES", "ALLOWED", "ALLOWED"},
	{"vsock", "EACCES", "EACCES", "", ""},
	{"crypto socket", "EACCES", "EACCES", "", ""},
	{"unix socket", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"abstract unix socket", "ECONNREFUSED EPERM", "EACCES", "ALLOWED", "ALLOWED"},

	{"trace another process", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"memory of another process", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"/proc/PID/mem", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"environment of another process", "ENOENT", "EACCES", "ALLOWED", "ALLOWED"},
	{"environment of the parent", "EACCES", "EACCES", "", ""},
	{"descriptors of another process", "ENOENT", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"lifeline of the parent", "EACCES", "EACCES", "ENXIO", ""},
	{"command line of the kernel", "no ENOENT", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"symbols of the kernel", "no ENOENT", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"list hardware", "no ENOENT", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"change a setting of the kernel", "EROFS EACCES ENOENT", "EACCES", "ALLOWED", ""},
	{"sees other processes", "no", "ALLOWED", "ALLOWED", "ALLOWED"},
	{"signal another process", "ESRCH", "EPERM", "ALLOWED", "ALLOWED"},
	{"signal the engine", "ESRCH", "EPERM", "ALLOWED", "ALLOWED"},
	{"signal the parent", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"signal everybody", "!", "EPERM", "ALLOWED", "ALLOWED"},
	{"descriptor of the parent", "ESRCH", "EPERM", "ALLOWED", "ALLOWED"},
	{"limit of another process", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"limit of the parent", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"priority of another process", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"affinity of another process", "ESRCH", "EPERM", "ALLOWED", "ALLOWED"},
	{"scheduler of another process", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"io priority of another process", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"take a descriptor", "!", "EPERM", "ALLOWED", "ALLOWED"},

	{"shmget", "ALLOWED", "EPERM", "ALLOWED", "ALLOWED"}, // tier A has a namespace of its own for it
	{"memfd", "ALLOWED", "EPERM", "ALLOWED", "ALLOWED"},
	{"io_uring", "EPERM", "EPERM", "", ""},
	{"keyctl", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"bpf", "EPERM", "EPERM", "ALLOWED", ""},
	{"userfaultfd", "EPERM", "EPERM", "ALLOWED", ""},
	{"fanotify", "EPERM", "EPERM", "", ""},
	{"user namespace", "EPERM", "EPERM", "ALLOWED", "ALLOWED"},
	{"mount", "EPERM", "EPERM", "ALLOWED", ""},
	{"chroot", "EPERM", "EPERM", "ALLOWED", ""},
	{"host name", "EPERM", "EPERM", "ALLOWED", ""},
	{"clone3", "ENOSYS", "ENOSYS", "EINVAL", "EINVAL"},
	{"unknown call", "ENOSYS", "ENOSYS", "", ""},
	{"newest calls", "ENOSYS", "ENOSYS", "EINVAL", "EINVAL"},
	{"terminal input", "EPERM", "EPERM", "ENOTTY", "ENOTTY"},
	{"i386 call", "ValueError", "ValueError", "", ""},
	{"x32 call", "ENOSYS", "ENOSYS", "", ""},

	{"capabilities", "", "", "", ""},
	{"no new privileges", "1", "1", "0", "0"},
	{"descriptors", "0 1 2 3", "0 1 2 3", "0 1 2 3", "0 1 2 3"}, // 3 is the folder that is being read
	{"environment", "HOME PATH", "GIT_CONFIG_NOSYSTEM HOME PATH", "HOME PATH", "HOME PATH"},
}

// R176, R179, security 2.5 #56, #58, #70, #72, #73, #74, #77, #78, #80, #81, #82: what a sandbox refuses, in tiers A and B,
// security 2.15 SB1, SB2, SB3, SB7, SB9, SB17, SB18, SB19, SB22: and what it cannot refuse in tier B,
// and that each probe succeeds without one.
func TestProbes(t *testing.T) {
	for _, tier := range tiers() {
		t.Run(tier.name, func(t *testing.T) {
			got := probes(t, tier)
			for _, e := range expected {
				want := e.a
				switch {
				case tier.name == "B":
					want = e.b
				case tier.name == "off" && os.Getuid() == 0:
					want = e.root
				case tier.name == "off":
					want = e.user
				}
				if !matches(got[e.probe], want, tier.name == "off") {
					t.Errorf("%s: got %q, want %q", e.probe, got[e.probe], want)
				}
				delete(got, e.probe)
			}
			for name := range got {
				t.Errorf("%s: no row", name)
			}
		})
	}
}

func matches(got, want string, control bool) bool {
	switch {
	case want == "!":
		return got != "ALLOWED"
	case want == "":
		return control || got == ""
	}
	return got == want || slices.Contains(strings.Fields(want), got)
}

// tier is a way to run a command, forced by what is left off.
type tier struct {
	name    string
	without []string
	confine runner.Confinement
}

func tiers() []tier {
	return append(confined(), tier{"off", []string{Namespaces, Landlock, seccomp}, runner.ConfineOff})
}

// confined are the tiers that confine files and network.
func confined() []tier {
	return []tier{{"A", nil, runner.ConfineRequired}, {"B", []string{Namespaces}, runner.ConfineRequired}}
}

func (i tier) runner(t testing.TB, o Options) *Runner {
	t.Helper()
	o.Without = i.without
	r, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// command returns a command in a work directory of its own.
func (i tier) command(t testing.TB, args ...string) *runner.Command {
	t.Helper()
	path, err := exec.LookPath(args[0])
	if err != nil && (args[0] == python || args[0] == "bash") {
		t.Fatal(err) // without them hardly anything would be tested
	}
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	return &runner.Command{Path: path, Args: append([]string{path}, args[1:]...), Dir: dir, Write: []string{dir}, Confine: i.confine,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir}, Timeout: time.Minute, Grace: time.Second, MaxStdout: 1 << 20}
}

func run(t testing.TB, r *Runner, c *runner.Command) *runner.Output {
	t.Helper()
	out, err := r.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const python = "/usr/bin/python3"

// probes runs testdata/probe.py against things outside of the sandbox.
func probes(t *testing.T, i tier) map[string]string {
	outside, skill := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	program, err := os.ReadFile("testdata/probe.py")
	if err != nil {
		t.Fatal(err)
	}
	write(t, secret, "x")
	hidden := filepath.Join(outside, "program")
	copyTo(t, "/bin/true", hidden)
	write(t, filepath.Join(skill, "probe.py"), string(program))
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	socket := filepath.Join(outside, "socket")
	unixListener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer unixListener.Close()
	abstract := fmt.Sprintf("confine-test-%d-%s", os.Getpid(), i.name) // a process that is being started may hold the one before
	abstractListener, err := net.Listen("unix", "@"+abstract)
	if err != nil {
		t.Fatal(err)
	}
	defer abstractListener.Close()
	victim, address := startVictim(t)
	given, err := json.Marshal(map[string]any{"secret": secret, "skill": filepath.Join(skill, "probe.py"), "port": tcp.Addr().(*net.TCPAddr).Port,
		"unix": socket, "abstract": abstract, "engine": os.Getpid(), "victim": victim, "address": address, "program": hidden, "disk": "/dev/vda", "tier": i.name})
	if err != nil {
		t.Fatal(err)
	}
	c := i.command(t, python, "-I", filepath.Join(skill, "probe.py"), string(given))
	c.Read = []string{skill}
	out := run(t, i.runner(t, Options{}), c)
	if out.Sandbox.Tier != i.name {
		t.Errorf("got %+v", out.Sandbox)
	}
	got := map[string]string{}
	if err := json.Unmarshal(out.Stdout, &got); err != nil {
		t.Fatalf("%v: %s %s", err, out.Stdout, out.Stderr)
	}
	return got
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// startVictim starts a process of this user that has something to hide, and returns its number and where in its memory the text
// memsecret is.
func startVictim(t *testing.T) (pid int, address uintptr) {
	t.Helper()
	cmd := exec.Command(python, "-I", "-c", `
import ctypes, sys
b = ctypes.create_string_buffer(b"memsecret")
print(ctypes.addressof(b), flush=True)
sys.stdin.read()`)
	cmd.Env = []string{"PLANTED=1"}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Wait()
	})
	if _, err := fmt.Fscan(stdout, (*uint64)(unsafe.Pointer(&address))); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, address
}
