package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/internal/toolrule"
)

// What users of other agents type. A flag that means what one of ours means works and is not listed in help; for the rest the error
// names what there is.

// habit is a flag of another agent that works.
type habit struct {
	names  []string // the spellings
	short  string
	values map[string]string // what its values are called here; nil means any value, and {"": …} no value
	set    func(o *worker.Options, g *setup.Flags, value string)
}

func habits() []habit {
	mode := func(_ *worker.Options, g *setup.Flags, value string) { g.Mode = value }
	return []habit{
		{names: []string{"print"}, set: func(o *worker.Options, _ *setup.Flags, value string) { o.Prompt, o.Asked = value, true }},
		{names: []string{"output-format"}, values: map[string]string{"text": "", "json": "json", "stream-json": "stream"},
			set: func(o *worker.Options, _ *setup.Flags, value string) {
				o.JSON, o.Stream = value != "", value == "stream"
			}},
		{names: []string{"allowed-tools", "allowedTools"}, set: func(_ *worker.Options, g *setup.Flags, value string) {
			g.Allow = append(g.Allow, toolrule.Split(value)...)
		}},
		{names: []string{"disallowed-tools", "disallowedTools"}, set: func(_ *worker.Options, g *setup.Flags, value string) {
			g.Deny = append(g.Deny, toolrule.Split(value)...)
		}},
		{names: []string{"permission-mode"}, set: mode,
			values: map[string]string{"default": "ask", "acceptEdits": "accept-edits", "plan": "plan", "bypassPermissions": "all"}},
		{names: []string{"approval-mode"}, set: mode, values: map[string]string{"default": "ask", "auto_edit": "accept-edits", "plan": "plan", "yolo": "all"}},
		{names: []string{"dangerously-skip-permissions", "full-auto", "yolo"}, values: map[string]string{"": "all"}, set: mode},
		{names: []string{"cd"}, short: "C", set: func(_ *worker.Options, g *setup.Flags, value string) { g.Project = value }},
		{names: []string{"skip-git-repo-check", "include-partial-messages"}, values: map[string]string{"": ""}, set: func(*worker.Options, *setup.Flags, string) {}},
	}
}

// addHabits adds the flags of other agents that work, hidden.
func addHabits(f *pflag.FlagSet, o *worker.Options, g *setup.Flags) {
	for _, h := range habits() {
		for i, name := range h.names {
			short := h.short
			if i > 0 {
				short = ""
			}
			flag := f.VarPF(&habitValue{h, o, g}, name, short, "")
			flag.Hidden = true
			if _, alone := h.values[""]; alone {
				flag.NoOptDefVal = "true"
			}
		}
	}
}

// habitValue is the value of such a flag.
type habitValue struct {
	habit
	o *worker.Options
	g *setup.Flags
}

// Set does what the flag of that value means here.
func (v *habitValue) Set(text string) error {
	if v.values == nil {
		v.set(v.o, v.g, text)
		return nil
	}
	if ours, alone := v.values[""]; alone {
		v.set(v.o, v.g, ours)
		return nil
	}
	ours, ok := v.values[text]
	if !ok {
		return errors.New(v.known())
	}
	v.set(v.o, v.g, ours)
	return nil
}

// known says which values there are.
func (v *habitValue) known() string {
	return "use " + strings.Join(slices.Sorted(maps.Keys(v.values)), ", ")
}

// String returns no default.
func (v *habitValue) String() string { return "" }

// Type names the value in messages.
func (v *habitValue) Type() string { return "value" }

// otherFlags are flags of other agents that do not work, with what there is.
var otherFlags = map[string]string{
	"system-prompt":          "--append-system-prompt adds to the system prompt; nothing replaces it",
	"add-dir":                "the settings bashRead and bashWrite name further folders; --project names another project",
	"include-directories":    "the settings bashRead and bashWrite name further folders; --project names another project",
	"mcp-config":             "agent mcp add adds a server; the .mcp.json of a project proposes some",
	"settings":               "AGENT_HOME names another folder of settings; --profile names rules and defaults",
	"config":                 "AGENT_HOME names another folder of settings; each setting has a variable: see docs/config.md",
	"fallback-model":         "--model names the one model to ask",
	"ask-for-approval":       "--mode says what needs no question: ask, accept-edits, plan, read-only or all",
	"output-last-message":    "the answer is what -p prints: agent -p \"TEXT\" > FILE",
	"debug":                  "--verbose writes a log to stderr",
	"image":                  "a prompt attaches an image: agent -p \"what is this? @FILE\"",
	"search":                 "an MCP server that searches is added with agent mcp add; the model reads pages with web_fetch",
	"strict-mcp-config":      "servers that a project proposes are not started before agent mcp trust LABEL",
	"no-session-persistence": "--no-save keeps nothing of the conversation",
	"session-id":             "--resume ID continues a conversation",
	"prompt-interactive":     "agent \"TEXT\" begins a conversation with that prompt",
	"dangerously-bypass-approvals-and-sandbox": "--mode all asks nothing, in the sandbox",
}

// otherFlag returns what there is in place of a flag of another agent, or "".
func otherFlag(name string) string { return otherFlags[name] }

// otherCommands are commands of other agents, with what there is.
var otherCommands = map[string]string{
	"resume":   "agent --resume lists the conversations to continue",
	"continue": "agent --continue continues the last conversation",
	"fork":     "agent --resume ID --fork continues a copy of a conversation",
	"login":    "export the key of a provider, such as ANTHROPIC_API_KEY; docs/config.md names the variables",
	"logout":   "no key is kept: unset the variable of the provider",
	"config":   "settings are in config.yaml: see docs/config.md; agent doctor shows where",
	"plugin":   "agent skill add takes the skills of plugins and marketplaces",
	"plugins":  "agent skill add takes the skills of plugins and marketplaces",
	"review":   "agent -p \"review the changes\"",
	"chat":     "agent without a command begins a conversation",
	"run":      "agent -p \"TEXT\" answers a prompt; agent script run SKILL SCRIPT runs a script",
}
