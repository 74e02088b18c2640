package skilltool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// Limits of what toolset_list returns to a model.
const (
	maxTools    = 100  // tools of one skill
	maxAllTools = 200  // tools of all skills together
	maxBrief    = 100  // bytes of a description in a list
	maxWhole    = 2000 // tokens of a list in which each tool has its arguments
)

var (
	toolsetListSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `,` +
		`"tool_name":{"type":"string","description":"Show one tool in full, with its arguments"}}}`)
	toolsetCallSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `,` +
		`"tool_name":{"type":"string","description":"Name of the tool, as toolset_list shows it"},` +
		`"args":{"type":"object","description":"Arguments of the tool"}},"required":["skill_name","tool_name"]}`)
)

const (
	toolsetListDescription = "List the tools that skills bring with their toolsets: of one skill, or of all skills when skill_name is left out. " +
		"With tool_name, show one tool and its arguments."
	toolsetCallDescription = "Call a tool of a skill's toolset. Look at its arguments with toolset_list first. A tool that you have under its own name is called directly."
)

// toolsetTools returns the two tools for toolsets.
func (k *Kit) toolsetTools() []tool.Tool {
	return []tool.Tool{
		{Name: "toolset_list", Description: toolsetListDescription, Input: toolsetListSchema, Call: k.wrap(k.toolsetList)},
		{Name: "toolset_call", Description: toolsetCallDescription, Input: toolsetCallSchema, Resolve: k.resolve,
			Call: func(ctx context.Context, raw json.RawMessage) tool.Result {
				t, args, ended := k.resolve(ctx, raw)
				if ended != nil {
					return *ended
				}
				return t.Call(ctx, args)
			}},
	}
}

// toolItem is one tool in the result of toolset_list.
type toolItem struct {
	Name        string          `json:"name"`
	Toolset     string          `json:"toolset"` // its class
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input,omitempty"` // JSON Schema of its arguments; absent in a long list
}

func newItem(t tool.Tool) toolItem {
	_, class, _ := strings.Cut(t.Source, ".")
	return toolItem{Name: t.Name, Toolset: class, Description: t.Description, Input: t.Input}
}

// toolsetList is the tool toolset_list.
func (k *Kit) toolsetList(ctx context.Context, a *arguments) tool.Result {
	switch {
	case a.SkillName == "" && a.ToolName != "":
		return tool.CauseName.Failure("skill_name is required with tool_name")
	case a.SkillName == "":
		return k.listAllTools(ctx)
	}
	s, err := k.loadNamed(ctx, a.SkillName, notFound)
	if err != nil {
		return k.Failure(ctx, err, a.SkillName)
	}
	defer s.Close()
	if k.o.Toolsets == nil || !k.mayHave(s) {
		return tool.Success(map[string][]toolItem{s.Canonical(): {}}, fmt.Sprintf("Skill '%s' has no toolsets", s.Name()))
	}
	b := k.open(ctx, s, true)
	if b.err != nil && len(b.tools) == 0 {
		return k.Failure(ctx, b.err, s.Name())
	}
	if a.ToolName != "" {
		return k.showTool(ctx, s, b, a.ToolName)
	}
	return k.listTools(ctx, s, b)
}

// mayHave reports whether a skill has toolsets: those that it declares, the program's for it, or others that are known.
func (k *Kit) mayHave(s *skill.Skill) bool {
	return HasToolsets(s) || k.o.Toolsets.Registered(s.Canonical()) || k.has(s.Canonical()) != nil
}

// showTool shows one tool in full.
func (k *Kit) showTool(ctx context.Context, s *skill.Skill, b *brought, name string) tool.Result {
	t, ok := findTool(s, b.tools, name)
	if !ok {
		return tool.CauseNotFound.Failure(k.noTool(ctx, s, b, name))
	}
	return tool.Success(map[string][]toolItem{s.Canonical(): {newItem(t)}}, fmt.Sprintf("Tool '%s' of skill '%s'", t.Name, s.Name()))
}

// listTools lists the tools of one skill: with their arguments if that is short, otherwise a line for each.
func (k *Kit) listTools(ctx context.Context, s *skill.Skill, b *brought) tool.Result {
	items, tokens := []toolItem{}, 0
	for _, t := range b.tools[:min(len(b.tools), maxTools)] {
		items = append(items, newItem(t))
		tokens += disclose.Tokens(t.Description) + disclose.Tokens(string(t.Input))
	}
	text := fmt.Sprintf("Skill '%s' has %s", s.Name(), plural(len(b.tools), "tool"))
	if tokens > maxWhole {
		text += "; tool_name shows one with its arguments"
		for i := range items {
			items[i].Description, items[i].Input = oneLine(items[i].Description, maxBrief), nil
		}
	}
	if more := len(b.tools) - len(items); more > 0 {
		text += fmt.Sprintf("; %d more are not listed here", more)
	}
	if b.err != nil {
		text += ". " + k.Failure(ctx, b.err, s.Name()).Message
	}
	return tool.Success(map[string][]toolItem{s.Canonical(): items}, text)
}

// listAllTools lists the tools of all skills that are known, a line for each, and starts nothing.
func (k *Kit) listAllTools(ctx context.Context) tool.Result {
	list, total, listed := map[string][]toolItem{}, 0, 0
	var unknown []string
	err := k.eachSkill(ctx, "", func(s *skill.Skill) {
		if k.o.Toolsets == nil || !k.mayHave(s) {
			return
		}
		b := k.bring(ctx, s, nil)
		if b == nil || len(b.tools) == 0 {
			unknown = append(unknown, s.Canonical())
			return
		}
		total += len(b.tools)
		items := []toolItem{}
		for _, t := range b.tools[:min(len(b.tools), maxTools, maxAllTools-listed)] {
			item := newItem(t)
			item.Description, item.Input = oneLine(item.Description, maxBrief), nil
			items = append(items, item)
		}
		listed += len(items)
		list[s.Canonical()] = items
	})
	if err != nil {
		return k.Failure(ctx, err, "")
	}
	text := fmt.Sprintf("Found %s across %s; skill_name and tool_name show one with its arguments", plural(total, "tool"), plural(len(list), "skill"))
	if total > listed {
		text += fmt.Sprintf("; %d more are not listed here: give skill_name", total-listed)
	}
	if n := len(unknown); n > 0 {
		text += "; these skills have toolsets that were not started yet, call toolset_list with skill_name: " + strings.Join(unknown[:min(n, maxAllTools)], ", ")
	}
	return tool.Success(list, text)
}

// resolve returns the tool that a call of toolset_call is for, with its arguments.
func (k *Kit) resolve(ctx context.Context, raw json.RawMessage) (tool.Tool, json.RawMessage, *tool.Result) {
	end := func(r tool.Result) (tool.Tool, json.RawMessage, *tool.Result) {
		return tool.Tool{}, nil, &r
	}
	if err := ctx.Err(); err != nil {
		return end(tooLate(err))
	}
	a, err := parse(raw)
	switch {
	case err != nil:
		return end(tool.CauseArguments.Failure(err.Error()))
	case a.SkillName == "":
		return end(tool.CauseName.Failure("skill_name is required"))
	case a.ToolName == "":
		return end(tool.CauseName.Failure("tool_name is required"))
	}
	args, err := a.object()
	if err != nil {
		return end(tool.CauseArguments.Failure(err.Error()))
	}
	t, err := k.Tool(ctx, a.SkillName, a.ToolName)
	if err != nil {
		return end(k.Failure(ctx, err, a.SkillName))
	}
	return t, args, nil
}

// Tool returns a tool of a skill's toolsets by one of its names. It starts what the tool needs, if its content may run and its tools
// are not known yet: by a name with the class, such as Greeter.greet, only that toolset, otherwise all of the skill. The tool
// toolset_call is a call of it, after what an executor checks. The error is a *script.Error for a skill or a tool that is not there or
// may not run, or says why no toolset could be started.
func (k *Kit) Tool(ctx context.Context, skillName, toolName string) (tool.Tool, error) {
	s, err := k.loadNamed(ctx, skillName, notLoaded)
	if err != nil {
		return tool.Tool{}, err
	}
	defer s.Close()
	if k.o.Toolsets == nil || !k.mayHave(s) {
		return tool.Tool{}, &script.Error{Code: script.NotFound, Message: fmt.Sprintf("Tool '%s' not found: skill '%s' has no toolsets", toolName, s.Name())}
	}
	if t, ok, err := k.ofClass(ctx, s, toolName); ok || err != nil {
		return t, err
	}
	b := k.open(ctx, s, false)
	t, ok := findTool(s, b.tools, toolName)
	switch {
	case ok:
		return t, nil
	case b.err != nil && len(b.tools) == 0:
		return tool.Tool{}, b.err
	}
	return tool.Tool{}, &script.Error{Code: script.NotFound, Message: k.noTool(ctx, s, b, toolName)}
}

// noTool says that a skill does not have a tool.
func (k *Kit) noTool(ctx context.Context, s *skill.Skill, b *brought, name string) string {
	text := fmt.Sprintf("Tool '%s' not found in the toolsets of skill '%s'", name, s.Name())
	names := make([]string, 0, min(len(b.tools), 10))
	for _, t := range b.tools[:cap(names)] {
		names = append(names, t.Name)
	}
	if len(names) > 0 {
		text += ". There are: " + strings.Join(names, ", ")
	}
	if more := len(b.tools) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more; toolset_list lists them", more)
	}
	if b.err != nil {
		text += ". " + k.Failure(ctx, b.err, s.Name()).Message
	}
	return text
}

// findTool returns the tool of a name: its own, with its class, with its skill, or as a model has it. The first wins.
func findTool(s *skill.Skill, tools []tool.Tool, name string) (tool.Tool, bool) {
	for _, is := range []func(t tool.Tool) bool{
		func(t tool.Tool) bool { return t.Name == name || t.Full == name },
		func(t tool.Tool) bool { return strings.TrimPrefix(t.Full, s.Canonical()+".") == name },
		func(t tool.Tool) bool { return modelName(t.Name) == name || prefixed(t) == name },
	} {
		if i := slices.IndexFunc(tools, is); i >= 0 {
			return tools[i], true
		}
	}
	return tool.Tool{}, false
}

// object returns args as a JSON object. Some models write it as a string.
func (a *arguments) object() (json.RawMessage, error) {
	raw := bytes.TrimSpace(a.Args)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = bytes.TrimSpace([]byte(text))
	}
	args, err := tool.Object(raw)
	if err != nil {
		return nil, fmt.Errorf(`args must be an object with the tool's arguments, such as {"name": "Ada"}: %w`, err)
	}
	return args, nil
}

// ListTools returns the tools of a skill's toolsets for the user, and starts what they need if its content may run. Their
// calls are those of Tool. The error is a *script.Error for a skill that is not there or may not run, or says why toolsets
// have no tools; the tools of the others are returned with it. A skill without toolsets has none.
func (k *Kit) ListTools(ctx context.Context, skillName string) ([]tool.Tool, error) {
	s, err := k.loadNamed(ctx, skillName, notLoaded)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if k.o.Toolsets == nil {
		return nil, &script.Error{Code: script.ExecutionFailed, Message: "Toolsets are not run here"}
	}
	if !k.mayHave(s) {
		return nil, nil
	}
	if err := k.mayStart(ctx, s, true); err != nil {
		return nil, err
	}
	tools, err := k.o.Toolsets.Tools(ctx, s, k.Admit)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	digest, failed := s.Digest(ctx)
	if failed != nil {
		digest = ""
	}
	return slices.Clone(k.keep(s, &brought{digest: digest, tools: tools, err: err}).tools), err
}
