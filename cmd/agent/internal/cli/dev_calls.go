package cli

import (
	"context"
	"slices"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

// callKinds are the records that say what was done with a skill, or that it was refused.
var callKinds = []trace.Kind{
	trace.SkillActivated, trace.SkillDeactivated, trace.ScriptRun, trace.HookRun, trace.ToolsetCalled, trace.ToolsetFailed,
	trace.RestrictionViolated, trace.ToolDenied, trace.SandboxRefused, trace.NetworkRefused,
}

// callsElsewhere returns the records of the audit log in dir that are written about a skill from now on, by other tasks than
// own. The channel is closed when ctx is done, or the log cannot be read.
func callsElsewhere(ctx context.Context, dir, skillName, own string) <-chan audit.Record {
	out := make(chan audit.Record)
	go func() {
		defer close(out)
		for e, err := range audit.Follow(ctx, dir) {
			if err != nil {
				return
			}
			if e.Record.Skill != skillName || e.Record.Task == own || !slices.Contains(callKinds, e.Record.Event) {
				continue
			}
			select {
			case out <- e.Record:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// printCall prints what an agent in another terminal did with the skill.
func (d *studio) printCall(r *audit.Record) {
	if d.Out.InTerminal {
		d.Out.Printf("\n") // below the prompt
	}
	style := ui.Dim
	if r.Refused() || r.Outcome == audit.Failed {
		style = ui.Red
	}
	d.Out.Printf("%s  %s  %s  %s\n", d.Out.Paint(ui.Dim, r.Time().Local().Format(time.TimeOnly)), output.OrDash(r.Agent), d.Out.Paint(style, string(r.Event)), about(r))
}
