package install

import (
	"slices"
	"testing"
)

// Of a very large place the files of its skills are wanted, and what describes them.
func TestChoose(t *testing.T) {
	all := []string{".claude-plugin/marketplace.json", "a.txt", "p/.claude-plugin/plugin.json", "p/.mcp.json", "p/skills/x/SKILL.md", "p/skills/x/y/z.py", "q/skill.md", "q/b", "src/c.go"}
	tests := []struct {
		below string
		want  []string
	}{
		{".", []string{".claude-plugin/marketplace.json", "p/.claude-plugin/plugin.json", "p/.mcp.json", "p/skills/x/SKILL.md", "p/skills/x/y/z.py", "q/skill.md", "q/b"}},
		{"q", []string{".claude-plugin/marketplace.json", "p/.claude-plugin/plugin.json", "p/.mcp.json", "p/skills/x/SKILL.md", "q/skill.md", "q/b"}},
		{"src", []string{".claude-plugin/marketplace.json", "p/.claude-plugin/plugin.json", "p/.mcp.json", "p/skills/x/SKILL.md", "q/skill.md", "src/c.go"}},
	}
	for _, tt := range tests {
		wanted := choose(tt.below)(slices.Values(all))
		got := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !wanted(p) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("below %s: got %q, want %q", tt.below, got, tt.want)
		}
	}
}
