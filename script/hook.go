package script

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// hookKept is how many bytes of each stream of a hook are kept.
const hookKept = 64 << 10

// HookOptions says how a hook is run.
type HookOptions struct {
	Hook    manifest.Hook
	Input   []byte        // its standard input, at most runner.MaxStdin bytes
	Timeout time.Duration // 0 means the host's
	Admit   Admit         // nil: the skill runs
}

// HookOutput is what a hook did.
type HookOutput struct {
	ExitCode int
	Stdout   []byte // its first 64 KiB
	Cut      bool   // Stdout is not all that it wrote there
	Stderr   []byte // its last 64 KiB
	Duration time.Duration
	Sandbox  runner.Sandbox // what confined it
	Missed   *Error         // says which hosts it was kept from, or which variables it lacked; nil for none
}

// RunHook runs a hook of a skill like a script: in the same sandbox, with the same environment, grants and limits. A command
// is run by bash, or else sh, in which CLAUDE_SKILL_DIR, CLAUDE_PLUGIN_ROOT and CLAUDE_PROJECT_DIR are the skill's folder,
// the same, and the workspace. An exit code is part of the output; the error is an *Error if the hook could not be started
// or timed out, or that of ctx.
func (h *Host) RunHook(ctx context.Context, s *skill.Skill, o *HookOptions) (*HookOutput, error) {
	sc := Script{Name: "hook " + o.Hook.Event}
	if o.Hook.Script != "" {
		var err error
		if sc, err = Find(ctx, s, o.Hook.Script, nil); err != nil {
			return nil, err
		}
	}
	if len(o.Input) > runner.MaxStdin {
		return nil, &Error{Code: fail.ArgsTooLarge, Message: fmt.Sprintf("Input of %s too large: %d bytes (max %d)", sc.Name, len(o.Input), runner.MaxStdin)}
	}
	c := &run.Call{Asked: h.asked(s, sc, o.Timeout), Hook: &o.Hook}
	c.Stdin = append([]byte{}, o.Input...)
	begun := time.Now()
	var done *run.Done
	err := h.engine.Admitted(ctx, c, o.Admit, func() (err error) {
		done, err = h.engine.Run(ctx, c)
		return err
	})
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.HookRun, Level: slog.LevelDebug, Skill: s.Canonical(), Script: sc.Name, Duration: time.Since(begun),
		Message: "Ran " + sc.Name, Err: err})
	if err != nil {
		return nil, err
	}
	out := done.Out
	var missed *Error
	if f := done.Missed; f != nil {
		what := "It was kept from the network: "
		if f.Cause == nil {
			what = "It lacked a variable: "
		}
		missed = &Error{Code: PermissionDenied, Reason: f.Reason, Wants: f.Wants(), Message: what + strings.Join(f.Clauses(), "; ") + "."}
	}
	return &HookOutput{Missed: missed, ExitCode: out.ExitCode, Stdout: out.Stdout[:min(len(out.Stdout), hookKept)], Cut: out.Total > int64(min(len(out.Stdout), hookKept)),
		Stderr: out.Stderr, Duration: out.Duration, Sandbox: *out.Sandbox}, nil
}

// HookFolders returns the names of the variables by which hooks written for another host find their files.
func HookFolders() []string { return plan.HookFolders() }
