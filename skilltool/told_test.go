package skilltool

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
)

// told has the shapes of files that are hard to name: scripts in each kind of place, two that differ in their ending, and names with
// blanks, signs and letters of other scripts.
var told = tree{
	"odd-shapes/SKILL.md": skillText("odd-shapes", "", "Run `python scripts/Report.py in.txt --fast`, `sh scripts/deep/er/clean.sh`, or:\n\n"+
		"```bash\nbash bin/pack.sh out   # writes\npython ${CLAUDE_SKILL_DIR}/run.py --times 3\n```\n\nRead `references/how to.md`."),
	"odd-shapes/scripts/Report.py":        "\"\"\"Reports.\"\"\"\nimport sys\nprint('report', *sys.argv[1:])\n",
	"odd-shapes/scripts/deep/er/clean.sh": "echo cleaned \"$@\"\n",
	"odd-shapes/scripts/two.py":           "import sys\nprint('two py', *sys.argv[1:])\n",
	"odd-shapes/scripts/two.sh":           "echo two sh \"$@\"\n",
	"odd-shapes/bin/pack.sh":              "echo packed \"$@\"\n",
	"odd-shapes/run.py":                   "import argparse\np = argparse.ArgumentParser(prog='run')\np.add_argument('--times', type=int)\np.parse_args()\nprint('ran')\n",
	"odd-shapes/references/how to.md":     "How.\n",
	"odd-shapes/references/R&D 'now'.md":  "Money.\n",
	"odd-shapes/references/deep/more.md":  "More.\n",
	"odd-shapes/assets/Ünï code.txt":      "x\n",
	"odd-shapes/assets/data.json":         "{}\n",
	"Other_One/SKILL.md":                  skillText("Other_One", "", "Nothing to run."),
	"Other_One/references/a.md":           "A.\n",
}

// teller calls tools as a model does that takes what it was told as it stands.
type teller struct {
	t *testing.T
	k *Kit
}

// does calls a tool, and fails the test unless that succeeds.
func (x teller) does(why, name string, args map[string]any) string {
	x.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		x.t.Fatal(err)
	}
	r := call(x.t, x.k, name, string(raw))
	if !r.Success {
		x.t.Errorf("%s: %s %s: %s", why, name, raw, r.Message)
	}
	return result(r)
}

// fails calls a tool that fails, and returns what it says.
func (x teller) fails(name string, args map[string]any) string {
	x.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		x.t.Fatal(err)
	}
	r := call(x.t, x.k, name, string(raw))
	if r.Success {
		x.t.Errorf("%s %s: success", name, raw)
	}
	return r.Message
}

var (
	fileLine   = regexp.MustCompile(`<file( run="true")?>([^<]*)</file>`)
	calledWith = regexp.MustCompile(`skill_name ["']([^"']+)["'](?:,| and) script_name ["']([^"']+)["'](?:, args (\[[^\]]*\]))?`)
	inQuotes   = regexp.MustCompile(`'((?:[^']|'[a-z])+)'`)
)

// runs makes the call of script_run that a text names.
func (x teller) runs(text string) {
	x.t.Helper()
	m := calledWith.FindStringSubmatch(text)
	if m == nil {
		x.t.Fatalf("no call of script_run is named in %q", text)
	}
	var args []string
	if m[3] != "" {
		if err := json.Unmarshal([]byte(m[3]), &args); err != nil {
			x.t.Fatal(err)
		}
	}
	x.does("a call in words", "script_run", map[string]any{"skill_name": m[1], "script_name": m[2], "args": args})
}

func newTeller(t *testing.T) teller {
	k, _ := kit(t, kitOptions{files: told, trust: skill.TrustBundled})
	return teller{t, k}
}

// Each file and script that an activation names can be read or run by that name, and the example of a call works.
func TestToldByActivation(t *testing.T) {
	x := newTeller(t)
	r := call(t, x.k, "skill", `{"skill_name":"odd-shapes"}`)
	a, ok := r.Result.(Activation)
	if !ok {
		t.Fatal(r.Encode())
	}
	files := fileLine.FindAllStringSubmatch(a.Content, -1)
	if len(files) != len(told)-3 { // without both SKILL.md, and what is in the other skill
		t.Errorf("%d files are named in\n%s", len(files), a.Content)
	}
	for _, m := range files {
		path := html.UnescapeString(m[2])
		if m[1] == "" {
			x.does("a file", "skill_read", map[string]any{"skill_name": a.SkillName, "path": path})
			continue
		}
		x.runs(x.fails("skill_read", map[string]any{"skill_name": a.SkillName, "path": path}))
		x.does("a script by its path", "script_run", map[string]any{"skill_name": a.SkillName, "script_name": path})
		x.does("a script in the skill's folder", "script_run", map[string]any{"skill_name": a.SkillName, "script_name": a.BasePath + "/" + path})
	}
	_, example, _ := strings.Cut(a.Content, "In place of")
	x.runs(example)
}

// Each script of a list runs and explains itself by its name and by its path, and each line of usage runs as it is written.
func TestToldByLists(t *testing.T) {
	x := newTeller(t)
	var list map[string][]struct{ Name, Path string }
	if err := json.Unmarshal([]byte(x.does("all", "script_list", map[string]any{})), &list); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for skill, scripts := range list {
		for _, sc := range scripts {
			for _, name := range []string{sc.Name, sc.Path} {
				x.does("a script of the list", "script_run", map[string]any{"skill_name": skill, "script_name": name})
				var help struct{ Usage string }
				if err := json.Unmarshal([]byte(x.does("a script of the list", "script_help", map[string]any{"skill_name": skill, "script_name": name})), &help); err != nil {
					t.Fatal(err)
				}
				for _, line := range strings.Split(help.Usage, "\n") {
					lines += x.usage(skill, line)
				}
			}
		}
	}
	if len(list["odd-shapes"]) != 6 || lines < 6 {
		t.Errorf("%d lines of usage were run, of %v", lines, list)
	}
	var files struct{ Files []struct{ Path string } }
	for _, name := range []string{"odd-shapes", "Other_One", "other-one"} {
		if err := json.Unmarshal([]byte(x.does("the files", "skill_read", map[string]any{"skill_name": name})), &files); err != nil || len(files.Files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files.Files {
			if strings.HasSuffix(f.Path, ".py") || strings.HasSuffix(f.Path, ".sh") {
				x.runs(x.fails("skill_read", map[string]any{"skill_name": name, "path": f.Path}))
			} else {
				x.does("a file", "skill_read", map[string]any{"skill_name": name, "path": f.Path})
			}
		}
	}
}

// usage runs a line such as "python scripts/a.py in.txt  # comment" and returns 1; a line of a parser, with brackets, is left alone.
func (x teller) usage(skill, line string) int {
	x.t.Helper()
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(line)
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, ".py") || strings.HasSuffix(w, ".sh") })
	if at < 0 || strings.Contains(line, "[") {
		return 0
	}
	out := x.does("a line of usage", "script_run", map[string]any{"skill_name": skill, "script_name": words[at], "args": words[at+1:]})
	if last := words[len(words)-1]; at+1 < len(words) && !strings.Contains(out, last) && !strings.Contains(out, "ran") {
		x.t.Errorf("%q: the script got no %q: %s", line, last, out)
	}
	return 1
}

// Each name that an error proposes works.
func TestToldByErrors(t *testing.T) {
	x := newTeller(t)
	for _, tt := range []struct {
		tool, key string
		args      map[string]any
		want      []string
	}{
		{"skill", "skill_name", map[string]any{"skill_name": "odd-shape"}, []string{"odd-shapes"}},
		{"skill", "skill_name", map[string]any{"skill_name": "other"}, []string{"Other_One"}},
		{"skill_read", "path", map[string]any{"skill_name": "odd-shapes", "path": "references/how_to.md"}, []string{"references/how to.md"}},
		{"skill_read", "path", map[string]any{"skill_name": "odd-shapes", "path": "more.md"}, []string{"references/deep/more.md"}},
		{"skill_read", "path", map[string]any{"skill_name": "odd-shapes", "path": "assets/Uni code.txt"}, nil},
		{"script_run", "script_name", map[string]any{"skill_name": "odd-shapes", "script_name": "two"}, []string{"two.py", "two.sh"}},
		{"script_help", "script_name", map[string]any{"skill_name": "odd-shapes", "script_name": "two"}, []string{"two.py", "two.sh"}},
	} {
		text := x.fails(tt.tool, tt.args)
		var names []string
		if _, list, ok := strings.Cut(text, "say which, "); ok {
			names = strings.Split(list, " or ")
		} else if _, list, ok := strings.Cut(text, "Did you mean "); ok {
			for _, m := range inQuotes.FindAllStringSubmatch(list, -1) {
				names = append(names, m[1])
			}
		}
		for _, want := range tt.want {
			if !slices.Contains(names, want) {
				t.Errorf("%s %v: %q does not propose %q", tt.tool, tt.args, text, want)
			}
		}
		for _, name := range names {
			tt.args[tt.key] = name
			x.does("a proposed name", tt.tool, tt.args)
		}
	}
}
