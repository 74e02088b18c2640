package content

import (
	"bytes"
	"context"
	"io"
	"io/fs"
)

// What a pointer of Git LFS is: a short text that stands in a repository in place of a large file.
const (
	pointerStart = "version https://git-lfs.github.com/spec/"
	mostPointer  = 1024 // bytes, as its specification says
)

// IsPointer reports whether a regular file of a size in bytes is a pointer of Git LFS. A file that cannot be read is none.
func IsPointer(fsys fs.FS, name string, size int64) bool {
	if size < int64(len(pointerStart)) || size >= mostPointer {
		return false
	}
	f, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(pointerStart))
	_, err = io.ReadFull(f, start)
	return err == nil && bytes.Equal(start, []byte(pointerStart))
}

// Pointers lists the files of a skill's folder that are pointers of Git LFS. What cannot be listed has none.
func Pointers(ctx context.Context, fsys fs.FS) (out []string, err error) {
	seen := 0
	err = fs.WalkDir(Of(fsys), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > mostSeen {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return ctx.Err()
		}
		if info, err := d.Info(); err == nil && IsPointer(fsys, p, info.Size()) {
			out = append(out, p)
		}
		return ctx.Err()
	})
	return out, err
}
