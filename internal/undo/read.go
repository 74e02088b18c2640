package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Turn is what one prompt changed.
type Turn struct {
	ID           string // unique in the workspace; a later turn has a greater one
	Conversation string
	Number       int    // in the conversation; 0 if it has none
	Label        string // what it was about; foreign text
	Time         time.Time
	Undone       bool
	Ran          bool // a command ran, which may have changed files without a record
	Damaged      int  // records that could not be read

	o       *Options
	dir     string
	changes []record
}

// ErrNothing is returned by Last if no turn can be taken back.
var ErrNothing = errors.New("no change to take back")

// List returns the turns of a workspace, the newest first. Turns whose records cannot be read are left out.
func List(ctx context.Context, o *Options) ([]*Turn, error) {
	entries, err := os.ReadDir(o.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var turns []*Turn
	for _, e := range slices.Backward(entries) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t, err := open(o, e.Name()); e.IsDir() && err == nil && len(t.changes) > 0 {
			turns = append(turns, t)
		}
	}
	return turns, nil
}

// Open returns one turn.
func Open(o *Options, id string) (*Turn, error) {
	if !filepath.IsLocal(id) || strings.ContainsAny(id, `/\`) {
		return nil, fmt.Errorf("invalid turn %q", id)
	}
	t, err := open(o, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("unknown turn %q", id)
	}
	return t, err
}

// Last returns the newest turn that was not taken back: of the conversation, or of any if Options has none. If there is
// none, the error is ErrNothing.
func Last(ctx context.Context, o *Options) (*Turn, error) {
	turns, err := List(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		if !t.Undone && (o.Conversation == "" || t.Conversation == o.Conversation) {
			return t, nil
		}
	}
	return nil, ErrNothing
}

func open(o *Options, id string) (*Turn, error) {
	dir := filepath.Join(o.folder(), id)
	src, err := lockfile.Read(filepath.Join(dir, recordsName), maxRecords)
	if err != nil {
		return nil, err
	}
	t, err := parse(src)
	if err != nil {
		return nil, err
	}
	t.o, t.ID, t.dir = o, id, dir
	return t, nil
}

// parse reads the records of a turn. It ignores and counts what it cannot read, except for the first line.
func parse(src []byte) (*Turn, error) {
	first, rest, _ := bytes.Cut(src, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, fmt.Errorf("records without a header: %w", err)
	}
	t := &Turn{Conversation: h.Conversation, Number: h.Turn, Label: h.Label, Time: h.Time, Ran: h.Ran}
	for line := range bytes.Lines(rest) {
		var r record
		switch err := json.Unmarshal(line, &r); {
		case len(bytes.TrimSpace(line)) == 0:
		case err == nil && r.Ran:
			t.Ran = true
		case err != nil || !r.Undone && !r.usable():
			t.Damaged++
		case r.Undone:
			t.Undone = true
		case len(t.changes) < maxChanges:
			t.changes = append(t.changes, r)
		}
	}
	return t, nil
}

// usable reports whether a record names a file below the workspace, and old content in the turn's own folder.
func (r *record) usable() bool {
	inside := func(p string) bool {
		return p != "" && p != "." && utf8.ValidString(p) && !strings.ContainsRune(p, 0) && path.Clean(p) == p && filepath.IsLocal(filepath.FromSlash(p))
	}
	kept := r.Kept != "" && len(r.Kept) <= 9 && strings.Trim(r.Kept, "0123456789") == ""
	return inside(r.Path) && isDigest(r.After) && r.Mode <= 0o777 &&
		(!r.Existed && r.Kept == "" && r.Before == "" || r.Existed && kept && isDigest(r.Before)) &&
		!slices.ContainsFunc(r.Folders, func(dir string) bool { return !inside(dir) || !strings.HasPrefix(r.Path, dir+"/") })
}

func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// Paths returns the files that the turn changed, each once, in the order of the changes.
func (t *Turn) Paths() []string {
	var out []string
	for _, r := range t.changes {
		if !slices.Contains(out, r.Path) {
			out = append(out, r.Path)
		}
	}
	return out
}
