package placeholder

import "testing"

// C73, C78
func TestFolder(t *testing.T) {
	for text, want := range map[string]string{
		"${SKILL_DIR}/x": "${SKILL_DIR}", "$SKILL_DIR/x": "$SKILL_DIR", "$SKILL_DIR": "$SKILL_DIR", "$SKILL_DIRS/x": "", "$SKILL_DIR_2": "",
		"{SKILL_DIR}x": "{SKILL_DIR}", "<SKILL_DIR>": "<SKILL_DIR>", "<skill_dir>/": "<skill_dir>", "<skill-dir>/a": "<skill-dir>", "{baseDir}": "{baseDir}",
		"${CLAUDE_SKILL_DIR}": "${CLAUDE_SKILL_DIR}", "<div>": "", "{other}": "", "SKILL_DIR/x": "", "": "",
		"~/.claude/skills/my-skill/x": "~/.claude/skills/my-skill", "~/.openclaw/skills/My_Skill": "~/.openclaw/skills/My_Skill", "~/clawd/skills/my-skill)": "~/clawd/skills/my-skill",
		"$HOME/.codex/skills/my-skill\"": "$HOME/.codex/skills/my-skill", "${HOME}/.x/skills/my-skill`": "${HOME}/.x/skills/my-skill",
		"~/.claude/skills/my-skill.": "~/.claude/skills/my-skill", "~/.claude/skills/my-skill-2/x": "", "~/.claude/skills/other/x": "", "~/.claude/skills": "",
		"~/skills/my-skill": "", "~/x/skills/my-skill": "", "~/../skills/my-skill": "", "~/.a/b/skills/my-skill": "", "/.claude/skills/my-skill": "", "~": "",
	} {
		if got := text[:Folder(text, "my-skill")]; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if Folder("~/.claude/skills//x", "") != 0 {
		t.Error("a skill without a name has a place")
	}
	if below, ok := Below("~/.a/skills/数据/scripts/x.py", "数据"); !ok || below != "scripts/x.py" {
		t.Errorf("below: %q", below)
	}
	if _, ok := Below("$SKILL_DIR", "x"); ok {
		t.Error("nothing is below a folder alone")
	}
	if got := Strip("{baseDir}/a $SKILL_DIR/b c"); got != "a b c" {
		t.Errorf("stripped: %q", got)
	}
	if !Own("SKILL_DIR=/x\n") || Own("$SKILL_DIR/x") || !OfVariable("${SKILL_DIR}") || !OfVariable("$SKILL_DIR") || OfVariable("{SKILL_DIR}") {
		t.Error("the variable")
	}
}
