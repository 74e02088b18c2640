//go:build amd64 || arm64

package walk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fast is the backend over system calls. Finding and reading a file allocates nothing.
type fast struct {
	fd    int
	mount atomic.Uint64 // on which the folder is; 0: not known yet, or Linux does not say
}

// how opens a file below a folder, through no link and into no other mount, without waiting.
var how = unix.OpenHow{
	Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY,
	Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
}

// attempts bounds how often an open is repeated. Without a bound, a process that holds a lease on the file (F_SETLEASE)
// keeps this one busy for as long as the kernel lets it, 45 seconds by default.
const attempts = 64

// openFast opens a folder. It returns errors.ErrUnsupported if the kernel has no openat2 or a filter denies it.
func openFast(dir string) (backend, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	probe := how
	probe.Flags |= unix.O_DIRECTORY
	t, err := unix.Openat2(fd, ".", &probe)
	if err != nil {
		unix.Close(fd)
		return nil, errors.ErrUnsupported
	}
	unix.Close(t)
	return &fast{fd: fd}, nil
}

func (b *fast) close() error { return unix.Close(b.fd) }

func (b *fast) same(other backend) bool {
	o, ok := other.(*fast)
	var x, y unix.Stat_t
	return ok && unix.Fstat(b.fd, &x) == nil && unix.Fstat(o.fd, &y) == nil && x.Ino == y.Ino && x.Dev == y.Dev
}

// openat2 opens a path that ends in NUL. It returns ErrBusy when the kernel asked to try again too often: a rename raced
// with the look-up each time, or another process holds a lease.
func (b *fast) openat2(p []byte, how *unix.OpenHow) (int, error) {
	for range attempts {
		fd, _, e := unix.Syscall6(unix.SYS_OPENAT2, uintptr(b.fd), uintptr(unsafe.Pointer(&p[0])),
			uintptr(unsafe.Pointer(how)), unsafe.Sizeof(*how), 0, 0)
		switch e {
		case 0:
			return int(fd), nil
		case unix.EINTR, unix.EAGAIN:
			continue
		case unix.ELOOP:
			return -1, errLink
		}
		return -1, e
	}
	return -1, ErrBusy
}

// enter opens a folder on the way to a skill. Unlike the files of a skill it may be a mount point.
func (b *fast) enter(dir string, flags uint64) (int, error) {
	h := how
	h.Flags = flags
	h.Resolve &^= unix.RESOLVE_NO_XDEV
	return b.openat2(append([]byte(dir), 0), &h)
}

// openMounted opens a file whose folder is on another mount than the root. It returns ErrMount when the file is a mount
// point itself.
func (b *fast) openMounted(dir, file string) (int, error) {
	d, err := b.enter(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(d)
	fd, err := (&fast{fd: d}).openat2(append([]byte(file), 0), &how)
	if err == unix.EXDEV {
		err = ErrMount
	}
	return fd, err
}

func (b *fast) mounted(f *os.File) bool {
	if b.mount.Load() == 0 {
		b.mount.Store(mountOf(b.fd))
	}
	is := uint64(0)
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { is = mountOf(int(fd)) })
	}
	return err != nil || is != b.mount.Load()
}

// mountOf returns the mount on which an open file is; 0 if Linux does not say, as before 5.8.
func mountOf(fd int) uint64 {
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st) != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return st.Mnt_id
}

// inside opens a path through links that stay below the folder. resolve has further RESOLVE flags.
func (b *fast) inside(name string, flags, resolve uint64) (int, error) {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return -1, fs.ErrInvalid
	}
	fd, err := b.openat2(append([]byte(name), 0), &unix.OpenHow{Flags: flags | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | resolve})
	switch err {
	case errLink:
		err = unix.ELOOP
	case unix.EXDEV:
		err = errOutside
	}
	return fd, err
}

// name writes the path of a file and a NUL into the scratch memory.
func (w *worker) name(dir, file string) {
	w.path = w.path[:0]
	if dir != "." {
		w.path = append(append(w.path, dir...), '/')
	}
	w.path = append(append(w.path, file...), 0)
}

func (b *fast) sub(dir string) (backend, error) {
	fd, err := b.enter(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &fast{fd: fd}, nil
}

// root opens the folder by its path, or by its descriptor if the path now leads to something else.
func (b *fast) root(path string) (*os.Root, error) {
	for _, p := range []string{path, fmt.Sprintf("/proc/self/fd/%d", b.fd)} {
		root, err := os.OpenRoot(p)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		info, err := root.Stat(".")
		if err == nil && unix.Fstat(b.fd, &st) == nil {
			if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Ino == st.Ino && is.Dev == st.Dev {
				return root, nil
			}
		}
		root.Close()
	}
	return nil, fmt.Errorf("folder %q was replaced and can no longer be reached", path)
}

func (b *fast) stat(w *worker, dir, file string) (Stamp, fs.FileMode, error) {
	w.name(dir, file)
	var st unix.Stat_t
	_, _, e := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(b.fd), uintptr(unsafe.Pointer(&w.path[0])),
		uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	if e != 0 {
		return Stamp{}, 0, e
	}
	return stampOfStat(&st), modeOf(st.Mode), nil
}

func (b *fast) read(w *worker, dir, file string, o *Options) ([]byte, Stamp, error) {
	w.name(dir, file)
	fd, err := b.openat2(w.path, &how)
	if err == unix.EXDEV {
		fd, err = b.openMounted(dir, file)
	}
	if err != nil {
		return nil, Stamp{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, Stamp{}, err
	}
	s := stampOfStat(&st)
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, s, notRegular(modeOf(st.Mode))
	}
	if st.Size > o.MaxSize {
		return nil, s, tooBig(st.Size, o.MaxSize)
	}
	data, err := w.fill(o, func(buf []byte) (int, error) {
		for {
			n, err := unix.Read(fd, buf)
			if err != unix.EINTR {
				return n, err
			}
		}
	})
	return data, s, err
}

func stampOfStat(st *unix.Stat_t) Stamp {
	return Stamp{Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Inode: st.Ino}
}

func modeOf(m uint32) fs.FileMode {
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFCHR, unix.S_IFBLK:
		return fs.ModeDevice
	case unix.S_IFREG:
		return 0
	}
	return fs.ModeIrregular
}

func (b *fast) list(w *worker, dir string, hidden []string) (listing, error) {
	var l listing
	some := false
	fd, err := b.enter(dir, how.Flags)
	if err != nil {
		return l, err
	}
	defer unix.Close(fd)
	if w.dents == nil {
		w.dents = make([]byte, 64<<10)
	}
	for {
		n, err := unix.Getdents(fd, w.dents)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return l, os.NewSyscallError("getdents64", err)
		}
		if n <= 0 {
			l.empty = !some
			return l, nil
		}
		some = some || has(w.dents[:n])
		w.names = b.sortIn(fd, w.dents[:n], hidden, &l, w.names[:0])
		// All names share one string, which is cut at the NULs.
		all := string(w.names)
		l.dirs = slices.Grow(l.dirs, bytes.Count(w.names, []byte{0}))
		for len(all) > 0 {
			name, rest, _ := strings.Cut(all, "\x00")
			l.dirs, all = append(l.dirs, name), rest
		}
	}
}

// has reports whether entries of a folder are others than the folder itself and the one above it.
func has(dents []byte) bool {
	for len(dents) > 19 {
		if name := dents[19:]; name[0] != '.' || name[1] != 0 && (name[1] != '.' || name[2] != 0) {
			return true
		}
		dents = dents[binary.NativeEndian.Uint16(dents[16:]):]
	}
	return false
}

// sortIn appends the names of sub-directories to names, each with a NUL, and adds the other entries to l.
func (b *fast) sortIn(fd int, dents []byte, hidden []string, l *listing, names []byte) []byte {
	for len(dents) > 19 {
		size := int(binary.NativeEndian.Uint16(dents[16:]))
		name, t := dents[19:size], dents[18]
		dents = dents[size:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		switch {
		case t == unix.DT_DIR && !ignored(string(name), hidden) && !isManifest(string(name)):
			names = append(append(names, name...), 0)
		case t == unix.DT_REG && len(name) != len(Manifest):
		default:
			b.other(fd, string(name), t, hidden, l, &names)
		}
	}
	return names
}

// other adds an entry that is not plainly a directory or a file of another name. Some file systems do not report types.
func (b *fast) other(fd int, name string, t byte, hidden []string, l *listing, names *[]byte) {
	mode := modeOf(uint32(t) << 12)
	if t == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return
		}
		mode = modeOf(st.Mode)
	}
	if mode.IsDir() && !ignored(name, hidden) && !isManifest(name) {
		*names = append(append(*names, name...), 0)
		return
	}
	l.add(name, mode, hidden)
}
