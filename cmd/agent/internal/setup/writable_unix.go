//go:build unix

package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writable returns an error if nothing can be written to a folder, or to the nearest existing folder above it.
// It writes nothing, so it does not notice a full disk.
func Writable(dir string) error {
	for {
		_, err := os.Stat(dir)
		if err == nil {
			return syscall.Access(dir, writeAndEnter)
		}
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return reason(err)
		}
		dir = up
	}
}

// writeAndEnter is W_OK and X_OK of access(2).
const writeAndEnter = 2 | 1

// reason returns an error's text without the operation and the path.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
