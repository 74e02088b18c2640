package cli

import (
	"strings"

	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill/manifest"
)

// toolRules is what a skill says about the tools of a model.
type toolRules struct {
	AllowedTools    *[]string `json:"allowed_tools"` // null: unrestricted
	DisallowedTools []string  `json:"disallowed_tools,omitempty"`
	DroppedTools    []string  `json:"dropped_tools,omitempty"` // rules of allowed-tools that are not understood, with the reason
	AnyCode         []reach   `json:"any_code,omitempty"`      // rules that let any code run
}

// reach is a rule that lets any code run.
type reach struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

func toolRulesOf(m *manifest.Manifest) toolRules {
	t := toolRules{DisallowedTools: m.DisallowedTools.Rules}
	if !m.AllowedTools.Declared {
		return t
	}
	rules := append([]string{}, m.AllowedTools.Rules...)
	t.AllowedTools = &rules
	list, problems := allow.Parse(rules, nil)
	for _, r := range list.Rules() {
		if why := r.Reach(); why.Code {
			t.AnyCode = append(t.AnyCode, reach{r.Text, why.Why})
		}
	}
	for _, p := range problems {
		t.DroppedTools = append(t.DroppedTools, p.Message)
	}
	return t
}

// anyCodeText says which rules let any code run, and why.
func (t toolRules) anyCodeText() string {
	var parts []string
	for _, r := range t.AnyCode {
		parts = append(parts, r.Rule+" ("+r.Why+")")
	}
	return strings.Join(parts, ", ")
}
