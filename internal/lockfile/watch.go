package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"time"
)

// look is how often Watch looks at the file. It costs one system call.
const look = 250 * time.Millisecond

// Watch yields the content of the file, nil if there is none, and again after changes.
func (f *File) Watch(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var seen *Mark
		for {
			if now := MarkOf(f.Path); !now.Same(seen) {
				content, err := f.Load(ctx)
				if ctx.Err() != nil || !yield(content, err) {
					return
				}
				if seen = now; err != nil {
					seen = nil
				}
			}
			if sleep(ctx, look) != nil {
				return
			}
		}
	}
}

// Mark tells a file from what it was at another time, without reading it.
type Mark struct {
	info fs.FileInfo
	none bool // there is no file
	at   time.Time
}

// MarkOf returns the mark of a file as it is now. Whoever reads the file takes it before that, to find a later change.
func MarkOf(path string) *Mark {
	at := time.Now()
	info, err := os.Stat(path)
	return &Mark{info, errors.Is(err, fs.ErrNotExist), at}
}

// settled is how long the time of a file is the same for two changes of it at the most.
const settled = 50 * time.Millisecond

// Same reports whether a file has not changed since it had an earlier mark, or is still not there. It is false for nil, and for
// a mark that was taken so soon after a change that another one may have left the same.
func (m *Mark) Same(was *Mark) bool {
	switch {
	case was == nil:
		return false
	case m.info == nil || was.info == nil:
		return m.none && was.none
	}
	return os.SameFile(was.info, m.info) && m.info.ModTime().Equal(was.info.ModTime()) && m.info.Size() == was.info.Size() &&
		was.at.Sub(was.info.ModTime()).Abs() > settled
}
