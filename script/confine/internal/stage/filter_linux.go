package stage

import (
	"syscall"
	"unsafe"
)

// instructionSize is the size of an encoded instruction of a filter.
const instructionSize = 8

// EncodeFilter returns a seccomp program as the operation Filter takes it.
func EncodeFilter(program []syscall.SockFilter) string {
	b := make([]byte, 0, len(program)*instructionSize)
	for _, i := range program {
		b = append(b, byte(i.Code), byte(i.Code>>8), i.Jt, i.Jf)
		b = appendWord(b, i.K)
	}
	return string(b)
}

func instructions(s string) []syscall.SockFilter {
	b := []byte(s)
	program := make([]syscall.SockFilter, 0, len(b)/instructionSize)
	for ; len(b) >= instructionSize; b = b[instructionSize:] {
		program = append(program, syscall.SockFilter{
			Code: uint16(b[0]) | uint16(b[1])<<8, Jt: b[2], Jf: b[3], K: word(b[4:])})
	}
	return program
}

// filter installs a seccomp program on this thread.
func filter(program []syscall.SockFilter) error {
	if len(program) == 0 {
		return syscall.EINVAL
	}
	prog := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, seccompFilter, uintptr(unsafe.Pointer(&prog)))
	return result(errno)
}

// protection returns the filter that keeps signals from the process pid and its thread. Without a PID namespace the command
// could end the process that ends its descendants; or, with -1, all processes of its user.
func protection(pid, thread uint32) []syscall.SockFilter {
	const (
		load  = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
		equal = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
		ret   = syscall.BPF_RET | syscall.BPF_K
		arg0  = 16 // offset of the low half of the first argument
	)
	calls := []uint32{syscall.SYS_KILL, syscall.SYS_TKILL, syscall.SYS_TGKILL, syscall.SYS_RT_SIGQUEUEINFO, syscall.SYS_RT_TGSIGQUEUEINFO,
		sysPidfdOpen}
	targets := []uint32{pid, thread, -pid, ^uint32(0)}
	program := []syscall.SockFilter{{Code: load, K: 0}}
	for i, nr := range calls {
		program = append(program, syscall.SockFilter{Code: equal, K: nr, Jt: uint8(len(calls) - i)})
	}
	program = append(program, syscall.SockFilter{Code: ret, K: seccompAllow}, syscall.SockFilter{Code: load, K: arg0})
	for i, target := range targets {
		program = append(program, syscall.SockFilter{Code: equal, K: target, Jt: uint8(len(targets) - i)})
	}
	return append(program, syscall.SockFilter{Code: ret, K: seccompAllow},
		syscall.SockFilter{Code: ret, K: seccompErrno | uint32(syscall.EPERM)})
}
