// Package store keeps the contents of installed skills on disk. Each content of each skill is a version: a read-only folder
// that is named by its digest and never changes. Several versions of a skill can be there at once; which one is active is
// recorded elsewhere (package registry).
//
//	<root>/.store/<first 16 digits of the digest>/<name>/       a version
//	<root>/.store/<first 16 digits of the digest>/<name>.lock   held by everything that runs content of it
//	<root>/.store/.stage/<random>/                              a stage, or a version that is being removed
//	<root>/.store/.stage/<random>.lock                          held by the owner of the stage
//	<root>/.store/.lock                                         held shared to add, exclusive to remove
//
// A version appears with all its files or not at all, and disappears likewise, whenever a process is killed. What a killed
// process leaves is removed by the next Sweep.
//
// The methods of a Dir are safe for concurrent use by goroutines and processes.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill/manifest"
)

const (
	storeName = ".store"
	stageName = ".stage"
	lockEnd   = ".lock"
	digits    = place.Digits // of a digest in the name of a folder
)

// ErrLocked means that another process held a lock of the store for the whole waiting time.
var ErrLocked = errors.New("locked by another process")

// ErrReadOnly means that the store cannot be written to.
var ErrReadOnly = errors.New("the folder of installed skills cannot be written to")

// Dir is a store. Nothing is created before the first Stage.
type Dir struct {
	Root string        // absolute folder that has the store as its folder ".store"
	Wait time.Duration // for locks; 0 means 10 s

	// Parallel bounds how many files a Stage reads or flushes at the same time. 0 means one on each processor to read, and 16
	// to flush. With 1 it starts no goroutine.
	Parallel int

	// Free returns the bytes that this user can write to the file system of a folder, or -1 if that is not known. Nil asks the
	// system.
	Free func(dir string) int64
}

// IntegrityError says that a folder does not have the content that it should.
type IntegrityError struct {
	Path string
	Want string // digest
	Got  string // digest, or "" if it has none
	Err  error  // why it has none
}

// Error names the folder and both digests.
func (e *IntegrityError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("integrity: %q does not have the content %s: %v", e.Path, e.Want, e.Err)
	}
	return fmt.Sprintf("integrity: %q has the content %s and not %s", e.Path, e.Got, e.Want)
}

// Unwrap returns Err.
func (e *IntegrityError) Unwrap() error { return e.Err }

// Path returns the folder of a version, whether it is there or not. It returns an error for a name that a skill cannot have
// and for a digest that is not "sha256:" and 64 lower-case hexadecimal digits.
func (d *Dir) Path(name, digest string) (string, error) {
	if err := manifest.CheckName(name); err != nil {
		return "", err
	}
	hash, ok := strings.CutPrefix(digest, dirhash.Prefix)
	if !ok || len(hash) != 64 || !isHex(hash) {
		return "", fmt.Errorf("digest %q is not %q and 64 hexadecimal digits", digest, dirhash.Prefix)
	}
	return filepath.Join(d.base(), hash[:digits], name), nil
}

// Has reports whether path is the path of a version of this store, whether it is there or not.
func (d *Dir) Has(path string) bool {
	rel, err := filepath.Rel(d.base(), path)
	if err != nil || filepath.Clean(path) != path {
		return false
	}
	hash, name, ok := strings.Cut(filepath.ToSlash(rel), "/")
	return ok && len(hash) == digits && isHex(hash) && manifest.CheckName(name) == nil
}

// Verify returns an *IntegrityError unless the folder at path has the content of a digest.
func Verify(ctx context.Context, path, digest string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return &IntegrityError{Path: path, Want: digest, Err: err}
	}
	defer root.Close()
	ok, sum, err := dirhash.Is(ctx, root.FS(), digest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !ok {
		return &IntegrityError{Path: path, Want: digest, Got: sum.Digest, Err: err}
	}
	return nil
}

// Content is a folder that should have the content of a digest.
type Content struct {
	Path   string
	Digest string
}

// VerifyAll is Verify for many folders, on all processors. It returns one error for each, in their order: nil, an
// *IntegrityError or that of ctx.
func VerifyAll(ctx context.Context, list []Content) []error {
	return verifyAll(ctx, list, runtime.GOMAXPROCS(0))
}

func verifyAll(ctx context.Context, list []Content, n int) []error {
	out := make([]error, len(list))
	_ = each(n, len(list), func(i int) error { // never an error: all are verified
		out[i] = Verify(ctx, list[i].Path, list[i].Digest)
		return nil
	})
	return out
}

// Lease keeps the version at path until release is called or the process ends: Sweep and Remove leave it for later. It
// returns an error that wraps fs.ErrNotExist if the version is not there, ErrLocked, or the error of ctx. Where the store
// cannot be written to, or has no locks, it does nothing: nothing is removed there.
func (d *Dir) Lease(ctx context.Context, path string) (release func(), err error) {
	if !d.Has(path) {
		return nil, fmt.Errorf("%q is not a folder of the store %q", path, d.base())
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	none := func() {}
	unlock, err := d.share(ctx)
	if err != nil {
		return none, unlessReadOnly(err)
	}
	defer unlock() // nothing is removed until the lease is held
	release, err = lockfile.Share(ctx, path+lockEnd, d.wait())
	if err != nil {
		return none, unlessReadOnly(known(err))
	}
	if _, err := os.Stat(path); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// unlessReadOnly returns nil for the error of a lock that cannot be taken because the file system does not let it.
func unlessReadOnly(err error) error {
	for _, e := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOLCK, errors.ErrUnsupported} {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

// share lets versions be added and leased, and keeps any from being removed, until unlock is called.
func (d *Dir) share(ctx context.Context) (unlock func(), err error) {
	unlock, err = lockfile.Share(ctx, filepath.Join(d.base(), lockEnd), d.wait())
	return unlock, known(err)
}

// Folder returns the folder of the store in a root, which has all versions and stages.
func Folder(root string) string { return filepath.Join(root, storeName) }

func (d *Dir) base() string { return Folder(d.Root) }

func (d *Dir) stages() string { return filepath.Join(d.base(), stageName) }

// parallel returns n, or less if Parallel says so.
func (d *Dir) parallel(n int) int {
	if d.Parallel > 0 {
		return min(n, d.Parallel)
	}
	return n
}

func (d *Dir) wait() time.Duration {
	if d.Wait > 0 {
		return d.Wait
	}
	return lockfile.DefaultWait
}

// known adds this package's sentinel to an error of lockfile.
func known(err error) error {
	if errors.Is(err, lockfile.ErrLocked) {
		return fmt.Errorf("the store of skills is %w", ErrLocked)
	}
	return err
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
