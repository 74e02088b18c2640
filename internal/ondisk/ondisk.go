// Package ondisk writes, recognises and removes what the engine keeps on the disk for itself: environments, caches, temporary folders.
package ondisk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Digest is a short name for a list of strings. Each is written with its length, so two lists never run together.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s;", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// WriteFile replaces a file at once and makes its folder: a reader sees the old content or the new one.
func WriteFile(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// RemoveAll removes a folder, even if the permissions of its folders forbid it. It follows no link out of the folder above it.
// Files that cannot be removed stay.
func RemoveAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return
	}
	defer root.Close()
	removeIn(root, filepath.Base(dir))
}

// Empty removes what is in a folder, as RemoveAll does, and nothing outside of it, whatever is made there at the same time.
func Empty(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	list, _ := fs.ReadDir(root.FS(), ".")
	for _, d := range list {
		if root.RemoveAll(d.Name()) != nil {
			removeIn(root, d.Name())
		}
	}
}

// removeIn removes a folder whose permissions forbid it.
func removeIn(root *os.Root, name string) {
	unlock(root, name, 0o700)
	_ = root.RemoveAll(name)
}

// Unlock lets the user read the folders in a folder whose permissions forbid it. It follows no link out of the folder.
func Unlock(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	unlock(root, ".", 0o500)
}

// unlock gives the user every permission on the folders that lack one of some.
func unlock(root *os.Root, name string, some fs.FileMode) {
	_ = fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		if d == nil || !d.IsDir() || err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode()&some != some {
			_ = root.Chmod(filepath.FromSlash(p), info.Mode().Perm()|0o700) // before its entries are read
		}
		return nil
	})
}
