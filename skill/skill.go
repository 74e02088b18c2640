package skill

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Skill is an opened skill: its manifest and its files. It holds its folder open, and reads that folder even if another
// one replaces it. The caller must close it. After that, every method that reads its files fails with ErrClosed, and so
// does the file system that FS returned. What was read of the manifest stays valid.
type Skill struct {
	entry Entry
	tree  Tree
	text  []byte

	manifest *manifest.Manifest
	problems []manifest.Problem

	closed atomic.Bool
	sum    atomic.Pointer[Sum] // nil until computed
}

// read reads and parses the manifest. The error is a *BrokenError when it cannot be read or used.
func (s *Skill) read() error {
	text, err := s.manifestBytes(s.entry.File())
	if err != nil {
		return s.entry.unreadable(err)
	}
	o := &manifest.Options{File: s.entry.c.file(s.entry.it), Dir: s.entry.part().base(s.entry.Path()), Profile: s.entry.c.profile(s.entry.part())}
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

// manifestBytes reads the manifest. It prefers the tree's own way of reading it to Open.
func (s *Skill) manifestBytes(file string) ([]byte, error) {
	if t, ok := s.tree.(interface{ ReadManifest(string) ([]byte, error) }); ok {
		return t.ReadManifest(file)
	}
	return readCapped(s.tree, file, manifest.MaxManifest)
}

// Entry returns the entry of the catalogue that the skill was loaded from.
func (s *Skill) Entry() Entry { return s.entry }

// Name returns the skill's name as written, or that of its Entry if a catalogue gave it one, see Layer.Server.
func (s *Skill) Name() string {
	if s.entry.it.r.written() != s.entry.it.r {
		return s.entry.Name()
	}
	return s.manifest.Name
}

// Canonical returns the canonical name of the skill in the catalogue.
func (s *Skill) Canonical() string { return s.entry.Canonical() }

// Manifest returns the manifest, as it was when the skill was loaded. Do not change it.
func (s *Skill) Manifest() *manifest.Manifest { return s.manifest }

// Problems returns the problems of the manifest. Do not change them.
func (s *Skill) Problems() []manifest.Problem { return s.problems }

// Text returns the whole SKILL.md, unchanged. Do not change it.
func (s *Skill) Text() []byte { return s.text }

// FS returns the files in the skill's directory that belong to the skill: no byte code, caches and other leftovers of tools, and no
// folders of version control. They are confined to the directory. Opening a file never waits for a pipe. After Close, every
// call fails with ErrClosed in an *fs.PathError.
func (s *Skill) FS() fs.FS { return files{s: s} }

// Whole returns FS with what in the skill's directory does not belong to the skill, for who has to name that.
func (s *Skill) Whole() fs.FS { return files{s, true} }

// Dir returns the absolute path of the skill's real directory. It writes a skill of an FS source with a cache to the
// cache first. The error wraps ErrNoFolder if there is no directory, as in a source that exists only in memory.
func (s *Skill) Dir(ctx context.Context) (string, error) {
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	if l, ok := s.tree.(Locator); ok {
		return l.Location(ctx)
	}
	return "", noFolder(s.Name())
}

// PluginDir returns the folder of the plugin that has the skill: the nearest folder above it, in the root of its source,
// with a .claude-plugin/plugin.json. Without one it returns what Dir returns.
func (s *Skill) PluginDir(ctx context.Context) (string, error) {
	dir, err := s.Dir(ctx)
	if err != nil {
		return "", err
	}
	src, ok := s.entry.part().source.(*dirSource)
	if !ok {
		return dir, nil
	}
	return src.pluginOf(dir), nil
}

// Digest returns the digest of all files of the skill, which is what an approval is for. The first call reads the
// files, at most 10,000 files and 256 MiB. Later calls return the same digest, even if the files have changed. The
// error is that of ctx, ErrClosed, or names a file that cannot be read or is not allowed in a skill: a link that leads
// out of it, a pipe or a device.
//
// The digest is "sha256:" and 64 hexadecimal digits: the SHA-256 of one record for each file and then for each link,
// both in byte order of their paths,
//
//	<SHA-256 of the content>  ./<path> NUL
//	link  ./<path>//<text of the link> NUL
//
// which is what sha256sum -z prints. The digest leaves out what belongs to no skill (see FS), modes, times and empty folders.
func (s *Skill) Digest(ctx context.Context) (string, error) {
	sum, err := s.Sum(ctx)
	return sum.Digest, err
}

// ID names one content of one skill: skills with the same ID are the same on every machine. Approvals and grants are recorded of an ID. A
// program that serves several tenants has separate records for each of them, see trace.Identity.
type ID struct {
	Layer  string `json:"layer"`  // the place of the skill in a layer, see Entry.Place
	Name   string `json:"name"`   // canonical
	Digest string `json:"digest"` // Skill.Digest
}

// ID returns the ID of the skill. It computes the digest.
func (s *Skill) ID(ctx context.Context) (ID, error) {
	at, err := s.entry.Place(ctx)
	if err != nil {
		return ID{}, err
	}
	digest, err := s.Digest(ctx)
	return ID{Layer: at, Name: s.Canonical(), Digest: digest}, err
}

// Sum is a Digest with the Files that it covers, sorted by path.
type Sum = dirhash.Sum

// SumFile is one file or symbolic link of a Sum: its slash Path, whether it is a Link, the Size in bytes and the SHA256 of its
// content or of the link's text, as 64 hexadecimal digits.
type SumFile = dirhash.File

// Sum returns the Digest with the hashes of the files that it covers. Do not change them.
func (s *Skill) Sum(ctx context.Context) (Sum, error) {
	if err := s.usable(ctx); err != nil {
		return Sum{}, err
	}
	if sum := s.sum.Load(); sum != nil {
		return *sum, nil
	}
	sum, err := sumOf(ctx, s.tree)
	if s.closed.Load() { // in the meantime
		err = ErrClosed
	}
	if err != nil {
		return Sum{}, err
	}
	s.sum.CompareAndSwap(nil, &sum) // concurrent calls return the same sum
	return *s.sum.Load(), nil
}

// sumOf hashes the files of a tree, unless it knows their hashes.
func sumOf(ctx context.Context, t Tree) (Sum, error) {
	if h, ok := t.(Hashed); ok {
		return h.Sum(ctx)
	}
	return dirhash.Dir(ctx, t, nil)
}

// Heeded reports whether what the manifest asks of the host holds: that it allows or forbids tools, and has hooks. It does for every
// skill of this machine. For a skill of a server it does once its content is approved.
func (s *Skill) Heeded(ctx context.Context) bool {
	if s.entry.Server() == "" {
		return true
	}
	t, err := s.Trust(ctx)
	return err == nil && t.Runs()
}

// usable returns nil if the skill is open and ctx is not done.
func (s *Skill) usable(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// Close releases the skill's files. The manifest and the text stay valid. Closing a skill again does nothing.
func (s *Skill) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.tree.Close()
}
