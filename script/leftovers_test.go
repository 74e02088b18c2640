package script

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// plant has Python write byte code of other code beside the sources of a folder, in each form that it loads: with the time and the
// size of the source, with a hash that is not checked, and in the place where Python 2 had it.
const plant = `
import importlib._bootstrap_external as b, importlib.util as u, os, sys
how, dir = sys.argv[1:]
for at, _, names in os.walk(dir):
    for name in names:
        path = os.path.join(at, name)
        if not name.endswith('.py') or name.startswith('run'):
            continue
        code = compile("X = 'PLANTED'", path, 'exec')
        st = os.stat(path)
        data = b._code_to_timestamp_pyc(code, int(st.st_mtime), st.st_size)
        if how == 'unchecked':
            data = b._code_to_hash_pyc(code, u.source_hash(b'other'), False)
        to = path + 'c' if how == 'beside' else u.cache_from_source(path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, 'wb') as f:
            f.write(data)
`

// C77: no interpreter loads leftovers, neither from a sealed copy nor where a skill runs in its own folder, and they change no digest.
func TestByteCodeIsNotLoaded(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	const print = "import helper\nprint(helper.X)\n"
	for _, how := range []string{"timestamp", "unchecked", "beside"} {
		for _, sealed := range []bool{true, false} {
			if sealed && how != "unchecked" {
				continue // a sealed copy has none, whatever its form: TestSealLeavesOut
			}
			name := how + map[bool]string{true: ", sealed", false: ", in place"}[sealed]
			t.Run(name, func(t *testing.T) {
				s := open(t, "", tree{
					"scripts/run.py": print, "scripts/helper.py": "X = 'source'\n", "scripts/run-child.sh": "exec python3 \"$AGENT_SKILL_DIR/scripts/run.py\"\n",
					"scripts/run-self.py": "import subprocess, sys, os\nprint(subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), 'run.py')], capture_output=True, text=True).stdout)\n",
					"lib/__init__.py":     "", "lib/helper.py": "X = 'source'\n", "lib/run_module.py": "from . import helper\nprint(helper.X)\n",
				})
				dir, err := s.Dir(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				before, err := s.Digest(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(python, "-c", plant, how, dir).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if how != "beside" { // else Python 3 does not load it: the source is there
					out, err := exec.Command(python, filepath.Join(dir, "scripts/run.py")).CombinedOutput()
					if err != nil || strings.TrimSpace(string(out)) != "PLANTED" {
						t.Fatalf("control: it is not loaded by hand, so the test proves nothing: %s, %v", out, err)
					}
				}
				now, err := s.Entry().Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer now.Close()
				if after, err := now.Digest(t.Context()); err != nil || after != before {
					t.Errorf("digest %s, %v; before %s", after, err, before)
				}
				r := host(t)
				r.Path = os.Getenv("PATH")
				h := r.host()
				var admit Admit
				if sealed {
					admit = func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return h.Seal(ctx, s) }
				}
				for _, file := range []string{"scripts/run.py", "scripts/run-child.sh", "scripts/run-self.py", "lib/run_module.py"} {
					got, err := h.Run(t.Context(), s, Script{Name: file, File: file}, &RunOptions{JSON: JSONNo, Admit: admit})
					if err != nil {
						t.Errorf("%s: %v", file, err)
					} else if strings.TrimSpace(got.Text) != "source" {
						t.Errorf("%s: %q", file, got.Text)
					}
				}
				hook, err := h.RunHook(t.Context(), s, &HookOptions{Hook: manifest.Hook{Event: "Stop", Command: `python3 "$CLAUDE_SKILL_DIR/scripts/run.py"`}, Admit: admit})
				if err != nil || strings.TrimSpace(string(hook.Stdout)) != "source" {
					t.Errorf("hook: %s, %v", hook.Stdout, err)
				}
			})
		}
	}
}

// leftOf has, for each language, a script that loads code from what tools leave in a folder, such as a cache, and that code.
var leftOf = map[string]struct{ file, code, left, text string }{
	"node": {"run.js", "try { require('helper') } catch { console.log('source') }\n", "node_modules/helper/index.js", "console.log('PLANTED')\n"},
	"ruby": {"run.rb", "begin\n  require_relative '../.cache/helper'\nrescue LoadError\n  puts 'source'\nend\n", ".cache/helper.rb", "puts 'PLANTED'\n"},
	"php":  {"run.php", "<?php if (!@include __DIR__ . '/../.cache/helper.php') echo \"source\\n\";\n", ".cache/helper.php", "<?php echo \"PLANTED\\n\"; return true;\n"},
	"perl": {"run.pl", "use FindBin;\nprint \"source\\n\" unless do \"$FindBin::Bin/../.cache/helper.pl\";\n", ".cache/helper.pl", "print \"PLANTED\\n\"; 1\n"},
	"bash": {"run.sh", ". \"$(dirname \"$0\")/../.cache/helper.sh\" 2>/dev/null || echo source\n", ".cache/helper.sh", "echo PLANTED\n"},
}

// C77: no program loads what is left in the folder of an approved skill, and it changes no digest.
func TestLeftoversAreNotLoaded(t *testing.T) {
	for program, l := range leftOf {
		t.Run(program, func(t *testing.T) {
			path := installed(t, program)
			s := open(t, "", tree{"scripts/" + l.file: l.code, "package-lock.json": `{"lockfileVersion": 3, "packages": {}}`})
			before, err := s.Digest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			at, err := s.Dir(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tree{l.left: l.text}.Write(t, at)
			if out, err := exec.Command(path, filepath.Join(at, "scripts", l.file)).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "PLANTED" {
				t.Fatalf("control: it is not loaded by hand, so the test proves nothing: %s, %v", out, err)
			}
			now, err := s.Entry().Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer now.Close()
			if after, err := now.Digest(t.Context()); err != nil || after != before {
				t.Errorf("digest %s, %v; before %s", after, err, before)
			}
			h := host(t).host()
			got, err := h.Run(t.Context(), now, Script{Name: l.file, File: "scripts/" + l.file}, &RunOptions{JSON: JSONNo,
				Admit: func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return h.Seal(ctx, s) }})
			if err != nil || strings.TrimSpace(got.Text) != "source" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// cacheOf has, for each program that keeps code which it compiled, a script and a variable that has it do so in the folder DIR.
var cacheOf = map[string]struct{ file, code, variable, value, config string }{
	"node":    {"run.js", "require('./helper.js')\n", "NODE_COMPILE_CACHE", "DIR", ""},
	"python3": {"run.py", "import helper\n", "PYTHONPYCACHEPREFIX", "DIR", ""},
	"php":     {"run.php", "<?php include __DIR__ . '/helper.php';\n", "PHP_INI_SCAN_DIR", ":DIR", "zend_extension=opcache\nopcache.enable_cli=1\nopcache.file_cache=DIR\nopcache.file_cache_only=1\nopcache.file_update_protection=0\n"},
	"bun":     {"run.ts", "import './helper.ts'\n", "BUN_RUNTIME_TRANSPILER_CACHE_PATH", "DIR", ""},
	"deno":    {"run.ts", "import './helper.ts'\n", "DENO_DIR", "DIR", ""},
}

// C77: a script uses no folder of compiled code that a variable of the user names, even if the variable was granted.
func TestCachesAreNotUsed(t *testing.T) {
	for program, c := range cacheOf {
		t.Run(program, func(t *testing.T) {
			path := installed(t, program)
			dir := t.TempDir()
			at := func(text string) string { return strings.ReplaceAll(text, "DIR", dir) }
			uses := func() bool {
				list, err := os.ReadDir(dir)
				return err != nil || slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() != "x.ini" })
			}
			helper := "helper" + filepath.Ext(c.file)
			s := open(t, "", tree{"scripts/" + c.file: c.code, "scripts/" + helper: strings.Repeat("\n", 1<<16)})
			where, err := s.Dir(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.config != "" {
				tree{"x.ini": at(c.config)}.Write(t, dir)
			}
			r := host(t)
			r.Env = append(r.Env, c.variable+"="+at(c.value))
			r.Granted = func(context.Context, *skill.Skill) (Grant, error) {
				return Grant{Given: want.New(want.VariableOf(c.variable), want.WriteOf(dir))}, nil
			}
			if _, err := r.Run(t.Context(), s, Script{Name: c.file, File: "scripts/" + c.file}, &RunOptions{JSON: JSONNo}); err != nil {
				t.Fatal(err)
			}
			if uses() {
				t.Errorf("%s passes", c.variable)
			}
			byHand := exec.Command(path, filepath.Join(where, "scripts", c.file))
			byHand.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=", c.variable+"="+at(c.value))
			if out, err := byHand.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !uses() {
				t.Skipf("this %s keeps no code in the folder of %s, so it is not known that it would not", program, c.variable)
			}
		})
	}
}

// installed returns a program of this machine.
func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("no %s here, so it is not known what it loads", program)
	}
	return path
}
