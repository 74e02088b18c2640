package oms

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
)

const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://model_signing/signature/v1.0"

	maxBytes = 1 << 30 // of all files of a skill
)

// statement is what was signed: the digest of each file.
type statement struct {
	files   map[string][]byte // SHA-256 by slash path
	folders map[string]bool   // that have one of files
	ignore  map[string]bool   // slash paths of files and folders that are not signed
}

// parseStatement reads the payload of a bundle. The list of files is the one that the digest of the subject says.
func parseStatement(payload []byte) (*statement, error) {
	var in struct {
		Type    string `json:"_type"`
		Subject []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
		PredicateType string `json:"predicateType"`
		Predicate     struct {
			Serialization struct {
				Method      string   `json:"method"`
				HashType    string   `json:"hash_type"`
				IgnorePaths []string `json:"ignore_paths"`
			} `json:"serialization"`
			Resources []struct {
				Name      string `json:"name"`
				Algorithm string `json:"algorithm"`
				Digest    string `json:"digest"`
			} `json:"resources"`
		} `json:"predicate"`
	}
	if err := decode(payload, &in); err != nil {
		return nil, err
	}
	p := in.Predicate
	switch {
	case in.Type != statementType || in.PredicateType != predicateType:
		return nil, bad("what it signs is %q, not a list of files in the form %q", clip(in.PredicateType), predicateType)
	case p.Serialization.Method != "files" || p.Serialization.HashType != "sha256":
		return nil, bad("its digests are by %q and %q; only \"files\" and \"sha256\" are supported", clip(p.Serialization.Method), clip(p.Serialization.HashType))
	case len(p.Resources) == 0 || len(p.Resources) > maxFiles:
		return nil, bad("it lists %d files, not 1 to %d", len(p.Resources), maxFiles)
	case len(in.Subject) != 1:
		return nil, bad("it has %d subjects, not 1", len(in.Subject))
	}
	s := &statement{files: map[string][]byte{}, folders: map[string]bool{}, ignore: map[string]bool{}}
	for _, name := range p.Serialization.IgnorePaths {
		s.ignore[name] = true
	}
	all := sha256.New()
	for _, file := range p.Resources {
		sum, err := hex.DecodeString(file.Digest)
		switch {
		case !fs.ValidPath(file.Name) || file.Name == "." || file.Name == File:
			return nil, bad("it lists %q, which cannot be a signed file of a skill", clip(file.Name))
		case file.Algorithm != "sha256" || err != nil || len(sum) != sha256.Size:
			return nil, bad("it has no SHA-256 of %q", clip(file.Name))
		case s.files[file.Name] != nil:
			return nil, bad("it lists %q twice", clip(file.Name))
		}
		s.files[file.Name] = sum
		for dir := path.Dir(file.Name); dir != "." && !s.folders[dir]; dir = path.Dir(dir) {
			s.folders[dir] = true
		}
		all.Write(sum)
	}
	if want, err := hex.DecodeString(in.Subject[0].Digest["sha256"]); err != nil || !bytes.Equal(want, all.Sum(nil)) {
		return nil, bad("its digest of the whole is not that of its list")
	}
	return s, nil
}

// compare fills in how the files of a skill differ from those of the statement. A link is never followed.
func (s *statement) compare(ctx context.Context, fsys fs.FS, r *Report) error {
	own := s.own()
	found := map[string]bool{}
	entries, left := 0, int64(maxBytes)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if entries++; entries > maxFiles {
			return fmt.Errorf("the skill has more than %d files and folders", maxFiles)
		}
		want := s.files[name]
		found[name] = true
		switch {
		case name == File:
		case name != "." && content.Leftover(fsys, name) != "": // signed or not, it belongs to no skill
			if d.IsDir() {
				return fs.SkipDir
			}
		case want == nil && !s.folders[name] && s.ignored(name):
			return r.ignore(name, d)
		case d.IsDir() && want == nil:
		case want == nil || !d.Type().IsRegular():
			r.Extra = append(r.Extra, name)
		default:
			got, n, err := sum(fsys, name, left)
			if err != nil {
				return err
			}
			left -= n
			if !bytes.Equal(got, want) {
				r.Changed = append(r.Changed, name)
			}
		}
		return nil
	})
	for name := range s.files {
		if !found[name] && own[name] {
			r.Missing = append(r.Missing, name)
		}
	}
	for _, names := range [][]string{r.Changed, r.Missing, r.Extra, r.Ignored} {
		slices.Sort(names)
	}
	return err
}

// own returns the files of the statement that belong to the skill.
func (s *statement) own() map[string]bool {
	return content.Own(slices.Collect(maps.Keys(s.files)))
}

// ignore notes a file, or a folder as a whole.
func (r *Report) ignore(name string, d fs.DirEntry) error {
	if !d.IsDir() {
		r.Ignored = append(r.Ignored, name)
		return nil
	}
	r.Ignored = append(r.Ignored, name+"/")
	return fs.SkipDir
}

// ignored reports whether the signer left out name, or a folder that it is in. The manifest cannot be left out: a signature
// that does not cover it says nothing about the skill.
func (s *statement) ignored(name string) bool {
	if strings.EqualFold(name, "SKILL.md") {
		return false
	}
	for ; name != "."; name = path.Dir(name) {
		if s.ignore[name] {
			return true
		}
	}
	return false
}

// sum returns the SHA-256 of a file and how many bytes it has, at most a number.
func sum(fsys fs.FS, name string, most int64) ([]byte, int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("the files of the skill have more than %d bytes", int64(maxBytes))
	}
	return h.Sum(nil), n, err
}
