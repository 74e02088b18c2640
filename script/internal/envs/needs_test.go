package envs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// C68: what a script gets from where.
func TestNeeds(t *testing.T) {
	imports := "import dep\n"
	tests := []struct {
		name     string
		files    tree
		with     []string
		packages string
		from     string
		python   string
		err      string
	}{
		{name: "nothing", files: tree{"scripts/a.py": imports}},
		{name: "a block", files: tree{"scripts/a.py": needs("", "dep"), "requirements.txt": "other"}, packages: "dep", from: "its script block"},
		{name: "a block and the user", files: tree{"scripts/a.py": needs("", "dep")}, with: []string{"more"}, packages: "dep more", from: "its script block and the user"},
		{name: "an empty block", files: tree{"scripts/a.py": needs(imports), "requirements.txt": "dep"}},
		{name: "requirements", files: tree{"scripts/a.py": imports, "requirements.txt": "dep>=1\n"}, packages: "dep>=1", from: "requirements.txt"},
		{name: "a project", files: tree{"scripts/a.py": imports, "pyproject.toml": "[project]\ndependencies = ['dep']\nrequires-python = '>=3.3'\n"}, packages: "dep", from: "pyproject.toml", python: ">=3.3"},
		{name: "the user", files: tree{"scripts/a.py": imports}, with: []string{"dep"}, packages: "dep", from: "the user"},
		{name: "requirements and the user", files: tree{"scripts/a.py": imports, "scripts/requirements.txt": "dep"}, with: []string{"more"}, packages: "dep more", from: "scripts/requirements.txt and the user"},
		{name: "it imports nothing", files: tree{"scripts/a.py": "import json\n", "requirements.txt": "dep"}, with: []string{"more"}},
		{name: "it imports nothing, with a Python", files: tree{"scripts/a.py": "import json\n", "pyproject.toml": "[project]\ndependencies = ['dep']\nrequires-python = '>=3.3'\n"}, python: ">=3.3"},
		{name: "it may import something", files: tree{"scripts/a.py": "import runpy\n", "requirements.txt": "dep"}, packages: "dep", from: "requirements.txt"},
		{name: "a sibling imports", files: tree{"scripts/a.py": "import b\n", "scripts/b.py": imports, "requirements.txt": "dep"}, packages: "dep", from: "requirements.txt"},
		{name: "a broken declaration", files: tree{"scripts/a.py": imports, "requirements.txt": "dep\n-e .\n"}, err: "Script a is not run: requirements.txt:2: -e is not allowed"},
		{name: "a broken declaration of what is not imported", files: tree{"scripts/a.py": "import json\n", "requirements.txt": "dep\n-e .\n"}},
		{name: "a broken block", files: tree{"scripts/a.py": "# /// script\nimport json\n"}, err: "Script a is not run: line 1: the script block is not closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			of := &Of{Skill: load(t, tt.files), Script: survey.Script{Name: "a", File: "scripts/a.py"}, With: tt.with}
			got, err := of.needs()
			if tt.err != "" {
				if e, ok := errors.AsType[*fail.Error](err); !ok || e.Reason != fail.ReasonMetadata || !strings.Contains(e.Message, tt.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got.Dependencies, " ") != tt.packages || got.From != tt.from || got.RequiresPython != tt.python {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// One result for all scripts that need the same; each environment is made once, and a failure happens once.
func TestPrepareAll(t *testing.T) {
	made := 0
	st := store(t, &Options{Making: func(context.Context, *skill.Skill, survey.Script) func(error) {
		made++
		return func(error) {}
	}})
	s := load(t, tree{
		"scripts/a.py": printsDep, "scripts/b.py": printsDep, "scripts/c.py": "print(1)\n", "scripts/d.sh": "echo\n", "scripts/e.py": needs(printsDep, "gone"),
		"scripts/f.py": "# /// script\n", "scripts/g.py": needs(printsDep, "gone"), "requirements.txt": "dep\n",
	})
	scripts := survey.Of(s.FS(), s.Manifest(), nil).List()
	all, err := st.PrepareAll(t.Context(), s, scripts, nil, &PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		line := ""
		for _, sc := range p.Scripts {
			line += sc.Name
		}
		if p.Err != nil {
			line += " failed"
		}
		got = append(got, strings.TrimSpace(line+" "+strings.Join(p.Packages, " ")+" "+p.Declared))
	}
	want := []string{"ab dep==1.0 requirements.txt", "c", "d", "eg failed  its script block", "f failed"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if made != 2 {
		t.Errorf("made %d times", made)
	}
	all, err = st.PrepareAll(t.Context(), s, scripts[:1], []string{"missing"}, &PrepareOptions{})
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Err.Error(), "missing") {
		t.Errorf("got %+v, %v", all, err)
	}
	deps := DependenciesOf(s, scripts, nil)
	if len(deps) != 3 || deps[0].Declared != "requirements.txt" || !slices.Equal(deps[0].Packages, []string{"dep"}) || deps[2].Err == nil {
		t.Errorf("got %+v", deps)
	}
}

// C68: what a skill imports and does not declare is said.
func TestUndeclared(t *testing.T) {
	st := store(t, &Options{})
	s := load(t, tree{"scripts/a.py": "import yaml, own, dep\nfrom tools import x\n", "elsewhere/tools.py": "", "own/x.py": ""})
	of := &Of{Skill: s, Script: survey.Script{Name: "a", File: "scripts/a.py"}}
	for _, tt := range []struct {
		with       []string
		undeclared string
	}{{nil, "dep yaml"}, {[]string{"dep"}, "yaml"}} {
		all, err := st.PrepareAll(t.Context(), s, []survey.Script{of.Script}, tt.with, &PrepareOptions{})
		if err != nil || len(all) != 1 || all[0].Err != nil || all[0].Made != (tt.with != nil) || strings.Join(all[0].Undeclared, " ") != tt.undeclared {
			t.Errorf("with %q: got %+v, %v", tt.with, all, err)
		}
	}
	if got := st.Lacks(t.Context(), of, true); !slices.Equal(got, []string{"dep", "yaml"}) {
		t.Errorf("it lacks %q", got)
	}
	of.With = []string{"dep"}
	if got := st.Lacks(t.Context(), of, true); !slices.Equal(got, []string{"yaml"}) {
		t.Errorf("it lacks %q", got)
	}
	if got := Imports(s, of.Script); !slices.Equal(got, []string{"dep", "yaml"}) {
		t.Errorf("it imports %q", got)
	}
}

// C68: a shell script needs what all the Python needs that it starts, and its environment is that of these.
func TestPythonOfCalls(t *testing.T) {
	st := store(t, &Options{})
	s := load(t, tree{
		"scripts/a.sh": "python3 scripts/x.py\npython3 -c 'import json'\n", "scripts/b.sh": "echo\n", "scripts/c.sh": "python3 scripts/bad.py\n", "scripts/d.sh": "curl https://example.com/x | python3 -\n",
		"scripts/x.py": needs("", "dep"), "scripts/bad.py": "# /// script\n", "requirements.txt": "dep\n",
	})
	of := func(name string) *Of {
		return &Of{Skill: s, Script: survey.Script{Name: name, File: "scripts/" + name}}
	}
	script, err := st.Python(t.Context(), of("x.py"))
	if err != nil {
		t.Fatal(err)
	}
	if exe, err := st.PythonOfCalls(t.Context(), of("a.sh")); err != nil || exe != script {
		t.Errorf("got %q, %v, want %q", exe, err, script)
	}
	if exe, err := st.PythonOfCalls(t.Context(), of("b.sh")); err != nil || exe != "" {
		t.Errorf("got %q, %v", exe, err)
	}
	if exe, err := st.PythonOfCalls(t.Context(), of("d.sh")); err != nil || exe != script { // it may import anything
		t.Errorf("got %q, %v, want %q", exe, err, script)
	}
	for _, name := range []string{"c.sh", "bad.py"} {
		ask := st.PythonOfCalls
		if name == "bad.py" {
			ask = st.Python
		}
		if _, err := ask(t.Context(), of(name)); err == nil || !strings.Contains(err.Error(), "Script "+name+" is not run: line 1: the script block is not closed") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got := Imports(s, of("a.sh").Script); len(got) != 0 {
		t.Errorf("it imports %q", got)
	}
	if left := st.Unused(time.Now().Add(time.Hour)); len(left) == 0 {
		t.Error("nothing is unused in an hour")
	}
}

// C46: a program has the packages that all of its files need, and does not lack what it brings itself.
func TestProgram(t *testing.T) {
	st := store(t, &Options{})
	s := load(t, tree{"toolsets/a.py": "import own\n", "toolsets/b.py": needs("", "dep"), "toolsets/c.py": "# /// script\n", "toolsets/d.rb": "", "toolsets/e.js": "import x from 'absent'\n"})
	for _, tt := range []struct {
		p          Program
		with       []string
		packages   string
		undeclared string
		err        string
	}{
		{p: Program{Files: []string{"toolsets/a.py"}}, undeclared: "own"},
		{p: Program{Files: []string{"toolsets/a.py"}, Own: []string{"own"}}},
		{p: Program{Files: []string{"toolsets/a.py", "toolsets/b.py"}, Own: []string{"own"}}, packages: "dep"},
		{p: Program{Files: []string{"toolsets/a.py"}}, with: []string{"dep"}, packages: "dep"},
		{p: Program{Files: []string{"toolsets/a.py", "toolsets/c.py"}, Own: []string{"own"}}, err: "server is not run: line 1: the script block is not closed: end it with a line # ///"},
		{p: Program{Files: []string{"toolsets/d.rb"}}},
		{p: Program{Files: []string{"toolsets/e.js"}}, undeclared: "npm:absent"},
	} {
		tt.p.Name = "server"
		d, needed := tt.p.Dependencies(s, tt.with)
		said := ""
		if d.Err != nil {
			said = d.Err.Error()
		}
		if strings.Join(d.Packages, " ") != tt.packages || strings.Join(d.Undeclared, " ") != tt.undeclared || said != tt.err || needed != (tt.packages+tt.undeclared+tt.err != "") {
			t.Errorf("%v: got %+v, %v", tt.p.Files, d, needed)
		}
		if tt.undeclared != "" || len(tt.p.Files) == 1 && tt.with == nil {
			continue
		}
		p := st.PrepareProgram(t.Context(), s, &tt.p, tt.with, &PrepareOptions{})
		if p.Err == nil && strings.Join(p.Packages, " ") != "dep==1.0" || p.Err != nil && p.Err.Error() != tt.err || len(p.Scripts) != 1 || p.Scripts[0].Name != "server" {
			t.Errorf("%v: got %+v", tt.p.Files, p)
		}
	}
}

// C68: the packages that a user names are those of one registry, by name.
func TestPackageNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"pyyaml>=6": true, "requests[socks]": true, want.NPM + "left-pad@1": true, want.NPM + "@scope/name": true,
		"git+https://example.com/x": false, "x @ https://example.com/x.whl": false, want.NPM + "https://example.com/x.tgz": false, want.NPM + "file:../x": false, want.NPM: false, "": false,
	} {
		if err := CheckPackages([]string{"dep", name}); (err == nil) != ok {
			t.Errorf("%q: got %v", name, err)
		}
	}
	for pair, want := range map[[2]string]bool{
		{"PyYAML", "pyyaml>=6"}: true, {"a-b", "a_B"}: true, {"a", "b"}: false,
		{want.NPM + "a", want.NPM + "a@2"}: true, {want.NPM + "@s/a@1", want.NPM + "@s/a"}: true, {want.NPM + "a", "a"}: false, {"a", want.NPM + "a"}: false,
	} {
		if got := SamePackage(pair[0], pair[1]); got != want {
			t.Errorf("%q: got %v", pair, got)
		}
	}
}
