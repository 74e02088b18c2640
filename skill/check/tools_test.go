package check

import (
	"slices"
	"strings"
	"testing"
)

// C7: a rule that is not understood is reported, and one that lets any code run is said to, once for all rules.
func TestTools(t *testing.T) {
	for fields, want := range map[string][]string{
		"allowed-tools: Read Bash Bash(git status:*) mcp__a__b TaskCreate": nil,
		"allowed-tools: Bash(git:*), Bash(python:*), Read": {
			"4:1 tools-reach allows any code: Bash(git:*) (git runs programs that its options, its configuration and its aliases name), " +
				"Bash(python:*) (python runs any program that it is given)"},
		"allowed-tools: Bash(python:*) Bash(perl:*) Bash(ruby:*) Bash(lua:*) Bash(php:*) Bash(node:*) Bash(bun:*)": {
			"4:1 tools-reach allows any code: Bash(python:*) (python runs any program that it is given), Bash(perl:*) (perl runs any program that it is given), " +
				"Bash(ruby:*) (ruby runs any program that it is given), Bash(lua:*) (lua runs any program that it is given), Bash(php:*) (php runs any program that it is given) and 2 more"},
		"Allowed_Tools: Bash(:*)": {`4:1 tools-rule "Bash(:*)" is not the pattern of one command: the rule is dropped`},
		"allowed-tools: Bash(api:load-*) curl": {
			`4:1 tools-rule "Bash(api:load-*)" names no program, because no program has a colon in its name: the rule is dropped`,
			"4:1 tools-unknown no known tool has the name curl (did you mean Bash(curl:*)?)"},
		"allowed-tools: Read(/tmp/x/**) Edit(/src/**)": {
			"4:1 tools-outside names a folder of the workspace: Read(/tmp/x/**) (did you mean Read(//tmp/x/**)?)"},
		"allowed-tools: [Raed, Azure]":                           {"4:1 tools-unknown no known tool has the name Raed (did you mean Read?), Azure"},
		"allowed-tools: [Azure MCPs, Azure MCPs, EnterPlanMode]": {"4:1 tools-unknown no known tool has the name Azure, MCPs"},
		"allowed-tools: Read Azure StitchMCP":                    {"4:1 tools-unknown no known tool has the name Azure, StitchMCP"},
		"disallowed-tools: Bash(x > y) Bash(rm:*)":               {`4:1 tools-rule "Bash(x > y)" is not the pattern of one command: the rule counts for any arguments`},
	} {
		text := "---\nname: x\ndescription: y\n" + fields + "\n---\n"
		_, problems := Folder(folder(map[string]string{"SKILL.md": text}), "x", nil)
		var got []string
		for _, p := range problems {
			if strings.HasPrefix(p.Code, "tools-") {
				_, line, _ := strings.Cut((&p).Error(), "SKILL.md:")
				place, _, _ := strings.Cut(line, ": ")
				got = append(got, place+" "+p.Code+" "+p.Message)
			}
			if p.Fatal || p.Cure == "" {
				t.Errorf("%s: %+v", fields, p)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", fields, got, want)
		}
	}
}
