package stage

import (
	"syscall"
	"unsafe"
)

// restriction takes rights from the thread that it is used on.
type restriction struct{ ruleset int }

// do does one operation on this thread.
func (r *restriction) do(o *Op, index int, s *stage) error {
	switch o.Code {
	case Chdir:
		return syscall.Chdir(o.A)
	case NoNewPrivs:
		return prctl(setNoNewPrivs, 1, 0)
	case DropCaps:
		return dropCaps()
	case Ruleset:
		return r.create(o)
	case Allow:
		err := r.allow(o)
		if !isOfPath(err) {
			return err
		}
		report(Report{Kind: LeftOut, N: uint32(len(s.program.Setup) + index), V: uint32(err.(syscall.Errno))}, -1)
		return nil
	case AllowPort:
		port := struct{ access, port uint64 }{o.N, o.M}
		_, _, errno := syscall.RawSyscall6(sysAddRule, uintptr(r.ruleset), ruleNetPort, uintptr(unsafe.Pointer(&port)), 0, 0, 0)
		return result(errno)
	case Enforce:
		defer syscall.Close(r.ruleset)
		_, _, errno := syscall.RawSyscall(sysRestrictSelf, uintptr(r.ruleset), 0, 0)
		return result(errno)
	case Filter:
		return filter(instructions(o.B))
	case ProtectStage:
		return filter(protection(uint32(syscall.Getpid()), uint32(s.thread)))
	case Limit:
		hard := o.M
		if o.B != "" {
			hard += uint64(o.B[0])
		}
		return limit(int(o.N), o.M, hard)
	}
	return syscall.EINVAL
}

// limit sets a limit of this process. The user's own limit stays where it is lower: nobody may raise it again.
func limit(resource int, soft, hard uint64) error {
	var own syscall.Rlimit
	if err := syscall.Getrlimit(resource, &own); err != nil {
		return err
	}
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(soft, own.Max), Max: min(hard, own.Max)})
}

// dropCaps drops all capabilities of this thread, also those that a program could get.
func dropCaps() error {
	for c := uintptr(0); c < 64; c++ {
		if prctl(syscall.PR_CAPBSET_DROP, c, 0) != nil {
			break // EINVAL after the last one; EPERM for a user, who has none to drop
		}
	}
	_ = prctl(capAmbient, capAmbientClear, 0) // the call below clears it too
	var none, left capabilities
	if err := none.set(); err != nil {
		return err
	}
	if err := left.get(); err != nil {
		return err
	}
	if left != none {
		return syscall.EPERM
	}
	return nil
}

func (r *restriction) create(o *Op) error {
	scopes := []byte(o.B)
	attr := struct{ files, network, scopes uint64 }{o.N, o.M, uint64(word(scopes)) | uint64(word(scopes[4:]))<<32}
	size := uintptr(8) // the part that each version of the kernel knows
	if attr.network != 0 {
		size = 16
	}
	if attr.scopes != 0 {
		size = 24
	}
	fd, _, errno := syscall.RawSyscall(sysCreateRuleset, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	r.ruleset = int(fd)
	return nil
}

// forFiles is the access that a rule for a file may have.
const forFiles = accessExecute | accessReadFile | accessWriteFile | accessTruncate | accessIoctlDev

func (r *restriction) allow(o *Op) error {
	fd, err := openNoLinks(o.A)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	access := o.N
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		access &= forFiles
	}
	rule := struct {
		access uint64
		fd     int32
	}{access, int32(fd)}
	_, _, errno := syscall.RawSyscall6(sysAddRule, uintptr(r.ruleset), rulePathBeneath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	return result(errno)
}
