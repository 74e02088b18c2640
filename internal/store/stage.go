package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// Stage is a private folder on the file system of the store, in which versions are prepared. Its methods must not be called
// concurrently, except Close.
type Stage struct {
	Dir string // absolute; empty at first

	store  *Dir
	lock   func() // of the stage
	adding func() // of the store, from the first Keep on; nil before it
	close  sync.Once
}

// Stage makes an empty stage. Its owner must close it; the stage of a process that died is removed by Sweep. The error is
// ErrLocked, ErrReadOnly, that of ctx, or another one of the file system.
func (d *Dir) Stage(ctx context.Context) (*Stage, error) {
	s, err := d.stage(ctx)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		err = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return s, err
}

func (d *Dir) stage(ctx context.Context) (*Stage, error) {
	if !filepath.IsAbs(d.Root) {
		return nil, fmt.Errorf("store.Dir: root %q is not absolute", d.Root)
	}
	if err := os.MkdirAll(d.stages(), 0o700); err != nil {
		return nil, err
	}
	unlock, err := d.share(ctx) // Sweep must not see the lock without the folder
	if err != nil {
		return nil, err
	}
	defer unlock()
	s := &Stage{Dir: filepath.Join(d.stages(), rand.Text()), store: d}
	if s.lock, err = lockfile.Lock(ctx, s.Dir+lockEnd, d.wait()); err != nil {
		return nil, known(err)
	}
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close removes the stage with what was not kept. The versions that it kept can be removed from then on, so what records them
// must be written before.
func (s *Stage) Close() error {
	var err error
	s.close.Do(func() {
		ondisk.RemoveAll(s.Dir)
		err = os.Remove(s.Dir + lockEnd)
		if s.adding != nil {
			s.adding()
		}
		s.lock()
	})
	return err
}

// Version is a folder of a stage that is to be kept.
type Version struct {
	Sub    string // the folder, below the stage
	Name   string // of the skill
	Digest string // of the content
}

// Keep makes a folder of the stage a version, as KeepAll does, and returns its path.
func (s *Stage) Keep(ctx context.Context, sub, name, digest string) (string, error) {
	paths, err := s.KeepAll(ctx, []Version{{sub, name, digest}})
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// KeepAll makes folders of the stage versions: it checks their digests, makes everything read-only, writes it to the disk and
// then renames the folders. It returns the paths of the versions, in their order. A version that is there already with the
// same content is used. Until the stage is closed no version is removed.
//
// KeepAll returns an *IntegrityError if a folder, or the version that is there, does not have the content of the digest;
// ErrLocked; the error of ctx; or that of the file system. On error some may be versions already, which nothing names: Sweep
// removes them.
func (s *Stage) KeepAll(ctx context.Context, list []Version) ([]string, error) {
	paths := make([]string, len(list))
	var content []Content
	for i, v := range list {
		to, err := s.store.Path(v.Name, v.Digest)
		if err != nil {
			return nil, err
		}
		if v.Sub == "." || !filepath.IsLocal(v.Sub) {
			return nil, fmt.Errorf("%q is not a folder of the stage", v.Sub)
		}
		paths[i] = to
		content = append(content, Content{filepath.Join(s.Dir, v.Sub), v.Digest})
	}
	if err := errors.Join(verifyAll(ctx, content, s.store.parallel(runtime.GOMAXPROCS(0)))...); err != nil {
		return nil, err
	}
	if s.adding == nil {
		adding, err := s.store.share(ctx)
		if err != nil {
			return nil, err
		}
		s.adding = adding
	}
	var fresh []int
	for i, v := range list {
		if _, err := os.Lstat(paths[i]); err != nil {
			fresh = append(fresh, i)
		} else if err := Verify(ctx, paths[i], v.Digest); err != nil {
			return nil, fmt.Errorf("keep skill %q: %w", v.Name, err)
		}
	}
	if len(fresh) == 0 {
		return paths, nil
	}
	if err := s.seal(ctx, list, fresh); err != nil {
		return nil, fmt.Errorf("keep %s: %w", what(list), err)
	}
	if err := s.rename(ctx, list, fresh, paths); err != nil {
		return nil, fmt.Errorf("keep %s: %w", what(list), err)
	}
	return paths, nil
}

// what names versions in an error.
func what(list []Version) string {
	if len(list) == 1 {
		return fmt.Sprintf("skill %q", list[0].Name)
	}
	return fmt.Sprintf("%d skills, from %q on", len(list), list[0].Name)
}

// rename gives sealed folders their names in the store, and writes these to the disk.
func (s *Stage) rename(ctx context.Context, list []Version, fresh []int, paths []string) error {
	var parents []string
	for _, i := range fresh {
		parent := filepath.Dir(paths[i])
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(s.Dir, list[i].Sub), paths[i])
		switch {
		case err == nil:
			if err := os.Chmod(paths[i], 0o500); err != nil {
				return err
			}
			parents = append(parents, parent)
		case !errors.Is(err, fs.ErrExist):
			return err
		default: // another process was faster, or the list has it twice
			if err := Verify(ctx, paths[i], list[i].Digest); err != nil {
				return err
			}
			parents = append(parents, parent) // that process may not be as far
		}
	}
	err := each(s.store.parallel(flushes), len(parents), func(i int) error { return syncDir(parents[i]) })
	if err = errors.Join(err, syncDir(s.store.base())); err != nil {
		return fmt.Errorf("what is complete may be lost in a power failure: %w", err)
	}
	return nil
}

// flushes is how many files are flushed at the same time. The file system writes them together, so this costs far less than one
// after the other.
const flushes = 16

// seal makes everything below some folders of the stage read-only and writes it to the disk. The folders themselves stay
// writable: a folder that is renamed to another parent must be.
func (s *Stage) seal(ctx context.Context, list []Version, fresh []int) error {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var files, folders []string
	top := map[string]bool{}
	for _, i := range fresh {
		sub := filepath.ToSlash(list[i].Sub)
		top[sub] = true
		err := fs.WalkDir(root.FS(), sub, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				folders = append(folders, p)
			case d.Type().IsRegular():
				files = append(files, p)
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	n := s.store.parallel(flushes)
	err = each(n, len(files), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return sealFile(root, filepath.FromSlash(files[i]))
	})
	if err != nil {
		return err
	}
	return each(n, len(folders), func(i int) error { return sealFolder(root, filepath.FromSlash(folders[i]), top[folders[i]]) })
}

func sealFile(root *os.Root, name string) error {
	f, err := root.OpenFile(name, syncFlag, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Chmod(info.Mode().Perm() &^ 0o222)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func sealFolder(root *os.Root, name string, top bool) error {
	if !top {
		if err := root.Chmod(name, 0o500); err != nil {
			return err
		}
	}
	return syncIn(root, name)
}

// each calls do with the numbers below count, up to n at the same time, until one fails. With n = 1 it starts no goroutine.
func each(n, count int, do func(int) error) error {
	if n = min(n, count); n <= 1 {
		for i := range count {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, n)
	var work sync.WaitGroup
	for w := range n {
		work.Go(func() {
			for i := next.Add(1) - 1; int(i) < count && !failed.Load(); i = next.Add(1) - 1 {
				if errs[w] = do(int(i)); errs[w] != nil {
					failed.Store(true)
					return
				}
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}
