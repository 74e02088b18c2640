package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// execute runs the command of a script, and notes what became of its temporary files.
func (h *Host) execute(ctx context.Context, c *call, r *scriptRun) (*runner.Command, *runner.Output, error) {
	cmd, out, err := h.executeIn(ctx, c, r)
	c.note = joined(c.note, r.place.lasting.settle(cmd, out))
	return cmd, out, err
}

// executeIn runs the command of a script. Where the runner can, what it writes in its skill's folder goes to a layer; else a script that
// seems to write there works in a copy of the folder. It returns no command if there is none.
func (h *Host) executeIn(ctx context.Context, c *call, r *scriptRun) (*runner.Command, *runner.Output, error) {
	note := c.note
	cmd, err := h.scriptCommand(c, r)
	if err != nil {
		return nil, nil, err
	}
	if cmd.Access(r.dir) == runner.MayWrite { // the user granted it
		out, err := h.o.Runner.Run(ctx, cmd)
		return cmd, out, err
	}
	l := h.layer(ctx, c, r, !h.noLayer.Load())
	for {
		if l != nil && h.noLayer.Load() {
			c.note = note
			if beside := filepath.Dir(l.dir); cmd.Access(beside) != runner.Hides {
				l.linkNeighbours(beside)
			}
			if cmd, err = l.instead(h); err != nil {
				return nil, nil, err
			}
		} else if l != nil {
			cmd.Layer = &runner.Layer{Dir: l.dir, Upper: l.upper, Work: l.work}
		}
		out, err := h.o.Runner.Run(ctx, cmd)
		if !errors.Is(err, runner.ErrNoLayer) || cmd.Layer == nil {
			if l != nil && out != nil {
				c.note = joined(c.note, l.keep(ctx))
			}
			r.layer = l
			return cmd, out, err
		}
		h.noLayer.Store(true)
		cmd.Layer, cmd.In = nil, c.input.input() // the runner has closed the former one
		program.RemoveAll(filepath.Dir(l.upper))
		l = h.layer(ctx, c, r, false)
	}
}

// instead returns the command that runs the script from the copy in the upper folder.
func (l *layer) instead(h *Host) (*runner.Command, error) {
	r := l.r
	for i, arg := range r.argv { // up to the script: what follows are other arguments
		r.argv[i] = strings.ReplaceAll(arg, l.dir, l.upper)
	}
	r.file = strings.Replace(r.file, l.dir, l.upper, 1)
	r.dir, r.copied = l.upper, true
	return h.scriptCommand(l.c, r)
}

// again has the next run of a content work in a copy of the skill's folder, if this one failed because it changes a file there.
func (r *scriptRun) again(ctx context.Context, c *call, f *explain.Finding) {
	if !f.ChangesSkill() || r.layer != nil && r.layer.whole {
		return
	}
	kept := r.place.keptBy(ctx, c.s, true)
	if kept != "" && noteCopy(kept) == nil {
		f.MayAgain()
	}
}

// keptBy returns where stays what the scripts of a skill's content write in its folder, "" if that is not known. Without must it is not
// known if nothing of the skill is kept.
func (w *workplace) keptBy(ctx context.Context, s *skill.Skill, must bool) string {
	if _, err := os.Lstat(w.kept); err != nil && !must {
		return ""
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return ""
	}
	_, hex, _ := strings.Cut(digest, ":")
	return filepath.Join(w.kept, hex[:min(len(hex), keptDigits)])
}

// keptDigits is how many digits of a digest name the folder for what is kept.
const keptDigits = 16
