package hosttool

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/diff"
	"github.com/agent-base/agent-base/internal/undo"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// content is a file as it is now.
type content struct {
	existed bool
	content []byte
	mode    fs.FileMode
}

// change is a change of one file that a call asks for.
type change struct {
	p        *place
	about    string // "writing 'a.txt'"
	call     *permit.Call
	decision permit.Decision
	before   content
	after    []byte
}

// begin decides about the change of a file, before anything of the file is read.
func (h *host) begin(ctx context.Context, p *place, name string) (*change, error) {
	c := &change{p: p, about: fmt.Sprintf("writing '%s'", p.shown)}
	c.call = &permit.Call{Tool: name, Kind: permit.Edit, Path: p.abs(), Special: special(p.rel)}
	var err error
	c.decision, err = h.decide(ctx, c.call, c.about)
	return c, err
}

// change asks the user where that is decided, records what the file was, and writes it. What the user saw is what is
// written: a file that has changed meanwhile is refused.
func (h *host) change(ctx context.Context, c *change) error {
	err := h.approve(ctx, &Request{Call: c.call, Decision: c.decision, Path: c.p.shown,
		Existed: c.before.existed, Before: c.before.content, After: c.after}, c.about)
	if err != nil {
		return err
	}
	now, err := c.p.present()
	if err != nil {
		return err
	}
	if now.existed != c.before.existed || !bytes.Equal(now.content, c.before.content) {
		return failed("changed", "'%s' has changed meanwhile: read it and call again", c.p.shown)
	}
	if err := h.record(ctx, c); err != nil {
		return err
	}
	if err := c.p.replace(ctx, c.after, c.before); err != nil {
		return err
	}
	h.emit(ctx, trace.Event{Kind: trace.FileEdited, Level: slog.LevelInfo, Tool: c.call.Tool,
		Message: fmt.Sprintf("Changed '%s'", c.p.shown)}, c.call, c.decision)
	return nil
}

// record keeps what the file was.
func (h *host) record(ctx context.Context, c *change) error {
	if h.o.Undo == nil {
		return nil
	}
	err := h.o.Undo.Record(ctx, &undo.Change{Path: c.p.rel, Existed: c.before.existed, Before: c.before.content,
		Mode: c.before.mode, After: c.after, Folders: c.p.missingFolders()})
	if err != nil && ctx.Err() == nil {
		return failed("undo", "'%s' was not written: %v", c.p.shown, err)
	}
	return err
}

// maxChange is the size in bytes of the largest change that comes whole with a result: results are kept.
const maxChange = 256 << 10

// Change is how a call changed a file. Nobody may modify it. It is empty if the change is large.
type Change struct {
	Path          string // absolute
	Existed       bool
	Before, After []byte
}

// whole returns the change, for what shows files itself.
func (c *change) whole() Change {
	if len(c.before.content)+len(c.after) > maxChange {
		return Change{}
	}
	return Change{c.p.abs(), c.before.existed, c.before.content, c.after}
}

// diff returns the lines that show the change, if the user was not asked about it.
func (c *change) diff() []string {
	if c.decision.Verdict == permit.Asked {
		return nil
	}
	return diff.Of(c.before.content, c.after, diff.Options{Lines: MaxDiff, Width: maxLine}).Lines
}

// present returns the file at p as it is now, which may be absent. It refuses what is not a regular file.
func (p *place) present() (content, error) {
	info, err := p.root.Lstat(p.name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, nil
	case err != nil:
		return content{}, err
	case info.IsDir():
		return content{}, failed("folder", "'%s' is a folder", p.shown)
	case !info.Mode().IsRegular():
		return content{}, denied("irregular", "'%s' is not a regular file", p.shown)
	}
	f, err := p.root.OpenFile(p.name(), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	return read(f, p.shown)
}

// read returns the whole of an open file of at most MaxFile bytes.
func read(f *os.File, shown string) (content, error) {
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("'%s' has more than %d bytes, the limit of this tool", shown, MaxFile)}
	}
	return content{true, data, info.Mode().Perm()}, err
}

// missingFolders returns the folders that are made for the file, outermost first.
func (p *place) missingFolders() []string {
	var out []string
	for dir := path.Dir(p.rel); dir != "."; dir = path.Dir(dir) {
		if _, err := p.root.Lstat(filepath.FromSlash(dir)); err == nil {
			break
		}
		out = append(out, dir)
	}
	slices.Reverse(out)
	return out
}

// replace writes data to the file in one step: a reader sees the old or the new text, never a part. An existing file
// keeps its mode. If ctx is done, nothing changes.
func (p *place) replace(ctx context.Context, data []byte, before content) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mode := before.mode
	if !before.existed {
		mode = 0o644
		if err := p.root.MkdirAll(filepath.Dir(p.name()), 0o755); err != nil {
			return err
		}
	}
	temp := filepath.Join(filepath.Dir(p.name()), ".agent-"+rand.Text()+".tmp")
	f, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && before.existed {
		err = f.Chmod(mode) // the umask may have removed bits
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.root.Rename(temp, p.name())
	}
	if err != nil {
		_ = p.root.Remove(temp) // the first error is returned
	}
	return err
}
