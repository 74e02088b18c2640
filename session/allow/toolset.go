package allow

import (
	"strings"

	"github.com/agent-base/agent-base/internal/naming"
)

// toolsetTool is the tool of a skill's toolset that a call is for. Its names are as foldName returns them.
type toolsetTool struct {
	skill       string // canonical
	class, name string
}

// Name returns the full name of the tool: "<skill>.<Class>.<tool>" for one of a toolset, else Tool.
func (c Call) Name() string {
	if c.Source == "" {
		return c.Tool
	}
	return c.Source + "." + c.Tool
}

// toolset returns what a call says of the toolset whose tool it is for; nil for other tools.
func (c Call) toolset() *toolsetTool {
	if c.Source == "" {
		return nil
	}
	skill, class, _ := strings.Cut(c.Source, ".")
	return &toolsetTool{naming.Canonical(skill), foldName(class), foldName(c.Tool)}
}

// foldName returns a name in lower case, and one with characters beyond ASCII unchanged, as Canonical does.
func foldName(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return name
		}
	}
	return strings.ToLower(name)
}

// named reports whether a rule is about the tool. It is if it is
//
//	toolset_call                   all tools of all toolsets
//	tool                           its own name, unless the engine or another host has a tool of that name
//	skill.Class.tool, skill__tool  its name with its origin; a * may stand for the tool
//	toolset_SKILL_*                all tools of the skill's toolsets
//	mcp__Class__tool               as the tool of a server, for the list of the skill itself
//
// A rule that forbids is about each tool that it may mean. Rules with a pattern are about other tools: the arguments of tools
// of toolsets are not compared.
func (t *toolsetTool) named(r Rule, o *Options) bool {
	switch {
	case !r.Bare():
		return false
	case r.begins:
		return t.grouped(r, o)
	case r.Tool == toolToolsetCall:
		return true
	case o.Forbids && r.Tool == Canonical(t.name):
		return true
	case r.Tool == t.name:
		return !taken(t.name)
	}
	if skill, rest, ok := strings.Cut(r.Tool, "."); ok {
		return naming.Canonical(skill) == t.skill && rest == t.class+"."+t.name
	}
	if skill, ok := strings.CutSuffix(r.Tool, "__"+t.name); ok && naming.Canonical(skill) == t.skill {
		return true
	}
	return t.ofServer(r, o)
}

// grouped is named for a rule about all tools whose names begin with a text.
func (t *toolsetTool) grouped(r Rule, o *Options) bool {
	if skill, rest, ok := strings.Cut(r.Tool, "."); ok {
		return naming.Canonical(skill) == t.skill && strings.HasPrefix(t.class+"."+t.name, rest)
	}
	if group, ok := strings.CutPrefix(r.Tool, "toolset_"); ok {
		return naming.Canonical(strings.TrimSuffix(group, "_")) == t.skill
	}
	if skill, ok := strings.CutSuffix(r.Tool, "__"); ok && naming.Canonical(skill) == t.skill {
		return true
	}
	return t.ofServer(r, o)
}

// ofServer reports whether a rule names the tool as one of an MCP server. The list of another skill may mean another server.
func (t *toolsetTool) ofServer(r Rule, o *Options) bool {
	return (o.Forbids || naming.Canonical(o.Skill) == t.skill) && r.names("mcp__"+t.class+"__"+t.name)
}

// taken reports whether a name is that of a tool of the engine or another host: a rule with it is about that one.
func taken(name string) bool { return Canonical(name) != name || known(name) }

// opens reports whether a list that allows a rule lets a model see which tools the toolsets of a skill have: the rule may be
// about one of them.
func (r Rule) opens(skill string, o *Options) bool {
	switch {
	case !r.Bare():
		return false
	case r.Tool == toolToolsetCall && !r.begins:
		return true
	case strings.HasPrefix(r.Tool, "mcp__"):
		return naming.Canonical(o.Skill) == skill
	}
	if of, _, ok := strings.Cut(r.Tool, "."); ok {
		return naming.Canonical(of) == skill
	}
	if group, ok := strings.CutPrefix(r.Tool, "toolset_"); ok && r.begins {
		return naming.Canonical(strings.TrimSuffix(group, "_")) == skill
	}
	return !taken(r.Tool)
}

// qualified reports whether the name of a rule is skill.Class.tool or skill.Class.*, and cuts the star off.
func qualified(name string) (stem string, begins, ok bool) {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) < 3 || parts[0] == "" || strings.HasPrefix(name, "mcp__") || parts[1] == "" || parts[2] == "" || strings.ContainsAny(name, ":/") {
		return name, false, false
	}
	stem, begins = strings.CutSuffix(name, "*")
	if strings.Contains(stem, "*") || begins && !strings.HasSuffix(stem, ".") {
		return name, false, false
	}
	return stem, begins, true
}
