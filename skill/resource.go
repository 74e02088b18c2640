package skill

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// Resource is the content of one file of a skill.
type Resource struct {
	Data        []byte
	Binary      bool // not text: it holds NUL or is not UTF-8
	ContentType string
}

// ResourceError says why a file of a skill cannot be read.
type ResourceError struct {
	Path    string
	Suggest []string // files that are there and come near
	Err     error
}

// Error names the path and the reason.
func (e *ResourceError) Error() string { return fmt.Sprintf("resource %q: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *ResourceError) Unwrap() error { return e.Err }

// Read returns a regular file of the skill by its slash path. The error is a *ResourceError.
func (s *Skill) Read(name string) (*Resource, error) {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\%\x00") {
		return nil, &ResourceError{Path: name, Err: fs.ErrInvalid}
	}
	data, err := readCapped(s.tree, name, MaxResource)
	if err != nil {
		return nil, &ResourceError{Path: name, Err: err}
	}
	binary := bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
	return &Resource{Data: data, Binary: binary, ContentType: contentType(name, binary)}, nil
}

func contentType(name string, binary bool) string {
	switch {
	case binary:
		return "application/octet-stream"
	case strings.HasSuffix(name, ".md"):
		return "text/markdown"
	}
	return "text/plain"
}
