package registry

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill/manifest"
)

const digestPrefix = "sha256:"

// plain is an entry without its methods.
type plain Entry

// MarshalJSON writes null for the texts of the repository that are empty, and the unknown fields after the others.
func (e Entry) MarshalJSON() ([]byte, error) {
	return e.rest.Join(struct {
		Name          string  `json:"name"`
		NameCanonical string  `json:"name_canonical"`
		GitURL        *string `json:"git_url"`
		CommitSHA     *string `json:"commit_sha"`
		Branch        *string `json:"branch"`
		Tag           *string `json:"tag"`
		plain
	}{e.Name, e.NameCanonical, orNull(e.GitURL), orNull(e.CommitSHA), orNull(e.Branch), orNull(e.Tag), plain(e)})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// UnmarshalJSON keeps the unknown fields.
func (e *Entry) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*plain)(e)); err != nil {
		return err
	}
	return e.rest.Split(text, plain{})
}

// Layer returns the Layer of the skill.ID of the skill. A version in the store has that of its digest, and any other folder one of its own.
func (e *Entry) Layer() string {
	if e.Linked || e.Digest == "" {
		return place.Folder(e.InstalledPath)
	}
	return place.Version(e.Digest)
}

// tidy sets what follows from the other fields.
func (e *Entry) tidy() {
	e.NameCanonical = manifest.Canonical(e.Name)
	e.InstalledAt = whole(e.InstalledAt)
	e.UpdatedAt = whole(e.UpdatedAt)
	if len(e.Previous) > maxPrevious {
		e.Previous = slices.Clone(e.Previous[:maxPrevious])
	}
}

// complete sets what entries of older programs leave to the reader. One that names a repository and no kind of place is from that
// repository, and follows its branch unless only a tag is named.
func (e *Entry) complete() {
	if e.Kind == "" && e.Source == "" && e.GitURL != "" {
		e.Kind, e.Source = source.Git.String(), e.GitURL
		e.Pinned = e.Tag != "" && e.Branch == ""
	}
}

// whole returns a time as the file has it.
func whole(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Second)
}

// check returns an error for an entry that no reader could use.
func (e *Entry) check() error {
	if err := manifest.CheckName(e.Name); err != nil {
		return err
	}
	if e.NameCanonical != manifest.Canonical(e.Name) {
		return fmt.Errorf("skill %q: the canonical name is %q and not %q", e.Name, e.NameCanonical, manifest.Canonical(e.Name))
	}
	if err := checkPlace(e.InstalledPath, e.Digest); err != nil {
		return fmt.Errorf("skill %q: %w", e.Name, err)
	}
	for _, p := range e.Previous {
		if err := checkPlace(p.InstalledPath, p.Digest); err != nil {
			return fmt.Errorf("skill %q: former content: %w", e.Name, err)
		}
	}
	return nil
}

func checkPlace(dir, digest string) error {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return fmt.Errorf("folder %q is not a clean absolute path", dir)
	}
	if filepath.Dir(dir) == dir {
		return errors.New("the folder is the root of a file system")
	}
	if digest != "" && !isDigest(digest) {
		return fmt.Errorf("digest %q is not %q and 64 hexadecimal digits", digest, digestPrefix)
	}
	return nil
}

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == 64 && digits == strings.ToLower(digits)
}

// replaced returns the former contents of an entry that was changed from old to e.
func (e *Entry) replaced(old *Entry, now time.Time) []Previous {
	list := slices.Clone(old.Previous)
	if old.Digest != "" && !old.Linked {
		list = slices.Insert(list, 0, Previous{Digest: old.Digest, CommitSHA: old.CommitSHA, InstalledPath: old.InstalledPath, ReplacedAt: whole(now), Submodules: old.Submodules})
	}
	active := func(p Previous) bool { return p.InstalledPath == e.InstalledPath && p.Digest == e.Digest }
	list = slices.DeleteFunc(list, active)
	return list[:min(len(list), maxPrevious)]
}
