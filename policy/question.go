package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/want"
)

// Question is what a policy can be asked in words: "model:anthropic/x", "host:api.example.com" or a call of a tool, "Bash(git push)".
type Question struct {
	Text string
	Call *permit.Call // of a tool; nil for another question
	kind string
	what string
}

// Kinds of questions that are no wants and no calls.
var asked = map[string]func(p *Policy, what string) Decision{
	"mode":    func(p *Policy, what string) Decision { return p.Mode(permit.Mode(what)) },
	"sandbox": func(p *Policy, what string) Decision { return p.Sandbox(what) },
	"model":   func(p *Policy, what string) Decision { return p.Model(splitModel(what)) },
	"source":  func(p *Policy, what string) Decision { return p.Source(what) },
	"digest": func(p *Policy, what string) Decision {
		return p.digest(&Skill{Digest: func() (string, error) { return what, nil }})
	},
	"skill": func(p *Policy, what string) Decision { return p.name(what) },
	"server": func(p *Policy, what string) Decision {
		label, rest, ok := strings.Cut(what, "=")
		if !ok || strings.ContainsAny(label, " :/") {
			label, rest = "", what
		}
		if strings.Contains(rest, "://") {
			return p.Server(&Server{Name: label, URL: rest})
		}
		return p.Server(&Server{Name: label, Command: strings.Fields(rest)})
	},
}

// Questions returns how questions begin that are not about a call: "model", "host" and so on.
func Questions() []string {
	var out []string
	for kind := range asked {
		out = append(out, kind)
	}
	for _, k := range want.Kinds() {
		if k.Granted() && !k.Single() {
			out = append(out, string(k))
		}
	}
	slices.Sort(out)
	return out
}

// ParseQuestion reads a question. A call is written as a rule: TOOL, or TOOL(WHAT) with a command, a file, a URL, a skill or a skill and its
// script. dir is the folder in which a relative file lies.
func ParseQuestion(text, dir string) (*Question, error) {
	q := &Question{Text: text}
	kind, what, ok := strings.Cut(text, ":")
	if _, known := asked[kind]; known && ok && what != "" {
		q.kind, q.what = kind, what
		return q, nil
	}
	if w, err := want.Parse(text); err == nil {
		q.what = w.String()
		return q, nil
	}
	tool, what, pattern := strings.Cut(text, "(")
	if tool == "" || strings.ContainsAny(tool, " :") || pattern && !strings.HasSuffix(what, ")") {
		return nil, fmt.Errorf("%q is no question: write a call such as 'Bash(git push)' or Read(FILE), or KIND:WHAT with one of %s", text, strings.Join(Questions(), ", "))
	}
	q.Call = callOf(tool, strings.TrimSuffix(what, ")"), dir)
	return q, nil
}

// callOf returns the call of a tool with its one argument.
func callOf(tool, what, dir string) *permit.Call {
	c := &permit.Call{Tool: allow.Canonical(tool)}
	path := what
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	skill, script, _ := strings.Cut(what, " ")
	fields := map[string]string{}
	switch c.Tool {
	case "bash":
		c.Kind, c.Command, c.Confined = permit.Command, what, true
	case "read_file":
		c.Kind, c.Path = permit.Read, path
	case "edit_file", "write_file":
		c.Kind, c.Path = permit.Edit, path
	case "web_fetch":
		c.Kind, c.URL = permit.Fetch, what
	case "skill", "skill_read", "script_list":
		fields["skill_name"] = what
	case "script_run", "script_help":
		c.Kind, fields["skill_name"], fields["script_name"] = permit.Script, skill, script
	default:
		if strings.HasPrefix(tool, "mcp__") {
			c.Kind, c.Tool = permit.Server, tool
		}
	}
	c.Args, _ = json.Marshal(fields) // a map of strings always has a form
	return c
}

// Answer decides about a question. patterns says what the patterns of rules are about.
func (p *Policy) Answer(q *Question, patterns allow.Options) Decision {
	if q.Call != nil {
		return p.Call(q.Call, patterns)
	}
	if decide, ok := asked[q.kind]; ok {
		return decide(p, q.what)
	}
	w, err := want.Parse(q.what)
	if err != nil {
		return Decision{Level: Never, Why: err.Error()}
	}
	return p.Decide(w)
}

// Word returns how a level is written: allow, ask or deny.
func (l Level) Word() string {
	return [...]string{Free: "allow", Asks: "ask", Never: "deny"}[l]
}
