// Package unpack writes files from foreign places to the disk: from archives, repositories and other folders. It is the only
// way by which such files get there.
//
// A Writer writes regular files below one folder and nothing else. It refuses a name that means something else on another
// system, leads out of the folder, is a .git folder, or is the same file as an earlier one when case and normal form are
// ignored. It bounds the number of files, their sizes, and the length of their paths. Modes become 0644 or 0755; owners,
// times and extended attributes are not kept. Copy, Tar and Zip refuse links, devices and other special files.
//
// The first refusal is final: the caller removes what was written.
package unpack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
)

// Defaults of Options.
const (
	DefaultMaxFiles = 10_000
	DefaultMaxBytes = 256 << 20
	DefaultMaxFile  = 64 << 20
	DefaultMaxDepth = 64
	DefaultMaxPath  = 1024
)

// Options bounds what a Writer accepts. Zero values mean the defaults.
type Options struct {
	MaxFiles int   // files and folders together
	MaxBytes int64 // of all files together
	MaxFile  int64 // bytes of one file
	MaxDepth int   // names in one path
	MaxPath  int   // bytes of one path

	// FollowLinks makes Archive put copies of files in the place of symbolic links to files of the same archive, and leave other
	// links out, instead of refusing all. Writer.LeftOut has those that are left out.
	FollowLinks bool

	// LeaveOdd makes Copy leave out a file or folder whose name some system does not accept, or takes for that of another one beside it,
	// which comes first, instead of refusing all. Writer.LeftOut has those that are left out.
	LeaveOdd bool

	// Volatile files need not survive a power failure: Close does not flush them to the disk.
	Volatile bool
}

// filled returns options with the defaults for what o does not say.
func filled(o *Options) Options {
	var out Options
	if o != nil {
		out = *o
	}
	out.MaxFiles = cmp.Or(out.MaxFiles, DefaultMaxFiles)
	out.MaxBytes = cmp.Or(out.MaxBytes, DefaultMaxBytes)
	out.MaxFile = cmp.Or(out.MaxFile, DefaultMaxFile)
	out.MaxDepth = cmp.Or(out.MaxDepth, DefaultMaxDepth)
	out.MaxPath = cmp.Or(out.MaxPath, DefaultMaxPath)
	return out
}

// Error says why an entry is refused.
type Error struct {
	Name   string // of the entry; "" if it is the whole
	Reason string // such as "leads out of the folder"
}

// Error returns the name, shortened, and the reason.
func (e *Error) Error() string {
	if e.Name == "" {
		return e.Reason
	}
	return fmt.Sprintf("%.200q %s", e.Name, e.Reason)
}

func refuse(name, format string, args ...any) error {
	return &Error{Name: name, Reason: fmt.Sprintf(format, args...)}
}

// Writer writes files below a folder. It is for one goroutine.
type Writer struct {
	root  *os.Root
	o     Options
	seen  *Names
	bytes int64    // that may still be added
	names []string // of the files, for Close
	dirs  []string // of the folders, for Close
	at    string   // the path of the open folder
	in    *os.Root // the open folder, nil for none
	buf   []byte
	links []link   // symbolic links that were met
	left  []string // what was left out, and why
	err   error    // the first one
}

// NewWriter returns a Writer of files below root, which must be empty. It does not close root. o may be nil.
func NewWriter(root *os.Root, o *Options) *Writer {
	w := &Writer{root: root, o: filled(o), seen: NewNames(o), dirs: []string{"."}, buf: make([]byte, 64<<10)}
	w.bytes = w.o.MaxBytes
	return w
}

// File writes a file with the content of r, which must have size bytes. exec makes it executable. The error is an *Error if the
// entry is refused. After an error every other call returns it too.
func (w *Writer) File(name string, exec bool, r io.Reader, size int64) error {
	if w.err == nil {
		w.err = w.file(name, exec, r, size)
	}
	return w.err
}

// Folder checks the name of a folder and counts it. A folder is made with the first file in it: without one it is not kept,
// since no digest of the content covers it.
func (w *Writer) Folder(name string) error {
	if w.err == nil {
		w.err = w.seen.Add(name, true)
	}
	return w.err
}

func (w *Writer) file(name string, exec bool, r io.Reader, size int64) error {
	if err := w.seen.Add(name, false); err != nil {
		return err
	}
	return w.write(name, exec, r, size)
}

// write writes a file whose name is taken for it.
func (w *Writer) write(name string, exec bool, r io.Reader, size int64) error {
	switch {
	case size < 0:
		return refuse(name, "has no size")
	case size > w.o.MaxFile:
		return refuse(name, "has %d bytes, more than the %d that one file may have", size, w.o.MaxFile)
	case size > w.bytes:
		return refuse(name, "exceeds the %d bytes that all files together may have", w.o.MaxBytes)
	}
	w.bytes -= size
	in, err := w.enter(path.Dir(name))
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if exec {
		mode = 0o755
	}
	f, err := in.OpenFile(path.Base(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	w.names = append(w.names, name)
	return errors.Join(w.content(f, r, name, size), f.Chmod(mode), f.Close())
}

// enter returns a folder, which it makes if it is not there. The last one is kept open, since files come folder by folder.
func (w *Writer) enter(dir string) (*os.Root, error) {
	if dir == w.at && w.in != nil {
		return w.in, nil
	}
	if err := errors.Join(w.leave(), w.root.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	in, err := w.root.OpenRoot(dir)
	w.at, w.in = dir, in
	return in, err
}

// leave closes the open folder.
func (w *Writer) leave() error {
	if w.in == nil {
		return nil
	}
	in := w.in
	w.in = nil
	return in.Close()
}

// content writes exactly size bytes of r.
func (w *Writer) content(f *os.File, r io.Reader, name string, size int64) error {
	n, err := io.CopyBuffer(onlyWriter{f}, io.LimitReader(r, size+1), w.buf)
	switch {
	case err != nil:
		return fmt.Errorf("%.200q: %w", name, err)
	case n < size:
		return refuse(name, "ends after %d of its %d bytes", n, size)
	case n > size:
		return refuse(name, "has more than the %d bytes that it declares", size)
	}
	return nil
}

// onlyWriter hides ReadFrom, which would not use the buffer.
type onlyWriter struct{ io.Writer }

// End closes the Writer after work with it that ended with err, and returns the first error of both.
func (w *Writer) End(err error) error {
	closed := w.Close()
	return cmp.Or(err, closed)
}

// Close flushes the files and folders to the disk, unless they are volatile. It returns the first error of the Writer. It must
// be called after an error too.
func (w *Writer) Close() error {
	err := w.leave()
	w.err = cmp.Or(w.err, err)
	if w.err != nil || w.o.Volatile {
		return w.err
	}
	for _, name := range w.names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			w.dirs = append(w.dirs, dir)
		}
	}
	slices.Sort(w.dirs)
	w.err = w.flush(w.names, slices.Compact(w.dirs))
	return w.err
}
