package lockfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Kinds are a package's own errors about its file, by which callers tell that file from others. They never change.
type Kinds struct {
	Corrupt error // the file is damaged
	Newer   error // a newer version of the program wrote it
	Unsafe  error // another user could have changed it
	Locked  error // another process held its lock for the whole waiting time
}

// Known returns an error of this package as one that is of a kind, too. Other errors and nil are returned unchanged.
func (k *Kinds) Known(err error) error {
	var unsafe *UnsafeError
	switch {
	case errors.As(err, &unsafe):
		return kindError{err, k.Unsafe}
	case errors.Is(err, ErrLocked):
		return kindError{err, k.Locked}
	}
	return err
}

// Damaged returns the error for a file whose content cannot be used, for a cause. change is what moves it aside: "approval".
func (k *Kinds) Damaged(path, change string, cause error) error {
	return fmt.Errorf("%q is %w (%w): repair it; the next %s moves it to %q and starts a new file", path, k.Corrupt, cause, change, filepath.Base(path)+".corrupt-…")
}

// Aside is the end of the name that a damaged file gets, for document.Change.
func Aside(now time.Time) string { return ".corrupt-" + now.UTC().Format("20060102T150405.000Z") }

// TooNew returns the error for a file of a version above the newest that the program reads.
func (k *Kinds) TooNew(path string, version, newest int) error {
	return fmt.Errorf("%q is %w (version %d, this program reads up to %d): update this program", path, k.Newer, version, newest)
}

// kindError is an error of this package that is also kind.
type kindError struct{ err, kind error }

func (e kindError) Error() string   { return e.err.Error() }
func (e kindError) Unwrap() []error { return []error{e.err, e.kind} }
