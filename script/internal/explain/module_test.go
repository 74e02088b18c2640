package explain

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/want"
)

// C68: a failure because a module is missing names the package and where it is declared.
func TestMissingModule(t *testing.T) {
	none := "Traceback\nModuleNotFoundError: No module named "
	for _, tt := range []struct {
		name, stderr string
		imports      string // of the script
		lacking      string // of these, and of what it has at all
		files        tree
		want         missingModule
		text         string
	}{
		{name: "a known package", stderr: none + "'yaml'", want: missingModule{Module: "yaml", Package: "PyYAML", File: "requirements.txt", Python: true},
			text: ". The module yaml is missing. The package PyYAML has it: requirements.txt can declare it"},
		{name: "an unknown package", stderr: none + "'no_such_thing'", want: missingModule{Module: "no_such_thing", Package: "no-such-thing", File: "requirements.txt", Python: true, Guess: true},
			text: ". The module no_such_thing is missing. Nothing says which package has it: if it is no-such-thing, requirements.txt can declare it"},
		{name: "declared elsewhere", stderr: none + "'PIL'", files: tree{"scripts/requirements.txt": "dep"}, want: missingModule{Module: "PIL", Package: "Pillow", File: "scripts/requirements.txt", Python: true},
			text: ". The module PIL is missing. The package Pillow has it: scripts/requirements.txt can declare it"},
		{name: "a block", stderr: none + "'requests'", files: tree{"scripts/a.py": "# /// script\n# dependencies = [\"dep\"]\n# ///\n"}, want: missingModule{Module: "requests", Package: "requests", File: "its script block", Python: true},
			text: ". The package requests is missing: its script block can declare it"},
		{name: "several", stderr: none + "'PIL'", lacking: "PIL PIL.Image another", want: missingModule{Module: "PIL", Package: "Pillow", File: "requirements.txt", Python: true, Others: []string{"another"}},
			text: ". The module PIL is missing. The package Pillow has it: requirements.txt can declare it. These that it imports are not installed either: another"},
		{name: "a name that packages share", stderr: none + "'google'", imports: "json google.no_such_thing", want: missingModule{Module: "google.no_such_thing", Package: "google-no-such-thing", File: "requirements.txt", Python: true, Guess: true},
			text: ". The module google.no_such_thing is missing. Nothing says which package has it: if it is google-no-such-thing, requirements.txt can declare it"},
		{name: "the skill's own", stderr: none + "'helpers'", files: tree{"other/helpers.py": ""}, want: missingModule{Module: "helpers", Python: true, own: true},
			text: ". The module helpers is missing, although the skill has a file of that name: it is not where the interpreter looks"},
		{name: "a package whose name a file has too", stderr: none + "'pptx'", files: tree{"scripts/checks/pptx.py": ""}, want: missingModule{Module: "pptx", Package: "python-pptx", File: "requirements.txt", Python: true},
			text: ". The module pptx is missing. The package python-pptx has it: requirements.txt can declare it"},
		{name: "part of Python", stderr: none + "'tkinter'", want: missingModule{Module: "tkinter", Python: true},
			text: ". The module tkinter is missing: it is part of the language, but the installed interpreter does not have it"},
		{name: "the script's own advice", stderr: "Error: please run: pip install no-pdf", imports: "no_pdf", want: missingModule{Module: "no_pdf", Package: "no-pdf", File: "requirements.txt", Python: true},
			text: ". The module no_pdf is missing. The package no-pdf has it: requirements.txt can declare it"},
		{name: "its advice of uv", stderr: "missing: run with  uv run --with no-pdf python a.py", imports: "no_pdf", want: missingModule{Module: "no_pdf", Package: "no-pdf", File: "requirements.txt", Python: true},
			text: ". The module no_pdf is missing. The package no-pdf has it: requirements.txt can declare it"},
		{name: "the command that failed", stderr: "CalledProcessError: Command '['/x/python', '-m', 'pip', 'install', '-q', 'no-pdf']' returned", imports: "no_pdf",
			want: missingModule{Module: "no_pdf", Package: "no-pdf", File: "requirements.txt", Python: true}, text: ". The module no_pdf is missing. The package no-pdf has it: requirements.txt can declare it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := tree{"scripts/a.py": ""}
			maps.Copy(all, tt.files)
			r := ran(probe.In(t, t.TempDir(), all), "scripts/a.py", tt.stderr)
			r.Imports = func() []string { return strings.Fields(tt.imports) }
			r.Lacking = func(bool) []string { return strings.Fields(tt.lacking) }
			f := Explain(t.Context(), r)
			got, ok := f.Cause.(*missingModule)
			if !ok || !reflect.DeepEqual(*got, tt.want) || f.Reason != fail.ReasonModule || f.Text() != tt.text {
				t.Errorf("got %+v, %q, %q", got, f.Reason, f.Text())
			}
			for i, w := range f.Wants() {
				if known := survey.Package(tt.want.Module) == w.Name && !tt.want.Guess; w.Kind != want.Package || i > 0 && len(tt.want.Others) == 0 || known && w.From != want.Refused {
					t.Errorf("lacks %s", f.Wants())
				}
			}
		})
	}
	r := ran(probe.In(t, t.TempDir(), tree{"scripts/a.py": ""}), "scripts/a.py", "pip install something")
	if f := Explain(t.Context(), r); f.Reason != "" || f.Text() != "" {
		t.Errorf("advice about nothing that it imports: %+v", f)
	}
}

// A script of the shell starts others, and other languages have packages that nobody prepares.
func TestMissingElsewhere(t *testing.T) {
	s := probe.In(t, t.TempDir(), tree{"scripts/a.sh": "python3 b.py\n", "scripts/b.py": "", "scripts/c.sh": "node c.js", "scripts/d.rb": "", "scripts/e.js": ""})
	for _, tt := range []struct{ file, stderr, text, wants string }{
		{"scripts/a.sh", "ModuleNotFoundError: No module named 'yaml'", "The package PyYAML has it", "refused package:PyYAML"},
		{"scripts/a.sh", "Error: Cannot find module 'axios'", "The package axios is missing: package.json can declare it. These that it imports are not installed either: chalk", "refused package:npm:axios, refused package:npm:chalk"},
		{"scripts/c.sh", "ModuleNotFoundError: No module named 'yaml'", "", ""},
		{"scripts/d.rb", "a.rb:1:in `require': cannot load such file -- nokogiri (LoadError)", "The module nokogiri is missing. Packages of Ruby are not prepared for skills", ""},
		{"scripts/e.js", "Error: Cannot find module 'fs'", "The module fs is missing: it is part of the language", ""},
	} {
		r := ran(s, tt.file, tt.stderr)
		r.Lacking = func(python bool) []string {
			if python {
				return nil
			}
			return []string{"axios", "chalk"}
		}
		f := Explain(t.Context(), r)
		if !strings.Contains(f.Text(), tt.text) || (tt.text == "") != (f.Reason == "") || f.Wants().String() != tt.wants {
			t.Errorf("%s, %q: got %q, %q, lacks %s", tt.file, tt.stderr, f.Reason, f.Text(), f.Wants())
		}
	}
}

func TestMissingPackageOfNode(t *testing.T) {
	s := probe.In(t, t.TempDir(), tree{"scripts/a.js": ""})
	for text, want := range map[string]string{
		"node:internal/modules/cjs/loader:1\nError: Cannot find module 'axios/lib'\nRequire stack:": "axios",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /x/a.mjs":           "@a/b",
		"error: Cannot find package \"chalk\" from \"/x/a.ts\"":                                     "chalk",
		"Error: Cannot find module './lib.js'":                                                      "",
		"Error: Cannot find module '/x/lib.js'":                                                     "",
		"TypeError: x":                                                                              "",
	} {
		m := ran(s, "scripts/a.js", text).missing()
		if got := m; want == "" && got != nil || want != "" && (got == nil || got.Package != want || got.File != "package.json" || got.Python) {
			t.Errorf("%q: got %+v, want %q", text, m, want)
		}
	}
}
