package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/skill/manifest"
)

// What can be wrong with the file. Each is to be found in an error with errors.Is.
var (
	// ErrCorrupt means that the file is damaged. Nothing is trusted until somebody mends it; the next write moves it
	// aside and begins anew.
	ErrCorrupt = errors.New("damaged")
	// ErrNewer means that a newer program wrote the file. Nothing is trusted, and nothing is written.
	ErrNewer = errors.New("of a newer version")
	// ErrLocked means that another process held the lock of the file for ten seconds. Nothing was written.
	ErrLocked = errors.New("locked by another process")
)

// version is that of the file's form.
const version = 1

const maxFile = 64 << 20 // bytes

// Store is the file of approvals and trusted folders.
type Store struct {
	Path string           // absolute, else every method refuses; made, with its folder, by the first write
	Now  func() time.Time // nil means time.Now
}

// file is the form on disk.
type file struct {
	Version   int        `json:"version"`
	Roots     []string   `json:"roots"`
	Approvals []Approval `json:"approvals"`
}

func (s *Store) check() error {
	if !filepath.IsAbs(s.Path) {
		return fmt.Errorf("trust.Store: Path must be absolute, not %q", s.Path)
	}
	return nil
}

// Load reads the file. A missing one is an empty Set. The Set is never nil: beside an error, for which errors.Is tells
// ErrCorrupt and ErrNewer, it is the empty one, so that nothing is trusted. Load writes nothing.
func (s *Store) Load() (*Set, error) {
	if err := s.check(); err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", err)
	}
	content, err := lockfile.Read(s.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &Set{}, nil
	}
	if err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", err)
	}
	f, err := s.parse(content)
	if err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", err)
	}
	return &Set{roots: f.Roots, approvals: f.Approvals}, nil
}

// Approve adds an approval, with the present time where a has none. It takes the place of an earlier one of the same
// name and directory: what was replaced is not trusted any more. The error says what a lacks, tells ErrNewer or ErrLocked,
// or is ctx's; then nothing was written. So it is with the other methods that write.
func (s *Store) Approve(ctx context.Context, a Approval) error {
	a.Name = manifest.Canonical(a.Name)
	if a.ApprovedAt.IsZero() {
		a.ApprovedAt = s.now()
	}
	a.ApprovedAt = a.ApprovedAt.UTC().Truncate(time.Second)
	if err := a.check(); err != nil {
		return err
	}
	return s.change(ctx, func(f *file) {
		f.Approvals = slices.DeleteFunc(f.Approvals, func(b Approval) bool { return b.Name == a.Name && b.Dir == a.Dir })
		f.Approvals = append(f.Approvals, a)
	})
}

// Revoke removes every approval of a name, and reports whether there was one. A skill under a trusted folder stays
// trusted.
func (s *Store) Revoke(ctx context.Context, name string) (bool, error) {
	name = manifest.Canonical(name)
	found := false
	err := s.change(ctx, func(f *file) {
		n := len(f.Approvals)
		f.Approvals = slices.DeleteFunc(f.Approvals, func(a Approval) bool { return a.Name == name })
		found = len(f.Approvals) < n
	})
	return found && err == nil, err
}

// AddRoot trusts a folder as a whole: whatever lies below it, now and later. Dir must be absolute and without symbolic
// links; the root of a file system is refused.
func (s *Store) AddRoot(ctx context.Context, dir string) error {
	if err := checkRoot(dir); err != nil {
		return err
	}
	return s.change(ctx, func(f *file) { f.Roots = append(f.Roots, dir) })
}

// RemoveRoot takes a folder's trust back, and reports whether it had it. Folders below it that were added by
// themselves keep theirs.
func (s *Store) RemoveRoot(ctx context.Context, dir string) (bool, error) {
	found := false
	err := s.change(ctx, func(f *file) {
		n := len(f.Roots)
		f.Roots = slices.DeleteFunc(f.Roots, func(r string) bool { return r == filepath.Clean(dir) })
		found = len(f.Roots) < n
	})
	return found && err == nil, err
}

// change edits the file under its lock. A damaged one is copied aside first.
func (s *Store) change(ctx context.Context, edit func(*file)) error {
	if err := s.check(); err != nil {
		return err
	}
	err := lockfile.Transform(ctx, s.Path, &lockfile.Options{Max: maxFile}, func(old []byte) ([]byte, error) {
		f := &file{Version: version}
		if old != nil {
			was, err := s.parse(old)
			switch {
			case errors.Is(err, ErrCorrupt):
				if err := s.setAside(old); err != nil {
					return nil, err
				}
			case err != nil:
				return nil, fmt.Errorf("nothing was written: %w", err)
			default:
				f = was
			}
		}
		edit(f)
		if old == nil && len(f.Roots)+len(f.Approvals) == 0 {
			return nil, nil
		}
		return f.bytes()
	})
	if errors.Is(err, lockfile.ErrLocked) {
		return lockedError{err}
	}
	return err
}

// lockedError is lockfile's error, of which errors.Is tells ErrLocked too.
type lockedError struct{ error }

func (e lockedError) Unwrap() error { return e.error }

func (e lockedError) Is(target error) bool { return target == ErrLocked }

// bytes returns the file as it is written: sorted, so that the same facts are the same bytes.
func (f *file) bytes() ([]byte, error) {
	slices.Sort(f.Roots)
	f.Roots = slices.Compact(f.Roots)
	slices.SortFunc(f.Approvals, order)
	if f.Roots == nil {
		f.Roots = []string{}
	}
	if f.Approvals == nil {
		f.Approvals = []Approval{}
	}
	out, err := json.MarshalIndent(f, "", "  ")
	return append(out, '\n'), err
}

// parse reads the file. One entry that makes no sense condemns all of it: whatever happened to that entry may have
// happened to the others.
func (s *Store) parse(content []byte) (*file, error) {
	var f file
	corrupt := func(err error) error {
		return fmt.Errorf("%q is %w (%v): mend it, or approve again: the next approval moves it aside to %q",
			s.Path, ErrCorrupt, err, filepath.Base(s.Path)+".corrupt-…")
	}
	var head struct{ Version int }
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, corrupt(err)
	}
	if head.Version > version {
		return nil, fmt.Errorf("%q is %w (%d, this program knows %d): update agent", s.Path, ErrNewer, head.Version, version)
	}
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, corrupt(err)
	}
	if f.Version < 1 {
		return nil, corrupt(errors.New("it has no version"))
	}
	for _, root := range f.Roots {
		if err := checkRoot(root); err != nil {
			return nil, corrupt(err)
		}
	}
	for _, a := range f.Approvals {
		if err := a.check(); err != nil {
			return nil, corrupt(err)
		}
	}
	slices.Sort(f.Roots)
	slices.SortFunc(f.Approvals, order)
	return &f, nil
}

// setAside keeps a damaged file's content under a name with the time.
func (s *Store) setAside(content []byte) error {
	name := s.Path + ".corrupt-" + s.now().UTC().Format("20060102T150405.000Z")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping the damaged %q: %w", s.Path, err)
	}
	_, err = out.Write(content)
	if err := errors.Join(err, out.Close()); err != nil {
		os.Remove(name)
		return fmt.Errorf("keeping the damaged %q: %w", s.Path, err)
	}
	return nil
}

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}
