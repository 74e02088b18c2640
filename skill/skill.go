package skill

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Skill is an opened skill: its manifest and its files. It holds its folder, so that it keeps on
// reading the same one when another is put in its place. Close it. Then every method that asks for its
// files fails with ErrClosed, also through what FS returned; what was read of the manifest stays.
type Skill struct {
	entry Entry
	tree  Tree
	text  []byte

	manifest *manifest.Manifest
	problems []manifest.Problem

	closed atomic.Bool
	digest atomic.Pointer[string] // nil until it was computed
}

// read reads and parses the manifest. The error is a *BrokenError when it cannot be read or used.
func (s *Skill) read() error {
	text, err := s.manifestBytes(s.entry.File())
	if err != nil {
		return s.entry.unreadable(err)
	}
	o := &manifest.Options{File: s.entry.c.file(s.entry.it), Dir: s.entry.part().base(s.entry.Path()), Profile: s.entry.c.o.Profile}
	s.text = text
	s.manifest, s.problems = manifest.Parse(text, o)
	var fatal []manifest.Problem
	for _, p := range s.problems {
		if p.Fatal {
			fatal = append(fatal, p)
		}
	}
	if fatal != nil {
		return &BrokenError{Name: s.entry.Name(), Problems: fatal}
	}
	return nil
}

// manifestBytes reads the manifest. A tree may know better than Open how.
func (s *Skill) manifestBytes(file string) ([]byte, error) {
	if t, ok := s.tree.(interface{ ReadManifest(string) ([]byte, error) }); ok {
		return t.ReadManifest(file)
	}
	return readCapped(s.tree, file, manifest.MaxManifest)
}

// Entry returns the catalogue's entry that the skill was loaded from.
func (s *Skill) Entry() Entry { return s.entry }

// Name returns the skill's name as written.
func (s *Skill) Name() string { return s.manifest.Name }

// Canonical returns the canonical name under which the catalogue has the skill.
func (s *Skill) Canonical() string { return s.entry.Canonical() }

// Manifest returns what its SKILL.md says now. Do not change it.
func (s *Skill) Manifest() *manifest.Manifest { return s.manifest }

// Problems returns what is wrong with its SKILL.md. Do not change them.
func (s *Skill) Problems() []manifest.Problem { return s.problems }

// Text returns the whole SKILL.md as it is on disk. Do not change it.
func (s *Skill) Text() []byte { return s.text }

// FS returns the skill's files, confined to its directory. Opening never waits for a pipe. After Close
// every file is an error, ErrClosed in an *fs.PathError.
func (s *Skill) FS() fs.FS { return files{s} }

// Dir returns the absolute path of the skill's real directory. A skill of an FS source with a cache is
// written there first. The error wraps ErrNoFolder where there is none, as in a source that only lives in memory.
func (s *Skill) Dir(ctx context.Context) (string, error) {
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	if l, ok := s.tree.(Locator); ok {
		return l.Location(ctx)
	}
	return "", noFolder(s.Name())
}

// Digest returns the digest of all files of the skill: what an approval holds for. It reads them once, 10,000 files and
// 256 MiB at most; what it returned it returns again, whatever became of the files. The error is ctx's, ErrClosed, or
// names what cannot be read or has no place in a skill: a link that leads out of it, a pipe, a device.
//
// The digest is "sha256:" and 64 hexadecimal digits: the SHA-256 of one record for each file and then for each link, both
// in byte order of their paths,
//
//	<SHA-256 of the content>  ./<path> NUL
//	link  ./<path>//<text of the link> NUL
//
// which is what sha256sum -z prints. What is called .git at the skill's root is left out, and so are modes, times and
// empty folders.
func (s *Skill) Digest(ctx context.Context) (string, error) {
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	if d := s.digest.Load(); d != nil {
		return *d, nil
	}
	sum, err := dirhash.Dir(ctx, s.FS(), nil)
	if err != nil {
		return "", err
	}
	s.digest.CompareAndSwap(nil, &sum.Digest) // two that computed it agree on one
	return *s.digest.Load(), nil
}

// usable is nil for an open skill and a context that has not ended.
func (s *Skill) usable(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// Close releases the skill's files. Its manifest and text stay. Closing it again does nothing.
func (s *Skill) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.tree.Close()
}
