package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// now is the waiting time for a lock that is wanted at once.
const now = time.Nanosecond

// Report says what a Sweep did.
type Report struct {
	Removed   []string // versions, by path
	Postponed []string // versions that something still runs; a later Sweep removes them
	Stages    int      // stages of dead owners and unfinished removals
}

// Sweep removes the versions that nobody wants and the stages whose owners died. It calls wanted once, while no version can
// be added: the answer must come from the present state of the registry. A version that is leased is postponed. Sweep returns
// ErrLocked if an installation goes on for the whole waiting time, the error of wanted, after which nothing was removed, that
// of ctx, or that of the file system.
//
// idle may be nil. Otherwise Sweep calls it last, while no version can be added, unless a stage has an owner who may be about
// to add one; its error is returned.
func (d *Dir) Sweep(ctx context.Context, wanted func(context.Context) (func(path string) bool, error), idle func() error) (*Report, error) {
	r := &Report{}
	err := d.alone(ctx, func() ([]string, error) {
		keep, err := wanted(ctx)
		if err != nil {
			return nil, err
		}
		trash, busy := d.abandoned(ctx) // before the versions of this sweep are among them
		r.Stages = len(trash)
		for _, path := range d.Versions() {
			if ctx.Err() != nil {
				return trash, ctx.Err()
			}
			if keep(path) {
				continue
			}
			at, err := d.drop(ctx, path, d.trash())
			switch {
			case errors.Is(err, ErrLocked):
				r.Postponed = append(r.Postponed, path)
			case err != nil:
				return trash, err
			default:
				r.Removed = append(r.Removed, path)
				trash = append(trash, at)
			}
		}
		if idle != nil && !busy {
			err = idle()
		}
		return trash, err
	})
	return r, err
}

// Remove removes the version at path and reports whether it did: not if the version is leased, and a later Sweep removes it.
// Removing a version that is not there is no error. The other errors are those of Sweep.
func (d *Dir) Remove(ctx context.Context, path string) (bool, error) {
	removed := false
	err := d.alone(ctx, func() ([]string, error) {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || !d.Has(path) {
			return nil, nil
		}
		at, err := d.drop(ctx, path, d.trash())
		if errors.Is(err, ErrLocked) {
			return nil, nil
		}
		removed = err == nil
		return []string{at}, err
	})
	return removed, err
}

// SetAside moves the version at path out of the store, to the folder to on the same file system, which must not be there, and
// reports whether it did: not if the version is leased. Its owner may then write to all of it. The errors are those of Sweep.
func (d *Dir) SetAside(ctx context.Context, path, to string) (bool, error) {
	if !d.Has(path) {
		return false, fmt.Errorf("%q is not a folder of the store %q", path, d.base())
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	moved := false
	err := d.alone(ctx, func() ([]string, error) {
		if _, err := os.Lstat(to); err == nil {
			return nil, fmt.Errorf("%q is there already", to)
		}
		_, err := d.drop(ctx, path, to)
		if errors.Is(err, ErrLocked) {
			return nil, nil
		}
		moved = err == nil
		return nil, err
	})
	if moved {
		err = errors.Join(err, unseal(to))
	}
	return moved, err
}

// unseal makes everything below a folder writable for its owner.
func unseal(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o200
		if e.IsDir() {
			mode |= 0o700
		}
		return root.Chmod(filepath.FromSlash(p), mode) // before the entries of a folder are read
	})
}

// alone runs choose while nothing is added or leased, and then deletes what it returns.
func (d *Dir) alone(ctx context.Context, choose func() (trash []string, err error)) error {
	if _, err := os.Stat(d.base()); errors.Is(err, fs.ErrNotExist) {
		return ctx.Err() // nothing was ever put there
	}
	unlock, err := lockfile.Lock(ctx, filepath.Join(d.base(), lockEnd), d.wait())
	if err != nil {
		return known(err)
	}
	trash, err := choose()
	unlock()
	for _, dir := range trash {
		ondisk.RemoveAll(dir)
	}
	return err
}

// trash returns a new name below the stages, from where a version can be deleted at leisure.
func (d *Dir) trash() string { return filepath.Join(d.stages(), rand.Text()) }

// drop moves a version to another folder, which it returns. It returns ErrLocked if the version is leased.
func (d *Dir) drop(ctx context.Context, path, at string) (string, error) {
	unlock, err := lockfile.Lock(ctx, path+lockEnd, now)
	if err != nil {
		return "", known(err)
	}
	defer unlock()
	if err := os.MkdirAll(d.stages(), 0o700); err != nil {
		return "", err
	}
	if err := os.Chmod(path, 0o700); err != nil { // a folder that is renamed to another parent must be writable
		return "", err
	}
	if err := os.Rename(path, at); err != nil {
		return "", err
	}
	os.Remove(path + lockEnd)
	os.Remove(filepath.Dir(path)) // if it is empty
	return at, nil
}

// Versions returns the paths of all versions, sorted.
func (d *Dir) Versions() []string {
	var out []string
	hashes, _ := os.ReadDir(d.base()) // a missing folder has none
	for _, h := range hashes {
		names, _ := os.ReadDir(filepath.Join(d.base(), h.Name()))
		for _, n := range names {
			if path := filepath.Join(d.base(), h.Name(), n.Name()); n.IsDir() && d.Has(path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// abandoned returns the stages whose owners died, and whether there are others. It removes the locks of the former.
func (d *Dir) abandoned(ctx context.Context) (out []string, busy bool) {
	entries, _ := os.ReadDir(d.stages())
	for _, e := range entries {
		id := strings.TrimSuffix(e.Name(), lockEnd)
		path := filepath.Join(d.stages(), id)
		unlock, err := lockfile.Lock(ctx, path+lockEnd, now)
		if err != nil {
			busy = true // its owner lives
			continue
		}
		os.Remove(path + lockEnd)
		unlock()
		if e.IsDir() {
			out = append(out, path)
		}
	}
	return out, busy
}
