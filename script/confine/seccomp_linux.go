package confine

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// newestCall is the newest system call that the lists below were checked against. What is newer does not exist for a command.
const newestCall = 466

// rules says what a filter refuses.
type rules struct {
	confine  bool // everything that a confined command does not need; false leaves tracing and the limits of others
	inet     bool // sockets of the internet are allowed
	onlyTCP  bool // of these, only TCP
	noSocket bool // unix sockets are refused too; pairs of sockets are allowed
	others   bool // processes of others can be named: a command chooses the processors of no thread but the one that calls
	noShared bool // memory that is counted nowhere or outlives the processes is refused
	noCut    bool // to empty a file that was not opened to be written is refused: old versions of Landlock do not see it
}

// callArg is a system call whose argument decides.
type callArg struct{ nr, arg uint32 }

// tracing lists what gives power over other processes.
var tracing = []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE}

// refused lists what a confined command does not need.
var refused = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_FANOTIFY_INIT,
}

// shared lists what makes memory that no limit of a process counts.
var shared = []uint32{unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET}

// ofOthers lists the calls that change another process if their argument is not 0.
var ofOthers = []callArg{
	{unix.SYS_PRLIMIT64, 0}, {unix.SYS_SETPRIORITY, 1}, {unix.SYS_SCHED_SETAFFINITY, 0}, {unix.SYS_SCHED_SETSCHEDULER, 0},
	{unix.SYS_SCHED_SETPARAM, 0}, {unix.SYS_SCHED_SETATTR, 0}, {unix.SYS_IOPRIO_SET, 1}, {unix.SYS_MIGRATE_PAGES, 0}, {unix.SYS_MOVE_PAGES, 0},
}

// modes lists the calls that give a file its mode, with the argument that has it. makers lists those that do so only with the
// flags of creators in the argument before.
var (
	modes  = []callArg{{unix.SYS_FCHMOD, 1}, {unix.SYS_FCHMODAT, 2}, {unix.SYS_FCHMODAT2, 2}, {unix.SYS_MKNODAT, 2}}
	makers = []callArg{{unix.SYS_OPENAT, 3}}
)

const creators = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Parts of instructions.
const (
	load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	and   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyOf = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	ret   = unix.BPF_RET | unix.BPF_K

	offsetCall = 0 // in struct seccomp_data
	offsetArch = 4
	x32        = 0x40000000 // the first number of the x32 calls
	typeMask   = 0xf        // of the type of a socket
)

func argument(n uint32) uint32 { return 16 + 8*n } // the offset of its low half

func refuse(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// filter is a program under construction.
type filter struct {
	program []syscall.SockFilter
	calls   []decision // that the program does not have yet
	tooFar  bool       // a jump does not fit into its instruction
}

// decision is what a filter does about one system call. It ends the program on all its ways.
type decision struct {
	nr   uint32
	body []syscall.SockFilter
}

func (f *filter) add(code uint16, k uint32, jt, jf uint8) {
	f.program = append(f.program, syscall.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}

// over returns the jump over n instructions.
func (f *filter) over(n int) uint8 {
	f.tooFar = f.tooFar || n > math.MaxUint8
	return uint8(n)
}

// call ends in result for the system call nr.
func (f *filter) call(nr, result uint32) {
	f.when(nr, func(f *filter) { f.add(ret, result, 0, 0) })
}

// when has body decide about the system call nr.
func (f *filter) when(nr uint32, body func(*filter)) {
	var inner filter
	body(&inner)
	f.tooFar = f.tooFar || inner.tooFar
	f.calls = append(f.calls, decision{nr, inner.program})
}

// callsAtOnce is how many decisions of a filter a call passes in one step if it is none of them. All calls together are few steps: the
// kernel takes a filter through all of them when it is installed, and later those whose arguments count.
const callsAtOnce = 8

// decide appends all decisions. What nothing decides about is allowed.
func (f *filter) decide() {
	slices.SortStableFunc(f.calls, func(a, b decision) int { return cmp.Compare(a.nr, b.nr) })
	for some := range slices.Chunk(f.calls, callsAtOnce) {
		var inner filter
		for _, d := range some {
			inner.add(equal, d.nr, 0, f.over(len(d.body)))
			inner.program = append(inner.program, d.body...)
		}
		inner.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
		f.add(least, some[len(some)-1].nr+1, f.over(len(inner.program)), 0)
		f.program = append(f.program, inner.program...)
	}
	f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
}

// one allows the call if its argument is one of values, and else ends in result.
func (f *filter) one(arg, result uint32, values ...uint32) {
	f.add(load, argument(arg), 0, 0)
	for i, v := range values {
		f.add(equal, v, f.over(len(values)-i), 0)
	}
	f.add(ret, result, 0, 0)
	f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
}

// none allows the call if its argument is none of values, and else ends in result.
func (f *filter) none(arg, result uint32, values ...uint32) {
	f.add(load, argument(arg), 0, 0)
	for i, v := range values {
		f.add(equal, v, f.over(len(values)-i), 0)
	}
	f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
	f.add(ret, result, 0, 0)
}

// build returns the seccomp program for this processor. It kills a process that uses the calls of another one.
func (r rules) build() []syscall.SockFilter {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	f := &filter{}
	f.add(load, offsetArch, 0, 0)
	f.add(equal, arch, 1, 0)
	f.add(ret, unix.SECCOMP_RET_KILL_PROCESS, 0, 0)
	f.add(load, offsetCall, 0, 0)
	f.add(least, x32, 0, 1)
	f.add(ret, refuse(unix.ENOSYS), 0, 0)
	if r.confine {
		f.add(least, newestCall+1, 0, 1)
		f.add(ret, refuse(unix.ENOSYS), 0, 0)
	}
	for _, nr := range tracing {
		f.call(nr, refuse(unix.EPERM))
	}
	for _, c := range ofOthers {
		if c.nr == unix.SYS_SCHED_SETAFFINITY && !r.others {
			continue // libraries for numbers place their threads
		}
		f.when(c.nr, func(f *filter) { f.one(c.arg, refuse(unix.EPERM), 0) })
	}
	if r.confine {
		r.confined(f)
	}
	f.decide()
	return f.checked()
}

// checked returns the program, or none if it would jump to wrong places. Without a program the stage starts nothing.
func (f *filter) checked() []syscall.SockFilter {
	if f.tooFar {
		return nil
	}
	return f.program
}

func (r rules) confined(f *filter) {
	calls := slices.Clone(refused)
	calls = append(calls, refusedHere...)
	if r.noShared {
		calls = append(calls, shared...)
	}
	for _, nr := range calls {
		f.call(nr, refuse(unix.EPERM))
	}
	f.call(unix.SYS_CLONE3, refuse(unix.ENOSYS)) // its flags cannot be seen; the C library takes clone instead
	f.when(unix.SYS_CLONE, func(f *filter) {
		f.add(load, argument(0), 0, 0)
		f.add(anyOf, newNamespaces, 0, 1)
		f.add(ret, refuse(unix.EPERM), 0, 0)
		f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
	})
	r.openings(f)
	f.when(unix.SYS_IOCTL, func(f *filter) { f.none(1, refuse(unix.EPERM), unix.TIOCSTI, unix.TIOCLINUX) })
	r.sockets(f)
}

// openings decides about modes of files, and about files that are opened. It refuses to make a program that runs as its owner, whoever
// starts it: for other users of the machine it would be a way to the user of the command. The flags of openat2 cannot be seen; programs
// take openat instead.
func (r rules) openings(f *filter) {
	f.call(unix.SYS_OPENAT2, refuse(unix.ENOSYS))
	if r.noCut {
		f.call(unix.SYS_TRUNCATE, refuse(unix.EPERM))
	}
	refuseMode := func(f *filter, arg uint32) {
		f.add(load, argument(arg), 0, 0)
		f.add(anyOf, unix.S_ISUID, 0, 1)
		f.add(ret, refuse(unix.EPERM), 0, 0)
		f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
	}
	for _, c := range slices.Concat(modes, modesHere) {
		f.when(c.nr, func(f *filter) { refuseMode(f, c.arg) })
	}
	for _, c := range slices.Concat(makers, makersHere) {
		f.when(c.nr, func(f *filter) {
			if r.noCut {
				f.cut(c.arg - 1)
			}
			f.add(load, argument(c.arg-1), 0, 0)
			f.add(anyOf, creators, 1, 0)
			f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
			refuseMode(f, c.arg)
		})
	}
}

// cut refuses flags that empty a file which they do not open to be written. What follows decides about others.
func (f *filter) cut(flags uint32) {
	f.add(load, argument(flags), 0, 0)
	f.add(anyOf, unix.O_TRUNC, 0, 4)
	f.add(and, unix.O_ACCMODE, 0, 0)
	f.add(equal, unix.O_WRONLY, 2, 0)
	f.add(equal, unix.O_RDWR, 1, 0)
	f.add(ret, refuse(unix.EPERM), 0, 0)
}

func (r rules) sockets(f *filter) {
	f.when(unix.SYS_SOCKETPAIR, func(f *filter) { f.one(0, refuse(unix.EACCES), unix.AF_UNIX) })
	var families []uint32
	if !r.noSocket {
		families = append(families, unix.AF_UNIX)
	}
	if r.inet && !r.onlyTCP {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	f.when(unix.SYS_SOCKET, func(f *filter) {
		if r.inet && r.onlyTCP {
			f.socketTCP(unix.AF_INET)
			f.socketTCP(unix.AF_INET6)
		}
		f.one(0, refuse(unix.EACCES), families...)
	})
}

// socketTCP allows sockets of a family that are streams of the protocols 0 and 6. What follows decides about others.
func (f *filter) socketTCP(family uint32) {
	f.add(load, argument(0), 0, 0)
	f.add(equal, family, 0, 6)
	f.add(load, argument(1), 0, 0)
	f.add(and, typeMask, 0, 0)
	f.add(equal, unix.SOCK_STREAM, 0, 3)
	f.add(load, argument(2), 0, 0)
	f.add(anyOf, ^uint32(unix.IPPROTO_TCP), 1, 0) // 2 and 4 have this bit pattern too, and are no protocols of streams
	f.add(ret, unix.SECCOMP_RET_ALLOW, 0, 0)
}
