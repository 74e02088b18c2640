package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// ParseSelection parses the value of AGENT_SKILLS: `all`, `all-untrusted`, `none`, nothing, or names separated by commas.
// Case and surrounding spaces do not matter. It returns each name once, in canonical form. It ignores and reports a word
// that is not a name, and `all`, `all-untrusted` or `none` next to names.
func ParseSelection(text string) (skill.Selection, []manifest.Problem) {
	var words []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			words = append(words, part)
		}
	}
	if len(words) == 0 {
		return skill.Selection{Mode: skill.SelectNone}, nil
	}
	if mode, ok := selectionMode(words[0]); ok && len(words) == 1 {
		return skill.Selection{Mode: mode}, nil
	}
	out := skill.Selection{Mode: skill.SelectNamed}
	var problems []manifest.Problem
	wrong := func(message, cure string) {
		problems = append(problems, manifest.Problem{Code: "config-value", Severity: manifest.SeverityError, Message: message, Cure: cure})
	}
	for _, w := range words {
		name := manifest.Canonical(w)
		if _, ok := selectionMode(w); ok {
			wrong(fmt.Sprintf("%q cannot be combined with names: ignored", w), "write either the word or the names")
			continue
		}
		if manifest.CheckName(w) != nil {
			wrong(fmt.Sprintf("%q is not the name of a skill: ignored", w), "write names separated by commas, all, all-untrusted or none")
			continue
		}
		if !slices.Contains(out.Names, name) {
			out.Names = append(out.Names, name)
		}
	}
	return out, problems
}

func selectionMode(word string) (skill.Mode, bool) {
	switch manifest.Canonical(word) {
	case "all":
		return skill.SelectAll, true
	case "all-untrusted":
		return skill.SelectAllUntrusted, true
	case "none":
		return skill.SelectNone, true
	}
	return 0, false
}
