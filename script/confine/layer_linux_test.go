package confine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// under makes a sealed folder with a layer over it, and adds both to a command.
func under(t *testing.T, c *runner.Command) *runner.Layer {
	t.Helper()
	top := t.TempDir()
	l := &runner.Layer{Dir: filepath.Join(top, "a,b:c", "skill"), Upper: filepath.Join(top, "upper"), Work: filepath.Join(top, "work")}
	for _, dir := range []string{filepath.Join(l.Dir, "scripts"), filepath.Join(l.Upper, "scripts"), l.Work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(l.Dir, "scripts", "run.sh"), "approved\n")
	write(t, filepath.Join(l.Upper, "scripts", "data.json"), "from before\n")
	for path, mode := range map[string]os.FileMode{filepath.Join(l.Dir, "scripts", "run.sh"): 0o400, filepath.Join(l.Dir, "scripts"): 0o500, l.Dir: 0o500} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) })
	}
	c.Layer = l
	c.Read = append(c.Read, l.Dir)
	return l
}

// C65, security 1.2: at tier A a command writes in a folder that does not change, also one that replaces and removes what is there; it
// does not reach the folders below. Elsewhere nothing runs.
func TestLayer(t *testing.T) {
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "bash", "-c", `cd "$1/scripts" && cat run.sh data.json && echo new > made.txt && mkdir deep && echo x > deep/y && `+
			`echo evil > t && mv -f t run.sh && cat run.sh && rm data.json && ls; (echo x >> "$2/z") 2>/dev/null || echo apart; ls "$3" 2>/dev/null || echo hidden`, "bash")
		l := under(t, c)
		c.Args = append(c.Args, l.Dir, l.Upper, l.Work)
		out, err := i.runner(t, Options{}).Run(t.Context(), c)
		if i.name != "A" {
			if !errors.Is(err, runner.ErrNoLayer) {
				t.Errorf("got %+v, %v", out, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Fields(string(out.Stdout)), "approved from before evil deep made.txt run.sh apart hidden"; strings.Join(got, " ") != want {
			t.Errorf("got %q %s, want %q", got, out.Stderr, want)
		}
		for path, want := range map[string]string{
			filepath.Join(l.Dir, "scripts", "run.sh"): "approved\n", filepath.Join(l.Upper, "scripts", "run.sh"): "evil\n",
			filepath.Join(l.Upper, "scripts", "made.txt"): "new\n", filepath.Join(l.Upper, "scripts", "deep", "y"): "x\n",
		} {
			if b, err := os.ReadFile(path); string(b) != want {
				t.Errorf("%s: got %q, %v", path, b, err)
			}
		}
		if list, err := os.ReadDir(filepath.Join(l.Dir, "scripts")); err != nil || len(list) != 1 {
			t.Errorf("the folder has %v, %v", list, err)
		}
	})
}

// What a command writes in a layer counts like what it writes in its own folders.
func TestLayerCounts(t *testing.T) {
	i := confined()[0]
	c := i.command(t, "bash", "-c", `cd "$1/scripts" && for n in $(seq 200); do echo > $n; done; sleep 60`, "bash")
	c.Args = append(c.Args, under(t, c).Dir)
	c.Limits.Files = 100
	if out := run(t, i.runner(t, Options{}), c); !out.Filled {
		t.Errorf("got %+v", out)
	}
}

// A folder that cannot be laid over is found out once: the command runs without, if the caller asks for that.
func TestLayerIsLost(t *testing.T) {
	i := confined()[0]
	r := i.runner(t, Options{})
	c := i.command(t, "/bin/true")
	under(t, c).Work = filepath.Join(t.TempDir(), "none")
	for range 2 {
		if out, err := r.Run(t.Context(), c); !errors.Is(err, runner.ErrNoLayer) {
			t.Errorf("got %+v, %v", out, err)
		}
	}
	c.Layer = nil
	if out := run(t, r, c); out.ExitCode != 0 || out.Sandbox.Tier != "A" {
		t.Errorf("got %+v", out)
	}
}
