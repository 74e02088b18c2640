package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill/manifest"
)

// C62: the check of a skill and the one rule of scripts agree.
func TestValidateScripts(t *testing.T) {
	const head = "---\nname: x\ndescription: y\n"
	for _, row := range []struct {
		name  string
		rule  survey.Rule
		files map[string]string
		want  []string
	}{
		{"listed below scripts and elsewhere", survey.Any, map[string]string{"SKILL.md": head + "scripts: [office/a, src/b.mjs]\n---\n", "scripts/office/a.py": "", "src/b.mjs": ""}, nil},
		{"listed elsewhere, with agent-base", survey.Direct, map[string]string{"SKILL.md": head + "scripts: [office/a, c.mjs]\n---\n", "scripts/office/a.py": "", "scripts/c.mjs": ""},
			[]string{"skills/x/SKILL.md:0:0 scripts-value", "skills/x/SKILL.md:0:0 script-kind"}},
		{"only elsewhere", survey.Any, map[string]string{"SKILL.md": head + "scripts: [src/b.mjs]\n---\n", "src/b.mjs": ""}, nil},
		{"a name", survey.Any, map[string]string{"SKILL.md": head + "---\n", "scripts/sub/a b.py": "", "src/a b.py": ""}, []string{"skills/x/scripts/sub/a b.py:0:0 script-name"}},
		{"an ignored one", survey.Any, map[string]string{"SKILL.md": head + "scripts_ignore: ['a*']\n---\n", "scripts/a b.py": ""}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, problems := Folder(folder(row.files), "x", &Options{Path: "skills/x", ScriptRule: row.rule})
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%s:%d:%d %s", p.File, p.Line, p.Col, p.Code))
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q", got, row.want)
			}
		})
	}
}

// A list of many scripts is checked at once: no file is looked at again for each name.
func TestManyListedScripts(t *testing.T) {
	content := map[string]string{}
	var names []string
	for i := range 2000 {
		content[fmt.Sprintf("scripts/f%d.py", i)] = ""
		names = append(names, fmt.Sprintf("n%d", i))
	}
	content["SKILL.md"] = "---\nname: x\ndescription: y\nscripts: [" + strings.Join(names, ", ") + "]\n---\n"
	_, problems := Folder(folder(content), "x", nil)
	if !slices.ContainsFunc(problems, func(p manifest.Problem) bool {
		return p.Code == "script-missing" && strings.Contains(p.Message, `"n0"`)
	}) {
		t.Errorf("got %v", problems)
	}
}
