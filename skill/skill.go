package skill

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// Skill is an opened skill: its manifest and its files. It holds its folder, so that it keeps on
// reading the same one when another is put in its place. Close it.
type Skill struct {
	entry Entry
	tree  Tree
	text  []byte
	ctx   context.Context // values only, of the catalogue

	parse    sync.Once
	manifest *Manifest
	problems []Problem

	closed atomic.Bool
	hash   sync.Once
	digest string
	err    error
}

// manifestReader is a tree that reads its manifest by itself, faster than by opening a file.
type manifestReader interface {
	readManifest(file string) ([]byte, Stamp, error)
}

// read reads the manifest. It is parsed when it is first asked for, but for one that changed
// since the catalogue saw it.
func (s *Skill) read() error {
	r := s.entry.it.r
	var stamp Stamp
	var err error
	if t, ok := s.tree.(manifestReader); ok {
		s.text, stamp, err = t.readManifest(r.file())
	} else {
		s.text, err = readCapped(s.tree, r.file(), MaxManifest)
		stamp = contentStamp(s.text)
	}
	if err != nil {
		return &BrokenError{s.entry.Name(), []Problem{*fileProblem(s.file(), err)}}
	}
	if stamp == r.stamp {
		return nil
	}
	return s.check()
}

// check parses the manifest and returns a *BrokenError when it cannot be used.
func (s *Skill) check() error {
	s.parsed()
	var fatal []Problem
	for _, p := range s.problems {
		if p.Fatal {
			fatal = append(fatal, p)
		}
	}
	if fatal != nil {
		return &BrokenError{s.entry.Name(), fatal}
	}
	return nil
}

func (s *Skill) parsed() *Manifest {
	s.parse.Do(func() {
		o := &ParseOptions{File: s.file(), Dir: s.entry.part().base(s.entry.Path()), Profile: s.entry.c.o.Profile}
		s.manifest, s.problems = Parse(s.text, o)
	})
	return s.manifest
}

func (s *Skill) file() string { return s.entry.c.file(s.entry.it) }

// Entry returns the catalogue's entry that the skill was loaded from.
func (s *Skill) Entry() Entry { return s.entry }

// Name returns the skill's name as written.
func (s *Skill) Name() string {
	if name := s.parsed().Name; name != "" {
		return name
	}
	return s.entry.Name()
}

// Canonical returns the canonical name under which the catalogue has the skill.
func (s *Skill) Canonical() string { return s.entry.Canonical() }

// Manifest returns what its SKILL.md says now. Do not change it.
func (s *Skill) Manifest() *Manifest { return s.parsed() }

// Problems returns what is wrong with its SKILL.md. Do not change them.
func (s *Skill) Problems() []Problem {
	s.parsed()
	return s.problems
}

// Text returns the whole SKILL.md as it is on disk. Do not change it.
func (s *Skill) Text() []byte { return s.text }

// FS returns the skill's files, confined to its directory. Opening never waits for a pipe.
func (s *Skill) FS() fs.FS { return s.tree }

// Dir returns the absolute path of the skill's real directory.
func (s *Skill) Dir() (string, error) {
	if l, ok := s.tree.(Locator); ok {
		return l.Location()
	}
	return "", fmt.Errorf("skill %q has no directory on disk", s.Name())
}

// Digest returns the digest of all files of the skill, see internal/dirhash. It reads them once.
func (s *Skill) Digest() (string, error) {
	s.hash.Do(func() {
		var sum dirhash.Sum
		sum, s.err = dirhash.Dir(s.ctx, s.tree, nil)
		s.digest = sum.Digest
	})
	return s.digest, s.err
}

// Close releases the skill's files. Its manifest and text stay. Closing it again does nothing.
func (s *Skill) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.tree.Close()
}
