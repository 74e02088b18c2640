package stage

import (
	"syscall"
)

// do does one operation on the process.
func (s *stage) do(o *Op, index int) error {
	switch o.Code {
	case WriteFile:
		return writeFile(o.A, o.B)
	case Subreaper:
		return prctl(setSubreaper, 1, 0)
	case SlaveMount:
		return syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, "")
	case Loopback:
		return loopback()
	case Listen:
		return listen(int(o.N))
	case Root:
		if err := s.root.open(s.program.Setup); err != nil {
			return err
		}
	}
	return s.root.do(o, index)
}

func writeFile(path, text string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return write(fd, text)
}

func write(fd int, text string) error {
	for b := []byte(text); len(b) > 0; {
		n, err := syscall.Write(fd, b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func loopback() error {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(s)
	return interfaceUp(s, "lo")
}

// listen hands a listener to the engine. A socket stays in the network in which it was made: the engine accepts connections
// from inside the sandbox, and no byte passes through this process.
func listen(port int) error {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(s)
	if err := syscall.Bind(s, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := syscall.Listen(s, 128); err != nil {
		return err
	}
	report(Report{Kind: Listening}, s)
	return nil
}
