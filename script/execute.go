package script

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/layer"
	"github.com/agent-base/agent-base/script/runner"
)

// execute runs the command of a script, and notes what became of its temporary files.
func (h *Host) execute(ctx context.Context, c *call, r *scriptRun) (*runner.Command, *runner.Output, error) {
	cmd, out, err := h.executeIn(ctx, c, r)
	c.note = joined(c.note, r.place.Lasting.Settle(cmd, out))
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
	run := &layer.Run{Skill: c.s, File: c.sc.File, Hook: c.hook != nil, Dir: r.dir, Cwd: r.cwd, Root: r.place.Root, Kept: r.place.Kept, Packages: c.packages, Bare: h.bare}
	l := layer.Make(ctx, run, !h.noLayer.Load())
	for {
		if l != nil && h.noLayer.Load() {
			c.note = note
			if beside := filepath.Dir(l.Dir); cmd.Access(beside) != runner.Hides {
				l.LinkNeighbours(beside)
			}
			if cmd, err = h.instead(c, r, l); err != nil {
				return nil, nil, err
			}
		} else if l != nil {
			cmd.Layer = &runner.Layer{Dir: l.Dir, Upper: l.Upper, Work: l.Work}
		}
		out, err := h.o.Runner.Run(ctx, cmd)
		if !errors.Is(err, runner.ErrNoLayer) || cmd.Layer == nil {
			if l != nil && out != nil {
				c.note = joined(c.note, l.Keep(ctx))
			}
			r.layer = l
			return cmd, out, err
		}
		h.noLayer.Store(true)
		cmd.Layer, cmd.In = nil, c.input.input() // the runner has closed the former one
		program.RemoveAll(filepath.Dir(l.Upper))
		l = layer.Make(ctx, run, false)
	}
}

// instead returns the command that runs the script from the copy in the upper folder.
func (h *Host) instead(c *call, r *scriptRun, l *layer.Layer) (*runner.Command, error) {
	for i, arg := range r.argv { // up to the script: what follows are other arguments
		r.argv[i] = strings.ReplaceAll(arg, l.Dir, l.Upper)
	}
	r.file = strings.Replace(r.file, l.Dir, l.Upper, 1)
	r.dir, r.copied = l.Upper, true
	return h.scriptCommand(c, r)
}

// again has the next run of a content work in a copy of the skill's folder, if this one failed because it changes a file there.
func (r *scriptRun) again(ctx context.Context, c *call, f *explain.Finding) {
	if !f.ChangesSkill() || r.layer != nil && r.layer.Whole {
		return
	}
	kept := layer.KeptBy(ctx, r.place.Kept, c.s, true)
	if kept != "" && layer.NoteCopy(kept) == nil {
		f.MayAgain()
	}
}

// mostHidden is how many hidden paths a note names.
const mostHidden = 5

// hidden says what rules deny a script to read in the folders that it sees: "" for nothing.
func hidden(denied []string) string {
	if len(denied) == 0 {
		return ""
	}
	text := "rules hide from the script: " + strings.Join(denied[:min(len(denied), mostHidden)], ", ")
	if more := len(denied) - mostHidden; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
