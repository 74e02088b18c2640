package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/fail"
)

// fakes makes small interpreters: each prints its name and arguments, or the text given for it. They are
// real executables, found by LookPath alone.
func fakes(t *testing.T, h *rig, programs map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	for name, says := range programs {
		if says == "" {
			says = "printf '%s' " + name + "; for a; do printf ' [%s]' \"$a\"; done; echo"
		}
		tree{name: "#!/bin/sh\n" + says + "\n"}.Write(t, bin)
	}
	h.LookPath = func(name string) (string, error) {
		if _, ok := programs[name]; ok {
			return filepath.Join(bin, name), nil
		}
		return "", exec.ErrNotFound
	}
	return bin
}

// C29: which program runs what, and with which arguments.
func TestRunnerTable(t *testing.T) {
	all := map[string]string{"bash": "", "sh": "", "node": "", "bun": "", "deno": "", "ruby": "", "perl": "", "fish": "", "zsh": "", "pwsh": ""}
	only := func(names ...string) map[string]string {
		m := map[string]string{}
		for _, n := range names {
			m[n] = all[n]
		}
		return m
	}
	const (
		allowed = " [run] [--quiet] [--no-prompt] [--allow-all]"
		guarded = " [--no-install] [--env-file=/dev/null] [--config=/dev/null]"
		bun     = "bun [run]" + guarded
		noTypes = " [--tsconfig-override=/dev/null]"
	)
	version := func(v string) string {
		return "[ \"$1\" = --version ] && echo " + v + " && exit\nprintf node; for a; do printf ' [%s]' \"$a\"; done; echo"
	}
	tests := []struct {
		name, file, content string
		programs            map[string]string
		want                string
		reason, msg         string
	}{
		{name: "sh with bash", file: "a.sh", programs: all, want: "bash [a.sh] [x]"},
		{name: "sh with sh alone", file: "a.sh", programs: only("sh"), want: "sh [a.sh] [x]"},
		{name: "sh with neither", file: "a.sh", reason: ReasonInterpreter, msg: "Script a needs bash or sh, and none of them is installed: install bash"},
		{name: "R without the code of the directory", file: "a.sh", content: "#!/usr/bin/env Rscript\n", programs: map[string]string{"Rscript": ""},
			want: "Rscript [--no-init-file] [--no-environ] [a.sh] [x]"},
		{name: "sh follows its #! line", file: "a.sh", content: "#!/usr/bin/env zsh\n", programs: all, want: "zsh [a.sh] [x]"},
		{name: "sh elsewhere", file: "a.sh", content: "#!/opt/none/bash -eu\n", programs: all, want: "bash [-eu] [a.sh] [x]"},
		{name: "sh of a shell that is missing", file: "a.sh", content: "#!/usr/bin/env ksh\n", programs: all, reason: ReasonInterpreter, msg: "needs ksh, named in its #! line, which is not installed: install bash"},
		{name: "sh with CR LF", file: "a.sh", content: "#!/bin/bash\r\necho\r\n", programs: all, reason: fail.ReasonShebang, msg: "CR LF, as Windows writes it: convert the file to LF"},
		{name: "js", file: "a.js", programs: all, want: "node [--] [a.js] [x]"},
		{name: "js with bun", file: "a.js", programs: only("bun", "deno"), want: bun + noTypes + " [a.js] [x]"},
		{name: "js with deno", file: "a.js", programs: only("deno"), want: "deno" + allowed + " [--no-config] [a.js] [x]"},
		{name: "js with none", file: "a.js", reason: ReasonInterpreter, msg: "needs node or bun or deno, and none of them is installed: install Node.js"},
		{name: "ts", file: "a.ts", programs: all, want: bun + noTypes + " [a.ts] [x]"},
		{name: "ts with deno", file: "a.ts", programs: only("deno", "node"), want: "deno" + allowed + " [--no-config] [a.ts] [x]"},
		{name: "ts that names deno", file: "a.ts", content: "#!/usr/bin/env -S deno run --allow-read\n", programs: all, want: "deno" + allowed + " [--no-config] [a.ts] [x]"},
		{name: "ts that names deno without it", file: "a.ts", content: "#!/usr/bin/env -S deno run\n", programs: only("bun", "node"), reason: ReasonInterpreter, msg: "needs deno, which is not installed: install deno: https://deno.com"},
		{name: "ts that names node", file: "a.ts", content: "#!/usr/bin/env node\n", programs: map[string]string{"bun": "", "node": version("v24.1.0")}, want: "node [--] [a.ts] [x]"},
		{name: "ts that names what is none", file: "a.ts", content: "#!/usr/bin/env npx tsx\n", programs: all, want: bun + noTypes + " [a.ts] [x]"},
		{name: "js that names bun", file: "a.js", content: "#!/usr/bin/env bun\n", programs: all, want: bun + noTypes + " [a.js] [x]"},
		{name: "js that names bun without it", file: "a.js", content: "#!/usr/bin/env bun\n", programs: only("node"), want: "node [--] [a.js] [x]"},
		{name: "ts with an old node", file: "a.ts", programs: map[string]string{"node": version("v20.20.2")}, reason: ReasonInterpreter, msg: "is node 20.20.2, which is too old for TypeScript; install Node.js 22 or newer"},
		{name: "ts with node 22.6", file: "a.ts", programs: map[string]string{"node": version("v22.6.0")}, want: "node [--experimental-strip-types] [--no-warnings=ExperimentalWarning] [--] [a.ts] [x]"},
		{name: "ts with node 22.18", file: "a.ts", programs: map[string]string{"node": version("v22.18.0")}, want: "node [--] [a.ts] [x]"},
		{name: "ts with node 23.5", file: "a.ts", programs: map[string]string{"node": version("v23.5.0")}, want: "node [--experimental-strip-types] [--no-warnings=ExperimentalWarning] [--] [a.ts] [x]"},
		{name: "ts with node 24", file: "a.ts", programs: map[string]string{"node": version("v24.1.0")}, want: "node [--] [a.ts] [x]"},
		{name: "ts with a node that is none", file: "a.ts", programs: map[string]string{"node": "exit 3"}, reason: ReasonInterpreter, msg: "does not say its version"},
		{name: "mjs", file: "a.mjs", programs: all, want: "node [--] [a.mjs] [x]"}, // C62
		{name: "cjs", file: "a.cjs", programs: all, want: "node [--] [a.cjs] [x]"},
		{name: "mts", file: "a.mts", programs: all, want: bun + noTypes + " [a.mts] [x]"},
		{name: "tsx", file: "a.tsx", programs: only("deno", "node"), want: "deno" + allowed + " [--no-config] [a.tsx] [x]"},
		{name: "tsx with node", file: "a.tsx", programs: map[string]string{"node": version("v24.1.0")}, reason: ReasonInterpreter, msg: "needs bun or deno, and none of them is installed: install bun"},
		{name: "ps1", file: "a.ps1", programs: all, want: "pwsh [-NoLogo] [-NoProfile] [-NonInteractive] [-File] [a.ps1] [x]"},
		{name: "ps1 without it", file: "a.ps1", reason: ReasonInterpreter, msg: "needs pwsh, which is not installed: install PowerShell"},
		{name: "rb", file: "a.rb", programs: all, want: "ruby [a.rb] [x]"},
		{name: "rb without ruby", file: "a.rb", programs: only("sh"), reason: ReasonInterpreter, msg: "needs ruby, which is not installed: install Ruby"},
		{name: "pl", file: "a.pl", programs: all, want: "perl [a.pl] [x]"},
		{name: "php", file: "a.php", programs: map[string]string{"php": ""}, want: "php [-d] [display_errors=stderr] [-d] [include_path=HERE] [a.php] [x]"},
		{name: "php without it", file: "a.php", programs: all, reason: ReasonInterpreter, msg: "needs php, which is not installed: install PHP: https://www.php.net"},
		{name: "upper case", file: "a.PL", programs: all, want: "perl [a.PL] [x]"},
		{name: "py without python", file: "a.py", programs: only("sh"), reason: ReasonInterpreter, msg: "needs Python 3, which is not installed: install Python 3"},
		{name: "executable with env", file: "a*", content: "#!/usr/bin/env fish\n", programs: all, want: "fish [a] [x]"},
		{name: "executable with env -S", file: "a*", content: "#!/usr/bin/env -S node --no-warnings --trace\n", programs: all, want: "node [--no-warnings] [--trace] [--] [a] [x]"},
		{name: "executable with bun", file: "a*", content: "#!/usr/bin/env bun\n", programs: all, want: "bun" + guarded + noTypes + " [a] [x]"}, // C63
		{name: "executable with bun run", file: "a*", content: "#!/usr/bin/env -S bun run --smol\n", programs: all, want: bun + noTypes + " [--smol] [a] [x]"},
		{name: "executable with deno", file: "a*", content: "#!/usr/bin/env -S deno run -A\n", programs: all, want: "deno [run] [--no-config] [-A] [a] [x]"},
		{name: "executable by path", file: "a.lua*", content: "#!/bin/echo one two\n", programs: all, want: "one two a.lua x"},
		// security 2.5 #88: never a fallback to sh
		{name: "executable without x-bit", file: "a", content: "x", programs: all, reason: "-"},
		{name: "#! without x-bit", file: "a.lua", content: "#!/usr/bin/env fish\n", programs: all, want: "fish [a.lua] [x]"},
		{name: "#! of a missing program", file: "a*", content: "#!/opt/none/lua\n", programs: all, reason: ReasonInterpreter, msg: "needs lua, named in its #! line, which is not installed"},
		{name: "#! of a folder", file: "a*", content: "#!/tmp\n", programs: all, reason: ReasonInterpreter, msg: "needs tmp"},
		{name: "#! without a path", file: "a*", content: "#!bash\n", programs: all, reason: fail.ReasonShebang, msg: "does not name an absolute path"},
		{name: "#! with CR LF", file: "a*", content: "#!/usr/bin/env bash\r\n", programs: all, reason: fail.ReasonShebang, msg: "CR LF"},
		{name: "#! with env and a variable", file: "a*", content: "#!/usr/bin/env -S A=1 bash\n", programs: all, reason: fail.ReasonShebang, msg: "cannot be followed"},
		{name: "#! with env and nothing", file: "a*", content: "#!/usr/bin/env\n", programs: all, reason: fail.ReasonShebang, msg: "cannot be followed"},
		{name: "#! with env and two words", file: "a*", content: "#!/usr/bin/env bash -e\n", programs: all, reason: fail.ReasonShebang, msg: "cannot be followed"},
		{name: "#! without end", file: "a*", content: "#!/bin/" + strings.Repeat("x", 600), programs: all, reason: fail.ReasonShebang, msg: "longer than"},
		{name: "program of another processor", file: "a*", content: strings.Replace(elf, "\x3e", "\x02", 1), programs: all, reason: ReasonPlatform, msg: "is a program for linux/?"},
		{name: "program of another system", file: "a.exe*", content: "MZ\x90", programs: all, reason: ReasonPlatform, msg: "is a program for windows"},
		{name: "broken program", file: "a*", content: elf, programs: all, reason: ReasonPlatform, msg: "it was built for another system or processor"},
	}
	if runtime.GOARCH != "amd64" {
		tests = tests[:len(tests)-1] // elf is of amd64
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, "", tree{"scripts/" + tt.file: tt.content})
			if !strings.HasSuffix(tt.file, "*") { // the helper makes #! files executable
				dir, _ := s.Dir(t.Context())
				if err := os.Chmod(filepath.Join(dir, "scripts", tt.file), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			h := host(t)
			fakes(t, h, tt.programs)
			if tt.reason == "-" {
				if scripts, _ := List(s, nil); len(scripts) != 0 {
					t.Errorf("got %v", scripts)
				}
				return
			}
			res, err := runAs(t, h, s, strings.TrimSuffix(tt.file, "*"), &RunOptions{JSON: JSONNo, Args: []string{"x"}})
			if tt.reason != "" {
				failure(t, err, ExecutionFailed, tt.reason, tt.msg)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			dir, _ := s.Dir(t.Context())
			at := filepath.Join(dir, "scripts")
			if got := strings.NewReplacer(at+"/", "", at, "HERE").Replace(strings.TrimSpace(res.Text)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A program that lies only in a folder which is not used is named, before those that are nowhere.
func TestRunnerDropped(t *testing.T) { // C66
	s := open(t, "", tree{"scripts/a.ps1": "1\n", "scripts/b.mts": "1\n", "scripts/c.py": "1\n"})
	h := host(t)
	h.LookPath = func(name string) (string, error) {
		if name == "pwsh" || name == "bun" || name == "python3" || name == "uv" {
			return "", &program.DroppedError{Path: "/work/bin/" + name, Reason: "is in the project"}
		}
		return "", exec.ErrNotFound
	}
	const why = "is not used, because its folder is in the project: install it in another folder of PATH"
	for name, want := range map[string]string{
		"a": "needs pwsh, but /work/bin/pwsh " + why,
		"b": "but /work/bin/bun " + why,
		"c": "needs Python 3, but /work/bin/python3 " + why,
	} {
		_, err := runAs(t, h, s, name, nil)
		failure(t, err, ExecutionFailed, ReasonInterpreter, want)
	}
}

// Scripts of the languages that are on this machine really run.
func TestRealInterpreters(t *testing.T) {
	s := open(t, "", tree{
		"scripts/sh.sh":      "echo \"$0\" \"$1\"\n",
		"scripts/js.js":      "console.log(process.argv.slice(2)[0])\n",
		"scripts/pl.pl":      "print \"$ARGV[0]\\n\";\n",
		"scripts/py.py":      "import sys; print(sys.argv[1])\n",
		"scripts/any*":       "#!/bin/sh\necho \"$1\"\n",
		"scripts/pyany*":     "#!/usr/bin/env -S uv run --script\nimport sys; print(sys.argv[1])\n",
		"scripts/sib.py":     "import lib.two; print(lib.two.X)\n",
		"scripts/lib/two.py": "X = 'sibling'\n",
	})
	h := host(t)
	for _, name := range []string{"js", "pl", "py", "any", "pyany"} {
		if got := mustText(t, h, s, name, "hello world"); got != "hello world\n" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := mustText(t, h, s, "sib"); got != "sibling\n" { // -E -s, not -I: siblings can be imported
		t.Errorf("got %q", got)
	}
	if dir, _ := s.Dir(t.Context()); exists(filepath.Join(dir, "scripts", "lib", "__pycache__")) {
		t.Error("bytecode was written into the skill")
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// A program that is a script choosing among versions is asked for the real one.
func TestShims(t *testing.T) {
	python := realPython(t)
	h := host(t)
	count := filepath.Join(t.TempDir(), "count")
	root := t.TempDir()
	tree{"shims/python3": "#!/bin/sh\necho x >> " + count + "\nexec " + python + " \"$@\"\n", "version": "1"}.Write(t, root)
	h.LookPath = func(string) (string, error) { return filepath.Join(root, "shims", "python3"), nil }
	s := open(t, "", tree{"scripts/a.py": "import sys; print(sys.executable)\n"})
	asked := func() int { b, _ := os.ReadFile(count); return len(b) / 2 }
	for range 3 {
		if got := strings.TrimSpace(mustText(t, h, s, "a")); got != python {
			t.Errorf("got %s, want %s", got, python)
		}
	}
	again := host(t)
	again.Options = h.Options
	mustText(t, again, s, "a")
	if asked() != 1 {
		t.Errorf("asked %d times", asked())
	}
	tree{"version": "another"}.Write(t, root) // pyenv's choice
	mustText(t, again, s, "a")
	again.Env = append(again.Env, "PYENV_VERSION=3.8")
	mustText(t, again, s, "a")
	if asked() != 3 {
		t.Errorf("asked %d times after two changes", asked())
	}
	tree{"python3": "#!/bin/sh\necho nonsense\n"}.Write(t, root)
	h.LookPath = func(string) (string, error) { return filepath.Join(root, "python3"), nil }
	_, err := runAs(t, h, s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonInterpreter, "needs Python")
}

// C29: requires-python is checked; uv is asked for another Python where it is there.
func TestRequiresPython(t *testing.T) {
	block := func(required string) string {
		return "# /// script\n# requires-python = \"" + required + "\"\n# dependencies = []\n# ///\nprint('ran')\n"
	}
	s := open(t, "", tree{"scripts/ok.py": block(">=3.6"), "scripts/no.py": block(">=3.99"), "scripts/two.py": block("<3")})
	whole := host(t)
	look := whole.LookPath
	h := withoutUV(whole)
	if got := mustText(t, h, s, "ok"); got != "ran\n" {
		t.Errorf("got %q", got)
	}
	_, err := runAs(t, h, s, "no", nil)
	failure(t, err, ExecutionFailed, ReasonPython, "requires Python >=3.99, but ", "uv python install '>=3.99'")

	real := realPython(t)
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	tree{"uv": "#!/bin/sh\necho \"$@\" >> " + asked + "\n[ \"$6\" = '<3' ] && exit 1\necho " + real + "\n"}.Write(t, bin)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return look(name)
	}
	if got := mustText(t, h, s, "no"); got != "ran\n" {
		t.Errorf("got %q", got)
	}
	_, err = runAs(t, h, s, "two", nil)
	failure(t, err, ExecutionFailed, ReasonPython, "requires Python <3")
	b, _ := os.ReadFile(asked)
	if want := "python find --no-project --no-config --no-python-downloads >=3.99\npython find --no-project --no-config --no-python-downloads <3\n"; string(b) != want {
		t.Errorf("uv was asked %q, want %q", b, want)
	}
	h.LookPath = func(name string) (string, error) { // no python3 at all: uv alone has one
		if name == "uv" {
			return filepath.Join(bin, "uv"), nil
		}
		return "", exec.ErrNotFound
	}
	if got := mustText(t, h, s, "ok"); got != "ran\n" {
		t.Errorf("got %q", got)
	}
}

// security 2.1 #22, 1.4: a broken block is not run.
func TestBrokenBlockIsNotRun(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": "# /// script\n# dependencies = [\n# ///\nprint(1)\n", "scripts/b.py": needs("print(1)", "x @ https://evil.example/x.whl")})
	for _, name := range []string{"a", "b"} {
		_, err := runAs(t, host(t), s, name, nil)
		failure(t, err, ExecutionFailed, fail.ReasonMetadata, "Script "+name+" is not run: the script block at line 1")
		if _, err := host(t).Prepare(t.Context(), s, Script{Name: name, File: "scripts/" + name + ".py"}, nil); err == nil {
			t.Error("prepared")
		}
	}
}

// The version of a program is the first line that it prints, and is asked once.
func TestVersion(t *testing.T) {
	h := host(t)
	bin := t.TempDir()
	tree{"tool": "#!/bin/sh\necho called >> " + filepath.Join(bin, "log") + "\necho; echo \" tool $1 2.0 \"; echo more\n"}.Write(t, bin)
	own := h.host()
	for range 2 {
		if got, err := own.Version(t.Context(), filepath.Join(bin, "tool")); got != "tool --version 2.0" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(bin, "log")); string(b) != "called\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if got, err := own.Version(t.Context(), filepath.Join(bin, "none")); got != "" || err == nil {
		t.Errorf("a program that is not there: %q, %v", got, err)
	}
}
