package hosttool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/tool"
)

// Written is the result of write_file.
type Written struct {
	FilePath string `json:"file_path"`
	Bytes    int    `json:"bytes"`
	Created  bool   `json:"created"` // there was no such file
}

var writeSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"file_path":{"type":"string","description":"Path below the workspace"},` +
	`"content":{"type":"string","description":"The whole file"}},"required":["file_path","content"]}`)

func (h *host) writeTool() tool.Tool {
	return tool.Tool{Name: "write_file", Input: writeSchema, Call: call(h.write),
		Description: "Write a whole file of the workspace, with the folders that it needs. To change a part of one use edit_file."}
}

type writeArguments struct {
	FilePath string `json:"file_path"`
	Content  *string
}

func (h *host) write(ctx context.Context, a *writeArguments) (tool.Result, string, error) {
	if a.Content == nil {
		return tool.Result{}, a.FilePath, unusable("content is required; an empty text makes an empty file")
	}
	if len(*a.Content) > MaxFile {
		return tool.Result{}, a.FilePath, &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("content has %d bytes, at most %d are written", len(*a.Content), MaxFile)}
	}
	p, err := h.writable(a.FilePath)
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	defer p.close()
	created, err := p.replace(ctx, []byte(*a.Content))
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	verb := "Replaced"
	if created {
		verb = "Created"
	}
	return tool.Success(Written{p.shown, len(*a.Content), created}, fmt.Sprintf("%s '%s', %s", verb, p.shown, plural(len(*a.Content), "byte"))), "", nil
}

// writable finds the place of a file that may be written. Close it.
func (h *host) writable(name string) (*place, error) {
	if name == "" {
		return nil, unusable("file_path is required")
	}
	mounts := h.o.Mounts()
	p, err := h.place(name, mounts)
	if err != nil {
		return nil, err
	}
	err = p.refuseWrite(mounts)
	if err == nil {
		err = p.refuseBelow(h.o.ReadOnly())
	}
	if err == nil {
		err = p.refusePlant(h.o.SkillRoots())
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// refuseWrite keeps skills and what git executes as they are. Folders are compared by identity, since a path without
// links can still be spelled in several ways.
func (p *place) refuseWrite(mounts []Mount) error {
	readOnly := func(m *Mount) error {
		return denied("read_only", "'%s' belongs to skill '%s': files of skills are read and run, not written; write below the workspace", p.shown, m.Name)
	}
	if p.mount != nil {
		return readOnly(p.mount)
	}
	if p.rel == "." {
		return failed("folder", "the workspace itself is a folder, not a file")
	}
	for dir := path.Dir(p.rel); ; dir = path.Dir(dir) {
		if isGit(path.Base(dir)) {
			return denied("read_only", "'%s': what lies in .git is written by git alone", p.shown)
		}
		if dir == "." {
			break
		}
	}
	if i := newSecrecy(mounts).mountOf(p, path.Dir(p.rel)); i >= 0 {
		return readOnly(&mounts[i])
	}
	if isGit(path.Base(p.rel)) { // a .git file says where the repository is
		return denied("read_only", "'%s': what lies in .git is written by git alone", p.shown)
	}
	return nil
}

// refuseBelow keeps the folders dirs and what is below them as they are.
func (p *place) refuseBelow(dirs []string) error {
	for _, dir := range dirs {
		if within(p.abs(), dir) {
			return denied("read_only", "'%s' lies in %q, which decides what may run: the user writes there, not a tool", p.shown, dir)
		}
	}
	return nil
}

// within reports whether a path is dir or lies below it. What is there is compared by identity, the rest by its letters
// whatever their case.
func within(full, dir string) bool {
	rest := "" // of dir, what is not there
	at, err := os.Stat(dir)
	for err != nil && filepath.Dir(dir) != dir {
		rest, dir = filepath.Join(filepath.Base(dir), rest), filepath.Dir(dir)
		at, err = os.Stat(dir)
	}
	rest = strings.ToLower(rest)
	for below := ""; ; full = filepath.Dir(full) {
		info, err := os.Stat(full)
		if err == nil && at != nil && os.SameFile(info, at) {
			return below == rest || rest == "" || strings.HasPrefix(below, rest+string(filepath.Separator))
		}
		if filepath.Dir(full) == full {
			return false
		}
		below = filepath.Join(strings.ToLower(filepath.Base(full)), below)
	}
}

// isGit reports whether some file system takes the name for .git.
func isGit(name string) bool {
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// replace puts data in the file's place in one step: whoever reads it sees the old or the new text. The mode of a file
// that is there stays. An ended context changes nothing.
func (p *place) replace(ctx context.Context, data []byte) (created bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	mode := fs.FileMode(0o644)
	info, err := p.root.Lstat(p.name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		created = true
		if err := p.root.MkdirAll(filepath.Dir(p.name()), 0o755); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	case info.IsDir():
		return false, failed("folder", "'%s' is a folder", p.shown)
	case !info.Mode().IsRegular():
		return false, denied("irregular", "'%s' is no regular file", p.shown)
	default:
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(p.name()), ".agent-"+rand.Text()+".tmp")
	f, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	if err == nil && !created {
		err = f.Chmod(mode) // whatever the umask took away
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.root.Rename(temp, p.name())
	}
	if err != nil {
		_ = p.root.Remove(temp) // the first error counts
	}
	return created, err
}
