package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Errors about the file, to be tested with errors.Is.
var (
	// ErrCorrupt means that the file is damaged. Nothing is trusted. The next write moves the file aside and starts a new one.
	ErrCorrupt = errors.New("damaged")
	// ErrNewer means that a newer version of this program wrote the file. Nothing is trusted, and nothing is written.
	ErrNewer = errors.New("in a newer format")
	// ErrUnsafe means that another user owns the file or its folder, or may write to one of them. Nothing is trusted, and
	// nothing is written.
	ErrUnsafe = errors.New("another user could have changed the approvals")
	// ErrLocked means that another process held the lock of the file for ten seconds. Nothing was written.
	ErrLocked = errors.New("locked by another process")
)

// version is the version of the file format.
const version = 1

const maxFile = 64 << 20 // bytes

// Store is the file of approvals and trusted folders.
type Store struct {
	Path string           // absolute; otherwise every method returns an error. The first write creates the file and its folder.
	Now  func() time.Time // nil means time.Now
}

// file is the format on disk.
type file struct {
	Version   int           `json:"version"`
	Roots     []string      `json:"roots"`
	Approvals []stored      `json:"approvals"`
	Grants    []storedGrant `json:"grants,omitempty"`

	rest map[string]json.RawMessage // fields that this version does not know
}

// stored is an approval with the text that it was read from. The text is written unchanged, which keeps fields that this
// version does not know.
type stored struct {
	Approval
	text json.RawMessage // nil for a new approval
}

// UnmarshalJSON keeps the text.
func (a *stored) UnmarshalJSON(text []byte) error {
	a.text = bytes.Clone(text)
	return json.Unmarshal(text, &a.Approval)
}

// MarshalJSON returns the text if there is one.
func (a stored) MarshalJSON() ([]byte, error) {
	if a.text != nil {
		return a.text, nil
	}
	return json.Marshal(a.Approval)
}

func (s *Store) check() error {
	if !filepath.IsAbs(s.Path) {
		return fmt.Errorf("trust.Store: path %q is not absolute", s.Path)
	}
	return nil
}

// Load reads the file. For a missing file it returns an empty Set. On error it returns an empty Set too, so nothing is
// trusted; the error may be ErrCorrupt, ErrNewer or ErrUnsafe. Load writes nothing.
func (s *Store) Load() (*Set, error) {
	if err := s.check(); err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", err)
	}
	content, err := lockfile.ReadPrivate(s.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &Set{}, nil
	}
	var f *file
	if err == nil {
		f, err = s.parse(content)
	}
	if err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", known(err))
	}
	set := &Set{roots: f.Roots, approvals: make([]Approval, len(f.Approvals))}
	for i, a := range f.Approvals {
		set.approvals[i] = a.Approval
	}
	for _, g := range f.Grants {
		set.grants = append(set.grants, g.Grant)
	}
	return set, nil
}

// Approve adds an approval. It sets ApprovedAt to the present time if it is zero. The approval replaces an earlier one of
// the same name and directory, whose content is then no longer trusted. Approve returns an error for an incomplete
// approval, ErrNewer, ErrUnsafe, ErrLocked, or the error of ctx. On error nothing was written. The same holds for the
// other methods that write.
func (s *Store) Approve(ctx context.Context, a Approval) error {
	a.Name = manifest.Canonical(a.Name)
	if a.ApprovedAt.IsZero() {
		a.ApprovedAt = s.now()
	}
	a.ApprovedAt = a.ApprovedAt.UTC().Truncate(time.Second)
	if err := a.check(); err != nil {
		return err
	}
	return s.change(ctx, func(f *file) error {
		f.Approvals = slices.DeleteFunc(f.Approvals, func(b stored) bool { return b.Name == a.Name && b.Dir == a.Dir })
		f.Approvals = append(f.Approvals, stored{Approval: a})
		return nil
	})
}

// Revoke removes all approvals and grants of a name and reports whether there was one. A skill below a trusted folder stays
// trusted.
func (s *Store) Revoke(ctx context.Context, name string) (bool, error) {
	name = manifest.Canonical(name)
	found := false
	err := s.change(ctx, func(f *file) error {
		n := len(f.Approvals) + len(f.Grants)
		f.Approvals = slices.DeleteFunc(f.Approvals, func(a stored) bool { return a.Name == name })
		f.Grants = slices.DeleteFunc(f.Grants, func(g storedGrant) bool { return g.Name == name })
		found = len(f.Approvals)+len(f.Grants) < n
		return nil
	})
	return found && err == nil, err
}

// AddRoot trusts all skills below a folder, now and later. dir must be absolute and without symbolic links, and not the
// root of a file system. See RootRisk.
func (s *Store) AddRoot(ctx context.Context, dir string) error {
	if err := checkRoot(dir); err != nil {
		return err
	}
	return s.change(ctx, func(f *file) error {
		f.Roots = append(f.Roots, dir)
		return nil
	})
}

// RemoveRoot removes a trusted folder and reports whether there was one. Folders below it that were added separately stay
// trusted.
func (s *Store) RemoveRoot(ctx context.Context, dir string) (bool, error) {
	found := false
	err := s.change(ctx, func(f *file) error {
		n := len(f.Roots)
		f.Roots = slices.DeleteFunc(f.Roots, func(r string) bool { return r == filepath.Clean(dir) })
		found = len(f.Roots) < n
		return nil
	})
	return found && err == nil, err
}

// change edits the file under its lock. It first copies a damaged file aside.
func (s *Store) change(ctx context.Context, edit func(*file) error) error {
	if err := s.check(); err != nil {
		return err
	}
	err := lockfile.Transform(ctx, s.Path, &lockfile.Options{Max: maxFile, Private: true}, func(old []byte) ([]byte, error) {
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
		if err := edit(f); err != nil {
			return nil, err
		}
		if old == nil && len(f.Roots)+len(f.Approvals)+len(f.Grants) == 0 {
			return nil, nil
		}
		return f.bytes()
	})
	return known(err)
}

// known adds this package's sentinel to an error of lockfile.
func known(err error) error {
	var unsafe *lockfile.UnsafeError
	switch {
	case errors.As(err, &unsafe):
		return kindError{err, ErrUnsafe}
	case errors.Is(err, lockfile.ErrLocked):
		return kindError{err, ErrLocked}
	}
	return err
}

// kindError is an error of lockfile that is also kind.
type kindError struct{ err, kind error }

func (e kindError) Error() string   { return e.err.Error() }
func (e kindError) Unwrap() []error { return []error{e.err, e.kind} }

// bytes returns the file as it is written. It is sorted, so the same facts give the same bytes.
func (f *file) bytes() ([]byte, error) {
	slices.Sort(f.Roots)
	f.Roots = slices.Compact(f.Roots)
	f.sort()
	if f.Roots == nil {
		f.Roots = []string{}
	}
	if f.Approvals == nil {
		f.Approvals = []stored{}
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(f.rest) > 0 { // after the fields that this version knows
		rest, err := json.Marshal(f.rest)
		if err != nil {
			return nil, err
		}
		text = append(append(text[:len(text)-1], ','), rest[1:]...)
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// parse reads the file. One invalid entry makes the whole file damaged: whatever happened to that entry may have happened
// to the others.
func (s *Store) parse(content []byte) (*file, error) {
	var f file
	corrupt := func(err error) error {
		return fmt.Errorf("%q is %w (%v): repair it; the next approval moves it to %q and starts a new file",
			s.Path, ErrCorrupt, err, filepath.Base(s.Path)+".corrupt-…")
	}
	var head struct{ Version int }
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, corrupt(err)
	}
	if head.Version > version {
		return nil, fmt.Errorf("%q is %w (version %d, this program reads up to %d): update this program", s.Path, ErrNewer, head.Version, version)
	}
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, corrupt(err)
	}
	if err := json.Unmarshal(content, &f.rest); err != nil {
		return nil, corrupt(err)
	}
	for _, name := range slices.Collect(maps.Keys(f.rest)) {
		if slices.ContainsFunc([]string{"version", "roots", "approvals", "grants"}, func(known string) bool { return strings.EqualFold(name, known) }) {
			delete(f.rest, name)
		}
	}
	if f.Version < 1 {
		return nil, corrupt(errors.New("no version"))
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
	for _, g := range f.Grants {
		if err := g.check(); err != nil {
			return nil, corrupt(err)
		}
	}
	slices.Sort(f.Roots)
	f.sort()
	return &f, nil
}

// sort orders the entries by name and folder.
func (f *file) sort() {
	slices.SortFunc(f.Approvals, func(a, b stored) int { return order(a.Name, a.Dir, b.Name, b.Dir) })
	slices.SortFunc(f.Grants, func(a, b storedGrant) int { return order(a.Name, a.Dir, b.Name, b.Dir) })
}

// setAside writes the content of a damaged file to a file whose name has the present time.
func (s *Store) setAside(content []byte) error {
	name := s.Path + ".corrupt-" + s.now().UTC().Format("20060102T150405.000Z")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep a copy of the damaged %q: %w", s.Path, err)
	}
	_, err = out.Write(content)
	if err := errors.Join(err, out.Close()); err != nil {
		os.Remove(name)
		return fmt.Errorf("keep a copy of the damaged %q: %w", s.Path, err)
	}
	return nil
}

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}
