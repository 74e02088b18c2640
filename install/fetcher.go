package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
)

// Fetcher gets the files of a place that has skills. Fetch runs nothing of what it gets. It must be safe for concurrent use.
type Fetcher interface {
	Fetch(context.Context, *Request) (*Snapshot, error)
}

// ErrNoPlace is wrapped by errors of Fetch if there is no such place, or if it does not have the branch, tag or commit that was
// asked for. A private place may say the same to a stranger.
var ErrNoPlace = errors.New("the place is not there")

// ErrNoVersion is wrapped by errors of Fetch if a place is there and does not have the branch, tag or commit. It is also ErrNoPlace.
var ErrNoVersion = fmt.Errorf("%w with this version", ErrNoPlace)

// ErrTooMany is wrapped by errors of Fetch if a place has more files that are wanted than the fetcher takes. Those of one folder may be
// few enough.
var ErrTooMany = errors.New("it has too many files")

// FetcherFunc is a function as a Fetcher.
type FetcherFunc func(context.Context, *Request) (*Snapshot, error)

// Fetch calls f.
func (f FetcherFunc) Fetch(ctx context.Context, r *Request) (*Snapshot, error) { return f(ctx, r) }

// Request says what to fetch.
type Request struct {
	Source source.Ref

	// Dir is an empty private folder for what the fetcher keeps until Snapshot.Close. The caller removes it.
	Dir string

	// Known is the Origin.Commit that the caller has. If the place still has this one, Fetch may return a Snapshot without FS.
	Known string

	// All says that most files are wanted, so where that is faster they may all be fetched at once.
	All bool

	// Choose is told the slash paths of all files of a place that has very many, and returns which of them are wanted. The Snapshot
	// may leave out the others. A nil Choose wants all.
	Choose func(paths iter.Seq[string]) func(path string) bool

	// Progress is told what goes on. It may be nil.
	Progress func(Progress)
}

// Progress is how far a fetch is.
type Progress struct {
	Step  string // such as "receiving objects"
	Done  int64  // of Unit; 0 if that is not known
	Total int64  // 0 if that is not known
	Unit  string // "bytes", "files" or ""
}

// Snapshot is one state of a place. It has regular files and folders only.
type Snapshot struct {
	FS     fs.FS // nil if the place has not changed since Request.Known
	Origin Origin

	// Need gets the content of all files whose path satisfies want, where opening each would be slow. A nil Need means that
	// everything is there. Files can be opened without it, except that a SKILL.md of a site's index has only a name and a
	// description until another file of its folder is wanted.
	Need func(ctx context.Context, want func(path string) bool) error

	// LeftOut says what the place has and FS has not, and why, as "scripts/link is a symbolic link". Of a folder it knows what
	// was listed so far. A nil LeftOut means nothing.
	LeftOut func() []string

	// Parts are the folders of FS that are from other places, and those that are Missing from it.
	Parts []Part

	// Around reports whether there is a file or folder at a path that leads out of FS, such as "../lib/a.py". It is nil where nothing
	// is known to be around.
	Around func(path string) bool

	// Close frees what Fetch holds. It is never nil.
	Close func() error
}

// Part is a folder of a place that is from another repository: a submodule.
type Part = registry.Part

// Origin is where a snapshot is from, as the registry records it.
type Origin struct {
	Source source.Ref // as requested

	URL    string // that was read in the end, without secrets
	Commit string // commit of a repository, digest of an archive or of an artifact ("sha256:..."); "" for a folder
	Branch string // the branch that Commit was the head of, if one was followed
	Tag    string // the tag that was asked for or, of an artifact, found
	Pinned bool   // Source.Want names a tag or a commit: an update does not follow anything
}
