//go:build !windows

package store

import "os"

// syncFlag opens a file whose content is to be written to the disk.
const syncFlag = os.O_RDONLY

// syncDir writes the entries of a folder to the disk.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncIn is syncDir for a folder below root.
func syncIn(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
