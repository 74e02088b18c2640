package hosttool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/tool"
)

// Names is the result of glob.
type Names struct {
	Files   []string `json:"files"`              // by path
	LeftOut int      `json:"left_out,omitempty"` // number of files that are not listed
	Partial bool     `json:"partial,omitempty"`  // the walk stopped early
}

// Brief says for people what was found.
func (n Names) Brief() string { return plural(len(n.Files)+n.LeftOut, "file") }

var globSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"pattern":{"type":"string","description":"Such as **/*.go or skills/NAME/**"},` +
	`"path":{"type":"string","description":"Folder to look in; default: the workspace"}},"required":["pattern"]}`)

func (h *host) globTool() tool.Tool {
	return tool.Tool{Name: "glob", Input: globSchema, Call: call(h.glob),
		Description: "List files by name, at most 500, without .git and node_modules."}
}

type globArguments struct{ Pattern, Path string }

func (h *host) glob(ctx context.Context, a *globArguments) (tool.Result, string, error) {
	if err := checkPattern(a.Pattern); err != nil {
		return tool.Result{}, "", err
	}
	base, pattern := glob.Split(filepath.ToSlash(a.Pattern))
	dir := base
	if !path.IsAbs(base) && a.Path != "" {
		dir = filepath.Join(a.Path, base)
	}
	all, err := h.branches(dir, h.o.Mounts(ctx))
	if err != nil {
		return tool.Result{}, a.Pattern, err
	}
	defer closeAll(all)
	found := []string{}
	partial, err := walkAll(ctx, all, func(b *branch, rel string, _ fs.DirEntry) error {
		if glob.Match(pattern, b.below(rel)) {
			found = append(found, b.shownAs(rel))
		}
		return nil
	})
	if err != nil {
		return tool.Result{}, dir, err
	}
	slices.Sort(found)
	out := Names{Files: found, Partial: partial}
	message := "Found " + plural(len(found), "file")
	if len(found) > MaxNames {
		out.Files, out.LeftOut = found[:MaxNames], len(found)-MaxNames
		message += fmt.Sprintf("; only the first %d are listed, %d are left out: narrow the pattern", MaxNames, out.LeftOut)
	}
	if partial {
		message += fmt.Sprintf("; only %d files and folders were visited", maxVisited)
	}
	return tool.Success(out, message), "", nil
}
