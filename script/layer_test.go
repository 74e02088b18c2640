package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// writer counts in a file beside itself, and leaves code in its folder.
const writer = `import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
path = os.path.join(here, "state", "count.json")
n = json.load(open(path))["n"] if os.path.exists(path) else 0
if "forget" in sys.argv: os.remove(path)
else:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f: json.dump({"n": n + 1}, f)
for name in ("helper.py", "fresh.py", "json.py"):
    with open(os.path.join(here, name), "w") as f: f.write("raise SystemExit('evil')")
os.symlink("/etc/passwd", os.path.join(here, "state", "link.json"))
with open(os.path.join(here, "..", "data.csv"), "a") as f: f.write("mine\n")
print(n, open(os.path.join(here, "..", "data.csv")).read().split())
import helper
`

// C63, C65, security 1.2: a script that writes in its sealed folder succeeds, without a sandbox too. The sealed content stays as it is,
// the next run has the data of the last one and none of its code, and the result says where the files are.
func TestWritesBeside(t *testing.T) {
	r := host(t)
	h := r.host()
	s := open(t, "", tree{"scripts/a.py": strings.Replace(writer, "import helper", "", 1), "scripts/helper.py": "x = 1\n", "data.csv": "approved\n"})
	sealed, err := h.Seal(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer sealed.Close()
	dir, _ := sealed.Dir(t.Context())
	count := func(args ...string) *Result {
		t.Helper()
		res, err := h.Run(t.Context(), s, Script{Name: "a", File: "scripts/a.py"}, &RunOptions{JSON: JSONNo, Args: args, Admit: h.Seal})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, want := range []string{"0 ", "1 ", "2 "} {
		res := count()
		if res.Text != want+"['approved', 'mine']\n" || !strings.Contains(res.Warning, "in its skill's folder") || !strings.Contains(res.Warning, ".kept") {
			t.Errorf("got %q, %q, want %q", res.Text, res.Warning, want)
		}
	}
	for file, want := range map[string]string{"scripts/helper.py": "x = 1\n", "data.csv": "approved\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); string(b) != want {
			t.Errorf("%s: got %q, %v, want %q", file, b, err, want)
		}
	}
	if list, err := os.ReadDir(filepath.Join(dir, "scripts")); err != nil || len(list) != 2 {
		t.Errorf("the approved folder has %v, %v", list, err)
	}
	home, err := h.HomeOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := filepath.Glob(filepath.Join(filepath.Dir(home.Dir), ".kept", filepath.Base(home.Dir), "*"))
	if len(kept) != 1 {
		t.Fatalf("got %q", kept)
	}
	for file, want := range map[string]string{"scripts/state/count.json": `{"n": 3}`, "data.csv": "approved\nmine\n", "scripts/helper.py": "raise SystemExit('evil')"} {
		if b, err := os.ReadFile(filepath.Join(kept[0], file)); string(b) != want {
			t.Errorf("%s: got %q, %v, want %q", file, b, err, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(kept[0], "scripts/state/link.json")); err == nil {
		t.Error("a link is kept")
	}
	count("forget")
	if got := count().Text; !strings.HasPrefix(got, "0 ") {
		t.Errorf("what a script removes comes back: %q", got)
	}
	if err := h.ClearHome(home); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(kept[0]); err == nil {
		t.Error("clearing the home leaves what was kept")
	}
	if left, _ := filepath.Glob(filepath.Join(r.Cache, "work", "*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// What another version of a skill wrote is not found, and a link in the place of what is kept leads nowhere.
func TestKeptByVersion(t *testing.T) {
	h := host(t).host()
	root := t.TempDir()
	dir := filepath.Join(root, "probe")
	write := func(text string) {
		tree{"SKILL.md": "---\nname: probe\ndescription: A skill for tests.\n---\n" + text, "scripts/a.py": strings.Replace(writer, "import helper", "", 1)}.Write(t, dir)
	}
	for _, step := range []struct{ text, want string }{{"one", "0"}, {"one", "1"}, {"two", "0"}, {"one", "2"}} {
		write(step.text)
		res, err := h.Run(t.Context(), load(t, root), Script{Name: "a", File: "scripts/a.py"}, &RunOptions{JSON: JSONNo, Admit: h.Seal})
		if err != nil || !strings.HasPrefix(res.Text, step.want+" ") {
			t.Errorf("%+v: got %+v, %v", step, res, err)
		}
	}
}

// A run costs nothing of a layer where nothing shows that the script writes beside itself; one that cannot be had is not asked for twice.
func TestNoLayer(t *testing.T) {
	r := host(t)
	var got []*runner.Command
	r.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		got = append(got, c)
		if c.Layer != nil {
			return nil, runner.ErrNoLayer
		}
		return &runner.Output{Stdout: []byte("{}")}, nil
	})
	r.UserDir = t.TempDir()
	h := r.host()
	s := open(t, "", tree{"scripts/plain.sh": "echo hello > $1\n", "scripts/beside.sh": "echo hello > \"$(dirname \"$0\")/x\"\n"})
	plain := open(t, "", tree{"scripts/plain.sh": "echo hello > $1\n"})
	for _, step := range []struct {
		name   string
		copied bool
		runs   int
	}{{"plain", false, 2}, {"plain", false, 1}, {"beside", true, 1}} {
		got = nil
		of := plain
		if step.copied {
			of = s
		}
		if _, err := h.Run(t.Context(), of, Script{Name: step.name, File: "scripts/" + step.name + ".sh"}, &RunOptions{Admit: h.Seal}); err != nil {
			t.Fatal(err)
		}
		last := got[len(got)-1]
		script := last.Args[len(last.Args)-2]
		if copied := strings.HasPrefix(script, filepath.Join(r.Cache, "work")); len(got) != step.runs || copied != step.copied || strings.HasPrefix(value(last, "AGENT_SKILL_DIR"), filepath.Join(r.Cache, "work")) != copied {
			t.Errorf("%+v: %d runs, %q", step, len(got), script)
		}
	}
	if _, err := (runner.Exec{}).Run(t.Context(), &runner.Command{Path: "/bin/sh", Args: []string{"sh"}, Dir: "/", Timeout: 1, Layer: &runner.Layer{}}); !errors.Is(err, runner.ErrNoLayer) {
		t.Errorf("got %v", err)
	}
}

// A script that starts in the skill's folder, or in its own, starts in the copy.
func TestNoLayerFolder(t *testing.T) {
	r := host(t)
	var last *runner.Command
	r.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		if last = c; c.Layer != nil {
			return nil, runner.ErrNoLayer
		}
		return &runner.Output{Stdout: []byte("{}")}, nil
	})
	for _, cwd := range []string{CwdSkill, CwdScript} {
		s := open(t, "metadata:\n  agent-base.cwd: "+cwd+"\n", tree{"scripts/a.sh": "echo hello > \"$(dirname \"$0\")/x\"\n"})
		if _, err := runAs(t, r, s, "a", nil); err != nil {
			t.Fatal(err)
		}
		dir := value(last, "AGENT_SKILL_DIR")
		if at := map[string]string{CwdSkill: dir, CwdScript: filepath.Join(dir, "scripts")}[cwd]; last.Dir != at || !strings.HasPrefix(dir, filepath.Join(r.Cache, "work")) {
			t.Errorf("%s: it starts in %q, the copy is %q", cwd, last.Dir, dir)
		}
	}
}

// What is piped into a script reaches it, also where the first try ends because there is no layer.
func TestNoLayerInput(t *testing.T) {
	r := host(t)
	r.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		if c.Layer != nil {
			c.CloseIn()
			return nil, runner.ErrNoLayer
		}
		return runner.Exec{}.Run(ctx, c)
	})
	r.UserDir = t.TempDir()
	s := open(t, "", tree{"scripts/up.sh": "cat\n"})
	res, err := r.host().Run(t.Context(), s, Script{Name: "up", File: "scripts/up.sh"}, &RunOptions{JSON: JSONNo, Stdin: strings.NewReader("piped\n")})
	if err != nil || res.Text != "piped\n" {
		t.Errorf("got %+v, %v", res, err)
	}
}

// A script that fails because it changes an approved file may do so in the next run.
func TestAgain(t *testing.T) {
	r := host(t)
	var got *runner.Command
	r.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		got = c
		return &runner.Output{ExitCode: 1, Stderr: []byte("PermissionError: [Errno 13] Permission denied: '" + filepath.Join(c.Read[0], "data.json") + "'")}, nil
	})
	h := r.host()
	s := open(t, "", tree{"scripts/a.sh": "", "data.json": "{}"})
	for i, again := range []bool{true, false} {
		_, err := h.Run(t.Context(), s, Script{Name: "a", File: "scripts/a.sh"}, &RunOptions{Admit: h.Seal})
		if failure(t, err, ExecutionFailed, ReasonBlocked, "in the skill's own folder, which is read-only"); strings.Contains(err.Error(), "run it again") != again {
			t.Errorf("%d: got %v", i, err)
		}
		if got.Layer == nil {
			t.Fatal("no layer")
		}
	}
}

// C65: a result names what it kept, and says of what it could not keep that it is lost: a file in whose place an earlier run left a folder.
func TestNotKept(t *testing.T) {
	h := host(t).host()
	s := open(t, "", tree{"scripts/a.py": `import os, sys
here = os.path.dirname(__file__)
for path in sys.argv[1:]:
    os.makedirs(os.path.dirname(os.path.join(here, path)), exist_ok=True)
    open(os.path.join(here, path), "w").write("x")
`})
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"out/a.bin"}, `it wrote "scripts/out/a.bin" in its skill's folder: it is kept in `},
		{[]string{"b.bin", "c.bin"}, `it wrote 2 files in its skill's folder, such as "scripts/b.bin": they are kept in `},
		{[]string{"out"}, "1 file that it wrote in its skill's folder is lost: "},
		{[]string{"out", "b.bin/d.bin"}, "2 files that it wrote in its skill's folder are lost: "},
	} {
		res, err := h.Run(t.Context(), s, Script{Name: "a", File: "scripts/a.py"}, &RunOptions{JSON: JSONNo, Args: step.args, Admit: h.Seal})
		if err != nil || !strings.HasPrefix(res.Warning, step.want) {
			t.Errorf("%q: got %+v, %v, want %q", step.args, res, err, step.want)
		}
	}
}

// A copy of a skill has beside it what the skill has, if the script may read that: skills of one folder share code.
func TestNeighbours(t *testing.T) {
	root := t.TempDir()
	tree{
		"probe/SKILL.md": "---\nname: probe\ndescription: A skill for tests.\n---\n", "two/lib.sh": "say() { echo \"$1\"; }\n", ".git/x": "",
		"probe/scripts/a.sh": "here=$(dirname \"$0\")\n. \"$here/../../two/lib.sh\" || exit 3\necho x > \"$here/x\"\nls -A \"$here/../..\"\n",
	}.Write(t, root)
	for _, readable := range []bool{true, false} {
		r := host(t)
		r.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
			if c.Layer != nil {
				return nil, runner.ErrNoLayer
			}
			return runner.Exec{}.Run(ctx, c)
		})
		r.UserDir = t.TempDir()
		if readable {
			r.UserDir = root
		}
		res, err := r.host().Run(t.Context(), load(t, root), Script{Name: "a", File: "scripts/a.sh"}, &RunOptions{JSON: JSONNo})
		if readable && (err != nil || res.Text != "probe\ntwo\n") {
			t.Errorf("got %+v, %v", res, err)
		}
		if !readable && err == nil {
			t.Errorf("what may not be read is beside the copy: %q", res.Text)
		}
		if _, err := os.Stat(filepath.Join(root, "two/lib.sh")); err != nil { // with the copy goes the link alone
			t.Error(err)
		}
	}
}
