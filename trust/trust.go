// Package trust remembers which content its user allowed to run: approvals of one skill's content by name and digest,
// and folders that are trusted as a whole, changes included (C26, C57). What is remembered is one JSON file of the
// user's; nothing that a skill, a project or an environment says gets into it.
//
// It fails closed: while the file cannot be read or understood, nothing is trusted. It asks nobody and runs nothing.
//
// A Store may be used from several goroutines and processes at once; a Set never changes.
package trust

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Approval is the user's word that one content of one skill may run, with what was shown when it was given, so that a
// later question can show what changed since.
type Approval struct {
	Name        string    `json:"name"`                  // canonical: lower case, "-" for "_"
	Digest      string    `json:"digest"`                // skill.Skill.Digest of the content: "sha256:" and 64 hexadecimal digits
	Dir         string    `json:"dir,omitempty"`         // absolute folder where it lay, or "": it tells approvals of a name apart and limits none
	ApprovedAt  time.Time `json:"approved_at"`           // whole seconds, UTC
	Permissions []string  `json:"permissions,omitempty"` // what the skill asked for: "allowed-tools: Bash(git:*)", "env: KALSHI_*"
	Files       []File    `json:"files,omitempty"`       // what it consisted of
}

// File is one file of an approved content.
type File struct {
	Path   string `json:"path"`           // slash path below the skill
	SHA256 string `json:"sha256"`         // 64 hexadecimal digits, of the content or of a link's text
	Link   bool   `json:"link,omitempty"` // a symbolic link
}

// Set is what a Store held when it was loaded. The zero value trusts nothing.
type Set struct {
	roots     []string
	approvals []Approval // by name, then directory
}

// Roots returns the folders that are trusted as a whole, in order of bytes.
func (s *Set) Roots() []string { return slices.Clone(s.roots) }

// Approvals returns all approvals by name and directory. Do not change their lists.
func (s *Set) Approvals() []Approval { return slices.Clone(s.approvals) }

// Approval returns what was last approved under a name: in dir if there is such an approval, else anywhere.
func (s *Set) Approval(name, dir string) (Approval, bool) {
	var last Approval
	found := false
	for _, a := range s.named(name) {
		if a.Dir == dir {
			return a, true
		}
		if !found || a.ApprovedAt.After(last.ApprovedAt) {
			last, found = a, true
		}
	}
	return last, found
}

// Trusted says why the content with this digest may run, or that it may not: skill.TrustRoot below a trusted folder,
// skill.TrustApproved for a content that was approved under the name, skill.TrustChanged when others were, else skill.TrustNone.
// Dir is the skill's real directory, absolute and without symbolic links, or "".
func (s *Set) Trusted(name, dir, digest string) skill.Trust {
	if s.underRoot(dir) {
		return skill.TrustRoot
	}
	known := s.named(name)
	switch {
	case len(known) == 0:
		return skill.TrustNone
	case slices.ContainsFunc(known, func(a Approval) bool { return a.Digest == digest }):
		return skill.TrustApproved
	}
	return skill.TrustChanged
}

// Func returns the function that a catalogue asks. It computes a digest only for a skill outside the trusted folders
// whose name has an approval, for that reads every file.
func (s *Set) Func() skill.TrustFunc {
	return func(ctx context.Context, subject skill.Subject) (skill.Trust, error) {
		if err := ctx.Err(); err != nil {
			return skill.TrustNone, err
		}
		dir := ""
		if len(s.roots) > 0 && filepath.IsAbs(subject.Dir) {
			// A link inside a trusted folder does not make trusted what it leads to.
			if real, err := filepath.EvalSymlinks(subject.Dir); err == nil {
				dir = real
			}
		}
		if s.underRoot(dir) {
			return skill.TrustRoot, nil
		}
		if len(s.named(subject.Name)) == 0 {
			return skill.TrustNone, nil
		}
		if subject.Digest == nil {
			return skill.TrustNone, errors.New("a skill's content cannot be told without its digest")
		}
		digest, err := subject.Digest(ctx)
		if err != nil {
			return skill.TrustNone, err
		}
		return s.Trusted(subject.Name, dir, digest), nil
	}
}

// named returns the approvals of a name in any spelling.
func (s *Set) named(name string) []Approval {
	name = manifest.Canonical(name)
	from, _ := slices.BinarySearchFunc(s.approvals, name, func(a Approval, n string) int { return cmp.Compare(a.Name, n) })
	to := from
	for to < len(s.approvals) && s.approvals[to].Name == name {
		to++
	}
	return s.approvals[from:to]
}

func (s *Set) underRoot(dir string) bool {
	return dir != "" && slices.ContainsFunc(s.roots, func(root string) bool { return within(root, dir) })
}

// within reports whether dir is root or lies below it. Path elements are compared, not letters: "/a/b" does not hold
// "/a/bc".
func within(root, dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir = filepath.Clean(dir)
	return dir == root || strings.HasPrefix(dir, root+string(filepath.Separator))
}

func order(a, b Approval) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dir, b.Dir))
}
