package script

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// granting returns a host option that gives packages to every skill.
func granting(packages ...string) func(context.Context, *skill.Skill) (Grant, error) {
	return func(context.Context, *skill.Skill) (Grant, error) {
		return Grant{Given: want.Each(want.Package, want.User, packages...)}, nil
	}
}

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
			s := open(t, "", tt.files)
			src := &source{s: s, sc: Script{Name: "a", File: "scripts/a.py"}, with: tt.with}
			got, err := src.needs([]byte(tt.files["scripts/a.py"]))
			if tt.err != "" {
				failure(t, err, ExecutionFailed, ReasonMetadata, tt.err)
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

// C68: a skill with requirements.txt runs; scripts with equal needs share an environment, wherever they are declared.
func TestEqualNeedsShareAnEnvironment(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, false)
	s := open(t, "", tree{"scripts/a.py": printsDep, "scripts/b.py": needs(printsDep, "dep"), "scripts/c.py": "print('alone')\n", "scripts/requirements.txt": "# all\ndep  # one\n"})
	for name, want := range map[string]string{"a": "one\n", "b": "one\n", "c": "alone\n"} {
		if got := mustText(t, h, s, name); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := calls(t, log, "venv"); got != 1 {
		t.Errorf("%d environments", got)
	}
	other := open(t, "", tree{"scripts/d.py": printsDep}) // the user adds what the skill forgot
	h.Granted = granting("dep")
	if got := mustText(t, h, other, "d"); got != "one\n" || calls(t, log, "venv") != 1 {
		t.Errorf("got %q, %d environments", got, calls(t, log, "venv"))
	}
}

// One result for all scripts that need the same; each environment is made once, and a failure happens once.
func TestPrepareAll(t *testing.T) {
	h := uvHost(t, index(t))
	log := logged(t, h, false)
	s := open(t, "", tree{
		"scripts/a.py": printsDep, "scripts/b.py": printsDep, "scripts/c.py": "print(1)\n", "scripts/d.sh": "echo\n", "scripts/e.py": needs(printsDep, "gone"),
		"scripts/f.py": "# /// script\n", "scripts/g.py": needs(printsDep, "gone"), "requirements.txt": "dep\n",
	})
	scripts, _ := List(s, nil)
	all, err := h.host().PrepareAll(t.Context(), s, scripts, nil)
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
	if n := calls(t, log, "lock"); n != 2 {
		t.Errorf("resolved %d times", n)
	}
	all, err = h.host().PrepareAll(t.Context(), s, scripts[:1], &PrepareOptions{With: []string{"missing"}})
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
	h := uvHost(t, index(t))
	s := open(t, "", tree{"scripts/a.py": "import yaml, own, dep\nfrom tools import x\n", "elsewhere/tools.py": "", "own/x.py": ""})
	sc := Script{Name: "a", File: "scripts/a.py"}
	if p, err := h.Prepare(t.Context(), s, sc, nil); err != nil || p.Needed || !slices.Equal(p.Undeclared, []string{"dep", "yaml"}) {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := h.Prepare(t.Context(), s, sc, &PrepareOptions{With: []string{"dep"}}); err != nil || !p.Made || !slices.Equal(p.Undeclared, []string{"yaml"}) {
		t.Errorf("with one: got %+v, %v", p, err)
	}
}

// C69: a call does not wait longer for its dependencies than for the script.
func TestPreparingEndsWithTheCall(t *testing.T) {
	h := host(t)
	bin := t.TempDir()
	tree{"uv": "#!/bin/sh\nexec sleep 60\n"}.write(t, bin)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return exec.LookPath(name)
	}
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	begun := time.Now()
	_, err := run(t, h, s, "a", &RunOptions{Timeout: 500 * time.Millisecond})
	failure(t, err, Timeout, ReasonDependencies, "Dependencies of script a were not ready after 0.5s: prepare them before the call")
	if time.Since(begun) > 50*time.Second {
		t.Errorf("it took %s", time.Since(begun))
	}
	if program.Identity(filepath.Join(bin, "uv")) == "" {
		t.Error("the control failed")
	}
}

// C68: a failure because a module is missing names the package, where it is declared, and what else is not installed.
func TestMissingModule(t *testing.T) {
	h := uvHost(t, index(t))
	for _, tt := range []struct{ name, script, text, wants string }{
		{"several", "import PIL.Image, no_such_thing, json\nimport another\n",
			"Script failed with exit code 1. The module PIL is missing. The package Pillow has it: requirements.txt can declare it. These that it imports are not installed either: another, no_such_thing\nstderr: ",
			"refused package:Pillow, seen package:another, seen package:no-such-thing"},
		{"one of several is installed", needs("import dep, no_one, PIL\n", "dep"),
			"Nothing says which package has it: if it is no-one, its script block can declare it. These that it imports are not installed either: PIL\n", "refused package:Pillow, seen package:no-one"},
		{"a name that packages share", "from google.no_such_thing.x import y\n", "The module google.no_such_thing is missing. Nothing says which package has it: if it is google-no-such-thing", "seen package:google-no-such-thing"},
		{"it installs itself what it lacks", "import subprocess, sys\ntry:\n    import no_pdf\nexcept ImportError:\n    subprocess.check_call([sys.executable, '-c', 'raise SystemExit(1)', 'pip', 'install', '-q', 'no-pdf'])\n",
			"The module no_pdf is missing.", "refused package:no-pdf"},
	} {
		_, err := run(t, h, open(t, "", tree{"scripts/a.py": tt.script}), "a", nil)
		if e := failure(t, err, ExecutionFailed, ReasonModule, tt.text); e.Wants.String() != tt.wants {
			t.Errorf("%s: lacks %s", tt.name, e.Wants)
		}
	}
}

// C69: a large download is allowed for one preparation, never by a call.
func TestLargeIsNotDownloadedByACall(t *testing.T) {
	h := host(t)
	bin := t.TempDir()
	tree{"uv": "#!/bin/sh\ncat >stub.py.lock <<EOF\n[[package]]\nname = \"torch\"\nversion = \"1\"\nwheels = [{ url = \"https://x/torch-1-py3-none-any.whl\", size = 900000000 }]\nEOF\n"}.write(t, bin)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return exec.LookPath(name)
	}
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "torch")})
	_, err := run(t, h, s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonDependencies, "are a large download, which nobody has allowed (torch: 900.0 MB)")
	if !errors.Is(err, pyenv.ErrLargeDownload) {
		t.Errorf("got %v", err)
	}
}

// C68: a shell script that starts Python finds the packages of what it starts.
func TestShellStartsPython(t *testing.T) {
	h := uvHost(t, index(t))
	s := open(t, "", tree{
		"scripts/block.py":          needs(printsDep, "dep"),
		"scripts/file.sh":           "#!/bin/bash\npython3 \"$(dirname \"$0\")/block.py\"\n",
		"scripts/none.sh":           "command -v python3 | grep -c venv\necho $PATH\n",
		"scripts/inline.sh":         "python3 -c 'import json; print(json.dumps(1))'\n",
		"own/requirements.txt":      "dep\n",
		"own/code.sh":               "python - <<EOF\nimport dep\nprint(dep.VALUE)\nEOF\n",
		"own/plain.sh":              "python3 -c 'import json; print(json.dumps(1))'\n",
		"scripts/undeclared.sh":     "exec python3 \"${0%/*}/lib/undeclared.py\"",
		"scripts/lib/undeclared.py": "import dep\nprint(dep.VALUE)\n",
	})
	for name, want := range map[string]string{"file": "one\n", "inline": "1\n", "own/code.sh": "one\n", "own/plain.sh": "1\n"} {
		if got := mustText(t, h, s, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if res, err := run(t, h, s, "none", nil); err == nil && strings.Contains(res.Text, h.Cache) {
		t.Errorf("a script without Python has %q", res.Text)
	}
	_, err := run(t, h, s, "undeclared", nil)
	failure(t, err, ExecutionFailed, ReasonModule, "The module dep is missing. Nothing says which package has it: if it is dep, requirements.txt can declare it")

	all, err := h.host().PrepareAll(t.Context(), s, []Script{{Name: "block", File: "scripts/block.py"}, {Name: "file", File: "scripts/file.sh"}, {Name: "none", File: "scripts/none.sh"}}, nil)
	if err != nil || len(all) != 2 || len(all[0].Scripts) != 2 || !slices.Equal(all[0].Packages, []string{"dep==1.0"}) {
		t.Errorf("got %+v, %v", all, err)
	}
}

// C68: a shell script that starts Node.js runs where the packages are found.
func TestShellStartsNode(t *testing.T) {
	h, _, files := nodeRig(t)
	files["scripts/all.sh"] = "node \"$(dirname \"$0\")/other.cjs\"\n"
	s := open(t, "", files)
	if got := mustText(t, h, s, "all.sh"); got != "cjs@1.0.0\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(dirOf(t, s) + "/node_modules"); err == nil {
		t.Error("something was written into the skill")
	}
}

// C68: the packages that a user names are those of one registry, by name.
func TestPackageNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"pyyaml>=6": true, "requests[socks]": true, NPM + "left-pad@1": true, NPM + "@scope/name": true,
		"git+https://example.com/x": false, "x @ https://example.com/x.whl": false, NPM + "https://example.com/x.tgz": false, NPM + "file:../x": false, NPM: false, "": false,
	} {
		if err := CheckPackages([]string{"dep", name}); (err == nil) != ok {
			t.Errorf("%q: got %v", name, err)
		}
	}
	for pair, want := range map[[2]string]bool{
		{"PyYAML", "pyyaml>=6"}: true, {"a-b", "a_B"}: true, {"a", "b"}: false,
		{NPM + "a", NPM + "a@2"}: true, {NPM + "@s/a@1", NPM + "@s/a"}: true, {NPM + "a", "a"}: false, {"a", NPM + "a"}: false,
	} {
		if got := SamePackage(pair[0], pair[1]); got != want {
			t.Errorf("%q: got %v", pair, got)
		}
	}
}
