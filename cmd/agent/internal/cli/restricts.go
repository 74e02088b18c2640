package cli

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill/manifest"
)

// restricts says in plain words which tools a model may use while a skill is active, such as "only Read, Bash(git:*) while
// it is active", and whether the settings enforce it. If the skill has scripts and no rule is about running them, it says
// so, too. It returns "" if the skill restricts nothing.
func restricts(m *manifest.Manifest, scripts int, c *config.Config) string {
	allowed, except := strings.Join(m.AllowedTools.Rules, ", "), strings.Join(m.DisallowedTools.Rules, ", ")
	text := "only " + allowed
	switch {
	case !m.AllowedTools.Declared && except == "":
		return ""
	case !m.AllowedTools.Declared:
		text = "all"
	case allowed == "":
		text, except = "none", ""
	}
	if except != "" {
		text += " except " + except
	}
	text += " while it is active" + notEnforced(c)
	if scripts > 0 && c.Enforce != "off" && !runsScripts(m) {
		text += "; no rule allows to run its scripts (Bash or script_run)"
	}
	return text
}

// runsScripts reports whether a rule of the manifest is about running scripts.
func runsScripts(m *manifest.Manifest) bool {
	if !m.AllowedTools.Declared {
		return true
	}
	list, _ := allow.Parse(m.AllowedTools.Rules, nil)
	for _, r := range list.Rules() {
		if r.Tool == "bash" || r.Tool == "script_run" {
			return true
		}
	}
	return false
}

// notEnforced says what the setting enforce makes of a restriction, "" if it is enforced.
func notEnforced(c *config.Config) string {
	switch c.Enforce {
	case "off":
		return "; not enforced (enforce: off)"
	case "warn":
		return "; other calls are logged, not refused (enforce: warn)"
	}
	return ""
}
