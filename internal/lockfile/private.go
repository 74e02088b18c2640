package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// UnsafeError says that another user could have changed a file or folder.
type UnsafeError struct {
	Path    string
	Foreign bool        // it belongs to another user than this one and root; otherwise others may write to it
	Mode    fs.FileMode // permissions
}

// Error names the path and what is wrong with it.
func (e *UnsafeError) Error() string {
	if e.Foreign {
		return fmt.Sprintf("%q belongs to another user", e.Path)
	}
	return fmt.Sprintf("%q is writable by other users (mode %04o)", e.Path, e.Mode)
}

// CheckOwner returns an *UnsafeError if another user than this one and root could change the file or folder that info
// describes. Write permission of a group counts, unless the group has the number of the owner: many systems give each user
// such a group. Where files have no numeric owners it returns nil. path is for the error.
func CheckOwner(path string, info fs.FileInfo) error {
	return checkOwner(path, info)
}

// checkPrivate checks the open file f and the folders of its path.
func checkPrivate(path string, f *os.File) error {
	info, err := f.Stat()
	if err == nil {
		err = CheckOwner(path, info)
	}
	if err == nil {
		err = checkFolders(path)
	}
	return err
}

// checkFolders checks the folder of a path and, if the path is a link, the folder of its target. Nobody writes to a read-only file system:
// the folder where Kubernetes mounts a Secret has the mode 0777.
func checkFolders(path string) error {
	folders := []string{filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != folders[0] {
		folders = append(folders, filepath.Dir(real))
	}
	for _, dir := range folders {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		err = CheckOwner(dir, info)
		if unsafe, ok := errors.AsType[*UnsafeError](err); ok && !unsafe.Foreign && readOnly(dir) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
