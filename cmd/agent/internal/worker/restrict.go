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
	return &tool.Executor{Tools: set, Check: w.check(kit), After: w.after(kit), Trace: w.s.Observe.Tracer(), ErrorText: w.s.Settings.Config().ErrorText}
}

// check returns the check of calls: what is called must be recorded, if the settings say so, and allowed.
func (w *worker) check(kit *skilltool.Kit) func(context.Context, string, json.RawMessage) error {
	return func(ctx context.Context, name string, args json.RawMessage) error {
		if err := w.s.Observe.Guard(ctx, trace.Event{Kind: trace.ToolStarting, Tool: name}); err != nil {
			return err
		}
		if err := kit.Check(ctx, name, args); err != nil {
			return err
		}
		return w.hooks.guard(ctx, name, args)
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

// allows says in a few words what a model may call in a session now, which may be used at the same time.
func allows(s *session.Session, enforce string) string {
	r, active := s.Restriction(), s.Active()
	names := r.AllowedToolNames()
	switch {
	case !r.IsRestricted() || enforce == "off":
		return "all tools"
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
