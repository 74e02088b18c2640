//go:build !windows

package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow makes an open fail for a symbolic link.
const noFollow = unix.O_NOFOLLOW

func tryLock(f *os.File, how mode) error {
	op := unix.LOCK_EX
	if how == shared {
		op = unix.LOCK_SH
	}
	for {
		err := unix.Flock(int(f.Fd()), op|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}

// syncDir flushes a folder, which makes a rename in it durable.
func syncDir(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
