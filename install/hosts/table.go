package hosts

import (
	"slices"
	"strings"
)

// Host is another agent that reads skills from folders.
type Host struct {
	ID      string // such as "claude"
	Title   string // such as "Claude Code"
	Project string // slash path below the root of a project
	User    string // slash path below the home folder of a user

	aliases string // other names, separated by spaces
	acts    string // front matter keys that it acts on besides name and description, separated by spaces
	ascii   bool   // it loads only skills with a name of a-z, 0-9 and single hyphens
	shared  bool   // other agents read the same folder, too
	args    bool   // it fills in $ARGUMENTS and the like in the instructions
	inject  bool   // it runs commands that the instructions have in the form !`command`
}

const agentsFolder = ".agents/skills"

// hosts is the table. The first rows are those whose treatment of fields is known; the others act on names and descriptions.
var hosts = [...]Host{
	{ID: "claude", Title: "Claude Code", Project: ".claude/skills", User: ".claude/skills", aliases: "claude-code", args: true, inject: true,
		acts: "when-to-use argument-hint arguments disable-model-invocation user-invocable allowed-tools disallowed-tools model effort context agent background hooks paths shell"},
	{ID: "codex", Title: "Codex", Project: agentsFolder, User: agentsFolder, aliases: "codex-cli", shared: true},
	{ID: "gemini", Title: "Gemini CLI", Project: ".gemini/skills", User: ".gemini/skills", aliases: "gemini-cli"},
	{ID: "cursor", Title: "Cursor", Project: ".cursor/skills", User: ".cursor/skills", acts: "disable-model-invocation"},
	{ID: "agents", Title: "the shared folder .agents", Project: agentsFolder, User: agentsFolder, aliases: "universal", shared: true},
	{ID: "opencode", Title: "OpenCode", Project: ".opencode/skills", User: ".config/opencode/skills", ascii: true, args: true},
	{ID: "copilot", Title: "GitHub Copilot", Project: ".github/skills", User: ".copilot/skills", aliases: "github-copilot vscode", ascii: true,
		acts: "argument-hint user-invocable disable-model-invocation context"},
	{ID: "crush", Title: "Crush", Project: ".crush/skills", User: ".config/crush/skills", acts: "user-invocable disable-model-invocation"},

	{ID: "amp", Title: "Amp", Project: agentsFolder, User: ".config/agents/skills", shared: true},
	{ID: "augment", Title: "Augment", Project: ".augment/skills", User: ".augment/skills"},
	{ID: "cline", Title: "Cline", Project: agentsFolder, User: agentsFolder, shared: true},
	{ID: "codebuddy", Title: "CodeBuddy", Project: ".codebuddy/skills", User: ".codebuddy/skills"},
	{ID: "continue", Title: "Continue", Project: ".continue/skills", User: ".continue/skills"},
	{ID: "cortex", Title: "Cortex Code", Project: ".cortex/skills", User: ".snowflake/cortex/skills"},
	{ID: "devin", Title: "Devin", Project: ".devin/skills", User: ".config/devin/skills"},
	{ID: "droid", Title: "Factory Droid", Project: agentsFolder, User: ".factory/skills", aliases: "factory", shared: true},
	{ID: "goose", Title: "Goose", Project: ".goose/skills", User: ".config/goose/skills"},
	{ID: "grok", Title: "Grok", Project: ".grok/skills", User: ".grok/skills"},
	{ID: "junie", Title: "Junie", Project: ".junie/skills", User: ".junie/skills"},
	{ID: "kilo", Title: "Kilo Code", Project: agentsFolder, User: ".kilo/skills", shared: true},
	{ID: "kiro", Title: "Kiro", Project: ".kiro/skills", User: ".kiro/skills", aliases: "kiro-cli"},
	{ID: "openclaw", Title: "OpenClaw", Project: "skills", User: ".openclaw/skills"},
	{ID: "openhands", Title: "OpenHands", Project: ".openhands/skills", User: ".openhands/skills"},
	{ID: "qoder", Title: "Qoder", Project: ".qoder/skills", User: ".qoder/skills"},
	{ID: "qwen", Title: "Qwen Code", Project: ".qwen/skills", User: ".qwen/skills", aliases: "qwen-code"},
	{ID: "roo", Title: "Roo Code", Project: ".roo/skills", User: ".roo/skills"},
	{ID: "rovodev", Title: "Rovo Dev", Project: ".rovodev/skills", User: ".rovodev/skills"},
	{ID: "trae", Title: "Trae", Project: ".trae/skills", User: ".trae/skills"},
	{ID: "vibe", Title: "Mistral Vibe", Project: ".vibe/skills", User: ".vibe/skills", aliases: "mistral-vibe"},
	{ID: "warp", Title: "Warp", Project: agentsFolder, User: agentsFolder, shared: true},
	{ID: "windsurf", Title: "Windsurf", Project: ".windsurf/skills", User: ".codeium/windsurf/skills"},
	{ID: "zed", Title: "Zed", Project: agentsFolder, User: agentsFolder, shared: true},
	{ID: "zencoder", Title: "Zencoder", Project: ".zencoder/skills", User: ".zencoder/skills"},
}

// All returns the table. The first rows are the most common agents.
func All() []Host { return slices.Clone(hosts[:]) }

// Find returns the host with an ID or another name of it, in any case. It returns false if there is none.
func Find(name string) (Host, bool) {
	name = strings.ToLower(name)
	for _, h := range hosts {
		if h.ID == name || slices.Contains(strings.Fields(h.aliases), name) {
			return h, true
		}
	}
	return Host{}, false
}

// Scope is for whom a skill is put into a folder.
type Scope uint8

// The scopes.
const (
	User    Scope = iota + 1 // for all projects of a user
	Project                  // for one project
)

// Folder returns the slash path of the host's skills below the home folder or the root of a project.
func (h Host) Folder(s Scope) string {
	if s == Project {
		return h.Project
	}
	return h.User
}

// effects says for the fields that somebody may rely on what happens where an agent does not act on them. The name of the agent
// stands for %s.
var effects = map[string]string{
	"disable-model-invocation": "the model of %s may start it, which its author wants to leave to people",
	"user-invocable":           "%s may offer it as a command",
	"disallowed-tools":         "%s does not forbid the tools that it lists",
	"allowed-tools":            "%s does not restrict it to the tools that it lists",
	"permissions":              "%s runs its scripts with all rights of its own commands",
	"hooks":                    "%s does not run its hooks, which may be checks",
	"scope":                    "%s shows it to everybody",
	"toolsets":                 "%s does not offer its toolsets",
	"requires-skills":          "%s does not look for the skills that it needs",
	"context":                  "%s runs it in the conversation, not in one of its own",
	"paths":                    "%s offers it for all files",
	"min-agent-base-version":   "%s does not check versions",
	"max-agent-base-version":   "%s does not check versions",
}
