package skilltool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/tokentest"
	"github.com/agent-base/agent-base/skill"
)

// R85, C62: a skill with many scripts does not flood a model: what SKILL.md names is listed first, and the rest is counted.
func TestLongListIsCut(t *testing.T) {
	files := tree{"many/SKILL.md": skillText("many", "", "Run scripts/z_59.sh and `bash src/a.sh`."), "many/src/a.sh": "", "few/SKILL.md": skillText("few", "", "x"), "few/scripts/one.sh": ""}
	for i := range 60 {
		files[fmt.Sprintf("many/scripts/z_%02d.sh", i)] = "echo '{}'\n"
	}
	k, _ := kit(t, kitOptions{files: files, trust: skill.TrustRoot})
	r := call(t, k, "script_list", `{"skill_name":"many"}`)
	want := "Found 61 scripts across 1 skill; 31 more are not listed here: call them by their path, such as script_name 'scripts/z_28.sh' (skill_read lists the files of a skill)"
	if r.Message != want || strings.Count(result(r), `"name"`) != maxItems || !strings.HasPrefix(result(r), `{"many":[{"name":"src/a.sh","path":"src/a.sh"},{"name":"z_59","path":"scripts/z_59.sh"},{"name":"z_00"`) {
		t.Errorf("got %s %s", result(r), r.Message)
	}
	if n := tokentest.Counter(t)(string(r.Encode())); n > 900 {
		t.Errorf("the list has %d tokens", n)
	}
	if r := call(t, k, "script_run", `{"skill_name":"many","script_name":"scripts/z_28.sh"}`); !r.Success {
		t.Errorf("got %s", r.Encode())
	}
	if list, err := k.ListScripts(t.Context(), "many"); err != nil || len(list["many"]) != 61 {
		t.Errorf("a program gets %d scripts, %v", len(list["many"]), err)
	}
}

// C62: the list of all skills is cut too, and says how many skills are missing.
func TestListOfAllSkillsIsCut(t *testing.T) {
	files := tree{}
	for i := range 9 {
		name := fmt.Sprint("s", i)
		files[name+"/SKILL.md"] = skillText(name, "", "x")
		for n := range maxItems {
			files[fmt.Sprintf("%s/scripts/f%d.py", name, n)] = ""
		}
	}
	k, _ := kit(t, kitOptions{files: files})
	r := call(t, k, "script_list", `{}`)
	want := "Found 270 scripts across 9 skills; 70 more are not listed here: call them by their path, such as script_name 'scripts/f0.py' (skill_read lists the files of a skill); for the scripts of the other 2 skills give skill_name"
	if r.Message != want || strings.Count(result(r), `"name"`) != maxAllItems {
		t.Errorf("got %d items, %s", strings.Count(result(r), `"name"`), r.Message)
	}
}

// C62, R125: what a refusal to read names runs, for every script; and what a model pastes from SKILL.md runs too.
func TestRefusalNamesTheCall(t *testing.T) {
	files := tree{"x/SKILL.md": skillText("x", "", "`bash src/go.sh`"), "x/scripts/run.py": "", "x/scripts/run.sh": "", "x/scripts/lib/run.sh": "", "x/scripts/lib/util.sh": "", "x/run.sh": "", "x/src/go.sh": "", "x/bin/run.sh": "", "x/scripts/__init__.py": ""}
	for name := range files {
		if strings.HasSuffix(name, ".sh") {
			files[name] = "echo '{}'\n"
		}
	}
	k, root := kit(t, kitOptions{files: files, trust: skill.TrustRoot})
	for path, name := range map[string]string{"scripts/run.sh": "run.sh", "scripts/lib/run.sh": "lib/run", "scripts/lib/util.sh": "lib/util", "src/go.sh": "src/go.sh", "bin/run.sh": "bin/run.sh"} {
		r := call(t, k, "skill_read", `{"skill_name":"x","path":`+quote(path)+`}`)
		if !strings.Contains(r.Message, "script_run with skill_name 'x' and script_name '"+name+"', and") {
			t.Errorf("%s: %s", path, r.Message)
		}
		for _, ask := range []string{name, path, "./" + path, "${CLAUDE_SKILL_DIR}/" + path, "{baseDir}/" + path, "~/.claude/skills/x/" + path, root + "/x/" + path} {
			if r := call(t, k, "script_run", `{"skill_name":"x","script_name":`+quote(ask)+`}`); !r.Success || !strings.HasPrefix(r.Message, "Executed "+name+" script") {
				t.Errorf("%s: %s", ask, r.Encode())
			}
		}
	}
	if r := call(t, k, "skill_read", `{"skill_name":"x","path":"run.sh"}`); !r.Success {
		t.Errorf("a file that nothing runs: %s", r.Encode())
	}
}
