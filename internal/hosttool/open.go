package hosttool

import (
	"context"
	"os"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/paths"
)

// open opens a regular file for reading. It refuses a path that leads outside, a file that Options.Blocked refuses, a
// file of version control, a script of a skill, and anything that is not a regular file, without waiting for a pipe or a
// device.
func (h *host) open(ctx context.Context, name string) (*os.File, *place, error) {
	if name == "" {
		return nil, nil, unusable("file_path is required")
	}
	mounts := h.o.Mounts(ctx)
	p, err := h.place(name, mounts)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	keep := h.newSecrecy(mounts)
	if err := h.permitRead(ctx, p, keep); err != nil {
		return nil, nil, err
	}
	f, err := h.openAt(ctx, p, keep)
	return f, p, err
}

// openAt is open for a place.
func (h *host) openAt(ctx context.Context, p *place, keep *secrecy) (*os.File, error) {
	if err := p.refuseRead(); err != nil {
		return nil, err
	}
	if d := h.o.Decide(ctx, readOf(p)); d.Verdict == permit.Denied { // also for a file that is not there
		return nil, notRead(p, d)
	}
	if h.o.Blocked != nil {
		if err := h.o.Blocked(p.abs()); err != nil {
			return nil, denied("blocked", "%v", err)
		}
	}
	f, err := p.root.OpenFile(p.name(), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = failed("folder", "'%s' is a folder: glob lists it", p.shown)
	case !info.Mode().IsRegular():
		err = denied("irregular", "'%s' is not a regular file", p.shown)
	default:
		err = h.mayOpen(ctx, p, info, keep)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// mayOpen refuses an open file that rules deny under another name, and a script.
func (h *host) mayOpen(ctx context.Context, p *place, info os.FileInfo, keep *secrecy) error {
	if _, ok := paths.Shared(info); ok {
		if _, d := h.decideRead(ctx, p, info, keep); d.Verdict == permit.Denied {
			return notRead(p, d)
		}
	}
	if h.o.ReadScripts {
		return nil
	}
	if s := keep.script(ctx, p, info); s != nil {
		return h.refuseScript(ctx, s)
	}
	return nil
}

func notRead(p *place, d permit.Decision) error {
	return denied("not_allowed", "Reading '%s' is not allowed: %s", p.shown, d.Reason)
}
