package script

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/script/runner"
)

// C63: where a script starts, by the host's options and the manifest.
func TestCwd(t *testing.T) {
	user, workspace := t.TempDir(), t.TempDir()
	const own = "metadata:\n  agent-base:\n    cwd: "
	tests := []struct {
		name  string
		front string
		set   func(*Options)
		want  string // script, skill, work, or a folder
	}{
		{"a user's folder is where scripts start", "", func(o *Options) { o.UserDir = user }, user},
		{"without one it is the script's own", "", func(*Options) {}, "script"},
		{"user without a folder", "", func(o *Options) { o.Cwd = CwdUser }, "work"},
		{"script", "", func(o *Options) { o.UserDir, o.Cwd = user, CwdScript }, "script"},
		{"skill", "", func(o *Options) { o.UserDir, o.Cwd = user, CwdSkill }, "skill"},
		{"workspace", "", func(o *Options) { o.UserDir, o.Cwd, o.Workspace = user, CwdWorkspace, workspace }, workspace},
		{"the manifest", own + "skill\n", func(o *Options) { o.UserDir = user }, "skill"},
		{"the manifest in one key", "metadata:\n  agent-base.cwd: script\n", func(o *Options) { o.UserDir = user }, "script"},
		{"the manifest asks for the user's", own + "user\n", func(o *Options) { o.UserDir, o.Cwd = user, CwdScript }, user},
		{"the manifest asks for the workspace", own + "workspace\n", func(o *Options) { o.UserDir, o.Workspace = user, workspace }, workspace},
		{"a workspace that is not there", own + "workspace\n", func(o *Options) { o.UserDir = user }, user},
		{"no place", own + "home\n", func(o *Options) { o.UserDir = user }, user},
		{"fixed", own + "skill\n", func(o *Options) { o.UserDir, o.Cwd, o.FixedCwd = user, CwdScript, true }, "script"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, c := host(t), &canned{out: runner.Output{Stdout: []byte("{}")}}
			h.Runner = c
			tt.set(&h.Options)
			s := open(t, tt.front, tree{"scripts/a.sh": ""})
			if _, err := runAs(t, h, s, "a", nil); err != nil {
				t.Fatal(err)
			}
			cmd := c.commands[0]
			dir, _ := s.Dir(t.Context())
			want := tt.want
			switch want {
			case "script":
				want = filepath.Join(dir, "scripts")
			case "skill":
				want = dir
			case "work":
				want = value(cmd, "AGENT_SKILL_WORK_DIR")
			}
			if cmd.Dir != want {
				t.Errorf("starts in %s, want %s", cmd.Dir, want)
			}
			if slices.Contains(cmd.Write, user) || slices.Contains(cmd.Write, workspace) { // C65: writing there is a grant
				t.Errorf("may write to %q", cmd.Write)
			}
			if value(cmd, "AGENT_WORKSPACE") != h.Workspace {
				t.Errorf("AGENT_WORKSPACE is %q", value(cmd, "AGENT_WORKSPACE"))
			}
		})
	}
}

func value(c *runner.Command, name string) string {
	for _, kv := range c.Env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// C63: a working directory in the manifest that does not exist is reported.
func TestCwdProblem(t *testing.T) {
	_, problems := List(open(t, "metadata:\n  agent-base:\n    cwd: home\n", tree{"scripts/a.sh": ""}), nil)
	if len(problems) != 1 || problems[0].Code != "metadata-cwd" || problems[0].Cure != "write one of user, workspace, skill, script" {
		t.Errorf("got %v", problems)
	}
}

// C63: what a script of an approved skill writes lies in the user's folder, and a relative argument means the user's file.
func TestUserFiles(t *testing.T) {
	user := t.TempDir()
	tree{"in.txt": "hello"}.Write(t, user)
	h := host(t)
	h.UserDir = user
	s := open(t, "", tree{"scripts/copy.py": "import sys\nopen(sys.argv[2], 'w').write(open(sys.argv[1]).read().upper())\n"})
	res, err := runAs(t, h, s, "copy", &RunOptions{JSON: JSONNo, Args: []string{"in.txt", "out.txt"}, Admit: h.host().Seal})
	if err != nil {
		t.Fatal(res, err)
	}
	if b, err := os.ReadFile(filepath.Join(user, "out.txt")); err != nil || string(b) != "HELLO" {
		t.Errorf("got %q, %v", b, err)
	}
}

// hostile is what a folder may hold that changes what an interpreter does. Each leaves a mark when it runs.
func hostile(mark string) tree {
	py := "open('" + mark + "', 'a').write(__name__ + ' in python\\n')\n"
	js := "require('fs').appendFileSync('" + mark + "', 'node\\n')\n"
	files := tree{
		".env":                      "EVIL=yes\nNODE_OPTIONS=--require=./evil.js\nPYTHONPATH=.\nPERL5OPT=-Mevil\nRUBYOPT=-revil\n",
		".npmrc":                    "node-options=--require=./evil.js\n",
		"bunfig.toml":               "preload = [\"./evil.js\"]\n",
		"deno.json":                 `{"imports": {"node:fs": "./evil.js", "helper": "./evil.js"}}`,
		"package.json":              `{"type": "module", "imports": {"#x": "./evil.js"}, "main": "./evil.js"}`,
		"tsconfig.json":             `{"compilerOptions": {"paths": {"*": ["./evil.js"]}, "jsx": "react", "jsxFactory": "evil"}}`,
		"evil.js":                   js,
		"node_modules/dep/index.js": js,
		".python-version":           "0.0.1\n",
		"pyproject.toml":            "[project]\nname = \"evil\"\nversion = \"1\"\nrequires-python = \">=9\"\ndependencies = [\"no-such-package-here\"]\n",
		"uv.toml":                   "required-version = \"==0.0.1\"\n",
		"pyvenv.cfg":                "home = /nowhere\n",
		".perlrc":                   "die\n",
		".bashrc":                   "echo bash >> " + mark + "\n",
		".bash_env":                 "echo bash >> " + mark + "\n",
		"scripts/__init__.py":       py,
		"scripts/helper.py":         py,
		"evil.pm":                   "open(my $f, '>>', '" + mark + "'); print $f \"perl\\n\"; 1;\n",
		"strict.pm":                 "open(my $f, '>>', '" + mark + "'); print $f \"perl\\n\"; 1;\n",
		"helper.pm":                 "open(my $f, '>>', '" + mark + "'); print $f \"perl\\n\"; 1;\n",
		"evil.rb":                   "File.write('" + mark + "', 'ruby')\n",
		"python3*":                  "#!/bin/sh\necho path >> " + mark + "\n",
		"node*":                     "#!/bin/sh\necho path >> " + mark + "\n",
	}
	for _, name := range []string{"json", "runpy", "site", "sitecustomize", "usercustomize", "os", "linecache", "helper", "encodings/__init__", "codecs", "types", "dep"} {
		files[name+".py"] = py
	}
	return files
}

// C63: a hostile working directory changes nothing of what a script does, in any language of this machine.
func TestHostileCwd(t *testing.T) {
	scripts := tree{
		"scripts/plain.py":         "import json, sys, types, linecache, helper\nprint(helper.NAME, [p for p in sys.path if p in ('', '.') or 'hostile' in p])\n",
		"scripts/helper.py":        "NAME = 'good'\n",
		"scripts/__init__.py":      "",
		"scripts/module.py":        "import json, sys, types, linecache\nfrom scripts.helper import NAME\nprint(NAME, [p for p in sys.path if p in ('', '.') or 'hostile' in p])\n",
		"scripts/missing.py":       "try:\n    import dep\nexcept ImportError:\n    print('good', [])\n",
		"scripts/fails.py":         "import json\ndef f(): raise SystemExit('good []')\ntry: f()\nexcept SystemExit as e: print(e)\n",
		"scripts/js.js":            "const h = require('./lib/helper'); let d = 'good'; try { d = require('dep') } catch {}\nconsole.log(h, d === 'good' && !process.env.EVIL ? '[]' : 'evil')\n",
		"scripts/lib/helper.js":    "module.exports = 'good'\n",
		"scripts/sh.sh":            "echo good \"[$EVIL$BASH_ENV]\"\n",
		"scripts/pl.pl":            "use strict; use warnings; eval { require helper; 1 } and die 'evil'; print \"good [\" . join('', grep { $_ eq '.' } @INC) . \"]\\n\";\n",
		"scripts/any*":             "#!/usr/bin/env python3\nimport json, sys\nprint('good', [p for p in sys.path if p in ('', '.') or 'hostile' in p])\n",
		"scripts/node-executable*": "#!/usr/bin/env node\nconsole.log('good', '[]')\n",
	}
	h := host(t)
	names := []string{"plain", "module", "missing", "fails", "sh", "any"}
	for program, more := range map[string][]string{"node": {"js", "node-executable"}, "perl": {"pl"}, "ruby": {"rb"}} {
		if _, err := h.LookPath(program); err == nil {
			names = append(names, more...)
		}
	}
	scripts["scripts/rb.rb"] = "begin; require 'helper'; rescue LoadError; end\nputs 'good [' + $LOAD_PATH.select { |p| p == '.' }.join + ']'\n"
	s := open(t, "", scripts)
	for _, cwd := range []string{CwdUser, CwdScript} {
		root := t.TempDir()
		mark := filepath.Join(root, "mark")
		h.UserDir, h.Cwd = filepath.Join(root, "hostile"), cwd
		hostile(mark).Write(t, h.UserDir)
		for _, name := range names {
			if got := mustText(t, h, s, name); strings.TrimSpace(got) != "good []" {
				t.Errorf("%s from %s: got %q", name, cwd, got)
			}
		}
		if b, err := os.ReadFile(mark); err == nil {
			t.Errorf("from %s ran:\n%s", cwd, b)
		}
	}
}

// C63: bun and deno read the skill's configuration in place of the working directory's.
func TestConfigurationOfSkill(t *testing.T) {
	h := host(t)
	fakes(t, h, map[string]string{"bun": ""})
	s := open(t, "", tree{"tsconfig.json": "{}", "scripts/a.ts": "", "scripts/b/tsconfig.json": "{}", "deno.jsonc": "{}"})
	dir, _ := s.Dir(t.Context())
	if got := mustText(t, h, s, "a"); !strings.Contains(got, "[--tsconfig-override="+dir+"/tsconfig.json]") {
		t.Errorf("got %s", got)
	}
	fakes(t, h, map[string]string{"deno": ""})
	if got := mustText(t, h, s, "a"); !strings.Contains(got, "[--config="+dir+"/deno.jsonc]") {
		t.Errorf("got %s", got)
	}
}

// C63: scripts that are modules of a package run as python -m runs them.
func TestPackages(t *testing.T) {
	s := open(t, "", tree{
		"scripts/__init__.py": "",
		"scripts/utils.py":    "NAME = 'utils'\n",
		"scripts/absolute.py": "import sys\nfrom scripts.utils import NAME\nif __name__ == '__main__':\n    print(NAME, __package__, sys.argv[1:], sys.argv[0] == __file__)\n",
		"scripts/relative.py": "from .utils import NAME\nprint(NAME, __package__)\n",
		"scripts/both.py":     "from scripts import utils\nimport sibling\nprint(utils.NAME, sibling.NAME)\n",
		"scripts/sibling.py":  "import utils\nNAME = utils.NAME\n",
		"scripts/shadow.py":   "from scripts.utils import NAME\nimport json\nprint(json.dumps(NAME))\n",
		"scripts/json.py":     "raise SystemExit('the module beside the script is not meant')\n",
		"scripts/pickles.py":  "from scripts.utils import NAME\nimport pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))).__name__)\n",
		"scripts/fails.py":    "from .utils import NAME\nimport sys\nsys.exit(3)\n",
	})
	h := host(t)
	h.UserDir = t.TempDir()
	for name, want := range map[string]string{
		"absolute": "utils scripts ['x', '--y'] True\n", "relative": "utils scripts\n", "both": "utils utils\n",
		"sibling": "", "shadow": "\"utils\"\n", "pickles": "C\n",
	} {
		if got := mustText(t, h, s, name, "x", "--y"); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	_, err := runAs(t, h, s, "fails", nil)
	failure(t, err, ExecutionFailed, "", "exit code 3")
}

// C63: the module's own frames and folders only: nothing of the engine is imported from the skill.
func TestModuleArguments(t *testing.T) {
	h, c := host(t), &canned{out: runner.Output{Stdout: []byte("{}")}}
	s := open(t, "", tree{"scripts/__init__.py": "", "scripts/u.py": "", "scripts/a.py": "from scripts import u\n"})
	h.Runner = runner.RunnerFunc(func(ctx context.Context, cmd *runner.Command) (*runner.Output, error) {
		if cmd.Phase == runner.Prepare {
			return runner.Exec{}.Run(ctx, cmd)
		}
		return c.Run(ctx, cmd)
	})
	if _, err := runAs(t, h, s, "a", &RunOptions{Args: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	dir, _ := s.Dir(t.Context())
	args := c.commands[len(c.commands)-1].Args
	want := []string{"-I", "-B", "-X", "utf8", "-c", args[6], dir, filepath.Join(dir, "scripts"), "scripts.a", "x", "--json"}
	if diff := cmp.Diff(want, args[1:]); diff != "" {
		t.Errorf("arguments differ (-want +got):\n%s", diff)
	}
}

// C63: an interpreter that may load files of the folder where it starts does not start in the user's, and the result says so.
func TestInterpretersThatLoadFiles(t *testing.T) {
	user, bin := t.TempDir(), t.TempDir()
	for _, row := range []struct {
		file, text string
		fixed      bool
		moved      bool
	}{
		{"scripts/a.lua", "#!/usr/bin/env lua\n", false, true},
		{"scripts/b", "#!/usr/bin/env -S tsx --no-cache\n", false, true},
		{"scripts/c.sh", "#!/usr/bin/env bb\n", false, true},
		{"scripts/d.lua", "#!/usr/bin/env lua\n", true, false}, // the user said where
		{"scripts/e", "#!/usr/bin/env bash\n", false, false},
		{"scripts/f", "#!/usr/bin/env Rscript\n", false, false}, // it is told not to
		{"scripts/g.awk", "#!/usr/bin/awk -f\n", false, false},
		{"scripts/h.sh", "echo\n", false, false},
	} {
		t.Run(row.file, func(t *testing.T) {
			h, c := host(t), &canned{out: runner.Output{Stdout: []byte("{}")}}
			h.Runner, h.UserDir, h.FixedCwd = c, user, row.fixed
			if row.fixed {
				h.Cwd = CwdUser
			}
			h.LookPath = func(name string) (string, error) { return filepath.Join(bin, name), nil }
			s := open(t, "", tree{row.file + "*": row.text})
			res, err := h.Run(t.Context(), s, Script{Name: "x", File: row.file}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := user
			if row.moved {
				want = dirOf(t, s)
			}
			if got := c.commands[0].Dir; got != want {
				t.Errorf("starts in %s, want %s", got, want)
			}
			if said := strings.Contains(res.Warning, "starts in the skill's folder"); said != row.moved {
				t.Errorf("it says %q", res.Warning)
			}
		})
	}
}
