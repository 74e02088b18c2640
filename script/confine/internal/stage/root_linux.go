package stage

import (
	"syscall"
)

// base is where the new root is mounted until it is entered. Sources below it are opened before.
const base = "/tmp"

// root is the new root while it is made.
type root struct {
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
	if err := mkdirAll(base + o.A); err != nil {
		return err
	}
	to, err := openNoLinks(base + o.A)
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
		return syscall.Mount("root", base, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, o.B)
	case Bind:
		if err := r.attach(o, index); !leaves(o, index, err) {
			return err
		}
		return nil
	case Overlay:
		return r.overlay(o, index)
	case Tmpfs:
		return mount(o, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV|uintptr(o.N))
	case Proc:
		return mountProc(o.A)
	case Dir:
		return mkdirAll(base + o.A)
	case ReadOnly:
		return setAttributes(atFdcwd, base+o.A, 0, attrReadOnly)
	case Symlink:
		if err := mkdirAll(parent(base + o.A)); err != nil {
			return err
		}
		return syscall.Symlink(o.B, base+o.A)
	case Text:
		if err := mkdirAll(parent(base + o.A)); err != nil {
			return err
		}
		return writeFile(base+o.A, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, o.B)
	case Enter:
		return enter()
	}
	return syscall.EINVAL
}

func mount(o *Op, kind string, flags uintptr) error {
	if err := mkdirAll(base + o.A); err != nil {
		return err
	}
	return syscall.Mount(kind, base+o.A, kind, flags, o.B)
}

// attach mounts the tree of an operation. No link of the new root, which has writable folders in it, leads it elsewhere.
func (r *root) attach(o *Op, index int) error {
	fd, ok := r.trees[index]
	if !ok {
		return nil // missing, and optional
	}
	defer syscall.Close(fd)
	if o.M != BindOver {
		if err := mountPoint(fd, base+o.A); err != nil {
			return err
		}
	}
	to, err := openNoLinks(base + o.A)
	if err == syscall.ENOENT && o.M == BindOver {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return moveMount(fd, to)
}

// mountPoint makes what fd can be mounted on.
func mountPoint(fd int, path string) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return mkdirAll(path)
	}
	if err := mkdirAll(parent(path)); err != nil {
		return err
	}
	point, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CREAT|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err == nil {
		syscall.Close(point)
	}
	if err == syscall.EROFS || err == syscall.EACCES || err == syscall.ENXIO {
		return nil // it exists, or mounting says that it does not
	}
	return err
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
