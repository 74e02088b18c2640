package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/unknown"
	"github.com/agent-base/agent-base/trace"
)

// Errors about the file, to be tested with errors.Is.
var (
	// ErrCorrupt means that the file is damaged. No skill counts as installed. The next change moves the file aside.
	ErrCorrupt = errors.New("damaged")
	// ErrNewer means that a newer version of this program wrote the file. Nothing is written.
	ErrNewer = errors.New("in a newer format")
	// ErrUnsafe means that another user owns the file or its folder, or may write to one of them. Nothing is written.
	ErrUnsafe = errors.New("another user could have changed the list of installed skills")
	// ErrLocked means that another process held the lock of the file for the whole waiting time. Nothing was written.
	ErrLocked = errors.New("locked by another process")
	// ErrNotInstalled means that no entry has the name.
	ErrNotInstalled = errors.New("not installed")
)

// DuplicateError is the error of Register for a name that is in use.
type DuplicateError struct {
	Old Entry // that has the name
	New Entry // that was to get it
}

// Error names both places.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("skill %q from %s has the name of the installed skill %q from %s", e.New.Name, e.New.place(), e.Old.Name, e.Old.place())
}

// place returns where a skill is from, for an error.
func (e *Entry) place() string {
	for _, s := range []string{e.Source, e.GitURL, e.OriginURL} {
		if s != "" {
			return fmt.Sprintf("%q", s)
		}
	}
	return fmt.Sprintf("the folder %q", e.InstalledPath)
}

// kinds are the errors above, for package lockfile.
func kinds() *lockfile.Kinds {
	return &lockfile.Kinds{Corrupt: ErrCorrupt, Newer: ErrNewer, Unsafe: ErrUnsafe, Locked: ErrLocked}
}

// version is the version of the file format.
const version = 1

// maxFile is the largest size of the file, in bytes.
const maxFile = 16 << 20

// Store is the file of installed skills.
type Store struct {
	Path string           // absolute; otherwise every method returns an error. The first change creates the file and its folder.
	Now  func() time.Time // nil means time.Now
	Wait time.Duration    // for the lock; 0 means 10 s
	Home string           // the user's home, for paths of older programs that begin with "~"

	// Rebuild returns the skills that are there, for a new file in place of a damaged one. They are recorded as untrusted. It
	// runs under the lock. Nil means that none are.
	Rebuild func(context.Context) ([]Entry, error)

	Cache *Cache // lets Load parse the same content once; nil means each time

	// Kept keeps the list in place of the file, for several machines. Path is then the name of the list in errors. Nil means the file.
	Kept Document

	// Folder returns the folder of a content on this machine, whether it exists or not. Entries of Kept get their folders from it. In a file
	// it replaces folders that are gone, so the file and the versions can be moved to another machine. Nil keeps the folders of the file.
	Folder func(name, digest string) (string, error)

	// Fetch brings the content of an entry of Kept whose folder is not there. Its error says why it cannot. Nil brings none.
	Fetch func(ctx context.Context, e *Entry) error
}

// Document keeps one text, which several processes may change at the same time.
type Document = document.Store

// Cache keeps the last content that Load parsed. The zero value is empty. It is safe for concurrent use, by several Stores of
// one Path.
type Cache struct{ last atomic.Pointer[parsed] }

type parsed struct {
	content []byte
	entries []Entry
}

// Load reads the file. For a missing file it returns an empty Set. On error it returns an empty Set too; the error may be
// ErrCorrupt or ErrNewer. Load writes nothing: a file of an older program is converted by the next change.
func (s *Store) Load(ctx context.Context) (*Set, error) {
	if err := s.ready(ctx); err != nil {
		return &Set{}, err
	}
	content, err := s.document().Load(ctx)
	if content == nil && err == nil {
		return &Set{}, nil
	}
	if err == nil && s.Cache != nil {
		if last := s.Cache.last.Load(); last != nil && bytes.Equal(last.content, content) {
			return &Set{entries: last.entries}, nil
		}
	}
	var f *file
	if err == nil {
		f, err = s.parse(content)
	}
	if err != nil {
		return &Set{}, fmt.Errorf("the list of installed skills cannot be used: %w", kinds().Known(err))
	}
	if s.Cache != nil {
		s.Cache.last.Store(&parsed{content, f.Skills})
	}
	return &Set{entries: f.Skills}, nil
}

// Edit changes the file: edit changes the draft, and all its changes are written at once. If edit changes nothing, nothing is
// written, except that a damaged file is replaced (see Store.Rebuild). The error is that of edit, ErrNewer,
// ErrLocked, that of ctx, or that of the file system. On error nothing was written, unless the error says that only the last
// flush of the folder failed. edit must not use the Store. It may run several times, of which the last one counts: what it leaves
// in variables it sets anew.
func (s *Store) Edit(ctx context.Context, edit func(*Draft) error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	return kinds().Known(s.document().Transform(ctx, func(old []byte) (c document.Change, err error) {
		f, err := s.current(ctx, old)
		if err != nil {
			return c, err
		}
		d := &Draft{entries: f.Skills, now: s.now()}
		if err := edit(d); err != nil {
			return c, err
		}
		if f.rebuilt {
			c.Keep = lockfile.Aside(s.now())
		} else if !d.changed {
			return c, nil
		}
		if f.Skills = d.entries; s.Kept != nil && s.Folder != nil {
			if f.Skills, err = s.unplaced(f.Skills); err != nil {
				return c, err
			}
		}
		c.Content, err = f.bytes()
		c.Events, c.Takes = d.events, d.takes
		return c, err
	}))
}

// document returns where the list is kept.
func (s *Store) document() document.Store {
	if s.Kept != nil {
		return s.Kept
	}
	readable := func(content []byte) error {
		_, err := s.sound(content)
		return err
	}
	return &lockfile.File{Path: s.Path, Max: maxFile, Private: true, Wait: s.Wait, Check: readable}
}

// Register adds an entry. It returns a *DuplicateError if the name is in use; the other errors are those of Edit.
func (s *Store) Register(ctx context.Context, e Entry) error {
	return s.Edit(ctx, func(d *Draft) error { return d.Register(e) })
}

// Unregister removes the entry of a name and returns it. It returns ErrNotInstalled if there is none; the other errors are
// those of Edit.
func (s *Store) Unregister(ctx context.Context, name string) (Entry, error) {
	var was Entry
	err := s.Edit(ctx, func(d *Draft) (err error) { was, err = d.Unregister(name); return err })
	return was, err
}

// Update changes the entry of a name, as Draft.Update does. The other errors are those of Edit.
func (s *Store) Update(ctx context.Context, name string, edit func(*Entry) error) error {
	return s.Edit(ctx, func(d *Draft) error { return d.Update(name, edit) })
}

// ready returns why the store cannot be used.
func (s *Store) ready(ctx context.Context) error {
	if s.Kept == nil && !filepath.IsAbs(s.Path) {
		return fmt.Errorf("registry.Store: path %q is not absolute", s.Path)
	}
	return ctx.Err()
}

// current returns the present content, a new one for a damaged file.
func (s *Store) current(ctx context.Context, old []byte) (*file, error) {
	if old == nil {
		return &file{Version: version}, nil
	}
	f, err := s.parse(old)
	if errors.Is(err, ErrCorrupt) {
		return s.rebuild(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("nothing was written: %w", err)
	}
	return f, nil
}

// rebuild returns the content of a new file in place of a damaged one.
func (s *Store) rebuild(ctx context.Context) (*file, error) {
	f := &file{Version: version, rebuilt: true}
	if s.Rebuild != nil {
		found, err := s.Rebuild(ctx)
		if err != nil {
			return nil, fmt.Errorf("%q is %w and nothing was written: find the installed skills: %w", s.Path, ErrCorrupt, err)
		}
		d := Draft{now: s.now()}
		for _, e := range found {
			e.Trusted = false
			if err := d.Register(e); err != nil {
				return nil, err
			}
		}
		f.Skills = d.entries
	}
	return f, nil
}

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Draft is the content of a Store while it is changed.
type Draft struct {
	entries []Entry // by canonical name
	changed bool
	takes   bool          // its changes only remove skills
	events  []trace.Event // of the changes, for a Kept that records them; a file does not
	now     time.Time
}

// change notes a change.
func (d *Draft) change(kind trace.Kind, e *Entry) {
	d.takes = kind == trace.SkillRemoved && (d.takes || !d.changed)
	d.changed = true
	d.events = append(d.events, trace.Event{Kind: kind, Time: d.now, Skill: e.Name, Attrs: []slog.Attr{slog.String(trace.AttrDigest, e.Digest)}})
}

// Set returns the present content of the draft.
func (d *Draft) Set() *Set { return &Set{entries: slices.Clone(d.entries)} }

// Register adds an entry. It returns a *DuplicateError if the name is in use, and an error for an entry that no reader could
// use.
func (d *Draft) Register(e Entry) error {
	if e.InstalledAt.IsZero() {
		e.InstalledAt = d.now
	}
	e.tidy()
	if err := e.check(); err != nil {
		return err
	}
	i, used := find(d.entries, e.Name)
	if used {
		return &DuplicateError{Old: d.entries[i], New: e}
	}
	d.entries = slices.Insert(d.entries, i, e)
	d.change(trace.SkillInstalled, &e)
	return nil
}

// Unregister removes the entry of a name and returns it. It returns ErrNotInstalled if there is none.
func (d *Draft) Unregister(name string) (Entry, error) {
	i, ok := find(d.entries, name)
	if !ok {
		return Entry{}, notInstalled(name)
	}
	was := d.entries[i]
	d.entries = slices.Delete(slices.Clone(d.entries), i, i+1)
	d.change(trace.SkillRemoved, &was)
	return was, nil
}

// Update changes the entry of a name. If edit changes its content (Digest or InstalledPath), the former content is put at the
// beginning of Previous, and UpdatedAt is set. edit may change the name in its spelling only. Update returns ErrNotInstalled,
// the error of edit, or an error for an entry that no reader could use; the entry is then unchanged.
func (d *Draft) Update(name string, edit func(*Entry) error) error {
	i, ok := find(d.entries, name)
	if !ok {
		return notInstalled(name)
	}
	old := d.entries[i]
	e := old
	if err := edit(&e); err != nil {
		return err
	}
	if e.Digest != old.Digest || e.InstalledPath != old.InstalledPath {
		e.Previous = e.replaced(&old, d.now)
		e.UpdatedAt = d.now
		e.CheckedCommit = ""
	}
	e.tidy()
	if e.NameCanonical != old.NameCanonical {
		return fmt.Errorf("skill %q cannot be renamed to %q", old.Name, e.Name)
	}
	if err := e.check(); err != nil {
		return err
	}
	d.entries = slices.Clone(d.entries)
	d.entries[i] = e
	if e.Digest != old.Digest {
		d.change(trace.SkillUpdated, &e)
	}
	d.changed, d.takes = true, false
	return nil
}

func notInstalled(name string) error { return fmt.Errorf("skill %q is %w", name, ErrNotInstalled) }

// file is the format on disk.
type file struct {
	Version int     `json:"version"`
	Skills  []Entry `json:"skills"` // by canonical name

	rest    unknown.Fields // fields that this version does not know
	rebuilt bool           // it replaces a damaged file
}

// bytes returns the file as it is written. It is sorted, so the same facts give the same bytes.
func (f *file) bytes() ([]byte, error) {
	f.Version = version
	if f.Skills == nil {
		f.Skills = []Entry{}
	}
	text, err := f.rest.Join(f)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}
