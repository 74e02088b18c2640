// Package lock reads and writes the files in which programs for skills record what they installed: skills-lock.json of a
// project, which the npm program "skills" shares, and, to read only, that program's list of a user and the keys that the
// GitHub command line puts into a manifest.
//
// What these files say is not trusted: a source in one is a wish of whoever wrote the file.
package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/naming"
)

// Errors about a file, to be tested with errors.Is.
var (
	// ErrCorrupt means that the file is damaged. Nothing is written.
	ErrCorrupt = errors.New("damaged")
	// ErrNewer means that the file is in a newer format. Nothing is written.
	ErrNewer = errors.New("in a newer format")
)

// FileName is the name of the lock file of a project.
const FileName = "skills-lock.json"

// maxFile is the largest size of a file that is read, in bytes.
const maxFile = 16 << 20

// Skill is one skill that some program recorded.
type Skill struct {
	Name   string
	Type   string // of the place, as the file has it: "github", "gitlab", "git", "local", "well-known", "node_modules", ...
	Source string // as a user types it: "owner/repo", a URL, an absolute folder, or the name of a package
	Ref    string // branch, tag or commit; "" is the default
	Path   string // slash path of the skill's folder below the root of the place; "" is the root
	Hash   string // Hash of the files that were installed; "" if the file does not say
	Tree   string // git's id of the folder that was installed; "" if the file does not say
	Pinned bool   // the user asked for Ref, and an update does not follow anything
	Commit string // of the repository that the files are from; "" if the file does not say
	Digest string // skill.Skill.Digest of the files; "" if the file does not say
}

// Entry is one skill in the lock file of a project. Unknown fields of an entry that was read are kept.
type Entry struct {
	Source       string `json:"source"`              // "owner/repo" for a repository on github.com, otherwise a URL or a folder
	SourceURL    string `json:"sourceUrl,omitempty"` // of the types "git", "gitlab" and "well-known"
	Ref          string `json:"ref,omitempty"`
	SourceType   string `json:"sourceType"` // "github", "gitlab", "git", "local", "well-known", ...
	SkillPath    string `json:"skillPath,omitempty"`
	ComputedHash string `json:"computedHash"` // Hash of the installed folder

	// These are this program's own; others that share the file ignore them.
	Commit string `json:"commit,omitempty"`
	Digest string `json:"digest,omitempty"` // skill.Skill.Digest

	text json.RawMessage // as it was read; nil for a new entry
}

// Project is the lock file of a project.
type Project struct {
	Dir  string // absolute folder of the project
	Lock string // absolute path of a file that is locked for each change; "" means one next to the lock file
}

// Set is the content of a lock file.
type Set struct {
	dir     string
	entries map[string]Entry
	rest    map[string]json.RawMessage // fields of the file that this version does not know
}

// Load reads the lock file. For a missing file it returns an empty Set. On error it returns an empty Set too; the error may be
// ErrCorrupt, ErrMerge or ErrNewer.
func (p *Project) Load(ctx context.Context) (*Set, error) {
	empty := &Set{dir: p.Dir}
	if err := p.ready(ctx); err != nil {
		return empty, err
	}
	content, err := p.kept().Load(ctx)
	if content == nil && err == nil {
		return empty, nil
	}
	var s *Set
	if err == nil {
		s, err = p.parse(content)
	}
	if err != nil {
		return empty, err
	}
	return s, nil
}

// Edit changes the lock file: edit changes the set, and all its changes are written at once. A file without skills is not
// created. The error is that of edit, ErrCorrupt, ErrMerge, ErrNewer, that of ctx, or that of the file system; nothing was written
// then.
func (p *Project) Edit(ctx context.Context, edit func(*Set) error) error {
	if err := p.ready(ctx); err != nil {
		return err
	}
	return p.kept().Edit(ctx, func(old []byte) ([]byte, error) {
		s := &Set{dir: p.Dir}
		if old != nil {
			var err error
			if s, err = p.parse(old); err != nil {
				return nil, fmt.Errorf("nothing was written: %w", err)
			}
		}
		before := maps.Clone(s.entries)
		if err := edit(s); err != nil {
			return nil, err
		}
		if maps.EqualFunc(before, s.entries, same) {
			return nil, nil
		}
		return s.bytes()
	})
}

func same(a, b Entry) bool {
	return string(a.text) == string(b.text) && a.Source == b.Source && a.SourceURL == b.SourceURL && a.Ref == b.Ref &&
		a.SourceType == b.SourceType && a.SkillPath == b.SkillPath && a.ComputedHash == b.ComputedHash && a.Commit == b.Commit && a.Digest == b.Digest
}

// Get returns the entry of a name and whether there is one. The file may spell the name in another way that is the same.
func (s *Set) Get(name string) (Entry, bool) {
	e, ok := s.entries[s.spelled(name)]
	return e, ok
}

// Put sets the entry of a name, in place of one that is spelled in another way. It keeps the unknown fields of an entry that Get
// returned.
func (s *Set) Put(name string, e Entry) {
	s.Delete(name)
	if s.entries == nil {
		s.entries = map[string]Entry{}
	}
	s.entries[name] = e
}

// Delete removes the entry of a name and reports whether there was one.
func (s *Set) Delete(name string) bool {
	key := s.spelled(name)
	_, ok := s.entries[key]
	delete(s.entries, key)
	return ok
}

// spelled returns a name as the file has it, or as it is if the file does not have it.
func (s *Set) spelled(name string) string {
	if _, ok := s.entries[name]; ok {
		return name
	}
	for key := range s.entries {
		if naming.Canonical(key) == naming.Canonical(name) {
			return key
		}
	}
	return name
}

// Skills returns what the file says, sorted by name.
func (s *Set) Skills() []Skill {
	var out []Skill
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		e := s.entries[name]
		k := Skill{Name: name, Type: e.SourceType, Source: e.Source, Ref: e.Ref, Path: folder(e.SkillPath), Hash: e.ComputedHash, Commit: e.Commit, Digest: e.Digest}
		switch {
		case e.SourceURL != "":
			k.Source = e.SourceURL
		case e.isPath():
			k.Source = s.absolute(e.Source)
		}
		out = append(out, k)
	}
	return out
}

// absolute returns the folder of a local source.
func (s *Set) absolute(source string) string {
	source = filepath.FromSlash(source)
	if filepath.IsAbs(source) {
		return filepath.Clean(source)
	}
	return filepath.Join(s.dir, source)
}

// folder returns the folder of a skill from the path of its manifest or of itself.
func folder(p string) string {
	p = strings.Trim(strings.ReplaceAll(p, `\`, "/"), "/")
	if dir, name := path.Split(p); strings.EqualFold(name, "SKILL.md") {
		p = strings.TrimSuffix(dir, "/")
	}
	if p == "." {
		return ""
	}
	return strings.TrimPrefix(p, "./")
}

func (p *Project) ready(ctx context.Context) error {
	if !filepath.IsAbs(p.Dir) {
		return fmt.Errorf("lock.Project: folder %q is not absolute", p.Dir)
	}
	return ctx.Err()
}

func (p *Project) kept() *lockfile.File {
	readable := func(content []byte) error {
		_, err := p.read(content)
		return err
	}
	return &lockfile.File{Path: p.file(), Max: maxFile, Mode: 0o644, Lock: p.Lock, Check: readable}
}

func (p *Project) file() string { return filepath.Join(p.Dir, FileName) }
