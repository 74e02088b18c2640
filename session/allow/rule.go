package allow

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/toolrule"
)

// Rule is one rule of a list.
type Rule struct {
	Text string // as written
	Tool string // canonical name; without the final "*" if the rule names all tools that begin with it

	begins  bool     // the rule names all tools whose names begin with Tool
	pattern *pattern // nil for any arguments
}

// pattern is what a rule says about the arguments of its tool. One of the fields is set.
type pattern struct {
	words words  // of a shell command
	path  string // of a file, see pathPattern
	host  string // of a URL; "*." begins that of all hosts below one
	name  string // of a skill or an agent
}

// Name returns the name of the tool, or of a group of tools with a final "*".
func (r Rule) Name() string {
	if r.begins {
		return r.Tool + "*"
	}
	return r.Tool
}

// Known reports whether the rule names a tool that the engine or another host is known to have. Tools of programs that
// embed the engine are not known here.
func (r Rule) Known() bool { return r.begins || known(r.Tool) }

// Bare reports whether the rule allows any arguments.
func (r Rule) Bare() bool { return r.pattern == nil }

// fault says why a rule is dropped, and what to write instead.
type fault struct{ what, cure string }

func unclear(what, cure string) *fault { return &fault{what, cure} }

// parseRule reads one rule. With a fault the rule has its tool if only the pattern is at fault.
func parseRule(text string, o *Options) (Rule, *fault) {
	name, inside, patterned, ok := toolrule.Cut(text)
	if !ok {
		return Rule{}, unclear("is not a rule for a tool", "write a tool's name, or its name with a pattern: Bash(git status:*)")
	}
	r := Rule{Text: text, Tool: Canonical(name)}
	if f := r.checkName(); f != nil {
		return Rule{}, f
	}
	if !patterned || inside == "*" {
		return r, nil
	}
	if len(text) > maxRule {
		return r, unclear("is too long", fmt.Sprintf("write at most %d bytes", maxRule))
	}
	p, f := parsePattern(r.Tool, inside, o)
	if meant := r.slip(); f != nil && meant != "" {
		f.cure = fmt.Sprintf("did you mean %s(%s)?", meant, inside)
	}
	r.pattern = p
	return r, f
}

// checkName checks the rule's name, and cuts the star off the name of a group of tools.
func (r *Rule) checkName() *fault {
	r.Tool = ofServer(r.Tool)
	if stem, begins, ok := qualified(r.Tool); ok {
		r.Tool, r.begins = stem, begins
		return nil
	}
	server, isServer := strings.CutPrefix(r.Tool, "mcp__")
	if isServer && (server == "" || server[0] == '_' || server[0] == '*') {
		return unclear("names no server", "write mcp__SERVER__TOOL")
	}
	if stem, ok := strings.CutSuffix(r.Tool, "*"); ok {
		group, ok := strings.CutPrefix(stem, "toolset_")
		skill, ofSkill := strings.CutSuffix(stem, "__")
		if !(isServer || ok && group != "" || ofSkill && skill != "" && skill != "mcp") {
			return unclear("names too many tools", "name each tool; a * may end mcp__SERVER__, SKILL__, SKILL.CLASS. and toolset_SKILL_")
		}
		r.Tool, r.begins = stem, true
	} else if isServer && !strings.Contains(server, "__") {
		r.Tool, r.begins = r.Tool+"__", true // mcp__SERVER is all tools of the server
	}
	if strings.ContainsAny(r.Tool, ".:/*") {
		return unclear("names tools in a way that is not understood", "write the name of one tool, mcp__SERVER__TOOL, or SKILL.CLASS.TOOL")
	}
	return nil
}

// ofServer returns the name in the form of an MCP server's tools if it has another host's: github:search and github:* are
// mcp__github__search and mcp__github__*, and so are github/search and github/*. stitch*:* and mcp_stitch* are all tools of the servers
// whose names begin with stitch.
func ofServer(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp_"); ok && rest != "*" && rest[:min(1, len(rest))] != "_" && strings.HasSuffix(rest, "*") {
		return "mcp__" + rest
	}
	server, tool, ok := strings.Cut(strings.Replace(name, "/", ":", 1), ":")
	stem, open := strings.CutSuffix(server, "*")
	switch {
	case !ok || stem == "" || tool == "" || open && tool != "*":
		return name
	case open:
		return "mcp__" + server
	}
	return "mcp__" + server + "__" + tool
}

func parsePattern(tool, inside string, o *Options) (*pattern, *fault) {
	switch tool {
	case toolBash:
		w, f := parseWords(inside, o)
		return &pattern{words: w}, f
	case toolRead, toolWrite, toolEdit, toolGlob, toolGrep:
		path, f := parsePath(inside)
		return &pattern{path: path}, f
	case toolFetch:
		host, f := parseHost(inside)
		return &pattern{host: host}, f
	case toolSkill, toolTask:
		name, f := parseName(inside)
		return &pattern{name: name}, f
	}
	return nil, unclear("has a pattern, and no arguments of that tool are compared", "write the name alone to allow the tool with any arguments")
}

// names reports whether the rule is about the tool with a canonical name.
func (r Rule) names(tool string) bool {
	if r.begins {
		rest, ok := strings.CutPrefix(tool, r.Tool)
		return ok && rest != ""
	}
	return r.Tool == tool
}
