// Package lockfile changes small files that several processes share: registries, approvals, the user's settings. A change
// is a function from the old content to the new one. It runs under a lock, and its result replaces the file atomically: a
// reader finds the old content or the new one, also after a crash, and never a mixture. Replace does only the latter, for
// a file that one program changes.
//
// File is a document.Store.
//
// The package never locks the file itself, since a rename gives the name a new inode; it never writes in place, reads
// without a bound, or waits forever unless it is told to.
//
// Every function is safe for concurrent use by goroutines and processes. Readers need no lock.
package lockfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/trace"
)

// DefaultWait is how long Transform waits for the lock. DefaultMax is the largest size of a file in bytes.
const (
	DefaultWait = 10 * time.Second
	DefaultMax  = 16 << 20
)

// ErrLocked is returned when another process held the lock for the whole waiting time.
var ErrLocked = errors.New("locked by another process")

// File is one file that changes. Path is required.
type File struct {
	Path string
	Wait time.Duration // for the lock; default DefaultWait
	Max  int64         // size of the old and of the new content, in bytes; default DefaultMax
	Mode fs.FileMode   // of a new file; default 0600. An existing file keeps its mode.

	// Lock is the absolute path of the file that is locked, in a folder that exists; "" means the path of the file with ".lock"
	// at its end.
	Lock string

	// Check reads the new content as the next reader does. Its error keeps the content from being written. Nil checks nothing.
	Check func(content []byte) error

	// Private refuses a file that another user could have changed, as ReadPrivate does.
	Private bool

	// Record gets the events of a change, see document.Change. Nil records nothing.
	Record func(context.Context, trace.Event) error

	before func(step string) error // lets tests make a step fail
}

// Load is Read for a document.Store.
func (f *File) Load(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.Read()
}

// Read returns the content of the file, nil if there is none. Its other errors are those of the function Read, or of ReadPrivate.
func (f *File) Read() ([]byte, error) {
	content, _, err := readFile(f.Path, f.Max, f.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// Edit is Transform for a function that only makes another content.
func (f *File) Edit(ctx context.Context, edit func(old []byte) ([]byte, error)) error {
	return f.Transform(ctx, document.Plain(edit))
}

// Transform replaces the content of the file by the result of edit. For a missing file edit gets nil; the file is
// created, with its folder (mode 0700), if there is something to write. If edit returns nil or what it was given, nothing
// is written. If edit returns an error, Transform returns it and writes nothing. If ctx is done before the lock is held,
// Transform changes nothing and returns an error that wraps ctx's.
//
// Transform follows a symbolic link at the path, so a linked file stays a link. The lock stays
// there and is unlocked when its holder closes it or dies. After an error the old content is still in place and no other
// file is left behind but the copy of Change.Keep, unless the error says that only the last flush of the folder failed.
func (f *File) Transform(ctx context.Context, edit document.Edit) error {
	o := f.withDefaults()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot change %q: %w", o.Path, err)
	}
	path, err := target(o.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the folder of %q: %w", path, err)
	}
	if o.Private {
		if err := checkFolders(o.Path); err != nil {
			return fmt.Errorf("cannot change %q: %w", o.Path, err)
		}
	}
	unlock, err := lock(ctx, path, &o)
	if err != nil {
		return err
	}
	defer unlock()
	old, mode, err := readFile(o.Path, o.Max, o.Private)
	if errors.Is(err, fs.ErrNotExist) {
		mode, err = o.Mode, nil
	}
	if err != nil {
		return err
	}
	change, err := edit(bytes.Clone(old))
	if err != nil || change.Content == nil || (old != nil && bytes.Equal(old, change.Content)) {
		return err
	}
	if err := o.ready(ctx, path, old, &change); err != nil {
		return err
	}
	return o.write(path, change.Content, mode)
}

// ready does what comes before a change is written.
func (f *File) ready(ctx context.Context, path string, old []byte, c *document.Change) error {
	if int64(len(c.Content)) > f.Max {
		return fmt.Errorf("new content of %q has %d bytes, more than %d: nothing was written", path, len(c.Content), f.Max)
	}
	if err := f.Check(c.Content); err != nil {
		return fmt.Errorf("the new content of %q could not be read again, so nothing was written: %w", path, err)
	}
	if c.Keep != "" && old != nil {
		if err := Create(f.Path+c.Keep, old); err != nil {
			return fmt.Errorf("keep a copy of %q: %w", f.Path, err)
		}
	}
	for _, e := range c.Events {
		if err := f.Record(ctx, e); err != nil && !c.Takes {
			return err
		}
	}
	return nil
}

// write replaces the file. The temporary file has a fixed name, which the lock protects. So a file that a killed writer left is removed.
func (f *File) write(path string, content []byte, mode fs.FileMode) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	w := &writing{root: root, name: filepath.Base(path), temp: "." + filepath.Base(path) + ".tmp", before: f.before}
	if err := root.Remove(w.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %q: %w", path, err)
	}
	if err := w.replace(content, mode); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// Read returns the content of the file at path. It takes no lock. For a missing file the error wraps fs.ErrNotExist. Read
// refuses a file of more than limit bytes (0 means DefaultMax) and anything but a regular file, without waiting for it.
func Read(path string, limit int64) ([]byte, error) {
	content, _, err := readFile(path, limit, false)
	return content, err
}

// ReadPrivate is like Read but refuses a file that another user than this one and root could have changed: because that
// user owns the file or its folder, or may write to one of them. It checks the folder of a link and that of its target.
// The error is then an *UnsafeError.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	content, _, err := readFile(path, limit, true)
	return content, err
}

// ReadIn is like Read for a file below root. It follows no link that leads out of root.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := read(f, name, limit)
	return content, err
}

func (f *File) withDefaults() File {
	out := *f
	out.Wait, out.Max, out.Mode = cmp.Or(max(f.Wait, 0), DefaultWait), cmp.Or(max(f.Max, 0), DefaultMax), cmp.Or(f.Mode, 0o600)
	if out.Check == nil {
		out.Check = func([]byte) error { return nil }
	}
	if out.Record == nil {
		out.Record = func(context.Context, trace.Event) error { return nil }
	}
	if out.before == nil {
		out.before = func(string) error { return nil }
	}
	return out
}

// target returns the file that is changed for path: path itself, or the target of a symbolic link.
func target(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // the next step reports an error of Lstat
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%q is a symbolic link that leads nowhere: %w", path, err)
	}
	return file, nil
}

func readFile(path string, limit int64, private bool) ([]byte, fs.FileMode, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if private {
		if err := checkPrivate(path, f); err != nil {
			return nil, 0, err
		}
	}
	return read(f, path, limit)
}

// read reads an open file. Its errors call it by this name: a file of an os.Root has its whole path.
func read(f *os.File, name string, limit int64) ([]byte, fs.FileMode, error) {
	if limit <= 0 {
		limit = DefaultMax
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%q is not a regular file (%s)", name, info.Mode().Type())
	}
	tooBig := fmt.Errorf("%q exceeds %d bytes", name, limit)
	if info.Size() > limit { // a sparse file is refused before it is read
		return nil, 0, tooBig
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(content)) > limit { // it grew
		return nil, 0, tooBig
	}
	return content, info.Mode().Perm(), nil
}
