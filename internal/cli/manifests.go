package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/agent-base/agent-base/skill"
)

// manifestFile is a SKILL.md to be checked. The paths are as they were typed, so that the output can be clicked.
type manifestFile struct {
	path string
}

// manifests returns the SKILL.md files that a path stands for: itself, that of a skill's folder, or those of all skills
// in a folder.
func (a *app) manifests(ctx context.Context, path string) ([]manifestFile, error) {
	info, err := os.Stat(a.abs(path))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []manifestFile{{path: path}}, nil
	}
	for _, name := range []string{"SKILL.md", "skill.md"} {
		if _, err := os.Lstat(a.abs(filepath.Join(path, name))); err == nil {
			return []manifestFile{{path: filepath.Join(path, name)}}, nil
		}
	}
	var out []manifestFile
	for f := range skill.Dir(a.abs(path), &skill.DirOptions{Nested: true}).Skills(ctx) {
		file := f.File
		if file == "" { // it could not be read: the check says why
			file = "SKILL.md"
		}
		out = append(out, manifestFile{filepath.Join(path, filepath.FromSlash(f.Path), file)})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, noManifest(path)
	}
	return out, nil
}

// readManifest reads a SKILL.md: a regular file of at most skill.MaxManifest bytes. It never waits for a pipe.
func readManifest(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, skill.MaxManifest+1))
	if err == nil && len(b) > skill.MaxManifest {
		err = fmt.Errorf("exceeds %d bytes", skill.MaxManifest)
	}
	return b, err
}

// unreadable is the problem of a manifest that cannot be read at all.
func unreadable(path string, err error) skill.Problem {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return skill.Problem{Code: "file-unreadable", Severity: skill.Error, File: path, Message: err.Error(), Fatal: true}
}
