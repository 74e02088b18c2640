package stage

import (
	"encoding/binary"
	"reflect"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// security 2.15 SB1, SB19: no signal reaches the process that ends the descendants, by any name of it.
func TestProtection(t *testing.T) {
	const pid, thread = 4711, 4714
	program := protection(pid, thread)
	if got := instructions(EncodeFilter(program)); !reflect.DeepEqual(got, program) {
		t.Errorf("got %v, want %v", got, program)
	}
	raw := make([]bpf.RawInstruction, len(program))
	for i, s := range program {
		raw[i] = bpf.RawInstruction{Op: s.Code, Jt: s.Jt, Jf: s.Jf, K: s.K}
	}
	parsed, _ := bpf.Disassemble(raw)
	vm, err := bpf.NewVM(parsed)
	if err != nil {
		t.Fatal(err)
	}
	for _, nr := range []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN, unix.SYS_READ} {
		for target, refused := range map[int32]bool{pid: true, thread: true, -pid: true, -1: true, 1: false, 0: false, -4712: false, pid + 1: false} {
			data := make([]byte, 64)
			binary.BigEndian.PutUint32(data, nr)
			binary.BigEndian.PutUint32(data[16:], uint32(target))
			want := uint32(unix.SECCOMP_RET_ALLOW)
			if refused && nr != unix.SYS_READ {
				want = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
			}
			if got, err := vm.Run(data); err != nil || uint32(got) != want {
				t.Errorf("call %d, %d: got %#x, %v, want %#x", nr, target, got, err, want)
			}
		}
	}
}
