package undo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Action is what taking a turn back does to a file.
type Action string

// The actions.
const (
	Restore Action = "restored"  // the old content is written
	Remove  Action = "removed"   // the file was new
	Nothing Action = "unchanged" // the file already is what it was
	Refuse  Action = "refused"   // something else changed the file: it stays
)

// File says what happens to one file.
type File struct {
	Path   string // slash path below the workspace
	Action Action
	Why    string // why it is refused
	Kept   string // the file that has the old content, if it is refused; "" if there was no file
	Now    []byte // its present content
	Old    []byte // the content that it gets
}

// target is a file with what is needed to take its changes back.
type target struct {
	path    string
	first   record   // says what the file was
	states  []string // digests that the agent left, or found and replaced; absent is one of them
	foreign bool     // something changed the file between two of the agent's changes
	folders []string
}

// absent is the state of a file that does not exist.
const absent = "absent"

func (r *record) before() string {
	if r.Existed {
		return r.Before
	}
	return absent
}

// targets joins the changes of each file.
func (t *Turn) targets() []*target {
	var out []*target
	for _, r := range t.changes {
		i := slices.IndexFunc(out, func(f *target) bool { return f.path == r.Path })
		if i < 0 {
			out = append(out, &target{path: r.Path, first: r, states: []string{r.before()}})
			i = len(out) - 1
		}
		f := out[i]
		// The change before may not have been made, because of a crash or an error: then the file is what it was.
		f.foreign = f.foreign || !slices.Contains(f.states, r.before())
		f.states = append(f.states, r.After)
		f.folders = append(f.folders, r.Folders...)
	}
	return out
}

// Plan says what taking the turn back does now. It changes nothing.
func (t *Turn) Plan(ctx context.Context) ([]File, error) { return t.each(ctx, (*target).plan) }

// Undo takes the turn back as Plan says, file by file, and marks it as taken back. It returns what was done. After an error
// some files can be done and others not; calling it again goes on.
func (t *Turn) Undo(ctx context.Context) ([]File, error) {
	unlock, err := lockfile.Lock(ctx, filepath.Join(t.o.folder(), lockName), lockfile.DefaultWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	files, err := t.each(ctx, (*target).undo)
	if err != nil {
		return files, err
	}
	t.Undone = true
	return files, appendLine(filepath.Join(t.dir, recordsName), record{Undone: true})
}

// each calls do for each file, the one changed last being first.
func (t *Turn) each(ctx context.Context, do func(*target, *Turn, *os.Root) (File, error)) ([]File, error) {
	root, err := os.OpenRoot(t.o.Workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []File
	for _, f := range slices.Backward(t.targets()) {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		file, err := do(f, t, root)
		if err != nil {
			return out, fmt.Errorf("%s: %w", f.path, err)
		}
		out = append(out, file)
	}
	return out, nil
}

// plan decides about one file.
func (f *target) plan(t *Turn, root *os.Root) (File, error) {
	out := File{Path: f.path}
	refuse := func(why string) (File, error) {
		out.Action, out.Why = Refuse, why
		if f.first.Existed {
			out.Kept = filepath.Join(t.dir, f.first.Kept)
		}
		return out, nil
	}
	now, state, err := present(root, f.path)
	if err != nil {
		return refuse(err.Error())
	}
	out.Now = now
	if f.first.Existed {
		out.Old, err = lockfile.Read(filepath.Join(t.dir, f.first.Kept), MaxFile)
		if err != nil || digest(out.Old) != f.first.Before {
			out.Old = nil
			return refuse("its old content is damaged or missing")
		}
	}
	switch {
	case state == f.first.before():
		out.Action = Nothing
	case f.foreign:
		return refuse("something else changed it between two changes of this turn")
	case state == absent:
		return refuse("it was removed since")
	case !slices.Contains(f.states, state):
		return refuse("it was changed since")
	case f.first.Existed:
		out.Action = Restore
	default:
		out.Action = Remove
	}
	return out, nil
}

// undo does what plan says.
func (f *target) undo(t *Turn, root *os.Root) (File, error) {
	out, err := f.plan(t, root)
	if err != nil {
		return out, err
	}
	switch out.Action {
	case Restore:
		err = replace(root, f.path, out.Old, fs.FileMode(f.first.Mode))
	case Remove:
		err = root.Remove(filepath.FromSlash(f.path))
	}
	if err == nil && !f.first.Existed && out.Action != Refuse {
		for _, dir := range slices.Backward(f.folders) {
			_ = root.Remove(filepath.FromSlash(dir)) // it stays if something is in it
		}
	}
	return out, err
}

// present returns a file's content and state. It refuses what is not a regular file, a link on the way, and long files.
func present(root *os.Root, name string) ([]byte, string, error) {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(filepath.FromSlash(at))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, absent, nil
		case err != nil:
			return nil, "", err
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, "", errors.New("a symbolic link is on its path now")
		case at == name && !info.Mode().IsRegular():
			return nil, "", errors.New("it is not a regular file now")
		}
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, "", err
	}
	if len(content) > MaxFile {
		return nil, "", errors.New("it was changed since")
	}
	return content, digest(content), nil
}

// replace writes a file in one step.
func replace(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	name = filepath.FromSlash(name)
	temp := filepath.Join(filepath.Dir(name), ".agent-"+rand.Text()+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp) // the first error is returned
	}
	return err
}
