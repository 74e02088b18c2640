//go:build unix

package runner

import (
	"io/fs"
	"os"
	"syscall"
)

// names returns how many names a file has.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// ending returns how a process ended.
func ending(p *os.ProcessState) (code int, signal string) {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), status.Signal().String()
	}
	return p.ExitCode(), ""
}
