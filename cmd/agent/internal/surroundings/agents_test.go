package surroundings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// agentsIn writes files of agents, with their paths below a home and a project, and reads them.
func agentsIn(t *testing.T, files map[string]string) ([]Agent, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Agents(&Options{Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "project"), Denied: func(path string) bool { return strings.HasSuffix(path, "denied.md") }})
}

// Files of agents are read as other programs write them, and what one cannot read gives no tools.
func TestAgents(t *testing.T) {
	for head, want := range map[string]Agent{
		"tools: Read, Bash(git log:*)":         {Limited: true, Tools: []string{"Read", "Bash(git log:*)"}},
		"tools:\n  - Read\n  - Grep":           {Limited: true, Tools: []string{"Read", "Grep"}},
		"tools: \"*\"":                         {},
		"tools: []":                            {Limited: true},
		"disallowedTools: Write":               {Without: []string{"Write"}},
		"model: haiku\ncolor: red":             {Model: "haiku"},
		"description: Use it when: a: b\nx: [": {},
	} {
		agents, notes := agentsIn(t, map[string]string{"project/.claude/agents/x.md": "---\nname: x\ndescription: Does x.\n" + head + "\n---\nDo \u202ex.\n"})
		if len(agents) != 1 || len(notes) > 0 {
			t.Errorf("%q: %+v, %q", head, agents, notes)
			continue
		}
		if a := agents[0]; a.Limited != want.Limited || !slices.Equal(a.Tools, want.Tools) || !slices.Equal(a.Without, want.Without) || a.Model != want.Model || a.Text != "Do x." {
			t.Errorf("%q: %+v", head, a)
		}
	}
}

// The user's file counts before the project's; what is kept from agents, too large or no text is not read, and there is a bound.
func TestAgentsLeftOut(t *testing.T) {
	about := func(text string) string { return "---\nname: x\ndescription: " + text + "\n---\n" }
	agents, notes := agentsIn(t, map[string]string{
		"home/.claude/agents/x.md": about("the user's"), "project/.agents/agents/x.md": about("the project's"),
		"project/.claude/agents/denied.md": about("denied"), "project/.claude/agents/README.md": "Words.", "project/.claude/agents/notes.txt": "Words.",
		"project/.claude/agents/large.md": about(strings.Repeat("large ", 20_000)), "project/.claude/agents/zero.md": "---\x00",
	})
	if len(agents) != 1 || !agents[0].User || len(notes) != 3 {
		t.Errorf("%+v\n%s", agents, strings.Join(notes, "\n"))
	}
	many := map[string]string{}
	for n := range maxAgents + 10 {
		many[fmt.Sprintf("project/.claude/agents/a%d.md", n)] = fmt.Sprintf("---\nname: a%d\ndescription: %s\n---\n", n, strings.Repeat("word ", 500))
	}
	agents, notes = agentsIn(t, many)
	if len(agents) != maxAgents || len(notes) != 1 || len(agents[0].About) > maxAbout+10 || len(Listed(agents)) > maxListed+maxAgents*10+300 {
		t.Errorf("%d agents, %q, %d bytes listed", len(agents), notes, len(Listed(agents)))
	}
}
