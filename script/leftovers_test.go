package script

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
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
