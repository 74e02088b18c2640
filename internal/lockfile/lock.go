package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// mode is how a lock is held.
type mode bool

const (
	exclusive mode = false
	shared    mode = true
)

// errHeld is what tryLock returns while another one holds the lock.
var errHeld = errors.New("held")

// Lock takes the lock of the file called name, which it makes, and returns what frees it. It waits as
// long as ctx lasts, but no longer than wait unless that is 0; then the error is ErrLocked. When ctx has
// ended already it makes and takes nothing. A process
// that dies frees its locks. Nothing else may be kept in the file.
func Lock(ctx context.Context, name string, wait time.Duration) (unlock func(), err error) {
	return take(ctx, name, wait, exclusive)
}

// Share is Lock for one of many: they hold the lock at the same time, and Lock waits for all of them.
func Share(ctx context.Context, name string, wait time.Duration) (unlock func(), err error) {
	return take(ctx, name, wait, shared)
}

func take(ctx context.Context, name string, wait time.Duration, how mode) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK, 0o600)
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
			err = fmt.Errorf("locking %q: %w", name, err)
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

// lock takes the lock that belongs to path, waiting for at most wait.
func lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	name := path + ".lock"
	unlock, err = Lock(ctx, name, wait)
	switch {
	case err == nil:
		return unlock, nil
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("%q cannot be changed: the folder %q is not writable for this user: %w", path, filepath.Dir(path), err)
	case errors.Is(err, ErrLocked):
		return nil, fmt.Errorf("%q is %w: waited %s for the lock %q; let the other process finish, or end it (a killed one frees its lock)",
			path, ErrLocked, wait, name)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("waiting for the lock %q: %w", name, err)
	}
	return nil, fmt.Errorf("making the lock of %q: %w", path, err)
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
