package trust

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/unknown"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// Errors about the file.
var (
	// errCorrupt means that the file is damaged. Nothing is trusted. The next write moves the file aside and starts a new one.
	errCorrupt = errors.New("damaged")
	// errNewer means that a newer version of this program wrote the file. Nothing is trusted, and nothing is written.
	errNewer = errors.New("in a newer format")
	// errUnsafe means that another user owns the file or its folder, or may write to one of them. Nothing is trusted, and
	// nothing is written.
	errUnsafe = errors.New("another user could have changed the approvals")
	// errLocked means that another process held the lock of the file for ten seconds. Nothing was written.
	errLocked = errors.New("locked by another process")
)

// kinds are the errors above, for package lockfile.
func kinds() *lockfile.Kinds {
	return &lockfile.Kinds{Corrupt: errCorrupt, Newer: errNewer, Unsafe: errUnsafe, Locked: errLocked}
}

// version is the version of the file format.
const version = 3

const maxFile = 64 << 20 // bytes

// Store is the file of approvals and trusted folders.
type Store struct {
	Path string           // absolute; otherwise every method returns an error. The first write creates the file and its folder.
	Now  func() time.Time // nil means time.Now
	Home string           // the user's, which AddRoot refuses, as it does a folder above it; "" for none

	// Installed is the folder with the versions of installed skills, and Served the one that stood for the skills of MCP servers: absolute, or
	// "" for none. A file of version 1 or 2 has folders below them, where the present version has a Layer.
	Installed, Served string

	// Record gets each change once, before it is written: an event of one of the kinds trace.TrustApproved, TrustRevoked,
	// GrantChanged and GrantRevoked. Its error keeps the change from being written, unless the change only takes rights away. Nil
	// records nothing.
	Record func(context.Context, trace.Event) error

	// Kept keeps the approvals in place of the file, for several machines. Path is then their name in errors. Nil means the file.
	Kept Document
}

// Document keeps one text, which several processes may change at the same time.
type Document = document.Store

// file is the format on disk.
type file struct {
	Version   int           `json:"version"`
	Roots     []string      `json:"roots"`
	Approvals []stored      `json:"approvals"`
	Grants    []storedGrant `json:"grants,omitempty"`

	rest unknown.Fields // fields that this version does not know
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
	if s.Kept == nil && !filepath.IsAbs(s.Path) {
		return fmt.Errorf("trust.Store: path %q is not absolute", s.Path)
	}
	return nil
}

// document returns where the approvals are kept.
func (s *Store) document() document.Store {
	if s.Kept != nil {
		return s.Kept
	}
	readable := func(content []byte) error {
		_, err := s.read(content)
		return err
	}
	return &lockfile.File{Path: s.Path, Max: maxFile, Private: true, Check: readable, Record: s.Record}
}

// Load reads the file. For a missing file it returns an empty Set. On error it returns an empty Set too, so nothing is
// trusted. Load writes nothing.
func (s *Store) Load(ctx context.Context) (*Set, error) {
	if err := s.check(); err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", err)
	}
	content, err := s.document().Load(ctx)
	if content == nil && err == nil {
		return &Set{}, nil
	}
	var f *file
	if err == nil {
		f, err = s.parse(content)
	}
	if err != nil {
		return &Set{}, fmt.Errorf("nothing is trusted: %w", kinds().Known(err))
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

// Trust returns what the file says now about a skill: it is a skill.TrustFunc, for programs that run for long. It loads the file
// for each question, and returns the errors of Load.
func (s *Store) Trust(ctx context.Context, subject skill.Subject) (skill.Trust, error) {
	set, err := s.Load(ctx)
	if err != nil {
		return skill.TrustNone, err
	}
	return set.Trust(ctx, subject)
}

// Approve adds approvals, all in one step. Layer, Name and Digest are needed. It sets ApprovedAt to the present time if it is zero. An
// approval replaces an earlier one of the same name and layer, whose content is then no longer trusted. Approve returns an error for one
// that is incomplete or invalid, for a file that it must not change, or that of ctx. On error nothing was written. The same holds for
// the other methods that write.
func (s *Store) Approve(ctx context.Context, list ...Approval) error {
	list = slices.Clone(list)
	for i := range list {
		a := &list[i]
		a.Name = manifest.Canonical(a.Name)
		if a.ApprovedAt.IsZero() {
			a.ApprovedAt = s.now()
		}
		a.ApprovedAt = a.ApprovedAt.UTC().Truncate(time.Second)
		a.Dir = s.noted(a.Layer, a.Dir)
		if err := a.check(); err != nil {
			return err
		}
	}
	return s.change(ctx, func(f *file, c *document.Change) error {
		for _, a := range list {
			f.Approvals = slices.DeleteFunc(f.Approvals, func(b stored) bool { return b.Name == a.Name && b.Layer == a.Layer })
			f.Approvals = append(f.Approvals, stored{Approval: a})
			c.Events = append(c.Events, approved(&a))
		}
		return nil
	})
}

// noted returns the folder that a record of a layer notes: dir if the layer is a folder and the file of this machine has the record, else "".
func (s *Store) noted(layer, dir string) string {
	if s.Kept != nil || !place.IsFolder(layer) {
		return ""
	}
	return dir
}

// Revoke removes all approvals and grants of a name and reports whether there was one. A skill below a trusted folder stays
// trusted.
func (s *Store) Revoke(ctx context.Context, name string) (bool, error) {
	found, err := s.RevokeAll(ctx, name)
	return len(found) > 0, err
}

// RevokeAll is Revoke for several names, all in one step. It returns those that had something, as canonical names.
func (s *Store) RevokeAll(ctx context.Context, names ...string) ([]string, error) {
	all := map[string]bool{}
	for _, name := range names {
		all[manifest.Canonical(name)] = true
	}
	var found []string
	err := s.change(ctx, func(f *file, c *document.Change) error {
		had := map[string]bool{}
		gone := func(name string) bool {
			if all[name] {
				had[name] = true
			}
			return all[name]
		}
		f.Approvals = slices.DeleteFunc(f.Approvals, func(a stored) bool { return gone(a.Name) })
		f.Grants = slices.DeleteFunc(f.Grants, func(g storedGrant) bool { return gone(g.Name) })
		found = slices.Sorted(maps.Keys(had))
		for _, name := range found {
			c.Events = append(c.Events, trace.Event{Kind: trace.TrustRevoked, Skill: name, Message: "Revoked all approvals and grants of skill '" + name + "'"})
		}
		c.Takes = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Forget removes the approvals and grants of single contents for which gone reports true, all in one step, and returns the contents. gone
// must not use the Store.
func (s *Store) Forget(ctx context.Context, gone func(skill.ID) bool) ([]skill.ID, error) {
	var out []skill.ID
	err := s.change(ctx, func(f *file, c *document.Change) error {
		out = nil
		forget := func(id skill.ID) bool {
			if !gone(id) {
				return false
			}
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
			return true
		}
		f.Approvals = slices.DeleteFunc(f.Approvals, func(a stored) bool { return forget(a.ID()) })
		f.Grants = slices.DeleteFunc(f.Grants, func(g storedGrant) bool { return forget(g.ID()) })
		for _, id := range out {
			c.Events = append(c.Events, forgotten(id))
		}
		c.Takes = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// AddRoot trusts all skills below a folder, now and later. dir must be absolute and without symbolic links, and neither the
// root of a file system, nor a folder with the home in it, nor one for the temporary files of all users. See RootRisk.
func (s *Store) AddRoot(ctx context.Context, dir string) error {
	if err := cmp.Or(checkRoot(dir), tooWide(dir, s.Home)); err != nil {
		return err
	}
	if s.Kept != nil {
		return fmt.Errorf("the folder %q is one of this machine, and machines share their approvals: trust its skills one by one", dir)
	}
	return s.change(ctx, func(f *file, c *document.Change) error {
		f.Roots = append(f.Roots, dir)
		c.Events = []trace.Event{ofRoot(trace.TrustApproved, dir, "Trusted everything below a folder")}
		return nil
	})
}

// RemoveRoot removes a trusted folder and reports whether there was one. Folders below it that were added separately stay
// trusted.
func (s *Store) RemoveRoot(ctx context.Context, dir string) (bool, error) {
	found := false
	err := s.change(ctx, func(f *file, c *document.Change) error {
		n := len(f.Roots)
		f.Roots = slices.DeleteFunc(f.Roots, func(r string) bool { return r == filepath.Clean(dir) })
		if found = len(f.Roots) < n; found {
			c.Takes, c.Events = true, []trace.Event{ofRoot(trace.TrustRevoked, dir, "Trusted a folder no longer")}
		}
		return nil
	})
	return found && err == nil, err
}

// change edits the file under its lock. It first copies a damaged file aside. edit also says what it did, for the audit log.
func (s *Store) change(ctx context.Context, edit func(*file, *document.Change) error) error {
	if err := s.check(); err != nil {
		return err
	}
	err := s.document().Transform(ctx, func(old []byte) (c document.Change, err error) {
		f := &file{Version: version}
		if old != nil {
			was, err := s.parse(old)
			switch {
			case errors.Is(err, errCorrupt):
				c.Keep = lockfile.Aside(s.now())
			case err != nil:
				return c, fmt.Errorf("nothing was written: %w", err)
			default:
				f = was
			}
		}
		if err := edit(f, &c); err != nil {
			return c, err
		}
		for i := range c.Events {
			c.Events[i].Time = s.now()
		}
		if old != nil || len(f.Roots)+len(f.Approvals)+len(f.Grants) > 0 {
			c.Content, err = f.bytes()
		}
		return c, err
	})
	return kinds().Known(err)
}

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
	text, err := f.rest.Join(f)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// parse reads the file. One invalid entry makes the whole file damaged: whatever happened to that entry may have happened
// to the others.
func (s *Store) parse(content []byte) (*file, error) {
	f, err := s.read(content)
	if err != nil && !errors.Is(err, errNewer) {
		return nil, kinds().Damaged(s.Path, "approval", err)
	}
	return f, err
}

// read reads the file. Its errors say what is wrong in it.
func (s *Store) read(content []byte) (*file, error) {
	var f file
	var head struct{ Version int }
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, err
	}
	if head.Version > version {
		return nil, kinds().TooNew(s.Path, head.Version, version)
	}
	if head.Version == 1 || head.Version == 2 {
		now, err := s.upgraded(content, head.Version)
		if err != nil {
			return nil, err
		}
		content = now
	}
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, err
	}
	if err := f.rest.Split(content, &f); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	slices.Sort(f.Roots)
	f.sort()
	f.renew()
	return &f, nil
}

// check returns an error for a file with something that cannot be used.
func (f *file) check() error {
	if f.Version < 1 {
		return errors.New("no version")
	}
	for _, root := range f.Roots {
		if err := checkRoot(root); err != nil {
			return err
		}
	}
	for _, a := range f.Approvals {
		if err := a.check(); err != nil {
			return err
		}
	}
	for _, g := range f.Grants {
		if err := g.check(); err != nil {
			return err
		}
	}
	return nil
}

// renew makes the digests of approvals and grants that cover what belongs to no skill those of what does: the user approved that
// with the rest.
func (f *file) renew() {
	for i := range f.Approvals {
		a := &f.Approvals[i]
		if ownContent(a.Dir, &a.Digest, &a.Whole, &a.Files) {
			a.text = nil
		}
	}
	for i := range f.Grants {
		g := &f.Grants[i]
		ownContent(g.Dir, &g.Digest, &g.Whole, &g.Files)
	}
}

// ownContent takes what belongs to no skill out of the content of a folder. It changes nothing if there is no such file, if the files
// are not those of the digest, and if one is a link that the folder has not or that leads elsewhere there.
func ownContent(dir string, digest, whole *string, files *[]File) bool {
	all, names := make([]dirhash.File, len(*files)), make([]string, len(*files))
	for i, f := range *files {
		all[i], names[i] = dirhash.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link}, f.Path
	}
	own := content.Own(names)
	if len(own) == len(names) {
		return false
	}
	texts := linkTexts(dir, *files)
	if dirhash.Of(all, texts) != *digest {
		return false
	}
	*whole = *digest
	*digest = dirhash.Of(slices.DeleteFunc(all, func(f dirhash.File) bool { return !own[f.Path] }), texts)
	*files = slices.DeleteFunc(*files, func(f File) bool { return !own[f.Path] })
	return true
}

// linkTexts returns the texts of those links among the files of a folder that are there.
func linkTexts(dir string, files []File) map[string]string {
	if dir == "" || !slices.ContainsFunc(files, func(f File) bool { return f.Link }) {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	out := map[string]string{}
	for _, f := range files {
		if text, err := root.Readlink(filepath.FromSlash(f.Path)); f.Link && err == nil {
			out[f.Path] = text
		}
	}
	return out
}

// sort orders the entries by name and place.
func (f *file) sort() {
	slices.SortFunc(f.Approvals, func(a, b stored) int { return order(a.ID(), b.ID()) })
	slices.SortFunc(f.Grants, func(a, b storedGrant) int { return order(a.ID(), b.ID()) })
}

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}
