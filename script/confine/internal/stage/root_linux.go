package stage

import (
	"syscall"
)

// base is where the new root is mounted until it is entered. Sources below it are opened before.
const base = "/tmp"

// root is the new root while it is made.
type root struct {
	at     int            // its folder
	trees  map[int]int    // operation → detached tree that it mounts
	layers map[int][3]int // operation → the lower, the upper and the work folder of its overlay
}

// opError is the failure of another operation than the one that is being done.
type opError struct {
	index int
	err   error
}

func (e *opError) Error() string { return e.err.Error() }

// open opens what the operations mount, before the new root covers anything. No path leads through a symbolic link, and what
// is opened is what is mounted. The trees have their attributes before anyone can reach them.
func (r *root) open(ops []Op) error {
	r.trees, r.layers = map[int]int{}, map[int][3]int{}
	for i := range ops {
		o := &ops[i]
		if o.Code == Overlay {
			if err := r.openLayers(o, i); err != nil {
				return &opError{i, err}
			}
		}
		if o.Code != Bind {
			continue
		}
		source := o.A
		if o.B != "" {
			source = o.B
		}
		fd, err := tree(source, o.N)
		if leaves(o, i, err) {
			continue
		}
		if err != nil {
			return &opError{i, err}
		}
		r.trees[i] = fd
	}
	return nil
}

// leaves reports whether an operation that failed is left out, and says so to the engine: its path has changed since somebody looked, or
// cannot be mounted.
func leaves(o *Op, index int, err error) bool {
	if o.M != BindOptional || !isOfPath(err) {
		return false
	}
	report(Report{Kind: LeftOut, N: uint32(index), V: uint32(err.(syscall.Errno))}, -1)
	return true
}

// isOfPath reports whether an error is about one path, and not about what this machine or process can do at all.
func isOfPath(err error) bool {
	switch err {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.EACCES, syscall.EINVAL, syscall.EIO, syscall.ENOTCONN, syscall.ESTALE, syscall.ENODEV, syscall.ENXIO:
		return true
	}
	return false
}

// openLayers opens the folders of an overlay.
func (r *root) openLayers(o *Op, index int) error {
	end := 0
	for end < len(o.B) && o.B[end] != 0 {
		end++
	}
	if end == len(o.B) {
		return syscall.EINVAL
	}
	var fds [3]int
	for i, path := range [3]string{o.A, o.B[:end], o.B[end+1:]} {
		fd, err := openNoLinks(path)
		if err != nil {
			return err
		}
		fds[i] = fd
	}
	r.layers[index] = fds
	return nil
}

// overlay mounts what openLayers opened. The folders are named by their descriptors: a path could have a comma or a colon.
func (r *root) overlay(o *Op, index int) error {
	fds := r.layers[index]
	for _, fd := range fds {
		defer syscall.Close(fd)
	}
	to, err := r.folder(o.A)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	data := "userxattr,lowerdir=" + descriptor(fds[0]) + ",upperdir=" + descriptor(fds[1]) + ",workdir=" + descriptor(fds[2])
	return syscall.Mount("overlay", descriptor(to), "overlay", syscall.MS_NOSUID|syscall.MS_NODEV, data)
}

// descriptor returns the path of an open file.
func descriptor(fd int) string {
	digits := ""
	for ; fd > 9; fd /= 10 {
		digits = string(rune('0'+fd%10)) + digits
	}
	return "/proc/self/fd/" + string(rune('0'+fd)) + digits
}

func tree(path string, attributes uint64) (int, error) {
	at, err := openNoLinks(path)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(at)
	fd, err := openTree(at)
	if err != nil {
		return -1, err
	}
	if err := setAttributes(fd, "", atEmptyPath|atRecursive, attributes); err != nil {
		syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

// do does one operation on the new root.
func (r *root) do(o *Op, index int) error {
	switch o.Code {
	case Root:
		return r.make(o)
	case Bind:
		if err := r.attach(o, index); !leaves(o, index, err) {
			return err
		}
		return nil
	case Overlay:
		return r.overlay(o, index)
	case Cover:
		return r.cover(o)
	case Tmpfs:
		return r.tmpfs(o)
	case Proc:
		return r.proc(o.A)
	case Dir:
		return closed(r.folder(o.A))
	case ReadOnly:
		return r.readOnly(o.A)
	case Symlink:
		return r.link(o.A, o.B)
	case Text:
		return r.text(o.A, o.B)
	case Enter:
		return enter()
	}
	return syscall.EINVAL
}

// make mounts the new root.
func (r *root) make(o *Op) error {
	err := syscall.Mount("root", base, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, o.B)
	if err == nil {
		r.at, err = syscall.Open(base, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	}
	return err
}

// The new root has folders in it that commands write, and a former command may have left links there: no path of the new root leads
// through one.

// folder opens a folder of the new root. It makes it and those above it that are missing.
func (r *root) folder(path string) (int, error) {
	fd, err := openIn(r.at, path)
	if err != syscall.ENOENT || path == "/" {
		return fd, err
	}
	up, err := r.folder(parent(path))
	if err != nil {
		return -1, err
	}
	defer syscall.Close(up)
	if err := syscall.Mkdirat(up, name(path), 0o755); err == syscall.EROFS {
		return -1, syscall.ENOENT
	} else if err != nil && err != syscall.EEXIST {
		return -1, err
	}
	return openIn(up, name(path))
}

// file opens a file of the new root, or something that is in its place. It makes it if there is nothing.
func (r *root) file(path string) (int, error) {
	fd, err := openIn(r.at, path)
	if err != syscall.ENOENT {
		return fd, err
	}
	if err := r.text(path, ""); err != nil && err != syscall.EEXIST {
		return -1, err
	}
	return openIn(r.at, path)
}

// text makes a file.
func (r *root) text(path, text string) error {
	up, err := r.folder(parent(path))
	if err != nil {
		return err
	}
	defer syscall.Close(up)
	fd, err := syscall.Openat(up, name(path), syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o644)
	if err == syscall.EROFS {
		return syscall.ENOENT
	}
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return write(fd, text)
}

// link makes a link, if it is not there.
func (r *root) link(path, text string) error {
	up, err := r.folder(parent(path))
	if err != nil {
		return err
	}
	defer syscall.Close(up)
	err = symlinkAt(text, up, name(path))
	if err == syscall.EEXIST && readlinkAt(up, name(path)) == text {
		return nil
	}
	return err
}

func (r *root) readOnly(path string) error {
	fd, err := openIn(r.at, path)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return setAttributes(fd, "", atEmptyPath, attrReadOnly)
}

func (r *root) tmpfs(o *Op) error {
	to, err := r.folder(o.A)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return syscall.Mount("tmpfs", descriptor(to), "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV|uintptr(o.N), o.B)
}

// proc mounts a proc. Nothing of a command is in its place: the new root is made for it.
func (r *root) proc(path string) error {
	if err := closed(r.folder(path)); err != nil {
		return err
	}
	return mountProc(path)
}

// closed closes what was opened only to see that it is there.
func closed(fd int, err error) error {
	if err == nil {
		syscall.Close(fd)
	}
	return err
}

// attach mounts the tree of an operation.
func (r *root) attach(o *Op, index int) error {
	fd, ok := r.trees[index]
	if !ok {
		return nil // missing, and optional
	}
	defer syscall.Close(fd)
	to, err := r.mountPoint(fd, o)
	if err == syscall.ENOENT && o.M == BindOver {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	if isFolder(fd) != isFolder(to) {
		return syscall.ENOTDIR
	}
	return moveMount(fd, to)
}

// covering is the name of the file that covers another one, until it is mounted there.
const covering = ".cover"

// cover mounts a file without rights over another one. The mount is read-only: its owner, who the command is, cannot change them.
func (r *root) cover(o *Op) error {
	open := r.file
	if o.M == BindOver {
		open = func(path string) (int, error) { return openIn(r.at, path) }
	}
	to, err := open(o.A)
	if err == syscall.ENOENT && o.M == BindOver {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	file, err := syscall.Openat(r.at, covering, syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Unlinkat(r.at, covering)
	defer syscall.Close(file)
	fd, err := openTree(file)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	if err := setAttributes(fd, "", atEmptyPath, o.N); err != nil {
		return err
	}
	return moveMount(fd, to)
}

// mountPoint opens what a tree is mounted on, and makes it if need be.
func (r *root) mountPoint(fd int, o *Op) (int, error) {
	switch {
	case o.M == BindOver:
		return openIn(r.at, o.A)
	case isFolder(fd):
		return r.folder(o.A)
	}
	return r.file(o.A)
}

func isFolder(fd int) bool {
	var st syscall.Stat_t
	return syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR
}

// name returns the last part of a path.
func name(path string) string {
	up := len(parent(path))
	if up > 1 {
		up++
	}
	return path[up:]
}

func parent(path string) string {
	end := len(path) - 1
	for end > 1 && path[end] != '/' {
		end--
	}
	return path[:end]
}

// enter makes the new root the only one: nothing of the old one is left.
func enter() error {
	if err := syscall.Chdir(base); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil { // the old root lies on top
		return err
	}
	if err := syscall.Chdir("/"); err != nil {
		return err
	}
	return setAttributes(atFdcwd, "/", 0, attrReadOnly)
}
