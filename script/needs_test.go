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

// C69: a call does not wait longer for its dependencies than for the script.
func TestPreparingEndsWithTheCall(t *testing.T) {
	h := host(t)
	bin := t.TempDir()
	tree{"uv": "#!/bin/sh\nexec sleep 60\n"}.Write(t, bin)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return exec.LookPath(name)
	}
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "dep")})
	begun := time.Now()
	_, err := runAs(t, h, s, "a", &RunOptions{Timeout: 500 * time.Millisecond})
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
		_, err := runAs(t, h, open(t, "", tree{"scripts/a.py": tt.script}), "a", nil)
		if e := failure(t, err, ExecutionFailed, ReasonModule, tt.text); e.Wants.String() != tt.wants {
			t.Errorf("%s: lacks %s", tt.name, e.Wants)
		}
	}
}

// C69: a large download is allowed for one preparation, never by a call.
func TestLargeIsNotDownloadedByACall(t *testing.T) {
	h := host(t)
	bin := t.TempDir()
	tree{"uv": "#!/bin/sh\ncat >stub.py.lock <<EOF\n[[package]]\nname = \"torch\"\nversion = \"1\"\nwheels = [{ url = \"https://x/torch-1-py3-none-any.whl\", size = 900000000 }]\nEOF\n"}.Write(t, bin)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return exec.LookPath(name)
	}
	s := open(t, "", tree{"scripts/a.py": needs(printsDep, "torch")})
	_, err := runAs(t, h, s, "a", nil)
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
	if res, err := runAs(t, h, s, "none", nil); err == nil && strings.Contains(res.Text, h.Cache) {
		t.Errorf("a script without Python has %q", res.Text)
	}
	_, err := runAs(t, h, s, "undeclared", nil)
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
