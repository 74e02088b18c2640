package hosts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Linked is a link of an export.
type Linked struct {
	Host     Host
	Location string // absolute path of the link
	Target   string // absolute path where it leads, which need not exist
}

// FindLinks lists the links in the folders of all agents below base that lead into the folder own: those to update or to remove
// when a skill is. Folders that cannot be read have none. A folder that several agents read is listed once.
func FindLinks(base string, s Scope, own string) []Linked {
	var all []Linked
	seen := map[string]bool{}
	for _, h := range All() {
		dir := filepath.Join(base, filepath.FromSlash(h.Folder(s)))
		if seen[dir] {
			continue
		}
		seen[dir] = true
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range list {
			if entry.Type()&fs.ModeSymlink == 0 || strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			at := filepath.Join(dir, entry.Name())
			if target, err := os.Readlink(at); err == nil && inside(target, own) {
				all = append(all, Linked{h, at, target})
			}
		}
	}
	return all
}

// Repoint makes the link lead to another folder, such as the new version of a skill that was updated, in one step. It is ErrExists
// if the link leads elsewhere by now.
func (l Linked) Repoint(to string) error {
	if !filepath.IsAbs(to) {
		return fmt.Errorf("hosts: %q is not an absolute path", to)
	}
	return l.change(func(root *os.Root, name string) error {
		fresh := ".agent-base-" + rand.Text()
		if err := root.Symlink(to, fresh); err != nil {
			return err
		}
		if err := root.Rename(fresh, name); err != nil {
			return errors.Join(err, root.Remove(fresh))
		}
		return nil
	})
}

// Remove removes the link. It is ErrExists if the link leads elsewhere by now.
func (l Linked) Remove() error {
	return l.change(func(root *os.Root, name string) error { return root.Remove(name) })
}

// change calls do with the folder and the name of the link, if it is as it was found.
func (l Linked) change(do func(*os.Root, string) error) error {
	root, err := os.OpenRoot(filepath.Dir(l.Location))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(l.Location)
	if is, err := root.Readlink(name); err != nil || is != l.Target {
		return fmt.Errorf("%s: %w", l.Location, errors.Join(ErrExists, err))
	}
	return do(root, name)
}
