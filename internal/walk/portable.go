package walk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// portable is the backend over os.Root.
type portable struct{ dir *os.Root }

func openPortable(dir string) (backend, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &portable{root}, nil
}

func (b *portable) close() error { return b.dir.Close() }

func (b *portable) same(other backend) bool {
	o, ok := other.(*portable)
	if !ok {
		return false
	}
	x, err1 := b.dir.Stat(".")
	y, err2 := o.dir.Stat(".")
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func (b *portable) list(_ *worker, dir string, hidden []string) (listing, error) {
	var l listing
	if err := b.plain(dir); err != nil {
		return l, err
	}
	d, err := b.dir.Open(dir)
	if err != nil {
		return l, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	for _, e := range entries {
		l.add(e.Name(), e.Type(), hidden)
	}
	l.empty = err == nil && len(entries) == 0
	return l, err
}

func (b *portable) sub(dir string) (backend, error) {
	if err := b.plain(dir); err != nil {
		return nil, err
	}
	root, err := b.dir.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &portable{root}, nil
}

func (b *portable) root(string) (*os.Root, error) { return b.dir.OpenRoot(".") }

func (b *portable) mounted(*os.File) bool { return false }

// busy returns ErrBusy for the error of opening a file on which another process holds a lease.
func busy(err error) error {
	if errors.Is(err, errAgain) {
		return ErrBusy
	}
	return err
}

// add adds one directory entry.
func (l *listing) add(name string, t fs.FileMode, hidden []string) {
	switch {
	case isManifest(name):
		l.manifest = true
	case len(name) == len(Manifest) && strings.EqualFold(name, Manifest) && !t.IsDir():
		l.misnamed = max(l.misnamed, name)
	case ignored(name, hidden):
	case t.IsDir():
		l.dirs = append(l.dirs, name)
	case t&fs.ModeSymlink != 0:
		l.links = append(l.links, name)
	}
}

// others leaves out what is part of the skill that the folder is.
func (l *listing) others() {
	l.dirs, l.links = slices.DeleteFunc(l.dirs, Part), slices.DeleteFunc(l.links, Part)
}

// plain returns errLink when a component of the path is a symbolic link.
func (b *portable) plain(p string) error {
	for at := p; at != "."; at = path.Dir(at) {
		info, err := b.dir.Lstat(at)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return errLink
		}
	}
	return nil
}

func (b *portable) stat(_ *worker, dir, file string) (Stamp, fs.FileMode, error) {
	info, err := b.dir.Lstat(join(dir, file))
	if err != nil {
		return Stamp{}, 0, err
	}
	return stampOf(info), info.Mode().Type(), nil
}

func (b *portable) read(w *worker, dir, file string, o *Options) ([]byte, Stamp, error) {
	p := join(dir, file)
	if err := b.plain(p); err != nil {
		return nil, Stamp{}, err
	}
	f, err := b.dir.OpenFile(p, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, Stamp{}, busy(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Stamp{}, err
	}
	s := stampOf(info)
	if !info.Mode().IsRegular() {
		return nil, s, notRegular(info.Mode())
	}
	if s.Size > o.MaxSize {
		return nil, s, tooBig(s.Size, o.MaxSize)
	}
	data, err := w.fill(o, func(buf []byte) (int, error) {
		n, err := f.Read(buf)
		if err == io.EOF {
			err = nil
		}
		return n, err
	})
	return data, s, err
}

// fill calls next, which returns 0 at the end of the file, until there is enough.
func (w *worker) fill(o *Options, next func([]byte) (int, error)) ([]byte, error) {
	buf := *w.buf
	if buf == nil {
		buf = make([]byte, block)
	}
	defer func() { *w.buf = buf }()
	for n := 0; ; {
		if n == len(buf) {
			buf = slices.Grow(buf, n)[:2*n]
		}
		k, err := next(buf[n:])
		if err != nil {
			return nil, err
		}
		n += k
		if int64(n) > o.MaxSize {
			return nil, tooBig(int64(n), o.MaxSize)
		}
		if k == 0 || o.Enough != nil && o.Enough(buf[:n]) {
			return buf[:n], nil
		}
	}
}

// block is the size of one read, in bytes. One read covers the front matter of nearly every real skill, two cover the rest.
const block = 2048

// notRegular returns ErrNotRegular with the kind of the file.
func notRegular(m fs.FileMode) error { return fmt.Errorf("%w but %s", ErrNotRegular, kindOf(m)) }

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
