package worker

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// executor returns the executor that calls the tools as far as the skills that are active in the session of kit allow.
func (w *worker) executor(set *tool.Set, kit *skilltool.Kit) *tool.Executor {
	return &tool.Executor{Tools: set, Check: w.check(kit.Check, w.hooks), After: w.after(kit), Trace: w.s.Observe.Tracer(), ErrorText: w.s.Settings.Config().ErrorText}
}

// callForUser makes a call that the user typed. Only hooks guard it, or nothing if hooks is nil: active skills restrict the model, not the
// user. It also returns what the hooks say about the call.
func (w *worker) callForUser(ctx context.Context, name string, args json.RawMessage, hooks *ownHooks) (r tool.Result, said string) {
	after := func(ctx context.Context, name string, args json.RawMessage, r tool.Result) tool.Result {
		said = hooks.said(ctx, name, args, r)
		return r
	}
	allowed := func(context.Context, string, json.RawMessage) error { return nil }
	r = (&tool.Executor{Tools: w.set, Check: w.check(allowed, hooks), After: after, Trace: w.s.Observe.Tracer()}).Call(ctx, name, args)
	return r, said
}

// check returns the check of a call: it is recorded, if the settings say so, and then allowed and the hooks must permit it.
func (w *worker) check(allowed func(context.Context, string, json.RawMessage) error, hooks *ownHooks) func(context.Context, string, json.RawMessage) error {
	return func(ctx context.Context, name string, args json.RawMessage) error {
		if err := w.s.Observe.Guard(ctx, trace.Event{Kind: trace.ToolStarting, Tool: name}); err != nil {
			return err
		}
		if err := allowed(ctx, name, args); err != nil {
			return err
		}
		return hooks.guard(ctx, name, args)
	}
}

// rules returns what the paths in the rules of skills refer to: files as the tools open them. If the workspace cannot be
// read, no path matches.
func (w *worker) rules(ctx context.Context, _ *skill.Skill) allow.Options {
	workspace := w.s.Settings.Config().Paths.Project
	o := allow.Options{Home: w.s.Sys.Home}
	if real, err := filepath.EvalSymlinks(workspace); err == nil {
		o.Roots = []string{real}
	}
	open, err := hosttool.Resolver(&hosttool.Options{Workspace: workspace, Mounts: w.mounts})
	o.Resolve = func(name string) (string, error) {
		if err != nil {
			return "", err
		}
		return open(ctx, name)
	}
	return o
}

// allows says in a few words what a model may call in a session now, or returns "" for all tools. It is safe while the session is used.
func allows(s *session.Session, enforce string) string {
	r, active := s.Restriction(), s.Active()
	names := r.AllowedToolNames()
	switch {
	case !r.IsRestricted() || enforce == "off":
		return ""
	case names == nil:
		return "not all tools"
	case len(names) == 0:
		return "no tools"
	}
	for _, act := range active {
		if skills := r.Skills(); len(skills) == 1 && skills[0] == act.Name {
			return strings.Join(act.Tools.Rules, " ")
		}
	}
	return strings.Join(names, " ")
}
