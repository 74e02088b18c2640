package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// listed is the skill's scripts as "name=file", in their order.
func listed(s *skill.Skill) string {
	scripts, _ := List(s, nil)
	var out []string
	for _, sc := range scripts {
		out = append(out, sc.Name+"="+strings.TrimPrefix(sc.File, "scripts/"))
	}
	return strings.Join(out, " ")
}

// R1, R4, R31-R33, R50: which files of a skill are its scripts, for each shape that a skill can have.
func TestRowDiscovery(t *testing.T) {
	py := "print(1)\n"
	for _, tt := range []struct {
		name, front string
		files       tree
		want        string
	}{
		{"R1 scripts only", "", tree{"scripts/status.py": py}, "status=status.py"},
		{"R1 toolsets only", "toolsets: [toolsets.hello:Hello]\n", tree{"toolsets/hello.py": py}, ""},
		{"R1 hybrid", "toolsets: [toolsets.hello:Hello]\n", tree{"toolsets/hello.py": py, "scripts/greet.py": py}, "greet=greet.py"},
		{"R4 TypeScript toolset", "toolsets: [toolsets/index:Hello]\n", tree{"toolsets/index.ts": "export {}\n"}, ""},
		{"R31 listed in both forms, omitted ones are none", "scripts: [status, run.py]\n",
			tree{"scripts/status.py": py, "scripts/run.py": py, "scripts/other.py": py}, "run=run.py status=status.py"},
		{"R31 an empty list", "scripts: []\n", tree{"scripts/status.py": py}, ""},
		{"R31 no list: all are found", "", tree{"scripts/b.py": py, "scripts/A.py": py}, "A=A.py b=b.py"},
		{"R33 the row's own globs", "scripts_ignore: ['*_test.py', '_*.py', '*.bak', '*.tmp']\n",
			tree{"scripts/run.py": py, "scripts/run_test.py": py, "scripts/_shared.py": py, "scripts/x.bak": py, "scripts/x.tmp": py}, "run=run.py"},
		{"R50 no folders, no dot files, no data", "", tree{"scripts/run.py": py, "scripts/.hidden.py": py, "scripts/sub/deep.py": py,
			"scripts/dir.py/x": "", "scripts/data.json": "{}", "scripts/__init__.txt": ""}, "run=run.py"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := listed(open(t, tt.front, tt.files)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// R50, C38: a link in scripts/ is not a script even if it leads to one of the same skill; it is reported.
func TestRowLinks(t *testing.T) {
	s := open(t, "", tree{"scripts/real.py": "print(1)\n"})
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.py", filepath.Join(dir, "scripts", "alias.py")); err != nil {
		t.Fatal(err)
	}
	if got := listed(s); got != "real=real.py" {
		t.Errorf("got %q", got)
	}
	if _, problems := List(s, nil); len(problems) != 1 || problems[0].Code != "script-symlink" {
		t.Errorf("problems %v", problems)
	}
	_, err = Find(t.Context(), s, "alias", nil)
	failure(t, err, NotFound, "", "Script 'alias' not found in skill 'probe'")
}

// R34: of the operator's environment a script sees what its manifest asks for, with wildcards, and
// nothing else that is the operator's own.
func TestRowPermissionsEnv(t *testing.T) {
	files := tree{"scripts/env.py": "import os, json\nprint(json.dumps(sorted(k for k in os.environ if k.startswith(('KALSHI', 'OTHER', 'HOME_TOWN')))))\n"}
	for front, want := range map[string]string{
		"":                                   `[]`,
		"permissions: {env: ['KALSHI_*']}\n": `["KALSHI_API","KALSHI_KEY"]`,
		"permissions: {env: [KALSHI_KEY, OTHER_TOKEN]}\n": `["KALSHI_KEY","OTHER_TOKEN"]`,
		"permissions: {env: ['*']}\n":                     `[]`,
	} {
		h := host(t)
		h.Env = append(h.Env, "KALSHI_KEY=1", "KALSHI_API=2", "OTHER_TOKEN=3", "HOME_TOWN=4")
		res, err := runAs(t, h, open(t, front, files), "env", nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(res.JSON) != want {
			t.Errorf("%q: %s, want %s", front, res.JSON, want)
		}
	}
}

// R103, R111, C30: the limits, at their edge and one over. Bytes of UTF-8 count, --json does not.
func TestRowLimits(t *testing.T) {
	s := open(t, "", tree{"scripts/n.py": `import sys
a = sys.argv[1:]
if a[0].startswith("out"):
    sys.stdout.write("x" * int(a[0][3:]))
elif a[0].startswith("err"):
    sys.stderr.write("e" * int(a[0][3:])); sys.exit(7)
else:
    print(len(a))
`})
	h := host(t)
	many := func(n int) []string { return slices.Repeat([]string{"a"}, n) }
	for _, tt := range []struct {
		name string
		args []string
		json string
		err  string
	}{
		{"100 arguments and --json", many(100), "101", ""},
		{"101 arguments", many(101), "", "Too many arguments: 101 (max 100)"},
		{"4096 bytes", []string{strings.Repeat("b", 2048), strings.Repeat("é", 1024)}, "3", ""},
		{"4097 bytes, fewer characters", []string{"b", strings.Repeat("é", 2048)}, "", "Arguments too large: 4097 bytes (max 4096)"},
	} {
		res, err := runAs(t, h, s, "n", &RunOptions{Args: tt.args})
		if tt.err != "" {
			if failure(t, err, fail.ArgsTooLarge, "").Message != tt.err {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
			}
		} else if err != nil || string(res.JSON) != tt.json {
			t.Errorf("%s: %v, %v", tt.name, res, err)
		}
	}
	whole, err := runAs(t, h, s, "n", &RunOptions{JSON: JSONNo, Args: []string{"out1048576"}})
	if err != nil || len(whole.Text) != 1<<20 || whole.Warning != "" {
		t.Errorf("1 MB of output: %d bytes, %q, %v", len(whole.Text), whole.Warning, err)
	}
	cut, err := runAs(t, h, s, "n", &RunOptions{JSON: JSONNo, Args: []string{"out1048577"}})
	if err != nil || len(cut.Text) != 1<<20 || !strings.Contains(cut.Warning, "truncated at 1048576 bytes") {
		t.Errorf("one byte more: %d bytes, %q, %v", len(cut.Text), cut.Warning, err)
	}
	_, err = runAs(t, h, s, "n", &RunOptions{Args: []string{"out1048577"}}) // C31
	failure(t, err, ParseError, "", "truncated at 1048576 bytes")
	_, err = runAs(t, h, s, "n", &RunOptions{Args: []string{"err600"}})
	if got, want := failure(t, err, ExecutionFailed, "").Message, "Script failed with exit code 7\nstderr: "+strings.Repeat("e", 500); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := h.host().timeout(s, 0); got != 60*time.Second {
		t.Errorf("the default timeout is %v", got)
	}
}

// R105: no shell sees an argument, stdout and stderr are apart, both are made valid UTF-8, the script
// starts in its own folder with an empty stdin, and what goes wrong is an *Error with a code.
func TestRowSafety(t *testing.T) {
	s := open(t, "", tree{"scripts/echo.py": `import sys, os, json
sys.stderr.write("to stderr\n")
print(json.dumps([os.getcwd(), sys.stdin.read()] + sys.argv[1:-1]))
`, "scripts/bytes.sh": "printf 'ok \\377'; printf 'bad \\377' >&2; [ \"$1\" != fail ]\n"})
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := host(t)
	args := []string{"$(touch pwned)", "; touch pwned", "`touch pwned`", "a b", "'\"", "*", "%PATH%", "", "-", "\n"}
	res, err := runAs(t, h, s, "echo", &RunOptions{Args: args})
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(append([]string{filepath.Join(dir, "scripts"), ""}, args...))
	if err != nil {
		t.Fatal(err)
	}
	var a, b []string
	if json.Unmarshal(res.JSON, &a) != nil || json.Unmarshal(want, &b) != nil || !slices.Equal(a, b) {
		t.Errorf("got %s, want %s", res.JSON, want)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "scripts", "pwned*")); err != nil || left != nil {
		t.Errorf("a shell was there: %v, %v", left, err)
	}
	if got := mustText(t, h, s, "bytes"); got != "ok \ufffd" {
		t.Errorf("stdout is %q", got)
	}
	_, err = runAs(t, h, s, "bytes", &RunOptions{Args: []string{"fail"}})
	if e := failure(t, err, ExecutionFailed, ""); e.Message != "Script failed with exit code 1\nstderr: bad \ufffd" {
		t.Errorf("got %q", e.Message)
	}
}

// R110, R111, C28: 002 and 003 start a script in the skill's folder; their limits are the same. JS and
// TypeScript have runners of their own, and never a shell.
func TestRowSkillFolder(t *testing.T) {
	s := open(t, "", tree{"scripts/where.py": "import os, json\nprint(json.dumps(os.getcwd()))\n", "scripts/a.js": "", "scripts/b.ts": ""})
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := host(t)
	for cwd, want := range map[string]string{"": filepath.Join(dir, "scripts"), "skill": dir} {
		h := host(t)
		h.Cwd = cwd
		res, err := runAs(t, h, s, "where", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(res.JSON); got != fmt.Sprintf("%q", want) {
			t.Errorf("cwd %q: started in %s, want %q", cwd, got, want)
		}
	}
	c := &canned{out: runner.Output{Stdout: []byte("{}")}}
	h.Runner = c
	h.LookPath = func(name string) (string, error) {
		if name == "bun" {
			return filepath.Join(dir, "bun"), nil
		}
		return "", exec.ErrNotFound
	}
	for _, name := range []string{"a", "b"} {
		if _, err := runAs(t, h, s, name, nil); err != nil {
			t.Fatal(err)
		}
		cmd := c.commands[len(c.commands)-1]
		if filepath.Base(cmd.Path) != "bun" || cmd.Args[1] != "run" || cmd.Timeout != time.Minute || cmd.MaxStdout != 1<<20 {
			t.Errorf("%s: %+v", name, cmd)
		}
	}
}

// R113: what uv says of a dependency that cannot be had reaches the caller; without uv the message says how to get it.
func TestRowMissingDependency(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": needs("print(1)\n", "no-such-package-here")})
	_, err := runAs(t, uvHost(t, t.TempDir()), s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonDependencies, "no-such-package-here")
	h := withoutUV(host(t))
	_, err = runAs(t, h, s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonDependencies, "uv is not installed", "pip install uv")
}

// R42: a script's requires-python is checked before it runs; the message names both versions.
func TestRowPythonVersion(t *testing.T) {
	s := open(t, "", tree{
		"scripts/future.py": "# /// script\n# requires-python = \">=9.1\"\n# ///\nprint(1)\n",
		"scripts/now.py":    "# /// script\n# requires-python = \">=3.6\"\n# ///\nprint(1)\n",
	})
	h := withoutUV(host(t))
	_, err := runAs(t, h, s, "future", nil)
	failure(t, err, ExecutionFailed, ReasonPython, "requires Python >=9.1", " is 3.")
	if res, err := runAs(t, h, s, "now", nil); err != nil || string(res.JSON) != "1" {
		t.Errorf("got %v, %v", res, err)
	}
}

// R80: skills are trusted code to this package, as in the source: it runs what it is given and leaves
// the question of trust to the executor that calls it. Its place for limits is a Runner.
func TestRowEnforcementIsTheCallers(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": "echo 1\n"})
	if trust, err := s.Entry().Trust(t.Context()); err != nil || trust.Runs() {
		t.Fatalf("the skill is %s, %v", trust, err)
	}
	if got := mustText(t, host(t), s, "a"); got != "1\n" {
		t.Errorf("got %q", got)
	}
	denied := errors.New("denied by the sandbox")
	h := host(t)
	h.Runner = &canned{err: denied}
	if _, err := runAs(t, h, s, "a", nil); !errors.Is(err, denied) {
		t.Errorf("got %v", err)
	}
}

// R177: a path of Windows names a script on every system if it stays in the skill, and otherwise on none.
func TestRowWindowsNames(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": "echo 1\n"})
	for _, name := range []string{`C:\a.sh`, `\scripts\a.sh`, `\\host\scripts\a.sh`, `scripts\..\a.sh`, "C:a.sh", "a.sh:x", `..\a.sh`, "a.sh ", "a.sh."} {
		_, err := Find(t.Context(), s, name, nil)
		failure(t, err, InvalidName, "", "Invalid script name: '"+name+"'")
	}
	if sc, err := Find(t.Context(), s, `scripts\a.sh`, nil); err != nil || sc.File != "scripts/a.sh" {
		t.Errorf("got %v, %v", sc, err)
	}
	if runtime.GOOS != "windows" && listed(s) != "a=a.sh" {
		t.Errorf("got %s", listed(s))
	}
}
