package hosttool

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/paths"
)

// linked has the names of those files of the workspace that have several, for one call.
type linked struct {
	names   map[paths.FileID][]string // absolute paths
	partial bool                      // there was more than maxVisited files
}

// linksIn reads the names.
func linksIn(ctx context.Context, dir string) *linked {
	l := &linked{names: map[paths.FileID][]string{}}
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxVisited || ctx.Err() != nil {
			l.partial = true
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if id, ok := paths.Shared(info); ok {
				l.names[id] = append(l.names[id], path)
			}
		}
		return nil
	})
	return l
}

// decideRead returns what happens to reading a file: the strictest of what the rules say about its names, because another name does not
// make another file. info describes it.
func (h *host) decideRead(ctx context.Context, p *place, info os.FileInfo, keep *secrecy) (*permit.Call, permit.Decision) {
	c := readOf(p)
	d := h.o.Decide(ctx, c)
	id, ok := paths.Shared(info)
	if !ok || d.Verdict == permit.Denied || h.o.ReadRules != nil && !h.o.ReadRules() {
		return c, d
	}
	if keep.links == nil {
		keep.links = linksIn(ctx, h.real)
	}
	for _, name := range keep.links.names[id] {
		other := &permit.Call{Tool: c.Tool, Kind: c.Kind, Path: name}
		if o := h.o.Decide(ctx, other); o.Verdict == permit.Denied || o.Verdict == permit.Asked && d.Verdict == permit.Allowed {
			c, d = other, o
			d.Reason += ", under another name of it"
		}
	}
	if keep.links.partial && d.Verdict == permit.Allowed {
		d = permit.Decision{Verdict: permit.Denied, Reason: "it has several names, and the workspace has too many files to compare them with the rules"}
	}
	return c, d
}
