package lockfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Replace atomically replaces the regular file called name in root by a file with the given content and mode. It takes no
// lock, so it is for files that only one program changes. It refuses a symbolic link. After an error the old content is
// still in place and no other file is left behind, unless the error says that only the last flush of the folder failed.
func Replace(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	if _, err := root.Lstat(name); err != nil {
		return err
	}
	return Write(root, name, content, mode)
}

// Write is like Replace, and creates the file if there is none.
func Write(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return newWriting(root, name).replace(content, mode)
	} else if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%q is a symbolic link: change its target", name)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a regular file (%s)", name, info.Mode().Type())
	}
	return newWriting(root, name).replace(content, mode)
}

// SyncFolder makes the names in a folder durable. Where a system cannot do that and does not need it, it does nothing.
func SyncFolder(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return syncDir(root)
}

func newWriting(root *os.Root, name string) *writing {
	return &writing{root: root, name: name, temp: "." + name + "." + rand.Text(), before: func(string) error { return nil }}
}

// Create makes a file that only the user may read. It is an error if the file is there. After another error there is none.
func Create(name string, content []byte) error {
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if err := errors.Join(err, out.Close()); err != nil {
		os.Remove(name)
		return err
	}
	return nil
}

// writing is one replacement of a file. The new content is written to a temporary file, which is then renamed.
type writing struct {
	root       *os.Root
	name, temp string
	before     func(step string) error // lets tests make a step fail
}

func (w *writing) replace(content []byte, mode fs.FileMode) error {
	err := w.write(content, mode)
	if err == nil {
		err = w.before("rename")
	}
	if err == nil {
		err = w.root.Rename(w.temp, w.name)
	}
	if err != nil {
		w.root.Remove(w.temp)
		return err
	}
	if err = w.before("syncdir"); err == nil {
		err = syncDir(w.root)
	}
	if err != nil {
		return fmt.Errorf("the file has its new content but may lose it in a power failure: %w", err)
	}
	return nil
}

// write creates the temporary file and flushes its content to the disk. It never repeats a failed fsync: the kernel may
// have dropped the pages and would then report success.
func (w *writing) write(content []byte, mode fs.FileMode) (err error) {
	if err := w.before("create"); err != nil {
		return err
	}
	f, err := w.root.OpenFile(w.temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	steps := []struct {
		name string
		do   func() error
	}{
		{"write", func() error { _, err := f.Write(content); return err }},
		{"chmod", func() error { return f.Chmod(mode) }},
		{"sync", f.Sync},
	}
	for _, s := range steps {
		if err := w.before(s.name); err != nil {
			return err
		}
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}
