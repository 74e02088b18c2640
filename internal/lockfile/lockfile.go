// Package lockfile changes small files that several processes share: registries, approvals, the user's configuration.
// A change is a function from the old content to the new one, run under a lock, and what it returns replaces the file
// at once: a reader, or whoever comes after a crash, finds the old content or the new one, never a mixture. Replace does
// the latter alone, for a file that nobody shares.
//
// It refuses to lock the file itself (the rename gives the name a new inode, so such a lock guards nothing), to write
// in place, to read without a bound, and to wait for ever.
//
// Every function may be called from several goroutines and processes at once. Readers need no lock.
package lockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// DefaultWait is how long Transform waits for the lock, DefaultMax how many bytes a file may have.
const (
	DefaultWait = 10 * time.Second
	DefaultMax  = 16 << 20
)

// ErrLocked is returned when another process held the lock for all of the waiting time (C44).
var ErrLocked = errors.New("locked by another process")

// Options bounds one Transform. The zero value is useful.
type Options struct {
	Wait time.Duration // for the lock; default DefaultWait
	Max  int64         // bytes, of the old and of the new content; default DefaultMax
	Mode fs.FileMode   // of a file that is made; default 0600. A file that is there keeps its own.

	before func(step string) error // tests fail a step with it
}

// Transform replaces the content of the file at path by what edit makes of it. A missing file is nil for edit, and is
// made, with its folder (mode 0700), when there is something to write. When edit returns nil, or what it was given,
// nothing is written; when it returns an error, that error comes back and nothing is written either. When ctx has ended
// before the lock is held nothing is changed, and the error wraps ctx's.
//
// A symbolic link is followed, so that a linked configuration file stays a link. The lock is the file path + ".lock"
// beside the file; it stays there, and closing or killing its holder frees it. After an error the old content is in
// place and no other file is left behind, unless the error says that only the last flush of the folder failed.
func Transform(ctx context.Context, path string, o *Options, edit func(old []byte) ([]byte, error)) error {
	opt := o.withDefaults()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%q is not changed: %w", path, err)
	}
	path, err := target(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of %q: %w", path, err)
	}
	unlock, err := lock(ctx, path, opt.Wait)
	if err != nil {
		return err
	}
	defer unlock()
	old, mode, err := read(path, opt.Max)
	if errors.Is(err, fs.ErrNotExist) {
		mode, err = opt.Mode, nil
	}
	if err != nil {
		return err
	}
	content, err := edit(bytes.Clone(old))
	if err != nil || content == nil || (old != nil && bytes.Equal(old, content)) {
		return err
	}
	if int64(len(content)) > opt.Max {
		return fmt.Errorf("the new content of %q has %d bytes, limit %d: nothing was written", path, len(content), opt.Max)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	// The lock reserves one name for the temporary file: what a killed writer left is removed by the next one.
	w := &writing{root: root, name: filepath.Base(path), temp: "." + filepath.Base(path) + ".tmp", before: opt.before}
	if err := root.Remove(w.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	if err := w.replace(content, mode); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}

// Read returns the content of the file at path. It takes no lock: a writer replaces the file at once. The error wraps
// fs.ErrNotExist for a missing file. More than limit bytes (default DefaultMax for 0) and anything but a regular file,
// a pipe for one, are refused.
func Read(path string, limit int64) ([]byte, error) {
	content, _, err := read(path, limit)
	return content, err
}

func (o *Options) withDefaults() Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	if out.Wait <= 0 {
		out.Wait = DefaultWait
	}
	if out.Max <= 0 {
		out.Max = DefaultMax
	}
	if out.Mode == 0 {
		out.Mode = 0o600
	}
	if out.before == nil {
		out.before = func(string) error { return nil }
	}
	return out
}

// target follows a symbolic link at path to the file that is really changed.
func target(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // what is wrong with a path that cannot be looked at is told by the next step
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%q is a link that leads nowhere: remove it or make its target: %w", path, err)
	}
	return file, nil
}

func read(path string, limit int64) ([]byte, fs.FileMode, error) {
	if limit <= 0 {
		limit = DefaultMax
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%q is not a regular file (%s): move it away", path, info.Mode().Type())
	}
	tooBig := fmt.Errorf("%q exceeds %d bytes: move it away", path, limit)
	if info.Size() > limit { // a sparse file is not read to be told
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
