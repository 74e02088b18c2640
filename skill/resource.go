package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits for reading files of a skill.
const (
	MaxResource = 10 << 20 // bytes of one file
	maxFiles    = 1000     // files that Files lists
)

// Resource is the content of one file of a skill.
type Resource struct {
	Data        []byte
	Size        int64 // bytes
	Binary      bool  // not text: it holds NUL or is not UTF-8
	ContentType string
}

// ResourceError is the error for a file of a skill that cannot be read.
type ResourceError struct {
	Path    string
	Suggest []string // existing files with similar names, at most 3
	Err     error
}

// Error returns the path, the reason and similar files.
func (e *ResourceError) Error() string {
	s := fmt.Sprintf("resource %q: %s", e.Path, reasonOf(e.Err))
	if len(e.Suggest) > 0 {
		s += fmt.Sprintf(" (did you mean %s?)", strings.Join(quoted(e.Suggest), " or "))
	}
	return s
}

// Unwrap returns the cause.
func (e *ResourceError) Unwrap() error { return e.Err }

// Read returns a regular file of the skill by its slash path. The path is taken literally; Read rejects a path that
// could mean another file. The error is a *ResourceError.
func (s *Skill) Read(name string) (*Resource, error) {
	data, err := s.ReadFile(name)
	if err != nil {
		return nil, err
	}
	binary := isBinary(data)
	return &Resource{Data: data, Size: int64(len(data)), Binary: binary, ContentType: contentType(name, binary)}, nil
}

// ReadFile returns the content of one regular file, by the rules of Read.
func (s *Skill) ReadFile(name string) ([]byte, error) {
	err := checkResource(name)
	if s.closed.Load() {
		err = ErrClosed
	}
	if err == nil {
		var data []byte
		if data, err = readCapped(content.Of(s.tree), name, MaxResource); err == nil {
			return data, nil
		}
	}
	if checkResource(name) == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrTooBig) && isLinked(s.tree, name) {
		err = ErrLinked
	}
	re := &ResourceError{Path: name, Err: err}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		re.Suggest = s.nearFiles(name)
	}
	return nil, re
}

// ErrLinked is the error for a file behind a symbolic link that leads out of the skill.
var ErrLinked = errors.New("a symbolic link is not followed out of the skill: put the file in the place of the link, or install the skill from its repository")

// isLinked reports whether a path is a symbolic link or leads through one.
func isLinked(fsys fs.FS, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		entries, _ := fs.ReadDir(fsys, path.Dir(name)) // a folder that cannot be read has no links
		if slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == path.Base(name) && d.Type()&fs.ModeSymlink != 0 }) {
			return true
		}
	}
	return false
}

// checkResource rejects every path that is not plainly one file below the skill.
func checkResource(name string) error {
	refuse := func(why string) error { return fmt.Errorf("%w: %s", fs.ErrInvalid, why) }
	switch {
	case name == "" || name == ".":
		return refuse("path names no file")
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		return refuse("path must be relative to the skill")
	case strings.Contains(name, `\`):
		return refuse(`path has a backslash, write "/"`)
	case !utf8.ValidString(name):
		return refuse("path is not UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse("path has a control character")
	case encoded(name):
		return refuse("path is percent-encoded, write the name itself")
	case !fs.ValidPath(name):
		return refuse(`path must not have ".", "..", empty parts or a slash at its end`)
	}
	for part := range strings.SplitSeq(name, "/") {
		if filename.Unsafe(part) != "" {
			return refuse(fmt.Sprintf("%q is not a file name on every system", part))
		}
	}
	return nil
}

// encoded reports whether the name contains a "%" and two hexadecimal digits.
func encoded(name string) bool {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	for i := 0; i+2 < len(name); i++ {
		if name[i] == '%' && hex(name[i+1]) && hex(name[i+2]) {
			return true
		}
	}
	return false
}

// nearFiles suggests files for a path that does not exist: by file name, then by path.
func (s *Skill) nearFiles(name string) []string {
	if len(name) > 4*manifest.MaxName {
		return nil
	}
	// The list is bounded, so it needs no context. Files that cannot be listed are not suggested.
	files, _, _ := s.list(func() error { return nil })
	var paths []string
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	for _, f := range files {
		if strings.ToLower(path.Base(f.Path)) == base && len(paths) < near.MaxNames {
			paths = append(paths, f.Path)
		}
	}
	if paths != nil {
		return paths
	}
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return near.Names(name, paths)
}

func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) }

func contentType(name string, binary bool) string {
	switch {
	case binary:
		return "application/octet-stream"
	case strings.HasSuffix(name, ".md"):
		return "text/markdown"
	}
	return "text/plain"
}

// ErrTooBig is the error for a file over a limit; its text names both.
var ErrTooBig = errors.New("file is too big")

// readCapped reads a regular file. It rejects a file that is too big, and one that grows while it is read.
func readCapped(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, errors.New("is a folder, not a file")
	case !info.Mode().IsRegular():
		return nil, errIrregular
	case info.Size() > limit:
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooBig, info.Size(), limit)
	}
	return readGrown(f, info.Size(), limit)
}

// readGrown reads a file that may have more bytes than its size said.
func readGrown(f io.Reader, size, limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: more than %d bytes, at most that many are read", ErrTooBig, limit)
	}
	return b.Bytes(), err
}
