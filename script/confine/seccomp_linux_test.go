package confine

import (
	"encoding/binary"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// verdict runs a filter on one system call, as the kernel would.
func verdict(t *testing.T, program []syscall.SockFilter, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	return kernel(t, program)(arch, nr, args...)
}

// kernel returns what runs a filter on system calls.
func kernel(t *testing.T, program []syscall.SockFilter) func(arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	raw := make([]bpf.RawInstruction, len(program))
	for i, s := range program {
		raw[i] = bpf.RawInstruction{Op: s.Code, Jt: s.Jt, Jf: s.Jf, K: s.K}
	}
	parsed, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("an instruction is unknown")
	}
	vm, err := bpf.NewVM(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return func(arch, nr uint32, args ...uint64) uint32 {
		t.Helper()
		// The machine of the test reads big endian, the kernel its own order: each word is turned round.
		data := make([]byte, 64)
		binary.BigEndian.PutUint32(data, nr)
		binary.BigEndian.PutUint32(data[4:], arch)
		for i, a := range args {
			binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
			binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
		}
		n, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
}

// processor is how the kernel names the processor of this machine, and the verdicts of filters.
var (
	processor             = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	eperm, eacces, enosys = refuse(unix.EPERM), refuse(unix.EACCES), refuse(unix.ENOSYS)
)

const allow = unix.SECCOMP_RET_ALLOW

// R176, security 2.5 #73, #77, #78, #80, #81, 2.15 SB1, SB2, SB3, SB22: the verdict of the filters on every kind of call.
func TestFilter(t *testing.T) {
	a, b := rules{confine: true, inet: true, onlyTCP: true}, rules{confine: true, noSocket: true, noShared: true, others: true}
	online, named, off := rules{confine: true, inet: true}, rules{confine: true, inet: true, onlyTCP: true, noSocket: true}, rules{}
	old := rules{confine: true, noSocket: true, noShared: true, others: true, noCut: true}
	self := uint64(0)
	tests := []struct {
		name  string
		rules rules
		nr    uint32
		args  []uint64
		want  uint32
	}{
		{"read", a, unix.SYS_READ, nil, allow},
		{"ptrace", a, unix.SYS_PTRACE, nil, eperm},
		{"ptrace when off", off, unix.SYS_PTRACE, nil, eperm},
		{"mount", a, unix.SYS_MOUNT, nil, eperm},
		{"mount when off", off, unix.SYS_MOUNT, nil, allow},
		{"fork", a, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allow},
		{"thread", a, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allow},
		{"user namespace", a, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"network namespace", a, unix.SYS_CLONE, []uint64{unix.CLONE_NEWNET}, eperm},
		{"set-group-ID, as shared folders of git have it", a, unix.SYS_FCHMODAT, []uint64{0, 0, 0o2755}, allow},
		{"set-user-ID", a, unix.SYS_FCHMODAT, []uint64{0, 0, 0o4755}, eperm},
		{"set-user-ID of an open file", b, unix.SYS_FCHMOD, []uint64{0, 0o4000}, eperm},
		{"set-user-ID when off", off, unix.SYS_FCHMOD, []uint64{0, 0o4000}, allow},
		{"a new file", a, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o644}, allow},
		{"a new set-user-ID file", a, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, eperm},
		{"an unnamed set-user-ID file", a, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TMPFILE | unix.O_WRONLY, 0o4755}, eperm},
		{"open with a mode that does not count", a, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_DIRECTORY, 0o4755}, allow},
		{"openat2", a, unix.SYS_OPENAT2, nil, enosys},
		{"clone3", a, unix.SYS_CLONE3, nil, enosys},
		{"unshare", a, unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER}, eperm},
		{"ioctl", a, unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, allow},
		{"TIOCSTI", a, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
		{"TIOCSTI with high bits", a, unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}, eperm},
		{"TIOCLINUX", a, unix.SYS_IOCTL, []uint64{0, unix.TIOCLINUX}, eperm},
		{"own limit", a, unix.SYS_PRLIMIT64, []uint64{self}, allow},
		{"limit of another", a, unix.SYS_PRLIMIT64, []uint64{1}, eperm},
		{"limit of another when off", off, unix.SYS_PRLIMIT64, []uint64{1}, eperm},
		{"own priority", a, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, self}, allow},
		{"priority of another", a, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 7}, eperm},
		{"io priority of another", a, unix.SYS_IOPRIO_SET, []uint64{1, 7}, eperm},
		{"affinity of a thread", a, unix.SYS_SCHED_SETAFFINITY, []uint64{7}, allow},
		{"affinity in tier B", b, unix.SYS_SCHED_SETAFFINITY, []uint64{7}, eperm},
		{"unix socket", a, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, allow},
		{"unix socket in tier B", b, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, eacces},
		{"socket pair in tier B", b, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX}, allow},
		{"socket pair of another family", b, unix.SYS_SOCKETPAIR, []uint64{unix.AF_TIPC}, eacces},
		{"tcp", a, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"udp", a, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM}, eacces},
		{"netlink", a, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW}, eacces},
		{"tcp in tier B", b, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, eacces},
		{"tcp online", online, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"udp online", online, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_DGRAM}, allow},
		{"netlink online", online, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW}, eacces},
		{"vsock online", online, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, eacces},
		{"tcp to names", named, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"tcp to names with flags", named, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP}, allow},
		{"mptcp to names", named, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, eacces},
		{"sctp to names", named, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, eacces},
		{"udp to names", named, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM}, eacces},
		{"raw to names", named, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, eacces},
		{"unix socket to names", named, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, eacces},
		{"memfd", a, unix.SYS_MEMFD_CREATE, nil, allow},
		{"memfd in tier B", b, unix.SYS_MEMFD_CREATE, nil, eperm},
		{"shmget in tier B", b, unix.SYS_SHMGET, nil, eperm},
		{"newest known", a, newestCall, nil, allow},
		{"unknown", a, newestCall + 1, nil, enosys},
		{"far unknown", a, 9999, nil, enosys},
		{"x32", a, x32 | unix.SYS_READ, nil, enosys},
		{"x32 when off", off, x32 | unix.SYS_PTRACE, nil, enosys},
	}
	for _, tt := range tests {
		if got := verdict(t, tt.rules.build(), processor, tt.nr, tt.args...); got != tt.want {
			t.Errorf("%s: got %#x, want %#x", tt.name, got, tt.want)
		}
	}
	const i386 = 0x40000003
	for _, r := range []rules{a, b, online, named, off, old} {
		program := kernel(t, r.build())
		if got := program(i386, 20); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("%+v: another processor: got %#x", r, got)
		}
		if got := program(processor, x32|unix.SYS_READ); got != enosys {
			t.Errorf("%+v: x32: got %#x", r, got)
		}
		for nr := range uint32(newestCall + 1) {
			for _, c := range decided(r, nr) {
				if got := program(processor, nr, c.args...); got != c.want {
					t.Errorf("%+v: call %d%v: got %#x, want %#x", r, nr, c.args, got, c.want)
				}
			}
		}
	}
}

// decidedCall is what a filter has to do about a call with these arguments.
type decidedCall struct {
	args []uint64
	want uint32
}

// decided returns what a filter has to do about a call by the lists of calls alone: what is in none of them is allowed. A jump that is
// wrong by one instruction changes some of it.
func decided(r rules, nr uint32) []decidedCall {
	has := func(calls []callArg) (arg uint32, ok bool) {
		for _, c := range calls {
			if c.nr == nr {
				return c.arg, true
			}
		}
		return 0, false
	}
	with := func(n uint32, value, before uint64) []uint64 {
		args := make([]uint64, 6)
		args[n] = value
		if n > 0 {
			args[n-1] = before
		}
		return args
	}
	if arg, ok := has(ofOthers); ok && (nr != unix.SYS_SCHED_SETAFFINITY || r.others) {
		return []decidedCall{{with(arg, 0, 7), allow}, {with(arg, 1, 0), eperm}, {with(arg, 1<<31, 0), eperm}}
	}
	if slices.Contains(tracing, nr) || r.confine && slices.Contains(slices.Concat(refused, refusedHere), nr) || r.noShared && slices.Contains(shared, nr) {
		return []decidedCall{{nil, eperm}}
	}
	if !r.confine {
		return []decidedCall{{nil, allow}}
	}
	if arg, ok := has(slices.Concat(modes, modesHere)); ok {
		out := []decidedCall{{with(arg, 0o4000, 0), eperm}, {with(arg, 0o106755, 0), eperm}}
		for mode := range uint64(0o4000) { // some are also numbers of calls
			out = append(out, decidedCall{with(arg, mode, 0o4000), allow})
		}
		return out
	}
	if arg, ok := has(slices.Concat(makers, makersHere)); ok {
		cut := uint32(allow)
		if r.noCut {
			cut = eperm
		}
		return []decidedCall{{with(arg, 0o7777, unix.O_RDWR|unix.O_DIRECTORY), allow}, {with(arg, 0o3777, unix.O_CREAT), allow},
			{with(arg, 0o4000, unix.O_CREAT), eperm}, {with(arg, 0o4000, unix.O_TMPFILE), eperm},
			{with(arg, 0o600, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC), allow}, {with(arg, 0, unix.O_RDWR|unix.O_TRUNC|unix.O_CLOEXEC), allow},
			{with(arg, 0o4000, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC), eperm},
			{with(arg, 0, unix.O_RDONLY|unix.O_TRUNC), cut}, {with(arg, 0, unix.O_ACCMODE|unix.O_TRUNC|unix.O_CLOEXEC), cut}, {with(arg, 0, unix.O_ACCMODE), allow}}
	}
	if nr == unix.SYS_TRUNCATE && r.noCut {
		return []decidedCall{{nil, eperm}}
	}
	switch nr {
	case unix.SYS_CLONE3, unix.SYS_OPENAT2:
		return []decidedCall{{nil, enosys}}
	case unix.SYS_IOCTL:
		return []decidedCall{{[]uint64{0, unix.TIOCSTI}, eperm}, {[]uint64{0, unix.TIOCLINUX}, eperm}, {[]uint64{0, 0}, allow}}
	case unix.SYS_SOCKETPAIR:
		return families(unix.AF_UNIX)
	case unix.SYS_SOCKET:
		return socketsOf(r)
	}
	return []decidedCall{{nil, allow}}
}

// families returns that sockets of some families are allowed, and those of all others refused.
func families(allowed ...uint64) []decidedCall {
	var out []decidedCall
	for family := range uint64(unix.AF_MAX + 1) {
		want := uint32(eacces)
		if slices.Contains(allowed, family) {
			want = allow
		}
		out = append(out, decidedCall{[]uint64{family, unix.SOCK_STREAM}, want})
	}
	return out
}

// socketsOf returns what a filter has to do about sockets of all families, kinds and protocols.
func socketsOf(r rules) []decidedCall {
	var allowed []uint64
	if !r.noSocket {
		allowed = append(allowed, unix.AF_UNIX)
	}
	if r.inet {
		allowed = append(allowed, unix.AF_INET, unix.AF_INET6)
	}
	out := families(allowed...)
	for _, family := range []uint64{unix.AF_INET, unix.AF_INET6} {
		for kind := range uint64(16) {
			for _, protocol := range []uint64{0, 1, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_SCTP, unix.IPPROTO_MPTCP, 1 << 31} {
				tcp := kind == unix.SOCK_STREAM && (protocol == 0 || protocol == unix.IPPROTO_TCP)
				want := uint32(eacces)
				if r.inet && (tcp || !r.onlyTCP) {
					want = allow
				}
				out = append(out, decidedCall{[]uint64{family, kind | unix.SOCK_CLOEXEC, protocol}, want})
			}
		}
	}
	return out
}

// A filter whose jumps do not fit into its instructions is no filter, and the kernel takes none that is empty. A jump of 256
// instructions would else be one of 0, into what refuses the call or past it.
func TestFilterFits(t *testing.T) {
	long := func(n int) func(*filter) {
		return func(f *filter) {
			for range n {
				f.add(ret, refuse(unix.EPERM), 0, 0)
			}
		}
	}
	several := func(values int) func(*filter) {
		return func(f *filter) { f.one(0, refuse(unix.EPERM), make([]uint32, values)...) }
	}
	tests := []struct {
		name  string
		calls []func(*filter)
		fits  bool
	}{
		{"as long as a jump", []func(*filter){long(253)}, true}, // and two instructions around it
		{"longer than a jump past it with others", []func(*filter){long(254)}, false},
		{"longer than a jump", []func(*filter){long(256)}, false},
		{"together longer than a jump", []func(*filter){long(127), long(127)}, false},
		{"many values", []func(*filter){several(256)}, false},
	}
	for _, tt := range tests {
		f := &filter{}
		for i, body := range tt.calls {
			f.when(uint32(i), body)
		}
		f.decide()
		if got := f.checked() != nil; got != tt.fits {
			t.Errorf("%s: fits %v, want %v", tt.name, got, tt.fits)
		}
	}
	for bits := range 1 << 7 {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		if r := (rules{on(0), on(1), on(2), on(3), on(4), on(5), on(6)}); r.build() == nil {
			t.Errorf("no filter for %+v", r)
		}
	}
}

// A command cannot make a program that runs as its user for everybody. Without a sandbox the same command can.
func TestNoSetUID(t *testing.T) {
	for _, i := range append(confined(), tier{"off", nil, runner.ConfineOff}) {
		c := i.command(t, "/bin/sh", "-c", "cp /bin/sh sh && chmod 755 sh && chmod 4755 sh; [ -x sh ] || exit 9; [ ! -u sh ]")
		out := run(t, i.runner(t, Options{}), c)
		if want := map[bool]int{true: 0, false: 1}[i.confine != runner.ConfineOff]; out.ExitCode != want {
			t.Errorf("tier %s: got %d, want %d: %s", i.name, out.ExitCode, want, out.Stderr)
		}
	}
}
