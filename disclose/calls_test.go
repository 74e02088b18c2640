package disclose

import (
	"slices"
	"strings"
	"testing"
)

func TestFindCall(t *testing.T) {
	scripts := []string{"scripts/a.py", "scripts/office/unpack.py", "scripts/run.sh", "src/main.ts", "top.py"}
	for _, row := range []struct{ name, body, want string }{
		{"a line of a block", "```bash\npython scripts/a.py in.txt --out 'a b'\n```", "scripts/a.py in.txt --out a b"},
		{"a span", "Run `python3 scripts/office/unpack.py doc.docx out/`.", "scripts/office/unpack.py doc.docx out/"},
		{"the second span", "`x.y` and `bash ./scripts/run.sh`", "scripts/run.sh"},
		{"prompt, variable, comment", "```\n$ A=1 uv run --quiet python scripts/a.py x # comment\n```", "scripts/a.py x"},
		{"its own interpreter", "```sh\n./scripts/run.sh one | tee log\n```", "scripts/run.sh one"},
		{"tsx", "```\nnpx tsx src/main.ts --go\n```", "src/main.ts --go"},
		{"one with arguments", "`python scripts/a.py` `bash scripts/run.sh x`", "scripts/run.sh x"},
		{"continued", "```\npython scripts/a.py \\\n  --in x\n```", "scripts/a.py --in x"},
		{"base directory", "`python {baseDir}/scripts/a.py x`", "scripts/a.py x"},
		{"skill directory", "`bash \"${CLAUDE_SKILL_DIR}/scripts/run.sh\" x`", "scripts/run.sh x"},
		{"home", "`python ~/.claude/skills/pdf/scripts/a.py x`", "scripts/a.py x"},
		{"absolute", "`python /s/pdf/scripts/a.py x`", "scripts/a.py x"},
		{"in a list", "- ```\n  python scripts/a.py\n  ```", "scripts/a.py"},
		{"a file that is only named", "See `scripts/a.py`.", ""},
		{"another skill's", "`python ../other/scripts/a.py`", ""},
		{"a file that is not a script", "`python scripts/none.py x`", ""},
		{"code of another interpreter's option", "`python -c scripts/a.py`", ""},
		{"a file at the root without an interpreter", "`top.py is a file` `uv run --with x top.py y`", "top.py y"},
		{"prose", "python scripts/a.py is a script", ""},
		{"inside another command", "`cat scripts/a.py x`", ""},
		{"a placeholder", "`python <skill-path>/scripts/a.py x`", "scripts/a.py x"},
		{"a placeholder in quotes", "```\npython \"<path-to-skill>/scripts/a.py\" --repo .\n```", "scripts/a.py --repo ."},
		{"a variable", "`bun run \"$SKILL_DIR/src/main.ts\" x`", "src/main.ts x"},
		{"a word for it", "`python3 SKILL_DIR/scripts/a.py IN`", "scripts/a.py IN"},
		{"the plugin's", "`python ${CLAUDE_PLUGIN_ROOT}/scripts/a.py x`", ""},
		{"the project's", "`python $ROOT/scripts/a.py x`", ""},
		{"all skills'", "`python $SKILLS_DIR/scripts/a.py x`", ""},
		{"after cd", "`cd {baseDir}/scripts && python a.py x && ls`", "scripts/a.py x"},
		{"below its folder's name", "`python pdf/scripts/a.py x`", "scripts/a.py x"},
		{"by its name", "`python a.py recent`", "scripts/a.py recent"},
		{"a name that is prose", "`a.py is a script`", ""},
		{"Windows", "`python scripts\\office\\unpack.py 'C:\\x'`", "scripts/office/unpack.py C:\\x"},
		{"a backslash in an argument", "`python scripts/a.py '\\d'`", "scripts/a.py \\d"},
		{"an interpreter's path", "`/home/u/.venv/bin/python3 scripts/a.py x`", "scripts/a.py x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, ok := findCall(row.body, "pdf", "/s/pdf", scripts)
			if got := strings.Join(append([]string{c.script}, c.args...), " "); got != row.want || ok != (row.want != "") {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// A long command is shown up to its script.
func TestLongCall(t *testing.T) {
	c, ok := findCall("```\npython3 <skill-dir>/scripts/a.py \\\n  --in "+strings.Repeat("x", maxCall)+"\n```", "pdf", "/s/pdf", []string{"scripts/a.py"})
	const want = " In place of `python3 <skill-dir>/scripts/a.py` call it with skill_name \"pdf\", script_name \"a.py\", and the words that follow as args."
	if got := c.asToolCall("pdf"); !ok || got != want {
		t.Errorf("got %q", got)
	}
	if _, ok = findCall("`python scripts/a.py "+strings.Repeat("x", 20*maxCall)+"`", "pdf", "/s/pdf", []string{"scripts/a.py"}); ok {
		t.Error("found a command without end")
	}
}

// What the frame says about a command of the body.
func TestInstructionsCall(t *testing.T) {
	s := load(t, "", "Run `python scripts/run.py \"a b\" <file>`.", "scripts/run.py")
	body := instructions(t, s, &InstructionOptions{Wrap: true, dir: "/skills/s"}).Body
	want := "run them with the tool script_run. In place of `python scripts/run.py \"a b\" <file>` call it with skill_name \"s\", script_name \"run.py\", args [\"a b\",\"<file>\"]."
	if !strings.Contains(body, want) {
		t.Errorf("no %s in\n%s", want, body)
	}
	o := &InstructionOptions{Wrap: true, dir: "/skills/s", Command: func(skill, script string, args []string) string {
		return "host run " + skill + " " + script + " -- " + strings.Join(args, " ")
	}}
	if body = instructions(t, s, o).Body; !strings.Contains(body, "such as: host run s run.py -- a b <file>") || strings.Contains(body, "script_run") {
		t.Errorf("got:\n%s", body)
	}
	s = load(t, "", "Body.", "scripts/run.py")
	if body = instructions(t, s, o).Body; !strings.Contains(body, "such as: host run s run.py --") {
		t.Errorf("got:\n%s", body)
	}
	o.Command = nil
	if body = instructions(t, s, o).Body; strings.Contains(body, "In place of") {
		t.Errorf("got:\n%s", body)
	}
}

func FuzzFindCall(f *testing.F) {
	f.Add("```sh\npython scripts/a.py x\n```")
	f.Add("`A=1 uv run --x python scripts/a.py 'b' | c` ```")
	f.Fuzz(func(t *testing.T, body string) {
		scripts := []string{"scripts/a.py", "run.sh"}
		c, ok := findCall(body, "s", "", scripts)
		if ok != slices.Contains(scripts, c.script) || len(c.command) > maxCall || strings.Contains(c.command, "\n") {
			t.Errorf("%q: got %+v, %v", body, c, ok)
		}
	})
}

// Lines of 256 KiB that would take minutes if reading them took the square of their length.
func TestFindCallInLongLines(t *testing.T) {
	for _, unit := range []string{"`", "`a.", "A=x ", "uv run -x ", "python ", "\\\n", "- ", "$ "} {
		body := strings.Repeat(unit, 1<<18/len(unit))
		for _, text := range []string{body, "```\n" + body} {
			if c, ok := findCall(text, "s", "/s", []string{"scripts/a.py"}); ok {
				t.Errorf("%q: got %+v", unit, c)
			}
		}
	}
}
