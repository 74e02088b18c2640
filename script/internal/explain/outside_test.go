package explain

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/skill"
)

const above = "import sys, os\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../../shared'))\n"

// C68: a module that skills of a repository share is not looked for among packages.
func TestModuleOutside(t *testing.T) {
	root := paths.Real(t.TempDir())
	tree{"shared/core_of_all.py": "", "pack/__init__.py": "", "skills/other/deep/scripts/far_away.py": "", ".hidden/secret_one.py": ""}.Write(t, root)
	s := probe.In(t, filepath.Join(root, "skills"), tree{"scripts/a.py": above, "scripts/c.py": ""})
	for _, tt := range []struct {
		file, module, home string
		lacking            []string
		want               missingModule
		wants              string
	}{
		{file: "a", module: "core_of_all", want: missingModule{Module: "core_of_all", Python: true, Outside: filepath.Join(root, "shared", "core_of_all.py"), Around: root}, wants: "seen around:" + root},
		{file: "a", module: "pack.of", want: missingModule{Module: "pack.of", Python: true, Outside: filepath.Join(root, "pack", "__init__.py"), Around: root}, wants: "seen around:" + root},
		{file: "a", module: "core_of_all", home: root, want: missingModule{Module: "core_of_all", Package: "core-of-all", File: "requirements.txt", Python: true, Guess: true}, wants: "seen package:core-of-all"},
		{file: "c", module: "core_of_all", want: missingModule{Module: "core_of_all", Package: "core-of-all", File: "requirements.txt", Python: true, Guess: true}, wants: "seen package:core-of-all"},
		{file: "a", module: "secret_one", want: missingModule{Module: "secret_one", Package: "secret-one", File: "requirements.txt", Python: true, Guess: true}, wants: "seen package:secret-one"},
		{file: "a", module: "no_such_thing", lacking: []string{"another", "core_of_all", "far_away", "no_such_thing"},
			want: missingModule{Module: "no_such_thing", Package: "no-such-thing", File: "requirements.txt", Python: true, Guess: true, Others: []string{"another"}}, wants: "seen package:another, seen package:no-such-thing"},
	} {
		r := ran(s, "scripts/"+tt.file+".py", "ModuleNotFoundError: No module named '"+tt.module+"'")
		r.Home, r.Lacking = tt.home, func(bool) []string { return tt.lacking }
		f := Explain(t.Context(), r)
		if got, ok := f.Cause.(*missingModule); !ok || !reflect.DeepEqual(*got, tt.want) || f.Wants().String() != tt.wants {
			t.Errorf("%s of %s: got %+v, lacks %s", tt.module, tt.file, got, f.Wants())
		}
	}
	if err := os.Mkdir(filepath.Join(root, "skills", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := ran(s, "scripts/a.py", "ModuleNotFoundError: No module named 'core_of_all'")
	if m := Explain(t.Context(), r).Cause.(*missingModule); m.Outside != "" {
		t.Errorf("outside of the repository: %+v", m)
	}
}

// C68: a link of a skill that leads out of it is not followed, and what it leads to is named.
func TestModuleLinked(t *testing.T) {
	root := paths.Real(t.TempDir())
	tree{"shared/helpers.py": ""}.Write(t, root)
	tree{"probe/lib/helpers.py": ""}.Write(t, filepath.Join(root, "skills"))
	s := probe.In(t, filepath.Join(root, "skills"), tree{"scripts/a.py": ""})
	to := filepath.Join(root, "shared", "helpers.py")
	if err := os.Symlink(to, filepath.Join(root, "skills", "probe", "scripts", "helpers.py")); err != nil {
		t.Fatal(err)
	}
	for home, wants := range map[string]string{"/nobody": "seen around:" + root, filepath.Join(root, "skills"): "", root: ""} {
		r := ran(s, "scripts/a.py", "ModuleNotFoundError: No module named 'helpers'")
		r.Home = home
		f := Explain(t.Context(), r)
		if !strings.Contains(f.Text(), "In the skill it is a link to "+to) || f.Wants().String() != wants {
			t.Errorf("%s: got %q, lacks %s", home, f.Text(), f.Wants())
		}
	}
}

// A script that looks for files outside of its skill is told why it does not get them: they were not installed, it may not see them, or a
// copy of the skill runs.
func TestAbove(t *testing.T) {
	root := paths.Real(t.TempDir())
	tree{"data/table.csv": ""}.Write(t, root)
	const text = "import os\nopen(os.path.join(os.path.dirname(__file__), '../../../data/table.csv'))\n"
	s := probe.In(t, filepath.Join(root, "skills"), tree{"scripts/a.py": "import b", "scripts/b.py": text, "lib/c.py": ""})
	version := probe.Of(t, skill.Layer{Source: skill.Dir(filepath.Join(root, "skills"), nil), Place: place.Version("sha256:0123456789abcdef")})
	const failed = "the table was not found"
	for _, tt := range []struct {
		name   string
		change func(*Run)
		text   string
		wants  string
	}{
		{"not seen", func(*Run) {}, " (it looks for files in " + root + ", outside of the skill, and does not get them)", "seen around:" + root},
		{"not installed", func(r *Run) { r.Skill = version }, " (it looks for files outside of the skill's folder, " + onlyFolder + ")", ""},
		{"a copy runs", func(r *Run) { r.Cmd.Read = []string{"/copy", root} }, " (it looks for files in " + root + ", outside of the skill: a copy of the skill runs, because it was granted something for its " +
			"present content, and these files are not beside the copy)", ""},
		{"seen", func(r *Run) { r.Cmd.Read = []string{filepath.Join(root, "skills", "probe"), root} }, "", ""},
		{"the home", func(r *Run) { r.Home = root }, "", ""},
		{"where the user stands", func(r *Run) { r.Cmd.Read, r.Here = []string{"/copy", root}, []string{root} }, " (it looks for files in " + root + ", outside of the skill, and does not get them)", "seen around:" + root},
		{"an argument", func(r *Run) { r.Args = []string{"table"} }, "", ""},
		{"another failure", func(r *Run) { r.Out.Stderr = []byte("it is Monday") }, "", ""},
		{"another script", func(r *Run) { r.Script.File = "lib/c.py" }, "", ""},
	} {
		r := ran(s, "scripts/a.py", failed)
		tt.change(r)
		if f := Explain(t.Context(), r); f.Text() != tt.text || f.Wants().String() != tt.wants {
			t.Errorf("%s: got %q, lacks %s", tt.name, f.Text(), f.Wants())
		}
	}
	r := ran(version, "scripts/a.py", "ModuleNotFoundError: No module named 'core'")
	if got := Explain(t.Context(), r).Text(); got != ". The module core is missing. It may be outside of the skill's folder, "+onlyFolder {
		t.Errorf("got %q", got)
	}
}
