package obeyed

import (
	"slices"
	"strings"
	"testing"
)

// M4 of the second visit: what scripts left behind, and what the lists of earlier versions had.
const planted = `opencode.json opencode.jsonc .opencode/agent/x.md crush.json .crush.json .qwen/settings.json .continue/config.yaml .continue.md .aider.conf.yml
	.kilocode/mcp.json .trae/mcp.json .copilot/mcp-config.json .vibe/config.toml .devcontainer.json .devcontainer/devcontainer.json Agents.md AGENTS.md AGENT.md
	AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CRUSH.md WARP.md IFLOW.md .rules .cursorrules .windsurfrules .clinerules/x .cursor/mcp.json
	.gemini/settings.json .codex/config.toml .claude/settings.json .agents/skills/new/SKILL.md .agent/config.yaml .mcp.json .vscode/tasks.json .idea/x.xml .zed/tasks.json
	.windsurf/x .roo/x .kiro/x .junie/x .amazonq/x .github/copilot-instructions.md .github/instructions/x .github/prompts/x .github/agents/x .github/chatmodes/a.md
	.github/hooks/x .github/skills/x copilot-instructions.md lefthook.yml .githooks/pre-commit .husky/pre-commit mise.toml .mise.toml .envrc .env.local .npmrc .yarnrc .yarnrc.yml
	.yarn/releases/yarn.cjs .yarn/plugins/x.cjs .pnp.cjs .pnpmfile.cjs bunfig.toml .cargo/config .cargo/config.toml .pre-commit-config.yaml .eslintrc.js .vimrc .gdbinit
	.git/hooks/pre-commit .git/config .git/commondir .git/config.worktree .gitmodules .hg/hgrc .jj/repo/config.toml .crush/skills/x/SKILL.md .goose/skills/a.md .augment/x
	.bashrc .bash_profile .zshrc .profile .inputrc .gitconfig SOUL.md HEARTBEAT.md`

func TestFind(t *testing.T) {
	for _, dir := range []string{"", "src/", "a/b/c/"} {
		for name := range strings.FieldsSeq(planted) {
			for _, rel := range []string{dir + name, dir + strings.ToUpper(name)} {
				if f, ok := Find(rel); !ok || f.Reason() == "" || f.Made {
					t.Errorf("%s: got %+v, %v", rel, f, ok)
				}
			}
		}
	}
	for _, rel := range []string{"CLAUDE.md. ", "CLAU\u200bDE.md", "agentſ.md", "CLAUDE~1", ".unheard-of", ".github/SKILLS/x"} {
		if _, ok := Find(rel); !ok {
			t.Errorf("%q is not found", rel)
		}
	}
	for _, rel := range []string{"main.go", "docs/agents.txt", ".gitignore", ".github/workflows/x.yml", ".github", ".yarn/cache/x", "skills/x/SKILL.md", ".env.example", "hooks/config", "git/hooks", "a~10", "."} {
		if f, ok := Find(rel); ok {
			t.Errorf("%q is found: %+v", rel, f)
		}
	}
	for _, tt := range []struct {
		rel  string
		want Found
	}{
		{"AGENTS.md", Found{Name: "AGENTS.md", By: "agents", Does: "follow", Listed: true, Agents: true}},
		{"x/.Github/Prompts/y", Found{Name: ".Github/Prompts", By: "GitHub Copilot", Does: "follows", Listed: true, Agents: true}},
		{".config/x", Found{Name: ".config", By: "programs", Does: "obey", Listed: true, Home: true, Own: true}},
		{"a/.pytest_cache/x", Found{Name: ".pytest_cache", By: "programs", Does: "can read", Made: true}},
		{"lib/.lock", Found{Name: ".lock", By: "programs", Does: "can read", Made: true}},
		{"b/.strange/CLAUDE.md", Found{Name: ".strange", By: "programs", Does: "can read"}},
	} {
		if got, _ := Find(tt.rel); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.rel, got, tt.want)
		}
	}
}

// Each name is found at any depth, and none is called harmless at the same time.
func TestNames(t *testing.T) {
	names := Names()
	for _, name := range names {
		for _, rel := range []string{name, "src/" + name, "src/" + strings.ToUpper(name) + "/x"} {
			if f, ok := Find(rel); !ok || !f.Listed && f.Made {
				t.Errorf("%s: got %+v, %v", rel, f, ok)
			}
		}
	}
	if len(names) < 150 || !slices.Contains(names, ".eslintrcx") {
		t.Errorf("got %q", names)
	}
	if got := Below(".GIT"); !slices.Equal(got, []string{"hooks", "config", "commondir", "config.worktree", "objects/info/alternates"}) {
		t.Errorf("below .git: %q", got)
	}
}

// C72: the hidden folders in which skills are looked for, and what agents read.
func TestSkillFolders(t *testing.T) {
	want := strings.Fields(".agents .agent .claude .codex .gemini .github .cursor .opencode .qwen .kiro")
	got := SkillFolders("x")
	slices.Sort(want)
	if !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("got %q", got)
	}
	if got := SkillFolders("skills"); len(got) != len(want)+3 || !slices.Contains(got, ".curated") {
		t.Errorf("got %q", got)
	}
	for _, a := range Agents() {
		if _, ok := Find(a.Project + "/x"); !ok && a.Project != "skills" {
			t.Errorf("%s is not obeyed", a.Project)
		}
	}
}

// What a name is does not depend on its case, and what is found is a part of the path.
func FuzzFind(f *testing.F) {
	for name := range strings.FieldsSeq(planted) {
		f.Add(name)
	}
	f.Add("a//b/../.x ./~1")
	f.Fuzz(func(t *testing.T, rel string) {
		got, ok := Find(rel)
		if ok && (!strings.Contains("/"+rel+"/", "/"+got.Name+"/") || got.By == "" || got.Does == "") {
			t.Errorf("%q: got %+v", rel, got)
		}
		if _, upper := Find(strings.ToUpper(rel)); isPlain(rel) && upper != ok {
			t.Errorf("%q: got %v, and %v in upper case", rel, ok, upper)
		}
	})
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

func BenchmarkIn(b *testing.B) {
	for b.Loop() {
		for _, name := range []string{"main.go", "README.md", "node_modules", "a_long_name_of_a_test_test.go"} {
			In("src/x", name)
		}
	}
}

// A text that names the memory of an agent means it, and the same file elsewhere is an ordinary one.
func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{"~/.claude/CLAUDE.md": true, "SOUL.md": true, "./Memory.md": true, "docs/tools.md": true, "README.md": false, "~/.bashrc": false} {
		if got := Named(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if _, ok := Find("references/tools.md"); ok {
		t.Error("references/tools.md is obeyed wherever it lies")
	}
}
