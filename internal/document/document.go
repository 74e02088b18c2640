// Package document has the interface of what keeps a small document that several processes change at the same time: the approvals, the list
// of installed skills. Package lockfile keeps one in a file, package state in a node that servers share. Each implementation passes the suite
// of internal/test/documenttest.
package document

import (
	"context"
	"iter"

	"github.com/agent-base/agent-base/trace"
)

// Store keeps one document. It is safe for concurrent use, by other programs too: no change is lost, and a reader finds what one
// change left, never a mixture.
type Store interface {
	// Load returns the document, nil if there is none.
	Load(ctx context.Context) ([]byte, error)

	// Transform replaces the document by what edit makes of it. It returns the error of edit; nothing was written then.
	Transform(ctx context.Context, edit Edit) error

	// Watch yields the document as it is, and again after changes: perhaps not after each, but always what the last one left. It
	// goes on after an error, until ctx is done.
	Watch(ctx context.Context) iter.Seq2[[]byte, error]
}

// Edit makes another document of one, which is nil if there is none. It may run several times for one change, of which the last
// run counts. So it writes nothing, records nothing and says nothing, and what it leaves in variables it sets anew each time.
type Edit func(old []byte) (Change, error)

// Change is what an edit makes of a document.
type Change struct {
	Content []byte // nil or what there was: nothing is written, kept or recorded

	// Events are what the change is, for the audit log. They are recorded once, just before the change takes effect. If that fails
	// there is no change, unless Takes.
	Events []trace.Event
	Takes  bool // it takes rights away, and gives none

	// Keep is the end of the name of a copy of what there was, which is made first; "" for no copy. There is no change if that name
	// is in use.
	Keep string
}

// Plain returns the edit for a function that only makes another content.
func Plain(edit func(old []byte) ([]byte, error)) Edit {
	return func(old []byte) (Change, error) {
		content, err := edit(old)
		return Change{Content: content}, err
	}
}
