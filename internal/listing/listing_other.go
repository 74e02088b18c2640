//go:build !linux

// Package listing lists folders with many files fast.
package listing

import (
	"io/fs"
	"os"
)

// Lister lists folders, one at a time. The zero value is ready. It is not safe for concurrent use.
type Lister struct{}

// List calls visit for each name in a folder, in no order, with the type of what has it, as fs.FileMode.Type says. It follows no link, not
// even dir itself. It ends when visit returns false. The error is an *fs.PathError; what was read before is visited.
func (*Lister) List(dir string, visit func(name string, kind fs.FileMode) bool) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		if err == nil {
			err = &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid}
		}
		return err
	}
	all, err := os.ReadDir(dir)
	for _, d := range all {
		if !visit(d.Name(), d.Type()) {
			return nil
		}
	}
	return err
}
