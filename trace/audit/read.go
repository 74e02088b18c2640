package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Entry is one line of the log with its place.
type Entry struct {
	Record
	File string // absolute path
	Line int    // from 1
	Raw  []byte // the line without its end; valid until the next entry; nil for a line that is too long
	Err  error  // why the line is not a record; Record is then empty

	line line
}

// Read yields all lines of the log in dir, the oldest first. Each line that is not a record has an Err; Read does not check
// the chain. An error ends the sequence; without a log the sequence is empty.
//
// Read sees the log as it was when the sequence began: a file that is removed meanwhile is still read.
func Read(ctx context.Context, dir string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		files, err := openAll(ctx, dir)
		defer func() {
			for _, f := range files {
				f.Close()
			}
		}()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, f := range files {
			if at := int64(0); !readLines(ctx, f, &at, yield) {
				return
			}
		}
	}
}

// openAll opens the files of the log, the oldest first, while no process writes. A folder in which no lock can be made is
// read without one: nobody writes there.
func openAll(ctx context.Context, dir string) ([]*os.File, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Stat(lockName); err == nil {
		if unlock, err := lockfile.Share(ctx, filepath.Join(dir, lockName), defaultWait); err == nil {
			defer unlock()
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	names, err := oldFiles(root)
	if err != nil {
		return nil, err
	}
	var out []*os.File
	for _, name := range append(names, currentName) {
		f, err := openOld(root, name)
		if errors.Is(err, fs.ErrNotExist) && name == currentName {
			continue
		}
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

// readLines yields the lines of one file from the offset *at up to its present end, and moves *at behind each line before
// it is yielded. It reports whether the sequence goes on. Entry.Line counts from *at.
func readLines(ctx context.Context, f *os.File, at *int64, yield func(*Entry, error) bool) bool {
	info, err := f.Stat()
	if err != nil {
		return yield(nil, err) && false
	}
	lines := newLineReader(io.NewSectionReader(f, *at, max(info.Size()-*at, 0)))
	for n := 1; ; n++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return yield(nil, fmt.Errorf("read %q: %w", f.Name(), err)) && false
		}
		*at += line.size
		if line.whole {
			*at++
		}
		e := &Entry{File: f.Name(), Line: n, Raw: line.text, line: line}
		e.Record, e.Err = line.record()
		if !yield(e, nil) {
			return false
		}
	}
}
