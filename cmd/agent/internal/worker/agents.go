package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/surroundings"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/tool"
)

// taskTool is the name of the tool that starts a sub-agent.
const taskTool = "task"

// role is a kind of sub-agent that a skill names in the field agent, or a model in a call of task.
type role struct {
	name  string
	about string
	tools []string // nil means all
	text  string
	file  *surroundings.Agent // that describes it; nil for those of the program
}

// roles are the kinds of the program. An unknown name of a skill means the first.
var roles = []role{
	{name: "general-purpose", about: "any task, with all tools", text: "You do one task for another agent. Work on your own: nobody answers questions. End with the result alone, complete and short."},
	{name: "explore", about: "finds something out and changes nothing", tools: readOnly, text: "You find something out for another agent and change nothing. End with what you found, with paths and line numbers, complete and short."},
	{name: "plan", about: "plans a task and changes nothing", tools: readOnly, text: "You plan a task for another agent and change nothing. End with the plan: the steps, the files that each of them touches, and what may go wrong."},
}

// readOnly are the tools that change nothing.
var readOnly = []string{"read_file", "glob", "grep", webFetch, "skill", "skill_read", "toolset_list", "script_list", "script_help"}

// roleNamed returns the kind of that name: of the program, or else of a file.
func (w *worker) roleNamed(name string) (role, bool) {
	if i := slices.IndexFunc(roles, func(r role) bool { return strings.EqualFold(r.name, name) }); i >= 0 {
		return roles[i], true
	}
	for i := range w.agents {
		if a := &w.agents[i]; strings.EqualFold(a.Name, name) {
			return role{name: a.Name, text: roles[0].text, file: a}, true
		}
	}
	return roles[0], name == ""
}

// body returns what the file of a kind says, for the system text.
func (r *role) body() string {
	if r.file == nil {
		return ""
	}
	return r.file.Body()
}

// only returns which tools a kind has, and a check of their calls. What a file says only takes tools away.
func (r *role) only(o *allow.Options) (has func(*tool.Tool) bool, check func(name string, args json.RawMessage) error) {
	if r.file == nil {
		return func(t *tool.Tool) bool { return r.tools == nil || slices.Contains(r.tools, t.Name) }, nil
	}
	var limit *allow.List
	if r.file.Limited {
		limit, _ = allow.Parse(r.file.Tools, o) // a rule that cannot be read allows nothing
	}
	forbid := *o
	forbid.Forbids = true
	without, problems := allow.Parse(r.file.Without, &forbid)
	names := func(l *allow.List, t *tool.Tool) (named, bare bool) {
		for _, rule := range l.Rules() {
			own := allow.Canonical(t.FullName())
			if begins, group := strings.CutSuffix(rule.Name(), "*"); own == rule.Tool || group && strings.HasPrefix(own, begins) {
				named, bare = true, bare || rule.Bare()
			}
		}
		return named, bare
	}
	has = func(t *tool.Tool) bool {
		allowed, _ := names(limit, t)
		_, taken := names(without, t)
		unread := slices.ContainsFunc(problems, func(p allow.Problem) bool { return p.Dropped })
		return (limit == nil || allowed) && !taken && !unread
	}
	return has, func(name string, args json.RawMessage) error {
		c := allow.Call{Tool: name, Args: args}
		if limit.Check(c) != nil {
			return kindDenial(r, name)
		}
		if _, taken := without.Names(c); taken {
			return kindDenial(r, name)
		}
		return nil
	}
}

// kindDenial returns the refusal of a call that the file of a sub-agent does not allow.
func kindDenial(r *role, name string) error {
	text := fmt.Sprintf("an agent of the kind %s may not make this call of %s, as %s says", r.name, name, r.file.Path)
	return &tool.Denial{Result: tool.CauseToolDenied.Failure(text)}
}

var taskSchema = json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","description":"All that the sub-agent has to know"},` +
	`"subagent_type":{"type":"string","description":"Its kind; default: general-purpose"}},"required":["prompt"]}`)

// task returns the tool that starts a sub-agent.
func (w *worker) task() tool.Tool {
	var kinds []string
	for _, r := range roles {
		kinds = append(kinds, r.name+" ("+r.about+")")
	}
	text := "Give a task to a sub-agent, which sees nothing of this conversation. Its last message comes back. Those of one answer may work at the same time. Kinds: " +
		strings.Join(kinds, ", ") + "."
	if more := surroundings.Listed(w.agents); more != "" {
		text += "\n" + more
	}
	return tool.Tool{Name: taskTool, Input: taskSchema, Description: text, Call: func(_ context.Context, raw json.RawMessage) tool.Result {
		var a struct {
			Prompt string
			Kind   string `json:"subagent_type"`
		}
		if err := tool.Arguments(raw, &a); err != nil {
			return tool.CauseArguments.Failure(fmt.Sprintf("arguments do not fit the tool's schema: %v", err))
		}
		if strings.TrimSpace(a.Prompt) == "" {
			return tool.CauseArguments.Failure("prompt is required")
		}
		r, ok := w.roleNamed(a.Kind)
		if !ok {
			return tool.CauseNotFound.Failure(fmt.Sprintf("no kind of agent %.64q; the description of %s lists them", a.Kind, taskTool))
		}
		f := &tool.Fork{Prompt: a.Prompt, Agent: r.name}
		if r.file != nil {
			f.Model = r.file.Model
		}
		done := tool.Success(nil, "a sub-agent works on it")
		done.Fork = f
		return done
	}}
}
