package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// hookTimeout is the time of a hook that does not say its own, and maxHookTimeout the longest one.
const (
	hookTimeout    = 30 * time.Second
	maxHookTimeout = 10 * time.Minute
)

// reasonHook is the reason of a call that a hook refused.
const reasonHook = "hook"

// ran identifies a hook of one activation. The token is 0 before the skill is active.
type ran struct {
	skill string
	token session.Token
	index int
}

// moment is what hooks are run for.
type moment struct {
	event string
	input func(skill string) *hook.Input
	call  allow.Call // the call that is made; for other events it is empty
	names []string   // of the tool of the call; none for other events
}

// atCall is the moment of a call of a tool.
func (k *Kit) atCall(event, name string, args json.RawMessage, result json.RawMessage) *moment {
	return &moment{event: event, call: k.callOf(name, args), names: k.namesOf(name), input: func(skill string) *hook.Input {
		in := hook.NewInput(event, skill, name, args)
		in.Result = result
		return in
	}}
}

// ofSkill is a moment in the life of a skill.
func ofSkill(event string) *moment {
	return &moment{event: event, input: func(skill string) *hook.Input { return hook.NewInput(event, skill, "", nil) }}
}

// guard asks the guards of the active skills about a call, the last activated first, those of skills that were left while they
// were held, and those of the conversation that a sub-agent works for. The error is a *tool.Denial, and was traced.
func (k *Kit) guard(ctx context.Context, name string, args json.RawMessage) error {
	return k.guardAt(ctx, name, k.atCall(hook.PreToolUse, name, args, nil))
}

func (k *Kit) guardAt(ctx context.Context, name string, m *moment) error {
	active := append(k.o.Session.Held(), k.o.Session.Active()...)
	for i := len(active) - 1; i >= 0; i-- {
		if a, denied := veto(k.runHooks(ctx, &active[i], m)); denied {
			fault := fmt.Sprintf("Tool '%s' not allowed by a hook of skill '%s'", name, active[i].Name)
			trace.Emit(ctx, k.o.Trace, trace.Event{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Skill: active[i].Name, Tool: name,
				Message: fault, Err: errors.New(fault), // without what the hook wrote
				Attrs: []slog.Attr{slog.String(trace.AttrReason, reasonHook), slog.Bool(trace.AttrEnforced, true)}})
			return deniedByHook(fault + because(a.Reason))
		}
	}
	if k.outer != nil {
		return k.outer.guardAt(ctx, name, m)
	}
	return nil
}

// After tells the hooks of the active skills about a call that was made, and returns the result with what they say about it:
// it is the After of the tool.Executor whose Check is k's.
func (k *Kit) After(ctx context.Context, name string, args json.RawMessage, r tool.Result) tool.Result {
	active := k.o.Session.Active()
	if !k.o.Hooks || !slices.ContainsFunc(active, func(a session.Activation) bool { return len(a.Hooks) > 0 }) {
		return r
	}
	result, err := json.Marshal(r)
	if err != nil {
		result = nil
	}
	m := k.atCall(hook.PostToolUse, name, args, result)
	for i := len(active) - 1; i >= 0; i-- {
		if text := hook.Said(k.runHooks(ctx, &active[i], m)); text != "" {
			r.Message += fmt.Sprintf("\nA hook of skill '%s' says: %s", active[i].Name, text)
		}
	}
	return r
}

// Stopped tells the hooks of the active skills that the model has answered a prompt. before is how often they made it go on
// for that prompt. The first text is what they want it to do before it ends, "" if nothing; the others say which hooks failed,
// which does not make it go on.
func (k *Kit) Stopped(ctx context.Context, before int) (more string, failures []string) {
	active := k.o.Session.Active()
	m := ofSkill(hook.Stop)
	m.input = func(skill string) *hook.Input {
		in, again := hook.NewInput(hook.Stop, skill, "", nil), before > 0
		in.Again = &again
		return in
	}
	var texts []string
	for i := len(active) - 1; i >= 0; i-- {
		for _, a := range k.runHooks(ctx, &active[i], m) {
			switch {
			case a.Verdict == hook.Failed:
				failures = append(failures, fmt.Sprintf("The hook %s of skill '%s' failed%s", hook.Stop, active[i].Name, because(a.Reason)))
			case a.Verdict == hook.GoesOn:
				texts = append(texts, fmt.Sprintf("A hook of skill '%s' says that the work is not done%s", active[i].Name, because(a.Reason)))
			}
		}
	}
	return strings.Join(texts, "\n"), failures
}

// runHooks runs the hooks of one active skill for a moment, in their order, and returns their answers. The first guard that
// does not agree ends it, and its answer is the last.
func (k *Kit) runHooks(ctx context.Context, a *session.Activation, m *moment) []hook.Answer {
	if !k.o.Hooks {
		return nil
	}
	var all []hook.Answer
	for i, h := range a.Hooks {
		this := ran{a.Name, a.Token, i}
		if h.Event != m.event || len(m.names) > 0 && !a.Sees(i, m.call, m.names...) || h.Once && !k.first(this) {
			continue
		}
		answer := k.runHook(ctx, a.Name, h, m.input(a.Name))
		all = append(all, answer)
		if answer.Verdict != hook.Agrees {
			k.again(this) // what was refused once is not allowed the second time
			if hook.IsGuard(m.event) {
				break
			}
		}
	}
	return all
}

// veto returns the answer of the guard that denied, if there is one.
func veto(all []hook.Answer) (hook.Answer, bool) {
	if len(all) == 0 || all[len(all)-1].Verdict == hook.Agrees {
		return hook.Answer{}, false
	}
	return all[len(all)-1], true
}

// first reports whether a hook that runs once has not run yet.
func (k *Kit) first(r ran) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.once[r] {
		return false
	}
	if k.once == nil {
		k.once = map[ran]bool{}
	}
	k.once[r] = true
	return true
}

// again makes a hook that runs once run again.
func (k *Kit) again(r ran) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.once, r)
}

// runHook runs one hook. One that cannot be run, takes too long or panics denies.
func (k *Kit) runHook(ctx context.Context, name string, h manifest.Hook, in *hook.Input) (a hook.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = failed("internal error")
		}
	}()
	input, err := json.Marshal(in)
	if err != nil {
		return failed("it cannot be told what is to happen")
	}
	out, err := k.hookOutput(ctx, name, h, input)
	if err != nil {
		return failed("it did not run: " + k.Failure(ctx, err, name).Message)
	}
	if out.Cut && out.ExitCode == 0 && hook.IsGuard(h.Event) {
		return failed("its answer is too long: its end may say no")
	}
	a = hook.Read(h.Event, out.ExitCode, out.Stdout, out.Stderr)
	if out.Missed != nil && a.Verdict != hook.Agrees {
		a.Reason = strings.TrimPrefix(a.Reason+"\n"+k.Failure(ctx, out.Missed, name).Message, "\n")
	}
	return a
}

// failed is the answer of a hook that did not do its work.
func failed(why string) hook.Answer {
	return hook.Answer{Verdict: hook.Failed, Reason: hook.Text(why)}
}

func (k *Kit) hookOutput(ctx context.Context, name string, h manifest.Hook, input []byte) (*script.HookOutput, error) {
	if k.o.Scripts == nil {
		return nil, &script.Error{Code: script.ExecutionFailed, Message: "Scripts are not run here"}
	}
	e, err := k.o.Catalog().Lookup(name)
	if err != nil {
		return nil, err
	}
	s, err := e.Load(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	limit := hookTimeout
	if h.Timeout > 0 {
		limit = min(h.Timeout, maxHookTimeout)
	}
	h.Command = allow.Quoted(h.Command, script.HookFolders()...)
	return k.o.Scripts.RunHook(ctx, s, &script.HookOptions{Hook: h, Input: input, Timeout: limit, Admit: k.Admit})
}

// deniedByHook returns the refusal of a hook.
func deniedByHook(text string) *tool.Denial {
	return &tool.Denial{Result: tool.Result{Error: tool.PermissionDenied, Reason: reasonHook, Message: text}}
}

// because returns a reason after the end of a clause.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// left runs the hooks of a skill that was deactivated.
func (k *Kit) left(ctx context.Context, was session.Activation) {
	k.runHooks(ctx, &was, ofSkill(hook.Post))
}

// End deactivates the skills of k's session, because its task is over, and runs their hooks for that; with a ctx that is done, such
// as that of a request whose client has gone, no hook runs.
func (k *Kit) End(ctx context.Context) {
	active := k.o.Session.Active()
	k.o.Session.End(ctx)
	for i := len(active) - 1; i >= 0; i-- {
		k.left(ctx, active[i])
	}
}
