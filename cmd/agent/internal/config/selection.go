package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// ParseSelection reads the value of AGENT_SKILLS (R70): `all`, `all-untrusted`, `none`, nothing, or names with commas
// between them, in any case and with blanks around them. The names come back canonical, each once. A word that is no
// name, and `all` or its like beside names, are left out with a problem.
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
			wrong(fmt.Sprintf("%q stands beside names: it is left out", w), "write it alone, or the names alone")
			continue
		}
		if manifest.CheckName(w) != nil {
			wrong(fmt.Sprintf("%q is no skill's name: it is left out", w), "write names with commas between them, all, all-untrusted or none")
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
