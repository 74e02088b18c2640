//go:build amd64 || arm64

package walk

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// fastFS is FS over system calls.
type fastFS struct {
	fast
	unread atomic.Bool // the descriptor is at the beginning of the folder, and may be used to list it
}

func newFastFS(fd int) *fastFS {
	f := &fastFS{fast: fast{fd: fd}}
	f.unread.Store(true)
	return f
}

func openFS(dir string) (FS, error) {
	b, err := openFast(dir)
	if err != nil {
		return nil, err
	}
	return newFastFS(b.(*fast).fd), nil
}

func (f *fastFS) In(dir string) (FS, error) {
	fd, err := f.inside(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return newFastFS(fd), nil
}

func (f *fastFS) Close() error { return f.close() }

// at opens a path of the file system for the operation op.
func (f *fastFS) at(op, name string, flags uint64) (int, error) {
	fd, err := f.inside(name, flags, unix.RESOLVE_NO_XDEV)
	if err != nil {
		return -1, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return fd, nil
}

func (f *fastFS) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name, 0) }

func (f *fastFS) stat(op, name string, flags uint64) (fs.FileInfo, error) {
	fd, err := f.at(op, name, unix.O_PATH|flags)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return (&fastFile{fd: fd, name: name}).Stat()
}

func (f *fastFS) Open(name string) (fs.File, error) {
	fd, err := f.at("open", name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	return &fastFile{fsys: f, fd: fd, name: name}, nil
}

// ReadDir returns the entries of a folder, sorted by name. After an error it also returns the entries it has read so far,
// as os.ReadDir does.
func (f *fastFS) ReadDir(name string) ([]fs.DirEntry, error) {
	fd := f.fd
	if name != "." || !f.unread.CompareAndSwap(true, false) {
		var err error
		if fd, err = f.at("readdir", name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOCTTY); err != nil {
			return nil, err
		}
		defer unix.Close(fd)
	}
	var list []fs.DirEntry
	var buf [8 << 10]byte
	for {
		n, err := unix.Getdents(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			err = &fs.PathError{Op: "readdir", Path: name, Err: err}
		}
		if n <= 0 {
			slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return list, err
		}
		list = f.entries(list, fd, name, buf[:n])
	}
}

// entries adds the entries in a buffer of getdents64 to list. It leaves out those that it finds to be gone by now.
func (f *fastFS) entries(list []fs.DirEntry, fd int, dir string, dents []byte) []fs.DirEntry {
	for len(dents) > 19 {
		size := int(binary.NativeEndian.Uint16(dents[16:]))
		text, _, _ := bytes.Cut(dents[19:size], []byte{0})
		kind := dents[18]
		dents = dents[size:]
		name := string(text)
		if name == "." || name == ".." {
			continue
		}
		e := &entry{name: name, mode: modeOf(uint32(kind) << 12), fsys: f, dir: dir}
		if kind != unix.DT_DIR && (dir != "." || kind == unix.DT_UNKNOWN) {
			e.info = &fileInfo{name: name}
			if unix.Fstatat(fd, name, &e.info.st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			e.mode = modeOf(e.info.st.Mode)
		}
		list = append(list, e)
	}
	return list
}

// entry is one entry of a folder. The information about a file below the top was read with the listing, where it takes one
// system call. The rest is read when it is asked for: to validate a skill, none of its SKILL.md is needed.
type entry struct {
	name string
	mode fs.FileMode // its type
	info *fileInfo   // nil if it was not read
	fsys *fastFS
	dir  string
}

func (e *entry) Name() string      { return e.name }
func (e *entry) IsDir() bool       { return e.mode.IsDir() }
func (e *entry) Type() fs.FileMode { return e.mode }

func (e *entry) Info() (fs.FileInfo, error) {
	switch {
	case e.info != nil && !e.IsDir():
		return e.info, nil
	case e.dir != ".":
		return e.fsys.stat("lstat", join(e.dir, e.name), unix.O_NOFOLLOW)
	}
	info := &fileInfo{name: e.name}
	if err := unix.Fstatat(e.fsys.fd, e.name, &info.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: e.name, Err: err}
	}
	return info, nil
}

// fastFile is an open file or folder.
type fastFile struct {
	fsys *fastFS
	fd   int
	name string

	list   []fs.DirEntry // entries of a folder that ReadDir has not returned yet
	listed bool
}

func (f *fastFile) ReadDir(n int) (list []fs.DirEntry, err error) {
	if !f.listed {
		if f.list, err = f.fsys.ReadDir(f.name); err != nil {
			return nil, err
		}
		f.listed = true
	}
	if n <= 0 {
		n = len(f.list)
	} else if len(f.list) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.list))
	list, f.list = f.list[:n:n], f.list[n:]
	return list, nil
}

func (f *fastFile) Stat() (fs.FileInfo, error) {
	info := &fileInfo{name: path.Base(f.name)}
	if err := unix.Fstat(f.fd, &info.st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: f.name, Err: err}
	}
	return info, nil
}

func (f *fastFile) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f *fastFile) Close() error {
	if f.fd < 0 {
		return &fs.PathError{Op: "close", Path: f.name, Err: os.ErrClosed}
	}
	err := unix.Close(f.fd)
	f.fd = -1
	return err
}

// fileInfo is the fs.FileInfo of a file.
type fileInfo struct {
	name string
	st   unix.Stat_t
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.st.Size }
func (i *fileInfo) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *fileInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *fileInfo) Sys() any           { return &i.st }

func (i *fileInfo) Mode() fs.FileMode {
	m := modeOf(i.st.Mode) | fs.FileMode(i.st.Mode&0o777)
	if i.st.Mode&unix.S_IFMT == unix.S_IFCHR {
		m |= fs.ModeCharDevice
	}
	if i.st.Mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if i.st.Mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if i.st.Mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	return m
}
