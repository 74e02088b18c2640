package skill

import (
	"fmt"
	"io"
	"io/fs"
	"path"
)

// MaxResource is the most bytes that ReadFile returns of one file.
const MaxResource = 10 << 20

// Skill is an opened skill: its manifest and its files as they are now. Close it.
type Skill struct {
	entry    Entry
	tree     Tree
	manifest *Manifest
	problems []Problem
	text     []byte
}

// File is one regular file of a skill.
type File struct {
	Path string `json:"path"` // slash path below the skill
	Size int64  `json:"size"` // bytes
}

func (s *Skill) read() error {
	text, err := readCapped(s.tree, s.entry.r.file, MaxManifest)
	if err != nil {
		return err
	}
	s.text = text
	s.manifest, s.problems = Parse(text, &ParseOptions{Dir: path.Base(s.entry.r.path), Profile: s.entry.c.o.Profile})
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

// Entry returns the catalogue's entry that the skill was loaded from.
func (s *Skill) Entry() Entry { return s.entry }

// Name returns the skill's name as written.
func (s *Skill) Name() string { return s.manifest.Name }

// Canonical returns the name's canonical form.
func (s *Skill) Canonical() string { return s.entry.Canonical() }

// Manifest returns what its SKILL.md says now. Do not change it.
func (s *Skill) Manifest() *Manifest { return s.manifest }

// Problems returns what is wrong with its SKILL.md.
func (s *Skill) Problems() []Problem { return s.problems }

// Text returns the whole SKILL.md as it is on disk. Do not change it.
func (s *Skill) Text() []byte { return s.text }

// FS returns the skill's files, confined to its directory.
func (s *Skill) FS() fs.FS { return s.tree }

// Dir returns the absolute path of the skill's directory.
func (s *Skill) Dir() (string, error) {
	if l, ok := s.tree.(Locator); ok {
		return l.Location()
	}
	return "", fmt.Errorf("skill %q has no directory on disk", s.Name())
}

// ReadFile returns the content of one regular file by its slash path below the skill.
func (s *Skill) ReadFile(name string) ([]byte, error) { return readCapped(s.tree, name, MaxResource) }

// Files lists the skill's regular files by path.
func (s *Skill) Files() ([]File, error) {
	var out []File
	err := fs.WalkDir(s.tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out = append(out, File{p, info.Size()})
		}
		return err
	})
	return out, err
}

// Close releases the skill's files.
func (s *Skill) Close() error { return s.tree.Close() }

func readCapped(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%q exceeds %d bytes", name, limit)
	}
	return b, err
}
