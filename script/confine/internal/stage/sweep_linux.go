package stage

import (
	"strconv"
	"syscall"
)

// sweep ends all descendants, for a stage outside of a PID namespace. Orphans become children of this process, so it is done
// when there is no child. They are stopped first: what is stopped starts no more.
func (s *stage) sweep() {
	s.kill()
	for !childless() {
		for _, pid := range s.descendants() {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		for _, pid := range s.descendants() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = poll(nil, 1)
	}
}

// childless takes note of children that have ended. It reports whether none is left.
func childless() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.ECHILD {
			return true
		}
		if pid <= 0 && err != syscall.EINTR {
			return false
		}
	}
}

// descendants returns the children of this process, their children, and so on.
func (s *stage) descendants() []int {
	list := children(syscall.Getpid(), nil)
	for i := 0; i < len(list); i++ {
		list = children(list[i], list)
	}
	return list
}

// children appends the children of a process to list.
func children(pid int, list []int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, thread := range names(dir) {
		list = numbers(read(dir+thread+"/children", 1<<20), list)
	}
	return list
}

// names returns the names in a folder of /proc that begin with a digit.
func names(dir string) []string {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var list []string
	buf := make([]byte, 8192)
	for {
		n, err := syscall.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return list
		}
		_, _, found := syscall.ParseDirent(buf[:n], -1, nil)
		for _, name := range found {
			if name[0] >= '0' && name[0] <= '9' {
				list = append(list, name)
			}
		}
	}
}

// read returns at most limit bytes of a file of /proc, nothing if it cannot be read.
func read(path string, limit int) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var all []byte
	buf := make([]byte, 4096)
	for len(all) < limit {
		n, err := syscall.Read(fd, buf)
		if n <= 0 || err != nil {
			break
		}
		all = append(all, buf[:n]...)
	}
	return all
}

// numbers appends the numbers of a text of digits and spaces to list.
func numbers(text []byte, list []int) []int {
	n, digits := 0, false
	for _, c := range append(text, ' ') {
		if c >= '0' && c <= '9' {
			n, digits = n*10+int(c-'0'), true
			continue
		}
		if digits {
			list = append(list, n)
		}
		n, digits = 0, false
	}
	return list
}
