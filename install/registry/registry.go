// Package registry records which skills are installed: from where, as which content, and in which folder. The record is one
// JSON file that belongs to the user. It holds facts only; what may run is recorded by package trust.
//
// A change is one function that runs under a lock, and its result replaces the file atomically. The file is the commit point
// of every installation: a folder that it does not name is not installed.
//
// A Store is safe for concurrent use by goroutines and processes. A Set never changes.
package registry

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/unknown"
	"github.com/agent-base/agent-base/skill/manifest"
)

// maxPrevious is how many former contents an entry keeps.
const maxPrevious = 5

// Entry is one installed skill. The first four texts after the names are null in the file if they are empty. The file keeps
// fields that this version does not know.
type Entry struct {
	Name          string    `json:"name"`           // as the manifest of the installed copy has it
	NameCanonical string    `json:"name_canonical"` // lower case, "-" for "_"; set by Register
	GitURL        string    `json:"git_url"`        // of the repository, without secrets
	CommitSHA     string    `json:"commit_sha"`     // of the repository
	Branch        string    `json:"branch"`         // the branch that an update follows
	Tag           string    `json:"tag"`            // the tag that was asked for
	InstalledPath string    `json:"installed_path"` // absolute folder of the active content; see Store.Folder
	Trusted       bool      `json:"trusted"`        // the user approved this content; for other readers, it decides nothing here
	InstalledAt   time.Time `json:"installed_at"`   // whole seconds, UTC; set by Register if it is zero

	Digest      string     `json:"digest,omitempty"`      // skill.Skill.Digest of the content; "" in entries of older programs and links
	Kind        string     `json:"kind,omitempty"`        // of the place, as source.Kind.String returns it
	Source      string     `json:"source,omitempty"`      // as the user typed it, without secrets
	Path        string     `json:"path,omitempty"`        // slash path of the skill below the root of the place
	Pinned      bool       `json:"pinned,omitempty"`      // an update follows nothing
	UpdatedAt   time.Time  `json:"updated_at,omitzero"`   // whole seconds, UTC; set by Update when the content changes
	OriginURL   string     `json:"origin_url,omitempty"`  // that was read in the end, without secrets
	Previous    []Previous `json:"previous,omitempty"`    // newest first, at most 5; set by Update
	Linked      bool       `json:"linked,omitempty"`      // InstalledPath is a folder of the user's own and not of the store
	Permissions []string   `json:"permissions,omitempty"` // what the user was shown and approved
	Requires    []string   `json:"requires,omitempty"`    // names of the skills that this one needs
	Submodules  []Part     `json:"submodules,omitempty"`  // of the repository, that the skill lies in or has

	OriginalName string `json:"original_name,omitempty"` // that the place has for it, if it was installed under another name

	// CheckedCommit is the last commit of the place that was found to have this content; "" if that is CommitSHA. Update empties it
	// when the content changes.
	CheckedCommit string `json:"checked_commit,omitempty"`

	rest unknown.Fields // fields that this version does not know
}

// Previous is a former content of an installed skill.
type Previous struct {
	Digest        string    `json:"digest"`
	CommitSHA     string    `json:"commit_sha,omitempty"`
	InstalledPath string    `json:"installed_path"`
	ReplacedAt    time.Time `json:"replaced_at"` // whole seconds, UTC
	Submodules    []Part    `json:"submodules,omitempty"`
}

// Part is a folder of a place that is from another repository: a submodule.
type Part struct {
	Path   string `json:"path"`       // slash path below the root of the place
	URL    string `json:"git_url"`    // without secrets
	Commit string `json:"commit_sha"` // whole id

	Missing bool `json:"missing,omitempty"` // it could not be had: an update tries again
}

// String describes a part in a line.
func (p Part) String() string {
	text := fmt.Sprintf("%s from %s, commit %.8s", p.Path, p.URL, p.Commit)
	if p.Missing {
		text += ", which could not be fetched"
	}
	return text
}

// Set is what a Store held when it was loaded. The zero value is empty.
type Set struct {
	entries []Entry // by canonical name
}

// All returns all entries, sorted by canonical name. The caller must not change their lists.
func (s *Set) All() []Entry { return slices.Clone(s.entries) }

// Len returns the number of entries.
func (s *Set) Len() int { return len(s.entries) }

// Get returns the entry of a name in any spelling and whether there is one.
func (s *Set) Get(name string) (Entry, bool) {
	i, ok := find(s.entries, name)
	if !ok {
		return Entry{}, false
	}
	return s.entries[i], true
}

// find returns the index of a name in a sorted list, or where it would be.
func find(entries []Entry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, manifest.Canonical(name), func(e Entry, n string) int { return cmp.Compare(e.NameCanonical, n) })
}
