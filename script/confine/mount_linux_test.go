package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// R87: a folder is read at another path, cannot be changed there, and what is hidden in it is hidden there too. Nothing is left behind.
func TestMounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, "/bin/sh", "-c", `
for f in work/skills/a/text work/skills/a/sub/key work/there/b/text work/there/c/text; do
	[ -s "$f" ] && echo "read $f"
done
for f in work/skills/a/text work/skills/new work/there/b/new; do
	(echo new >"$f") 2>/dev/null && echo "wrote $f"
done
(echo new >work/there/new) 2>/dev/null && echo "wrote work/there"
true`)
		at := func(name string) string { return filepath.Join(c.Dir, name) }
		for _, name := range []string{"skill/text", "skill/sub/key", "work/there/c/text"} {
			if err := os.MkdirAll(filepath.Dir(at(name)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at(name), []byte("text\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			for dir := filepath.Dir(at(name)); dir != c.Dir; dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.Read, c.Write, c.Hide = []string{at("skill")}, []string{at("work")}, []string{at("skill/sub")}
		c.Mounts = []runner.Mount{{Path: at("work/skills/a"), Dir: at("skill")}, {Path: at("work/there/b"), Dir: at("skill")},
			{Path: at("work/there/c/text/d"), Dir: at("skill")}, {Path: "/elsewhere/e", Dir: at("skill")}}
		out := run(t, i.runner(t, Options{}), c)
		want := "read work/skills/a/text\nread work/there/b/text\nread work/there/c/text\nwrote work/there\n"
		if out.Sandbox.Tier != "A" {
			want = "read work/there/c/text\nwrote work/there\n"
		}
		if string(out.Stdout) != want {
			t.Errorf("got %q, want %q\n%s", out.Stdout, want, out.Stderr)
		}
		if _, err := os.Lstat(at("work/skills")); err == nil {
			t.Error("a folder was left behind")
		}
		if _, err := os.Lstat(at("work/there/b")); err == nil {
			t.Error("a mount point was left behind")
		}
	})
}
