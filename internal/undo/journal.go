package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Journal records the changes of one conversation. It is safe for concurrent use.
type Journal struct {
	o Options

	mu     sync.Mutex
	label  string
	number int    // of the turn in its conversation
	turn   string // folder of the turn; "" until its first change
	kept   int    // files in it
	bytes  int64  // of them
	ran    bool   // a command ran in it that may have changed files
	pruned bool
}

// New returns a journal. It touches no file.
func New(o *Options) *Journal { return &Journal{o: *o} }

// Begin begins a turn: the changes that follow are taken back together. label says what the turn was about, such as the
// prompt; it is cut to 200 bytes. number is that of the turn in its conversation, 0 if it has none.
func (j *Journal) Begin(label string, number int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	label = strings.ToValidUTF8(label[:min(len(label), maxLabel)], "")
	j.label, j.number, j.turn, j.kept, j.bytes, j.ran = label, number, "", 0, 0, false
}

// Ran notes that the turn runs a command, which may change files without a record. The note is kept with the changes of the turn, if it has any.
// A nil journal notes nothing.
func (j *Journal) Ran() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ran && j.turn != "" {
		_ = appendLine(filepath.Join(j.turn, recordsName), record{Ran: true}) // the turn may have gone; no change depends on it
	}
	j.ran = true
}

// Record records a change that is about to be made. When it returns nil, what the file was is on the disk. After an error
// the change must not be made. A change that is recorded and then not made does no harm.
func (j *Journal) Record(ctx context.Context, c *Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case len(c.Before) > MaxFile:
		return &TooLargeError{fmt.Sprintf("%d bytes, the limit is %d", len(c.Before), MaxFile)}
	case j.bytes+int64(len(c.Before)) > MaxTurn:
		return &TooLargeError{fmt.Sprintf("this turn has already replaced %d bytes, the limit is %d", j.bytes, MaxTurn)}
	case j.kept >= maxChanges:
		return &TooLargeError{fmt.Sprintf("this turn has already changed files %d times", j.kept)}
	}
	unlock, err := j.lock(ctx)
	if err != nil {
		return fmt.Errorf("the journal for undo: %w", err)
	}
	defer unlock()
	if !j.pruned {
		j.pruned = true
		prune(j.o.Dir, j.o.Now())
	}
	if err := j.record(c); err != nil {
		return fmt.Errorf("the journal for undo: %w", err)
	}
	return nil
}

func (j *Journal) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(j.o.folder(), 0o700); err != nil {
		return nil, err
	}
	return lockfile.Lock(ctx, filepath.Join(j.o.folder(), lockName), lockfile.DefaultWait)
}

const (
	lockName    = "lock"
	recordsName = "records"
)

func (j *Journal) record(c *Change) error {
	if j.turn == "" {
		if err := j.open(); err != nil {
			return err
		}
	}
	r := record{Path: c.Path, Existed: c.Existed, Mode: uint32(c.Mode.Perm()), After: digest(c.After), Folders: c.Folders}
	j.kept++
	if c.Existed {
		r.Before, r.Kept = digest(c.Before), strconv.Itoa(j.kept)
		if err := create(filepath.Join(j.turn, r.Kept), c.Before); err != nil {
			return err
		}
		j.bytes += int64(len(c.Before))
	}
	if err := lockfile.SyncFolder(j.turn); err != nil {
		return err
	}
	return appendLine(filepath.Join(j.turn, recordsName), r)
}

// open makes the folder of the turn.
func (j *Journal) open() error {
	now := j.o.Now().UTC()
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s-%d", now.Format("20060102T150405.000000000"), n)
		dir := filepath.Join(j.o.folder(), name)
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		line, err := json.Marshal(header{j.o.Workspace, j.o.Conversation, j.label, now, j.number, j.ran})
		if err != nil {
			return err
		}
		if err := create(filepath.Join(dir, recordsName), append(line, '\n')); err != nil {
			return err
		}
		j.turn = dir
		return errors.Join(lockfile.SyncFolder(dir), lockfile.SyncFolder(j.o.folder()), lockfile.SyncFolder(j.o.Dir))
	}
}

// create writes a new file to the disk.
func create(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// appendLine adds a record to the disk. A line that a crash cut off before stays a line of its own.
func appendLine(name string, r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		_, _ = f.ReadAt(last, info.Size()-1) // an error is one of the write too
	}
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
