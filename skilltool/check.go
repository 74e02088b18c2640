package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/tool"
)

// Check decides whether a model may call a tool now, as the active skills say: it is the Check of the tool.Executor that
// calls the tools of k and all other tools of the conversation. The error is a *tool.Denial.
//
// Some calls are always allowed, because a skill cannot be used without them: of the tool skill to leave a skill, to search
// and, unless only the top of the stack restricts, to activate one; script_list; toolset_list where it starts nothing; and
// skill_read of an active skill's files, which belong to the instructions that the model was given; and those of Options.Free. They
// execute nothing and reach nothing else. script_help is not among them, because it may run the script.
//
// What Policy.Organisation forbids comes first.
//
// While a skill of an MCP server is active, a call that runs something needs an approval of that skill: Policy.Approve is asked for it.
//
// A tool of a toolset has its full name here, whether it was called by its own name or by toolset_call.
func (k *Kit) Check(ctx context.Context, name string, args json.RawMessage) error {
	c := k.callOf(name, args)
	if err := k.forbids(ctx, c); err != nil {
		return err
	}
	if k.always(ctx, name, args) {
		k.o.Session.Permit(ctx, name)
		return nil
	}
	err := k.o.Session.Check(ctx, c)
	var v *session.Violation
	if errors.As(err, &v) {
		return &tool.Denial{Result: tool.CauseToolDenied.Failure(v.Message()), Err: v}
	}
	if err != nil {
		return err
	}
	if err := k.served(ctx, name); err != nil {
		return err
	}
	return k.guard(ctx, name, args)
}

// always reports whether a call is allowed whatever is active. One with arguments that cannot be read is, because the tool
// refuses it.
func (k *Kit) always(ctx context.Context, name string, args json.RawMessage) bool {
	switch name {
	case "script_list":
		return true
	case "skill", "skill_read", "toolset_list":
	default:
		return slices.Contains(k.o.Free, name)
	}
	a, err := parse(args)
	switch {
	case err != nil:
		return true
	case name == "toolset_list":
		return a.SkillName == "" || k.startsNothing(ctx, a.SkillName)
	case name == "skill_read":
		_, active := k.o.Session.Lookup(a.SkillName)
		return active
	case a.Action == "" || a.Action == "activate":
		return !k.o.Session.TopOnly()
	}
	return true
}

// startsNothing reports whether the tools of a skill can be listed without starting its toolsets.
func (k *Kit) startsNothing(ctx context.Context, skillName string) bool {
	s, err := k.load(ctx, skillName)
	if err != nil {
		return true // the tool says why
	}
	defer s.Close()
	if k.o.Toolsets == nil || !k.mayHave(s) {
		return true
	}
	b := k.bring(ctx, s, nil)
	return b != nil && b.err == nil
}

// limits tells a model which tools it may call, "" if that is not limited. A result of the tool skill has the list; this is
// for a skill that became active in another way.
func (k *Kit) limits() string {
	names := k.o.Session.Restriction().AllowedToolNames()
	switch {
	case names == nil || !k.o.Session.Enforced():
		return ""
	case len(names) == 0:
		return "\n[While it is active, no tool may be called but skill, script_list, and skill_read for its files.]"
	}
	return fmt.Sprintf("\n[While it is active, only these tools may be called: %s; also skill, script_list, and skill_read for its files.]", strings.Join(names, ", "))
}
