// A part of package time of the processes that sh scripts/test.sh chaos builds: it adds what a file says to the wall clock, in seconds.
// The monotonic clock stays as it is.

package time

import (
	"sync/atomic"
	"syscall"
)

var clockOffset atomic.Int64

func init() {
	if path, ok := syscall.Getenv("FLEET_CLOCK"); ok {
		go followClock(path)
	}
}

func followClock(path string) {
	for ; ; Sleep(20 * Millisecond) {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var text [32]byte
		n, _ := syscall.Read(fd, text[:])
		_ = syscall.Close(fd)
		var offset, sign int64 = 0, 1
		for _, c := range text[:max(n, 0)] {
			switch {
			case c == '-':
				sign = -1
			case c >= '0' && c <= '9':
				offset = 10*offset + int64(c-'0')
			case c == '\n': // else it is being written
				clockOffset.Store(sign * offset)
			}
		}
	}
}
