package hosttool

import (
	"context"
	"encoding/json"
	"fmt"
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
	Created  bool   `json:"created"` // the file is new

	Diff   []string `json:"-"` // how the file changed, for people; nil if the user was asked and saw it. See MaxDiff
	Change Change   `json:"-"` // the same, whole, whether the user was asked or not
}

var writeSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"file_path":{"type":"string","description":"Path below the workspace"},` +
	`"content":{"type":"string","description":"The whole file"}},"required":["file_path","content"]}`)

func (h *host) writeTool() tool.Tool {
	return tool.Tool{Name: "write_file", Input: writeSchema, Call: call(h.write),
		Description: "Write a whole file of the workspace, and make its folders. To change part of a file use edit_file. " +
			"The user may be asked first."}
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
	p, err := h.writable(ctx, a.FilePath)
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	defer p.close()
	c, err := h.begin(ctx, p, "write_file")
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	if c.before, err = p.present(); err != nil {
		return tool.Result{}, a.FilePath, err
	}
	if deep := strings.Count(p.rel, "/"); !c.before.existed && deep > MaxDeep {
		return tool.Result{}, a.FilePath, unusable("file_path lies %d folders deep, and a new file lies in at most %d", deep, MaxDeep)
	}
	c.after = []byte(*a.Content)
	if err := h.change(ctx, c); err != nil {
		return tool.Result{}, a.FilePath, err
	}
	verb := "Replaced"
	if !c.before.existed {
		verb = "Created"
	}
	return tool.Success(Written{p.shown, len(c.after), !c.before.existed, c.diff(), c.whole()}, fmt.Sprintf("%s '%s', %s", verb, p.shown, plural(len(c.after), "byte"))), "", nil
}

// writable returns the place of a file that the tools may write. The caller closes it.
func (h *host) writable(ctx context.Context, name string) (*place, error) {
	if name == "" {
		return nil, unusable("file_path is required")
	}
	mounts := h.o.Mounts(ctx)
	p, err := h.place(name, mounts)
	if err != nil {
		return nil, err
	}
	err = p.refuseSkill(mounts)
	if err == nil {
		err = p.refuseBelow(h.o.ReadOnly())
	}
	if err == nil {
		err = p.refuseRepository()
	}
	if err == nil {
		err = p.refuseSkillRoots(h.o.SkillRoots())
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// refuseSkill refuses to write in the folder of a skill. Folders are compared by identity, because one folder can have
// several names.
func (p *place) refuseSkill(mounts []Mount) error {
	m := p.mount
	if m == nil && p.rel == "." {
		return failed("folder", "the workspace is a folder, not a file")
	}
	if m == nil {
		i := (&host{}).newSecrecy(mounts).mountOf(p, path.Dir(p.rel))
		if i < 0 {
			return nil
		}
		m = &mounts[i]
	}
	return denied("read_only", "'%s' belongs to skill '%s': files of skills are read and run, not written; write in the workspace", p.shown, m.Name)
}

// refuseBelow refuses to write in the folders dirs.
func (p *place) refuseBelow(dirs []string) error {
	for _, dir := range dirs {
		if within(p.abs(), dir) {
			return denied("read_only", "'%s' lies in %q, which decides what may run: only the user writes there", p.shown, dir)
		}
	}
	return nil
}

// within reports whether a path is dir or lies below it. It compares the part that exists by identity, and the rest by
// name, ignoring case.
func within(full, dir string) bool {
	rest := "" // the part of dir that does not exist
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
