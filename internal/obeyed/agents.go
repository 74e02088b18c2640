package obeyed

import (
	"slices"
	"strings"
	"sync"
)

// Agent is another agent, with the folders of its skills.
type Agent struct {
	ID      string // such as "claude"
	Title   string // such as "Claude Code"
	Project string // slash path of its skills below the root of a project; "" if it reads no skills
	User    string // the same below the home of a user
	Aliases string // other names, separated by spaces

	names    string // what it obeys besides the folders of its skills, separated by spaces
	common   string // more that it obeys, whose names ordinary files have too: only Named counts them
	searched string // the name of a hidden folder that discovery searches for skills, wherever it lies; "" for none
}

const agentsFolder = ".agents/skills"

// collections are the hidden folders in a folder called "skills" that hold skills, too.
var collections = [...]string{".curated", ".system", ".experimental"}

// agents is the table. The first rows are the most common ones.
var agents = [...]Agent{
	{ID: "claude", Title: "Claude Code", Project: ".claude/skills", User: ".claude/skills", Aliases: "claude-code", names: "CLAUDE.md CLAUDE.local.md .claude.json", searched: ".claude"},
	{ID: "codex", Title: "Codex", Project: agentsFolder, User: agentsFolder, Aliases: "codex-cli", names: ".codex", searched: ".codex"},
	{ID: "gemini", Title: "Gemini CLI", Project: ".gemini/skills", User: ".gemini/skills", Aliases: "gemini-cli", names: "GEMINI.md", searched: ".gemini"},
	{ID: "cursor", Title: "Cursor", Project: ".cursor/skills", User: ".cursor/skills", names: ".cursorrules", searched: ".cursor"},
	{ID: "agents", Title: "the shared folder .agents", Project: agentsFolder, User: agentsFolder, Aliases: "universal", searched: ".agents"},
	{ID: "opencode", Title: "OpenCode", Project: ".opencode/skills", User: ".config/opencode/skills", names: "opencode.json opencode.jsonc", searched: ".opencode"},
	{ID: "copilot", Title: "GitHub Copilot", Project: ".github/skills", User: ".copilot/skills", Aliases: "github-copilot vscode", searched: ".github",
		names: "copilot-instructions.md .github/instructions .github/prompts .github/agents .github/chatmodes .github/hooks"},
	{ID: "crush", Title: "Crush", Project: ".crush/skills", User: ".config/crush/skills", names: "CRUSH.md crush.json .crush.json"},

	{ID: "amp", Title: "Amp", Project: agentsFolder, User: ".config/agents/skills", names: ".amp"},
	{ID: "augment", Title: "Augment", Project: ".augment/skills", User: ".augment/skills", names: ".augment-guidelines"},
	{ID: "cline", Title: "Cline", Project: agentsFolder, User: agentsFolder, names: ".cline .clinerules"},
	{ID: "codebuddy", Title: "CodeBuddy", Project: ".codebuddy/skills", User: ".codebuddy/skills"},
	{ID: "continue", Title: "Continue", Project: ".continue/skills", User: ".continue/skills", names: ".continuerc.json"},
	{ID: "cortex", Title: "Cortex Code", Project: ".cortex/skills", User: ".snowflake/cortex/skills"},
	{ID: "devin", Title: "Devin", Project: ".devin/skills", User: ".config/devin/skills"},
	{ID: "droid", Title: "Factory Droid", Project: agentsFolder, User: ".factory/skills", Aliases: "factory"},
	{ID: "goose", Title: "Goose", Project: ".goose/skills", User: ".config/goose/skills", names: ".goosehints"},
	{ID: "grok", Title: "Grok", Project: ".grok/skills", User: ".grok/skills"},
	{ID: "junie", Title: "Junie", Project: ".junie/skills", User: ".junie/skills"},
	{ID: "kilo", Title: "Kilo Code", Project: agentsFolder, User: ".kilo/skills", names: ".kilocode .kilocodemodes"},
	{ID: "kiro", Title: "Kiro", Project: ".kiro/skills", User: ".kiro/skills", Aliases: "kiro-cli", searched: ".kiro"},
	{ID: "openclaw", Title: "OpenClaw", Project: "skills", User: ".openclaw/skills", names: "SOUL.md HEARTBEAT.md", common: "MEMORY.md USER.md IDENTITY.md TOOLS.md BOOTSTRAP.md"},
	{ID: "openhands", Title: "OpenHands", Project: ".openhands/skills", User: ".openhands/skills"},
	{ID: "qoder", Title: "Qoder", Project: ".qoder/skills", User: ".qoder/skills"},
	{ID: "qwen", Title: "Qwen Code", Project: ".qwen/skills", User: ".qwen/skills", Aliases: "qwen-code", names: "QWEN.md", searched: ".qwen"},
	{ID: "roo", Title: "Roo Code", Project: ".roo/skills", User: ".roo/skills", names: ".roomodes .roorules*"},
	{ID: "rovodev", Title: "Rovo Dev", Project: ".rovodev/skills", User: ".rovodev/skills"},
	{ID: "trae", Title: "Trae", Project: ".trae/skills", User: ".trae/skills"},
	{ID: "vibe", Title: "Mistral Vibe", Project: ".vibe/skills", User: ".vibe/skills", Aliases: "mistral-vibe"},
	{ID: "warp", Title: "Warp", Project: agentsFolder, User: agentsFolder, names: "WARP.md .warp"},
	{ID: "windsurf", Title: "Windsurf", Project: ".windsurf/skills", User: ".codeium/windsurf/skills", names: ".windsurfrules"},
	{ID: "zed", Title: "Zed", Project: agentsFolder, User: agentsFolder},
	{ID: "zencoder", Title: "Zencoder", Project: ".zencoder/skills", User: ".zencoder/skills"},

	{Title: "agent-base", names: ".agent", searched: ".agent"},
	{Title: "Aider", names: ".aider.conf.yml .aider.model.settings.yml .aider.model.metadata.json"},
	{Title: "Amazon Q", names: ".amazonq"},
	{Title: "AI Assistant", names: ".aiassistant"},
	{Title: "Forge", names: ".forge forge.yaml"},
	{Title: "iFlow", names: "IFLOW.md .iflow"},
	{Title: "Pi", names: ".pi"},
}

// Agents returns the agents that read skills, the most common first.
func Agents() []Agent {
	return slices.DeleteFunc(slices.Clone(agents[:]), func(a Agent) bool { return a.Project == "" })
}

// ownFolder returns the folder of an agent of which a path of its skills is a part, "" if it shares the first folder with other programs.
func ownFolder(skills string) string {
	first, _, _ := strings.Cut(skills, "/")
	switch first {
	case ".github":
		return skills
	case ".config", "skills":
		return ""
	}
	return first
}

// SkillFolders returns the names of the hidden folders that hold skills, in a folder called parent: those of agents in any folder, and
// in one called "skills" its collections. The caller does not change the result.
func SkillFolders(parent string) []string {
	all := skillFolders()
	if parent == "skills" {
		return all
	}
	return all[:len(all)-len(collections)]
}

var skillFolders = sync.OnceValue(func() []string {
	var out []string
	for _, a := range agents {
		if a.searched != "" {
			out = append(out, a.searched)
		}
	}
	return append(out, collections[:]...)
})
