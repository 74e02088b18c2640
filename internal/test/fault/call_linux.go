package fault

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Call is one file-system call, before it is made.
type Call struct {
	Name   string // such as "openat"
	Path   string // absolute, if the call names a file or has one open
	To     string // absolute, the new name of a file
	Create bool   // the call may create a file
	Empty  bool   // the call makes a file empty
	Data   []byte // that is written
}

// String returns a line for a log.
func (c Call) String() string {
	return fmt.Sprintf("%s %s %s (%d bytes)", c.Name, c.Path, c.To, len(c.Data))
}

// Fault is what happens to a call. The zero value lets it happen.
type Fault struct {
	Err   syscall.Errno
	Short bool // a write writes only the first half, and says so
}

// argument says what an argument of a call is.
type argument uint8

const (
	none   argument = iota
	fd              // an open file
	at              // a folder; the next argument is a name in it
	atTo            // likewise, of the new name
	name            // a name in the folder of the argument before it
	data            // bytes that are written; the next argument is their number
	flags           // of an open
	target          // the text of a link
)

// table has the calls that change the file system or read it, with their arguments.
var table = map[int][]argument{
	unix.SYS_OPENAT: {at, name, flags}, unix.SYS_OPENAT2: {at, name}, unix.SYS_READ: {fd}, unix.SYS_WRITE: {fd, data}, unix.SYS_PREAD64: {fd}, unix.SYS_PWRITE64: {fd},
	unix.SYS_FSYNC: {fd}, unix.SYS_FDATASYNC: {fd}, unix.SYS_SYNCFS: {fd}, unix.SYS_CLOSE: {fd}, unix.SYS_FLOCK: {fd}, unix.SYS_GETDENTS64: {fd}, unix.SYS_FSTAT: {fd},
	unix.SYS_FCHMOD: {fd}, unix.SYS_FCHMODAT: {at, name}, unix.SYS_FCHMODAT2: {at, name}, unix.SYS_FTRUNCATE: {fd}, unix.SYS_MKDIRAT: {at, name},
	unix.SYS_UNLINKAT: {at, name}, unix.SYS_RENAMEAT: {at, name, atTo, name}, unix.SYS_RENAMEAT2: {at, name, atTo, name}, unix.SYS_READLINKAT: {at, name},
	unix.SYS_SYMLINKAT: {target, at, name}, unix.SYS_STATX: {at, name}, unix.SYS_NEWFSTATAT: {at, name}, unix.SYS_FACCESSAT: {at, name},
	unix.SYS_FACCESSAT2: {at, name}, unix.SYS_STATFS: {none}, unix.SYS_UTIMENSAT: {at, name}, unix.SYS_COPY_FILE_RANGE: {fd},
}

// names are those of the calls that tests tell apart.
var names = map[int]string{
	unix.SYS_OPENAT: "openat", unix.SYS_OPENAT2: "openat2", unix.SYS_READ: "read", unix.SYS_WRITE: "write", unix.SYS_FSYNC: "fsync", unix.SYS_CLOSE: "close", unix.SYS_FLOCK: "flock",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_RENAMEAT: "rename", unix.SYS_RENAMEAT2: "rename",
	unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_GETDENTS64: "getdents64", unix.SYS_FSTAT: "fstat", unix.SYS_NEWFSTATAT: "newfstatat",
}

// describe reads the arguments of a call.
func describe(n *notification) Call {
	c := Call{Name: names[int(n.nr)]}
	if c.Name == "" {
		c.Name = fmt.Sprintf("call %d", n.nr)
	}
	for i, a := range table[int(n.nr)] {
		v := n.args[i]
		switch a {
		case fd:
			c.Path = ofDescriptor(v)
		case at:
			c.Path = join(v, n.args[i+1])
		case atTo:
			c.To = join(v, n.args[i+1])
		case data:
			c.Data = memory(v, int(n.args[i+1]))
		case flags:
			c.Create = v&unix.O_CREAT != 0
			c.Empty = v&unix.O_TRUNC != 0
		}
	}
	return c
}

func ofDescriptor(v uint64) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", int32(v))) // "" for one that is not open
	return path
}

// join returns the path of a name in an open folder.
func join(dir, name uint64) string {
	text := memory(name, unix.PathMax)
	if len(text) == 0 { // the end of the memory is nearer
		for n := 64; n > 0 && len(text) == 0; n /= 2 {
			text = memory(name, n)
		}
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	if filepath.IsAbs(string(text)) {
		return filepath.Clean(string(text))
	}
	if int32(dir) == unix.AT_FDCWD {
		path, _ := filepath.Abs(string(text))
		return path
	}
	return filepath.Join(ofDescriptor(dir), string(text))
}
