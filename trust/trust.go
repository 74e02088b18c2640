// Package trust records which skills the user allowed to run: approvals, each of one skill's content by name and digest,
// and folders whose skills are all trusted, including later changes. It also records what the user granted to the scripts of
// one content: variables, the user's home, folders and hosts. The record is one JSON document: a file that belongs to the user, or
// what Store.Kept keeps. Nothing that a skill, a project or the environment says gets into it.
//
// The package fails closed: while the file cannot be read or understood, or another user could have changed it, nothing is
// trusted. It asks no questions and runs nothing. Store.Trust is the function for skill.Options.
//
// A Store is safe for concurrent use by goroutines and processes. A Set never changes.
package trust

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Approval records that the user allowed one content of one skill to run. It also records what the user was shown, so a
// later question can show what has changed.
type Approval struct {
	Name       string    `json:"name"`              // canonical: lower case, "-" for "_"
	Layer      string    `json:"layer"`             // that of the skill.ID; a name has one approval in each
	Digest     string    `json:"digest"`            // skill.Skill.Digest of the content: "sha256:" and 64 hexadecimal digits
	Dir        string    `json:"dir,omitempty"`     // absolute folder of the skill at that time, for people and for Set.Another, or ""
	ApprovedAt time.Time `json:"approved_at"`       // whole seconds, UTC
	Wants      want.Set  `json:"wants,omitempty"`   // what the skill asked for, by its manifest and by the texts of its scripts
	Forgoes    want.Set  `json:"forgoes,omitempty"` // what its manifest gives up, such as a tool
	Files      []File    `json:"files,omitempty"`   // the content
	Whole      string    `json:"whole,omitempty"`   // the digest that the content had when digests covered what belongs to no skill, or ""
}

// ID returns what the approval is for.
func (a *Approval) ID() skill.ID { return skill.ID{Layer: a.Layer, Name: a.Name, Digest: a.Digest} }

// Is reports whether the approval is for the content of a digest, by which rule the digest was ever made.
func (a *Approval) Is(digest string) bool {
	return a.Digest == digest || a.Whole != "" && a.Whole == digest
}

// File is one file of an approved skill.
type File struct {
	Path   string `json:"path"`           // slash path below the skill
	SHA256 string `json:"sha256"`         // 64 hexadecimal digits, of the content or of a link's text
	Link   bool   `json:"link,omitempty"` // a symbolic link
}

// Set is the content of a Store when it was loaded. The zero value trusts nothing.
type Set struct {
	roots     []string
	approvals []Approval // by name, then place
	grants    []Grant    // likewise
}

// Roots returns the trusted folders, sorted.
func (s *Set) Roots() []string { return slices.Clone(s.roots) }

// Approvals returns all approvals, sorted by name and place. The caller must not change their lists.
func (s *Set) Approvals() []Approval { return slices.Clone(s.approvals) }

// apart reports whether records of one place do not count for another one, because one of them is that of a skill of a server.
func apart(layer, other string) bool {
	return layer != other && (place.IsServer(layer) || place.IsServer(other))
}

// Approval returns the approval of a name in the layer of a skill.ID, or else the latest approval of that name, and whether there is one.
func (s *Set) Approval(name, layer string) (Approval, bool) {
	var last Approval
	found := false
	for _, a := range s.about(name, layer) {
		if a.Layer == layer {
			return a, true
		}
		if !found || a.ApprovedAt.After(last.ApprovedAt) {
			last, found = a, true
		}
	}
	return last, found
}

// approved returns skill.TrustApproved if this content was approved under the name, skill.TrustChanged if only other contents were, and
// otherwise skill.TrustNone.
func (s *Set) approved(id *skill.ID) skill.Trust {
	known := s.about(id.Name, id.Layer)
	switch {
	case len(known) == 0:
		return skill.TrustNone
	case slices.ContainsFunc(known, func(a Approval) bool { return a.Is(id.Digest) }):
		return skill.TrustApproved
	}
	return skill.TrustChanged
}

// Trust returns what the set says about a skill: it is a skill.TrustFunc. It computes the digest, which reads every file of the
// skill, only if the skill is outside the trusted folders and its name has an approval. It does not know what is approved after
// Load; Store.Trust does. Of another skill than the approved one it returns skill.TrustNone, see Another.
func (s *Set) Trust(ctx context.Context, subject skill.Subject) (skill.Trust, error) {
	if err := ctx.Err(); err != nil {
		return skill.TrustNone, err
	}
	// The target of a link inside a trusted folder is not trusted because of the link.
	if len(s.roots) > 0 && subject.Server == "" && filepath.IsAbs(subject.Dir) {
		if real, err := filepath.EvalSymlinks(subject.Dir); err == nil && s.underRoot(real) {
			return skill.TrustRoot, nil
		}
	}
	if len(s.named(subject.Name)) == 0 {
		return skill.TrustNone, nil
	}
	layer, err := layerOf(ctx, &subject)
	if err != nil || subject.Server != "" && !place.IsServer(layer) {
		return skill.TrustNone, err
	}
	if subject.Digest == nil {
		return skill.TrustNone, errors.New("the content of the skill has no digest")
	}
	digest, err := subject.Digest(ctx)
	if err != nil {
		return skill.TrustNone, err
	}
	is := s.approved(&skill.ID{Layer: layer, Name: subject.Name, Digest: digest})
	if is == skill.TrustChanged && s.Another(subject.Name, layer) != "" {
		is = skill.TrustNone
	}
	return is, nil
}

// layerOf returns where a skill is.
func layerOf(ctx context.Context, subject *skill.Subject) (string, error) {
	switch {
	case subject.Place != nil:
		return subject.Place(ctx)
	case subject.Dir == "":
		return "", nil
	}
	return place.Folder(subject.Dir), nil
}

// Another returns the folder of another skill of this name, if what is approved of the name is of that one alone; "" if an approval may
// be of the skill in the layer of a skill.ID. A skill that was moved, and the versions of an installed one, are the same skill. It looks
// whether the folder of the approval is still there.
func (s *Set) Another(name, layer string) string {
	a, ok := s.Approval(name, layer)
	if !ok || a.Layer == layer || !place.IsFolder(a.Layer) || !place.IsFolder(layer) && !place.IsVersion(layer) || a.Dir == "" {
		return ""
	}
	if _, err := os.Stat(a.Dir); err != nil {
		return ""
	}
	return a.Dir
}

// about returns the approvals of a name that may be of the skill in a place.
func (s *Set) about(name, layer string) []Approval {
	return slices.DeleteFunc(slices.Clone(s.named(name)), func(a Approval) bool { return apart(a.Layer, layer) })
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

// within reports whether dir is root or lies below it. It compares path elements: "/a/bc" is not within "/a/b".
func within(root, dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir = filepath.Clean(dir)
	return dir == root || strings.HasPrefix(dir, root+string(filepath.Separator))
}

func order(a, b skill.ID) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer))
}
