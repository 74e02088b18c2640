package fault

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Run calls f on a thread of its own. Before each file-system call of f it asks decide what happens; the calls of goroutines
// that f starts are not seen. decide runs on another goroutine, one call at a time. Run returns when f has, with an error if f
// panicked or the calls could not be watched.
func Run(f func(), decide func(Call) Fault) error {
	w := &watch{decide: decide, listener: make(chan int), ended: make(chan error, 1)}
	go w.runOnThread(f)
	fd := <-w.listener
	if fd < 0 {
		return <-w.ended
	}
	defer unix.Close(fd)
	err := w.serve(fd)
	return errors.Join(err, <-w.ended)
}

type watch struct {
	decide   func(Call) Fault
	listener chan int
	ended    chan error // gets what f ended with, when it has
}

// runOnThread never unlocks its thread, so the thread ends with it, and its filter too. The main thread never ends, so it is
// not used.
func (w *watch) runOnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		defer runtime.UnlockOSThread()
		other := make(chan struct{})
		go func() {
			runtime.LockOSThread() // not the main thread, which is locked
			close(other)
			w.runOnThread(f)
		}()
		<-other
		return
	}
	fd, err := install()
	w.listener <- fd
	if err != nil {
		w.ended <- fmt.Errorf("watch system calls: %w", err)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			w.ended <- fmt.Errorf("panic: %v", p)
			return
		}
		w.ended <- nil
	}()
	f()
}

// install puts a filter on this thread that asks about the calls in table, and returns the descriptor that they are read from.
func install() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	filter := program()
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// program returns the filter. Reads and writes of 8 bytes are let through: the Go runtime wakes itself with them.
func program() []unix.SockFilter {
	const number, count = 0, 16 + 2*8 // offsets in seccomp_data: the number of the call, and its third argument
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	equal := func(k uint32, no uint8) unix.SockFilter { // goes on if it is equal, skips no instructions otherwise
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: no}
	}
	prog := []unix.SockFilter{load(number)}
	for nr := range table {
		if nr == unix.SYS_READ || nr == unix.SYS_WRITE {
			prog = append(prog, equal(uint32(nr), 4), load(count), equal(8, 1), end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_USER_NOTIF))
			continue
		}
		prog = append(prog, equal(uint32(nr), 1), end(unix.SECCOMP_RET_USER_NOTIF))
	}
	return append(prog, end(unix.SECCOMP_RET_ALLOW))
}

// notification and response are the kernel's structs seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

const (
	ioctlReceive = 0xc0502100
	ioctlSend    = 0xc0182101
	flagContinue = 1
)

// serve answers until the thread has ended.
func (w *watch) serve(fd int) error {
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if p[0].Revents&unix.POLLIN == 0 {
			if p[0].Revents&unix.POLLHUP != 0 {
				return nil
			}
			continue
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlReceive, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // the call was interrupted by a signal, and is made again
		}
		r := w.answer(&n)
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSend, uintptr(unsafe.Pointer(&r))); errno != 0 && errno != unix.ENOENT {
			return errno
		}
	}
}

func (w *watch) answer(n *notification) response {
	c := describe(n)
	f := w.decide(c)
	switch {
	case f.Short && c.Name == "write" && len(c.Data) > 1:
		written, err := unix.Write(int(n.args[0]), c.Data[:len(c.Data)/2])
		if err != nil {
			return response{id: n.id, errno: -int32(err.(syscall.Errno))}
		}
		return response{id: n.id, val: int64(written)}
	case f.Err == 0:
		return response{id: n.id, flags: flagContinue}
	case c.Name == "close":
		unix.Close(int(n.args[0])) // a failing close frees the descriptor too
	}
	return response{id: n.id, errno: -int32(f.Err)}
}

// memory returns up to n bytes of this process.
func memory(at uint64, n int) []byte {
	if at == 0 || n <= 0 {
		return nil
	}
	buf := make([]byte, n)
	local := unix.Iovec{Base: &buf[0]}
	local.SetLen(n)
	got, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
	if err != nil {
		return nil
	}
	return buf[:got]
}
