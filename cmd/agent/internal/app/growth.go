package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/toolrule"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
)

// The keys of lines of an approval that are not shown as what the manifest asks for. They are noted to show later what is new.
const (
	contactsKey = "contacts: " // hosts that the texts of the scripts name
	readsKey    = "reads: "    // variables that the scripts read
	toolsKey    = "tools: "    // all, only (those of allowed-tools) or none, and what is excepted
)

// isNoted reports whether a line of an approval has one of these keys.
func isNoted(line string) bool {
	return strings.HasPrefix(line, contactsKey) || strings.HasPrefix(line, readsKey) || strings.HasPrefix(line, toolsKey)
}

// noted returns these lines for the present content.
func (p *Proposal) noted() []string {
	var out, reads []string
	for _, v := range p.variables {
		if v.Files > 0 {
			reads = append(reads, v.Name)
		}
	}
	if len(p.contacts.Hosts) > 0 {
		out = append(out, contactsKey+strings.Join(p.contacts.Hosts, " "))
	}
	if len(reads) > 0 {
		slices.Sort(reads)
		out = append(out, readsKey+strings.Join(reads, " "))
	}
	return append(out, toolsKey+toolsText(p.manifest))
}

// The first word of a line with toolsKey, from the strictest to the loosest.
var toolWords = []string{"none", "only", "all"}

func toolsText(m *manifest.Manifest) string {
	text := toolWords[1]
	switch {
	case !m.AllowedTools.Declared:
		text = toolWords[2]
	case len(m.AllowedTools.Rules) == 0:
		text = toolWords[0]
	}
	if len(m.DisallowedTools.Rules) > 0 {
		text += " except " + strings.Join(m.DisallowedTools.Rules, " ")
	}
	return text
}

// growth says what a content asks for, does or may do that another one did not, one line for each kind. An empty list means
// that an approval of the old one covers everything that the new one declares.
func growth(old, now *trust.Approval) []string {
	var out []string
	for _, line := range now.Permissions {
		if slices.Contains(old.Permissions, line) {
			continue
		}
		if grown := grownLine(old, line); grown != "" {
			out = append(out, grown)
		}
	}
	return append(out, newPrograms(old, now)...)
}

// grownLine says what is new in a line of an approval, "" if nothing is.
func grownLine(old *trust.Approval, line string) string {
	key, list, _ := strings.Cut(line, ": ")
	was := ""
	for _, l := range old.Permissions {
		if text, ok := strings.CutPrefix(l, key+": "); ok {
			was = text
		}
	}
	switch key + ": " {
	case toolsKey:
		return grownTools(was, list)
	case modelKey, "context: ":
		return line
	}
	split := strings.Fields
	switch {
	case strings.HasPrefix(key, "hook "): // the whole line is one thing
		return line
	case key == "allowed-tools":
		split = toolrule.Split
		if !slices.ContainsFunc(old.Permissions, func(l string) bool { return strings.HasPrefix(l, key+": ") }) && toolMode(old) == len(toolWords)-1 {
			return "" // it could use all tools before
		}
	}
	before := split(was)
	fresh := slices.DeleteFunc(split(list), func(item string) bool { return slices.Contains(before, item) })
	if len(fresh) == 0 {
		return ""
	}
	return key + ": " + strings.Join(fresh, " ")
}

// toolMode returns the index in toolWords of what an approval allowed, the strictest if it is not noted.
func toolMode(a *trust.Approval) int {
	for _, l := range a.Permissions {
		if text, ok := strings.CutPrefix(l, toolsKey); ok {
			mode, _, _ := strings.Cut(text, " ")
			return max(slices.Index(toolWords, mode), 0)
		}
	}
	return 0
}

// grownTools compares two lines with toolsKey.
func grownTools(was, now string) string {
	wasMode, wasExcept, _ := strings.Cut(was, " except ")
	mode, except, _ := strings.Cut(now, " except ")
	if mode == toolWords[0] {
		return ""
	}
	if slices.Index(toolWords, mode) > slices.Index(toolWords, wasMode) {
		if mode == toolWords[1] {
			return "" // the rules themselves are a line of their own
		}
		return "tools: all, without restriction"
	}
	left := toolrule.Split(except)
	freed := slices.DeleteFunc(toolrule.Split(wasExcept), func(rule string) bool { return slices.Contains(left, rule) })
	if len(freed) == 0 {
		return ""
	}
	return "tools: no longer except " + strings.Join(freed, " ")
}

// newPrograms names the files that may run and were not there before.
func newPrograms(old, now *trust.Approval) []string {
	known := map[string]bool{}
	for _, f := range old.Files {
		known[f.Path] = true
	}
	var out []string
	for _, f := range now.Files {
		if !known[f.Path] && (mayRun(f.Path) || f.Link) {
			out = append(out, fmt.Sprintf("new file that may run: %s", f.Path))
		}
	}
	return out
}
