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

// errHeld is what tryLock returns while another one holds the lock.
var errHeld = errors.New("held")

// lock takes the lock of path, waiting for at most wait, and returns what frees it.
func lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, fmt.Errorf("%q cannot be changed: the folder %q is not writable for this user: %w", path, filepath.Dir(path), err)
	}
	if err != nil {
		return nil, fmt.Errorf("making the lock of %q: %w", path, err)
	}
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := tryLock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errHeld) {
			f.Close()
			return nil, fmt.Errorf("locking %q: %w", name, err)
		}
		if time.Now().Add(pause).After(deadline) {
			f.Close()
			return nil, fmt.Errorf("%q is %w: waited %s for the lock %q; let the other process finish, or end it (a killed one frees its lock)",
				path, ErrLocked, wait, name)
		}
		if err := sleep(ctx, pause); err != nil {
			f.Close()
			return nil, fmt.Errorf("waiting for the lock %q: %w", name, err)
		}
	}
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
