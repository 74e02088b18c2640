package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow does nothing: creating a symbolic link needs a privilege on Windows.
const noFollow = 0

func tryLock(f *os.File, how mode) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if how == exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// syncDir does nothing: Windows cannot flush a folder, and its journal keeps renames.
func syncDir(*os.Root) error { return nil }
