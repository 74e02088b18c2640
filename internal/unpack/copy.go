package unpack

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
)

// batch is how many entries of a folder are read at once, so a huge folder exceeds the limit before it is in memory.
const batch = 512

// Copy writes all files of fsys. It refuses links and special files. Copy returns the error of ctx if ctx is done. It does not call Close.
//
// Copy does not open what is not a regular file in the listing of its folder. If another process may replace a file by a pipe
// in the meantime, fsys must open files without waiting.
func Copy(ctx context.Context, fsys fs.FS, w *Writer) error {
	for todo := []string{"."}; len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		below, err := copyFolder(ctx, fsys, dir, w)
		if err != nil {
			return err
		}
		todo = append(todo, below...)
	}
	return nil
}

// copyFolder writes the files of one folder and returns the folders in it.
func copyFolder(ctx context.Context, fsys fs.FS, dir string, w *Writer) (below []string, err error) {
	f, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, refuse(dir, "cannot be listed")
	}
	for {
		list, err := d.ReadDir(batch)
		for _, e := range list {
			name := e.Name() // not joined by package path, which would hide ".." in it
			if strings.Contains(name, "/") {
				return nil, refuse(name, "is not the name of a file")
			}
			if dir != "." {
				name = dir + "/" + name
			}
			if w.odd(name) {
				continue
			}
			if e.IsDir() {
				below = append(below, name)
			}
			if err := copyEntry(ctx, fsys, name, e, w); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(list) == 0 {
			return below, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// odd reports whether an entry is left out for its name.
func (w *Writer) odd(name string) bool {
	if !w.o.LeaveOdd {
		return false
	}
	why := w.seen.odd(name)
	if why != "" {
		w.left = append(w.left, name+" "+why)
	}
	return why != ""
}

func copyEntry(ctx context.Context, fsys fs.FS, name string, e fs.DirEntry, w *Writer) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case e.IsDir():
		return w.Folder(name)
	case !e.Type().IsRegular():
		return special(name, e.Type())
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return special(name, info.Mode())
	}
	return w.File(name, info.Mode()&0o111 != 0, reader{ctx, f}, info.Size())
}

// reader ends with the error of its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// special refuses what is neither a regular file nor a folder.
func special(name string, mode fs.FileMode) error {
	kind := "a special file"
	switch {
	case mode&fs.ModeSymlink != 0:
		kind = "a link"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return refuse(name, "is %s: only regular files are accepted", kind)
}
