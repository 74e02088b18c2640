package lockfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// mode says whether others may hold the lock at the same time.
type mode bool

const (
	exclusive mode = false
	shared    mode = true
)

// errHeld is returned by tryLock while someone else holds the lock.
var errHeld = errors.New("held")

// Lock creates the file called name if it does not exist, locks it and returns the function that unlocks it. It refuses a
// symbolic link. It waits until ctx is done, or for at most wait if that is not 0; it then returns ErrLocked. If ctx is
// already done it creates nothing. The locks of a process end with it. The file must not be used for anything else.
func Lock(ctx context.Context, name string, wait time.Duration) (unlock func(), err error) {
	return take(ctx, name, wait, exclusive)
}

// Share is like Lock, but several callers of Share can hold the lock at the same time. Lock waits for all of them.
func Share(ctx context.Context, name string, wait time.Duration) (unlock func(), err error) {
	return take(ctx, name, wait, shared)
}

func take(ctx context.Context, name string, wait time.Duration, how mode) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK|noFollow, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("the lock %q is a symbolic link", name)
	}
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := tryLock(f, how)
		if err == nil {
			return func() { f.Close() }, nil
		}
		switch {
		case !errors.Is(err, errHeld):
			err = fmt.Errorf("lock %q: %w", name, err)
		case wait > 0 && time.Now().Add(pause).After(deadline):
			err = ErrLocked
		default:
			err = sleep(ctx, pause)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
}

// lock locks the file for changes of path.
func lock(ctx context.Context, path string, o *File) (unlock func(), err error) {
	name := cmp.Or(o.Lock, path+".lock")
	unlock, err = Lock(ctx, name, o.Wait)
	switch {
	case err == nil:
		return unlock, nil
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("cannot change %q: the folder %q is not writable by this user: %w", path, filepath.Dir(name), err)
	case errors.Is(err, ErrLocked):
		return nil, fmt.Errorf("%q is %w: waited %s for %q; wait for the other process or end it", path, ErrLocked, o.Wait, name)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("wait for the lock %q: %w", name, err)
	}
	return nil, fmt.Errorf("lock %q: %w", path, err)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
