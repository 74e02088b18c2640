package run

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/layer"
	"github.com/agent-base/agent-base/script/runner"
)

// execute runs the command of the attempt, and notes what became of its temporary files. It returns no command if there is none.
func (a *attempt) execute(ctx context.Context) (*runner.Command, *runner.Output, error) {
	cmd, err := a.command()
	if err != nil {
		return nil, nil, err
	}
	cmd, out, err := a.executeIn(ctx, cmd)
	a.done.note(a.place.Lasting.Settle(cmd, out))
	return cmd, out, err
}

// executeIn runs a command, or another one in its place. Where the runner can, what it writes in its skill's folder goes to a layer; else a
// script that seems to write there works in a copy of the folder. It returns the command that ran.
func (a *attempt) executeIn(ctx context.Context, cmd *runner.Command) (*runner.Command, *runner.Output, error) {
	e, c, r := a.e, a.c, a.r
	if cmd.Access(r.Dir) == runner.MayWrite { // the user granted it
		out, err := e.o.Runner.Run(ctx, cmd)
		return cmd, out, err
	}
	run := &layer.Run{Skill: c.Skill, File: c.Script.File, Hook: c.Hook != nil, Dir: r.Dir, Cwd: r.Cwd, Root: r.Root, Kept: a.place.Kept, Packages: r.Packages, Bare: e.o.Bare}
	l := layer.Make(ctx, run, !e.noLayer.Load())
	for {
		if l != nil && e.noLayer.Load() {
			if beside := filepath.Dir(l.Dir); cmd.Access(beside) != runner.Hides {
				l.LinkNeighbours(beside)
			}
			var err error
			if cmd, err = a.instead(l); err != nil {
				return nil, nil, err
			}
		} else if l != nil {
			cmd.Layer = &runner.Layer{Dir: l.Dir, Upper: l.Upper, Work: l.Work}
		}
		out, err := e.o.Runner.Run(ctx, cmd)
		if !errors.Is(err, runner.ErrNoLayer) || cmd.Layer == nil {
			if l != nil && out != nil {
				a.done.note(l.Keep(ctx))
			}
			a.layer = l
			return cmd, out, err
		}
		e.noLayer.Store(true)
		cmd.Layer, cmd.In = nil, c.Input.input() // the runner has closed the former one
		ondisk.RemoveAll(filepath.Dir(l.Upper))
		l = layer.Make(ctx, run, false)
	}
}

// instead returns the command that runs the script from the copy in the upper folder.
func (a *attempt) instead(l *layer.Layer) (*runner.Command, error) {
	for i, arg := range a.r.Argv { // up to the script: what follows are other arguments
		a.r.Argv[i] = strings.ReplaceAll(arg, l.Dir, l.Upper)
	}
	a.r.File, a.r.Cwd = strings.Replace(a.r.File, l.Dir, l.Upper, 1), strings.Replace(a.r.Cwd, l.Dir, l.Upper, 1)
	a.r.Dir, a.r.Copied = l.Upper, true
	return a.command()
}

// again has the next run of a content work in a copy of the skill's folder, if this one failed because it changes a file there.
func (a *attempt) again(ctx context.Context, f *explain.Finding) {
	if !f.ChangesSkill() || a.layer != nil && a.layer.Whole {
		return
	}
	kept := layer.KeptBy(ctx, a.place.Kept, a.c.Skill, true)
	if kept != "" && layer.NoteCopy(kept) == nil {
		f.MayAgain()
	}
}
