package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/program"
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
// ErrLocked, that of ctx, or that of the file system.
func (d *Dir) Stage(ctx context.Context) (*Stage, error) {
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
		program.RemoveAll(s.Dir)
		err = os.Remove(s.Dir + lockEnd)
		if s.adding != nil {
			s.adding()
		}
		s.lock()
	})
	return err
}

// Keep makes the folder sub of the stage a version: it checks the digest, makes everything read-only, writes it to the disk
// and renames the folder. It returns the path of the version. If that version is there already with the same content, Keep
// uses it. Until the stage is closed no version is removed.
//
// Keep returns an *IntegrityError if the folder, or the version that is there, does not have the content of the digest;
// ErrLocked; the error of ctx; or that of the file system. On error there is no new version, unless the error says that only
// the last flush failed.
func (s *Stage) Keep(ctx context.Context, sub, name, digest string) (string, error) {
	to, err := s.store.Path(name, digest)
	if err != nil {
		return "", err
	}
	if sub == "." || !filepath.IsLocal(sub) {
		return "", fmt.Errorf("%q is not a folder of the stage", sub)
	}
	from := filepath.Join(s.Dir, sub)
	if err := Verify(ctx, from, digest); err != nil {
		return "", err
	}
	if s.adding == nil {
		if s.adding, err = s.store.share(ctx); err != nil {
			s.adding = nil
			return "", err
		}
	}
	if _, err = os.Lstat(to); err == nil {
		err = Verify(ctx, to, digest)
	} else if err = seal(ctx, from); err == nil {
		err = s.rename(ctx, from, to, digest)
	}
	if err != nil {
		return "", fmt.Errorf("keep skill %q: %w", name, err)
	}
	return to, nil
}

// rename gives a sealed folder its name in the store.
func (s *Stage) rename(ctx context.Context, from, to, digest string) error {
	parent := filepath.Dir(to)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		if errors.Is(err, fs.ErrExist) { // another process was faster
			return Verify(ctx, to, digest)
		}
		return err
	}
	err := errors.Join(os.Chmod(to, 0o500), syncDir(parent), syncDir(s.store.base()))
	if err != nil {
		return fmt.Errorf("%q is complete but may be lost in a power failure: %w", to, err)
	}
	return nil
}

// seal makes everything below a folder read-only and writes it to the disk. The folder itself stays writable: a folder that
// is renamed to another parent must be.
func seal(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var folders []string
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir():
			folders = append(folders, p)
			return nil
		case d.Type().IsRegular():
			return sealFile(root, filepath.FromSlash(p))
		}
		return nil // a link
	})
	for i := len(folders) - 1; i >= 0 && err == nil; i-- { // the inner ones first
		err = sealFolder(root, filepath.FromSlash(folders[i]))
	}
	return err
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

func sealFolder(root *os.Root, name string) error {
	if name != "." {
		if err := root.Chmod(name, 0o500); err != nil {
			return err
		}
	}
	return syncIn(root, name)
}
