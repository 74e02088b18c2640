package fleet

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var inNamespaces = flag.Bool("namespaces", false, "let TestChaosOfThree cut networks and fill disks, in namespaces")

// insideVariable is set in the process that has namespaces of its own.
const insideVariable = "FLEET_INSIDE"

// moves runs a test in namespaces of its own, and reports whether it did: then the caller has nothing to do.
func moves(t *testing.T) bool {
	if !*inNamespaces || os.Getenv(insideVariable) != "" {
		return false
	}
	cmd := exec.Command(os.Args[0], append(os.Args[1:], "-test.run=^"+t.Name()+"$")...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	return true
}

// network is a bridge in this process's namespace, with a namespace for each machine.
type network struct {
	t     *testing.T
	holds map[string]int // the process that keeps the namespace of a machine
}

func (n *network) run(args ...string) {
	n.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func newNetwork(t *testing.T) *network {
	n := &network{t: t, holds: map[string]int{}}
	n.run("ip", "link", "set", "lo", "up")
	n.run("ip", "link", "add", "bridge0", "type", "bridge")
	n.run("ip", "link", "set", "bridge0", "up")
	return n
}

// add makes the namespace of a machine.
func (n *network) add(name, address string) {
	hold := exec.Command("sleep", "infinity")
	hold.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWNET}
	if err := hold.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = hold.Process.Kill(); _ = hold.Wait() })
	n.holds[name] = hold.Process.Pid
	n.run("ip", "link", "add", "to-"+name, "type", "veth", "peer", "name", "eth0", "netns", fmt.Sprint(hold.Process.Pid))
	n.run("ip", "link", "set", "to-"+name, "master", "bridge0", "up")
	for _, line := range []string{"link set lo up", "addr add " + address + "/24 dev eth0", "link set eth0 up"} {
		n.run(append(n.in(name), append([]string{"ip"}, strings.Fields(line)...)...)...)
	}
}

// in returns what begins a command on a machine.
func (n *network) in(name string) []string {
	if n == nil || n.holds[name] == 0 {
		return nil
	}
	return []string{"nsenter", "-t", fmt.Sprint(n.holds[name]), "-n"}
}

func (n *network) cut(name string) (mend func()) {
	n.run("ip", "link", "set", "to-"+name, "down")
	return func() { n.run("ip", "link", "set", "to-"+name, "up") }
}

func (n *network) slow(name string) (mend func()) {
	n.run("tc", "qdisc", "add", "dev", "to-"+name, "root", "tbf", "rate", "256kbit", "burst", "16k", "latency", "500ms")
	return func() { n.run("tc", "qdisc", "del", "dev", "to-"+name, "root") }
}

// small makes a folder a disk of its own, with 64 MB.
func small(t *testing.T, dir string) {
	if err := syscall.Mount("fleet", dir, "tmpfs", 0, "size=64m,mode=700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// fill leaves no room on the disk of a folder.
func fill(t *testing.T, dir string) (empty func()) {
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 64<<10); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	return func() { os.Remove(name) }
}
