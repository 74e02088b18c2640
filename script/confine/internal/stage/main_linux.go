package stage

import (
	"runtime"
	"sync"
	"syscall"
)

// ran makes a stage do its work; in another process it is false.
//
//lint:ignore U1000 its initialiser is what the package is for
var ran = run()

const (
	socket     = 3  // the engine
	exitBroken = 97 // what the stage was given makes no sense; the engine knows by the missing report
)

// run is the whole life of a stage. Elsewhere it returns false.
func run() bool {
	name, value := Marker[:len(Marker)-2], Marker[len(Marker)-1:]
	if v, _ := syscall.Getenv(name); v != value {
		return false
	}
	// The process that started it may be protected from others and have passed this on.
	_ = prctl(syscall.PR_SET_DUMPABLE, 1, 0)
	_ = closeRange(socket, uint(^uint32(0)), closeRangeCloexec)
	p, err := receive()
	if err != nil {
		exit(exitBroken)
	}
	s := &stage{program: p}
	s.setup()
	s.start()
	s.supervise()
	return true
}

func exit(code int) { syscall.Exit(code) }

// receive reads the program. It refuses a descriptor that is not a socket, or does not begin with the magic number.
func receive() (*Program, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(socket, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return nil, errShort
	}
	var head [8]byte
	if err := readFull(socket, head[:]); err != nil {
		return nil, err
	}
	if word(head[:]) != magic {
		return nil, errShort
	}
	body := make([]byte, word(head[4:]))
	if err := readFull(socket, body); err != nil {
		return nil, err
	}
	return decode(body)
}

func readFull(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Read(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return errShort
		}
		b = b[n:]
	}
	return nil
}

// report sends a report, with a descriptor unless it is -1. The engine may be gone: the end of its socket says so later.
func report(r Report, fd int) {
	var rights []byte
	if fd >= 0 {
		rights = syscall.UnixRights(fd)
	}
	_ = syscall.Sendmsg(socket, r.encode(), rights, nil, syscall.MSG_NOSIGNAL)
}

// stage is a running stage.
type stage struct {
	program *Program
	pid     int // of the command
	thread  int // the thread that started it
	root    root
}

// setup does the operations on the process.
func (s *stage) setup() {
	for i := range s.program.Setup {
		err := s.do(&s.program.Setup[i], i)
		if e, ok := err.(*opError); ok {
			i, err = e.index, e.err
		}
		if err != nil {
			fail(SetupFailed, i, err)
		}
	}
}

// fail reports what failed and ends the stage.
func fail(k Kind, index int, err error) {
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.EIO
	}
	report(Report{Kind: k, N: uint32(index), V: uint32(errno)}, -1)
	exit(exitBroken)
}

// start starts the command on a thread of its own, which takes its restrictions and ends when the command is started: this
// process keeps none of them, so the command has no power over it. The threads that a Go program needs exist by then: see spare.
func (s *stage) start() {
	spare(3)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		s.thread = syscall.Gettid()
		s.command()
	}()
	<-done
}

// spare makes some threads, which the scheduler keeps: it may need one when the command has taken all that there may be.
func spare(n int) {
	var there, gone sync.WaitGroup
	there.Add(n)
	hold := make(chan struct{})
	for range n {
		gone.Go(func() {
			runtime.LockOSThread() // so each has a thread of its own
			defer runtime.UnlockOSThread()
			there.Done()
			<-hold
		})
	}
	there.Wait()
	close(hold)
	gone.Wait()
}

// command restricts this thread and starts the command from it.
func (s *stage) command() {
	p := s.program
	var r restriction
	for i := range p.Restrict {
		if err := r.do(&p.Restrict[i], i, s); err != nil {
			fail(RestrictFailed, i, err)
		}
	}
	_ = prctl(syscall.PR_SET_DUMPABLE, 0, 0) // the command cannot open this process in /proc
	pid, err := syscall.ForkExec(p.Path, p.Args, &syscall.ProcAttr{
		Env: p.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		fail(StartFailed, 0, err)
	}
	s.pid = pid
	report(Report{Kind: Started}, -1) // at once: a command that takes all processes may end this one
}
