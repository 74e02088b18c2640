package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Bounds of a hook of the user's.
const (
	hookTime    = 30 * time.Second // of one that does not say its own
	mostHookOut = 64 << 10         // bytes of each stream
)

// ownHooks are the hooks of the user's settings. They see every call of the model and its sub-agents that skills allow, and those of
// the user, except a command outside the sandbox.
type ownHooks struct {
	w    *worker
	list []ownHook
	o    *hosttool.Options // how commands of bash run
}

type ownHook struct {
	config.Hook
	matcher, condition hook.Matcher // about every call if it is not understood
}

func (w *worker) readHooks(ctx context.Context, o *hosttool.Options) *ownHooks {
	out := &ownHooks{w: w, o: o}
	rules := w.rules(ctx, nil)
	for _, h := range w.s.Settings.Config().Agent.Hooks {
		own := ownHook{Hook: h}
		own.matcher, _ = hook.ParseMatcher(h.Matcher, &rules) // the settings said what is wrong
		own.condition, _ = hook.ParseMatcher(h.If, &rules)
		out.list = append(out.list, own)
	}
	return out
}

// at runs the hooks for an event, in their order, and returns their answers. A guard that does not agree is the last.
func (o *ownHooks) at(ctx context.Context, in *hook.Input) []hook.Answer {
	if o == nil {
		return nil
	}
	in.Dir = o.w.s.Settings.Config().Paths.Project
	call := allow.Call{Tool: in.Called, Args: in.Args}
	var all []hook.Answer
	for i := range o.list {
		h := &o.list[i]
		if h.Event != in.Event || in.Called != "" && !(h.matcher.Sees(call, in.Called) && h.condition.Sees(call, in.Called)) {
			continue
		}
		a := o.run(ctx, &h.Hook, in)
		if all = append(all, a); a.Verdict != hook.Agrees && hook.IsGuard(in.Event) {
			break
		}
	}
	return all
}

// run runs a hook. One that cannot be run, takes too long or says too much fails.
func (o *ownHooks) run(ctx context.Context, h *config.Hook, in *hook.Input) hook.Answer {
	failed := func(why string) hook.Answer { return hook.Answer{Verdict: hook.Failed, Reason: hook.Text(why)} }
	if h.Wrong != "" {
		return failed(fmt.Sprintf("it cannot be read (%s): %s", h.Origin, h.Wrong))
	}
	input, err := json.Marshal(in)
	if err != nil || len(input) > runner.MaxStdin {
		return failed("it cannot be told what is to happen")
	}
	begun := o.w.s.Sys.Now()
	out, err := o.start(ctx, h, input)
	trace.Emit(ctx, o.w.s.Observe.Tracer(), trace.Event{Kind: trace.HookRun, Level: slog.LevelDebug, Script: "hook " + h.Event, Duration: o.w.s.Sys.Now().Sub(begun),
		Message: "Ran a hook of the user for " + h.Event, Err: err})
	switch {
	case err != nil:
		return failed("it did not run: " + err.Error())
	case out.TimedOut:
		return failed("it was out of time")
	case out.Total > mostHookOut && out.ExitCode == 0 && hook.IsGuard(in.Event):
		return failed("its answer is too long: its end may say no")
	}
	return hook.Read(in.Event, out.ExitCode, out.Stdout, out.Stderr)
}

// start runs the command of a hook as bash runs commands, and outside the sandbox if the user says so. Nobody is asked about its hosts.
func (o *ownHooks) start(ctx context.Context, h *config.Hook, input []byte) (*hosttool.Output, error) {
	if o.o.Shell == "" {
		return nil, errors.New("bash is not installed")
	}
	dir, err := filepath.EvalSymlinks(o.o.Workspace)
	if err != nil {
		return nil, err
	}
	c := &hosttool.Command{Command: h.Command, Path: o.o.Shell, Args: []string{o.o.Shell, "-c", h.Command}, Dir: dir, Stdin: input, Background: true,
		Env: append(slices.Clone(o.o.Env), "CLAUDE_PROJECT_DIR="+dir), Timeout: cmp.Or(h.Timeout, hookTime), MaxStdout: mostHookOut}
	if o.o.Runner != nil && !h.Open {
		return o.o.Runner(ctx, c)
	}
	if d := o.w.s.Settings.Policy().Sandbox(string(runner.ConfineOff)); d.Level == policy.Never {
		return nil, errors.New("no command runs outside the sandbox: " + d.Why)
	}
	out, err := runner.Exec{}.Run(ctx, &runner.Command{Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Stdin: c.Stdin, Timeout: c.Timeout, Grace: bashGrace, MaxStdout: c.MaxStdout})
	if err != nil {
		return nil, err
	}
	return &hosttool.Output{Stdout: out.Stdout, Stderr: out.Stderr, Total: out.Total, ExitCode: out.ExitCode, TimedOut: out.TimedOut}, nil
}

// guard asks the guards about a call. The error is a *tool.Denial, and was traced.
func (o *ownHooks) guard(ctx context.Context, name string, args json.RawMessage) error {
	for _, a := range o.at(ctx, hook.NewInput(hook.PreToolUse, "", name, args)) {
		if a.Verdict == hook.Agrees {
			continue
		}
		fault := fmt.Sprintf("Tool '%s' not allowed by a hook of the user's settings", name)
		trace.Emit(ctx, o.w.s.Observe.Tracer(), trace.Event{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Tool: name, Message: fault, Err: errors.New(fault),
			Attrs: []slog.Attr{slog.String(trace.AttrReason, "hook"), slog.Bool(trace.AttrEnforced, true)}})
		if a.Reason != "" {
			fault += ": " + a.Reason
		}
		return &tool.Denial{Result: *refusal("hook", "%s", fault)}
	}
	return nil
}

// said tells the hooks about a call that was made, and returns what they say about it to the model.
func (o *ownHooks) said(ctx context.Context, name string, args json.RawMessage, r tool.Result) string {
	if o == nil || len(o.list) == 0 {
		return ""
	}
	in := hook.NewInput(hook.PostToolUse, "", name, args)
	in.Result, _ = json.Marshal(r) // without it the hook is told of the call alone
	if text := hook.Said(o.at(ctx, in)); text != "" {
		return "A hook of the user's settings says: " + text
	}
	return ""
}

// begun tells the hooks that a conversation begins, and returns what they say to the model.
func (o *ownHooks) begun(ctx context.Context) string {
	return hook.Said(o.at(ctx, hook.NewInput(hook.SessionStart, "", "", nil)))
}

// stopped tells the hooks that the model has answered, before how often it was made to go on. It returns what they want it to do, and which
// failed.
func (o *ownHooks) stopped(ctx context.Context, before int) (more, failures []string) {
	in, again := hook.NewInput(hook.Stop, "", "", nil), before > 0
	in.Again = &again
	for _, a := range o.at(ctx, in) {
		switch a.Verdict {
		case hook.Failed:
			failures = append(failures, "A hook of the user's settings for Stop failed: "+a.Reason)
		case hook.GoesOn:
			more = append(more, "A hook of the user's settings says that the work is not done: "+a.Reason)
		}
	}
	return more, failures
}

// hooksCommand is /hooks.
func (t *talk) hooksCommand(context.Context, string) (string, error) {
	var rows []string
	for i := range t.w.hooks.list {
		h := &t.w.hooks.list[i]
		rows = append(rows, h.String(), fmt.Sprintf("  %s", h.Origin))
	}
	if len(rows) == 0 {
		return "you have no hooks: agent.hooks in your settings names them", nil
	}
	return strings.Join(rows, "\n"), nil
}
