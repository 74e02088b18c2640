package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// target is what validate checks: a skill's folder, or a single file with another name. Paths are as they were
// typed, so terminals can link them.
type target struct {
	dir  string // the folder
	file string // the manifest in it; for a skill the existing one
	bare bool   // only the file: it belongs to no skill

	tree walk.FS // the folder, or one above it
	rel  string  // the folder's slash path in tree
	open func(context.Context) (skill.Tree, error)
}

// named returns the folder of the skill that is called so, or its file if it is a command. It reports whether there is one on disk.
func (o *validateOptions) named(ctx context.Context, name string) (string, bool) {
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return "", false
	}
	library.WarnAlike(o.out, cat)
	e, err := cat.Lookup(name)
	if err != nil {
		return "", false
	}
	file := location(ctx, e)
	if strings.EqualFold(filepath.Base(file), "SKILL.md") {
		return filepath.Dir(file), true
	}
	return file, file != ""
}

// targets returns what a path means: a file, a skill's folder, or all skills in a folder. What is no path may be the name of a
// skill. They stay open until the file system that comes with them is closed.
func (o *validateOptions) targets(ctx context.Context, path string) ([]target, walk.FS, error) {
	info, err := os.Stat(o.sys.Abs(path))
	if errors.Is(err, fs.ErrNotExist) {
		if dir, ok := o.named(ctx, path); ok {
			return o.targets(ctx, dir)
		}
		return nil, nil, failure.NotFound(fmt.Errorf("%q does not exist", path), "name a skill, a SKILL.md, the folder of a skill, or a folder of skills")
	}
	if err != nil {
		return nil, nil, err
	}
	dir, file := path, ""
	if !info.IsDir() {
		dir, file = filepath.Dir(path), filepath.Base(path)
	}
	files, err := walk.OpenFS(o.sys.Abs(dir))
	if err != nil {
		return nil, nil, err
	}
	tree := walk.Remember(files)
	out, err := o.targetsIn(ctx, dir, file)
	if err != nil {
		tree.Close()
		return nil, nil, err
	}
	for i := range out {
		out[i].tree = tree
	}
	return out, tree, nil
}

// targetsIn is targets of a folder, or of one file in it where that was named.
func (o *validateOptions) targetsIn(ctx context.Context, folder, file string) ([]target, error) {
	if file != "" {
		return []target{{dir: folder, file: file, rel: ".", open: o.opener(folder), bare: !strings.EqualFold(file, "SKILL.md")}}, nil
	}
	var out []target
	for _, file := range []string{"SKILL.md", "skill.md"} {
		if _, err := os.Lstat(o.sys.Abs(filepath.Join(folder, file))); err == nil {
			out = append(out, target{dir: folder, file: file, rel: ".", open: o.opener(folder)})
			break
		}
	}
	var inside, hidden []string
	for f, err := range skill.Dir(o.sys.Abs(folder), &skill.DirOptions{Nested: true, Bare: true, Inside: true}).Skills(ctx) {
		var note *manifest.Problem
		if errors.As(err, &note) {
			rel, err := filepath.Rel(o.sys.Abs(folder), note.File)
			switch note.Code {
			case "link-skipped", "discovery-bound": // no folder of a skill
				o.out.WarnProblem(*note)
				continue
			case "manifest-inside":
				if err == nil {
					inside = append(inside, filepath.Join(folder, rel))
				}
				continue
			case "manifest-hidden":
				if at := filepath.Join(folder, walk.Unsearched(filepath.ToSlash(rel))); err == nil && !slices.Contains(hidden, at) {
					hidden = append(hidden, at)
				}
				continue
			}
		}
		if f.Path == "." && len(out) > 0 { // it is the first one
			continue
		}
		if note != nil && note.Code == "manifest-case" {
			f.Path = path.Dir(f.Path)
		}
		file := f.File
		if file == "" { // it could not be read: the check says why
			file = "SKILL.md"
		}
		out = append(out, target{dir: filepath.Join(folder, filepath.FromSlash(f.Path)), file: file, rel: f.Path, open: f.Open})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(inside) > 0 {
		o.out.Remark(fmt.Sprintf("not checked, because what lies below a skill is part of it: %s", some(inside, mostInside)))
	}
	if len(out) == 0 && len(hidden) > 0 {
		return nil, failure.NotFound(fmt.Errorf("no SKILL.md in %q outside of hidden folders, which are not searched: there are some in %s", folder, some(hidden, mostNames)),
			"name that folder: agent skill validate "+hidden[0])
	}
	if len(out) == 0 {
		return nil, &failure.Error{Exit: failure.ExitNotFound, Code: "not_found", Err: fmt.Errorf("no SKILL.md in %q", folder),
			Hint: "name a SKILL.md, a skill's folder, or a folder of skills"}
	}
	return out, nil
}

// mostInside is how many manifests below a skill are named.
const mostInside = 5

// opener opens a skill's folder as a source does.
func (o *validateOptions) opener(path string) func(context.Context) (skill.Tree, error) {
	return func(ctx context.Context) (skill.Tree, error) {
		for f := range skill.Dir(o.sys.Abs(path), nil).Skills(ctx) {
			if f.Path == "." && f.Open != nil {
				return f.Open(ctx)
			}
		}
		return nil, fs.ErrNotExist
	}
}

// repair fixes in place the problems of a manifest that need no decision, and returns them.
func repair(dir, file string, o *manifest.Options) ([]manifest.Problem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	src, mode, err := readManifest(root, file)
	if err != nil {
		return nil, nil //nolint:nilerr // the check that follows says why it cannot be read
	}
	fixed, changed, err := manifest.Fix(src, o)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return changed, lockfile.Replace(root, file, fixed, mode)
}

// readManifestAt is readManifest of a file in a folder that is not open.
func readManifestAt(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	src, _, err := readManifest(root, name)
	return src, err
}

// readManifest reads a regular file of at most manifest.MaxManifest bytes. It never waits for a pipe.
func readManifest(root *os.Root, name string) ([]byte, fs.FileMode, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is not a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, manifest.MaxManifest+1))
	if err == nil && len(b) > manifest.MaxManifest {
		err = fmt.Errorf("it exceeds %d bytes", manifest.MaxManifest)
	}
	return b, info.Mode().Perm(), err
}

// parallel calls work for 0 to n-1 from a number of goroutines, and waits for all. The error is the one of the lowest
// number, or ctx's; after an error nothing new is begun.
func parallel(ctx context.Context, n, workers int, work func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(n, workers) {
		group.Go(func() {
			for ctx.Err() == nil && !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = work(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
