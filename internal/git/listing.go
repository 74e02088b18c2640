package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Choose says which files of a commit are wanted. It is told the paths of all files, and returns whether one of them is wanted.
type Choose func(paths iter.Seq[string]) func(path string) bool

// mostListed is the most bytes that the list of files of a commit may have, and longestEntry of one of its entries.
const (
	mostListed   = 512 << 20
	longestEntry = 64 << 10
)

// listing is the list of files of a commit, as git ls-tree -r -z writes it. A large one is never in memory.
type listing struct {
	from io.ReaderAt
	size int64
}

// entries yields the entries, which end with a NUL. An error is the last that it yields.
func (l listing) entries() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(l.from, 0, l.size), longestEntry)
		for {
			b, err := r.ReadSlice(0)
			switch {
			case errors.Is(err, io.EOF) && len(b) == 0:
				return
			case errors.Is(err, io.EOF):
				err = fmt.Errorf("%w: its list of files is cut", ErrHostile)
			case errors.Is(err, bufio.ErrBufferFull):
				err = fmt.Errorf("%w: its list of files has an entry of more than %d bytes", ErrHostile, longestEntry)
			}
			if err != nil {
				yield("", err)
				return
			}
			if !yield(string(b[:len(b)-1]), nil) {
				return
			}
		}
	}
}

// paths yields the path of each entry up to the first that cannot be read.
func (l listing) paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for entry, err := range l.entries() {
			_, p, ok := strings.Cut(entry, "\t")
			if err != nil || !ok || !yield(p) {
				return
			}
		}
	}
}

// list reads the list of files. Git writes it to a file of the repository's folder.
func (r *Repository) list(ctx context.Context) (err error) {
	f, err := os.OpenFile(filepath.Join(r.o.Dir, "list"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, _, err := r.c.run(ctx, &call{args: []string{"ls-tree", "-r", "-z", "--full-tree", r.o.Commit}, dir: r.o.Dir, file: f}); err != nil {
		return explain(r.o.URL, err, 1)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > mostListed {
		return fmt.Errorf("%s: %w", r.o.URL, &tooMuch{"its list of files has more than " + bytesText(mostListed)})
	}
	r.t, err = parseTree(listing{f, info.Size()}, r.c.o.Limits.Files, r.o.Choose)
	if err != nil {
		return fmt.Errorf("%s: %w", r.o.URL, err)
	}
	return nil
}
