//go:build unix

package policy

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/paths"
)

// open opens a file that only root can change. Each folder on the way, where links lead, too, belongs to root and is not writable by others,
// so that nobody else can put another file there between a check and the opening; the file itself is checked when it is open.
func open(name string) (*os.File, error) {
	var s unix.Stat_t
	if err := unix.Stat(name, &s); errors.Is(err, unix.ENOENT) {
		return nil, missing(name, path.Dir(name))
	}
	return below("/", name)
}

// below opens a file at an absolute path below a folder, which is the root for links, too.
func below(root, name string) (*os.File, error) {
	w := &walk{root: root, dir: -1}
	defer w.close()
	if err := w.start(); err != nil {
		return nil, err
	}
	return w.to(name)
}

// walk goes from the root of the file system to a file, one name after the other.
type walk struct {
	root  string
	owner uint32 // of the root: in a user namespace that is not 0
	dir   int    // the folder that was reached, open; -1 before start
	links int
}

func (w *walk) close() {
	if w.dir >= 0 {
		_ = unix.Close(w.dir)
	}
}

// start goes to the root.
func (w *walk) start() error {
	var root unix.Stat_t
	fd, err := retry(func() (int, error) { return unix.Open(w.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return fmt.Errorf("%q cannot be opened: %w", w.root, err)
	}
	w.close()
	w.dir = fd
	if err := unix.Fstat(fd, &root); err != nil {
		return err
	}
	w.owner = root.Uid
	return w.check(w.root, &root)
}

// check refuses what another than root may change.
func (w *walk) check(name string, s *unix.Stat_t) error {
	if s.Uid != 0 && s.Uid != w.owner {
		return fmt.Errorf("%q belongs to user %d and not to root: run chown root %q", name, s.Uid, name)
	}
	if s.Mode&unix.S_IFMT != unix.S_IFLNK && s.Mode&0o022 != 0 {
		return fmt.Errorf("%q can be changed by others than root (mode %#o): run chmod go-w %q", name, s.Mode&0o7777, name)
	}
	return nil
}

// to opens the file at an absolute path.
func (w *walk) to(name string) (*os.File, error) {
	rest, at := strings.Split(strings.Trim(name, "/"), "/"), "/"
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		full := path.Join(at, part)
		var s unix.Stat_t
		if err := unix.Fstatat(w.dir, part, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, fmt.Errorf("%q cannot be looked at: %w", full, err)
		}
		if err := w.check(full, &s); err != nil {
			return nil, err
		}
		switch {
		case s.Mode&unix.S_IFMT == unix.S_IFLNK:
			target, err := w.link(full, part)
			if err != nil {
				return nil, err
			}
			if path.IsAbs(target) {
				if err := w.start(); err != nil {
					return nil, err
				}
				at = "/"
			}
			rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
		case len(rest) == 0:
			return w.file(full, part)
		default:
			if err := w.enter(full, part); err != nil {
				return nil, err
			}
			at = full
		}
	}
	return nil, fmt.Errorf("%q is no file", name)
}

// link returns what a link says.
func (w *walk) link(full, part string) (string, error) {
	if w.links++; w.links > paths.MaxLinks {
		return "", fmt.Errorf("%q is one of more than %d links", full, paths.MaxLinks)
	}
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(w.dir, part, buffer)
	if err != nil || n == 0 || n == len(buffer) {
		return "", fmt.Errorf("the link %q cannot be read: %w", full, err)
	}
	return string(buffer[:n]), nil
}

// enter goes to a folder of the one that was reached.
func (w *walk) enter(full, part string) error {
	fd, err := w.openat(part, unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("%q cannot be opened: %w", full, err)
	}
	w.close()
	w.dir = fd
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	return w.check(full, &s)
}

// file opens a file of the folder that was reached, and looks at what it opened.
func (w *walk) file(full, part string) (*os.File, error) {
	fd, err := w.openat(part, unix.O_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be opened: %w", full, err)
	}
	f := os.NewFile(uintptr(fd), full)
	var s unix.Stat_t
	info, err := f.Stat()
	if err == nil {
		err = errors.Join(regular(info), unix.Fstat(fd, &s))
	}
	if err == nil {
		err = w.check(full, &s)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (w *walk) openat(part string, flags int) (int, error) {
	return retry(func() (int, error) {
		return unix.Openat(w.dir, part, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
	})
}

// retry calls a function again while a signal interrupts it.
func retry(open func() (int, error)) (fd int, err error) {
	for {
		if fd, err = open(); !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
