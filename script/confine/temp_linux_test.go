package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/script/runner"
)

// withTemp returns a shell command that shares the folder temp with others as its /tmp and its TMPDIR.
func (i tier) withTemp(t *testing.T, temp, program string) *runner.Command {
	t.Helper()
	c := i.command(t, "/bin/sh", "-c", program)
	c.Temp, c.Own, c.Write = temp, []string{temp}, append(c.Write, temp)
	c.Env = append(c.Env, "TMPDIR="+temp)
	return c
}

// folderIn returns a new folder in another one. The test removes it whatever commands made of it.
func folderIn(t *testing.T, dir string) string {
	t.Helper()
	dir, err := os.MkdirTemp(dir, "confine-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ondisk.RemoveAll(dir) })
	return dir
}

// C76: what a command writes in its folder for temporary files is there for the next one that has the same, and for no other. Where the
// sandbox has a view of its own that folder is /tmp, too.
func TestTemp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, i tier) {
		r, temp := i.runner(t, Options{}), t.TempDir()
		tmp := "/tmp"
		if i.name == "B" {
			tmp = "$TMPDIR"
		}
		run(t, r, i.withTemp(t, temp, "echo text >"+tmp+"/a; mkdir "+tmp+"/dir"))
		for _, c := range []struct {
			temp, want string
		}{{temp, "text\ntext\n"}, {t.TempDir(), ""}} {
			out := run(t, r, i.withTemp(t, c.temp, "cat "+tmp+"/a $TMPDIR/a"))
			if string(out.Stdout) != c.want {
				t.Errorf("got %q, want %q, %s", out.Stdout, c.want, out.Stderr)
			}
		}
		if out := run(t, r, i.command(t, "/bin/sh", "-c", "ls /tmp/a; ls "+temp+"/a; cat "+temp+"/a")); strings.Contains(string(out.Stdout), "text") {
			t.Errorf("a command without the folder reads it: %q", out.Stdout)
		}
	})
}

// C76: a link on the machine's own way to something below /tmp is seen in a shared /tmp, for each command that has it.
func TestTempLinks(t *testing.T) {
	t.Parallel()
	i, dir := confined()[0], folderIn(t, "/tmp")
	r, temp := i.runner(t, Options{}), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "real/x"), "text")
	link := dir + "-link"
	for range 2 {
		c := i.withTemp(t, temp, "cat "+link+"/x; readlink "+link)
		c.Read, c.Links = []string{filepath.Join(dir, "real")}, []runner.Link{{Path: link, Text: filepath.Join(dir, "real")}}
		if out := run(t, r, c); string(out.Stdout) != "text"+filepath.Join(dir, "real")+"\n" {
			t.Errorf("got %q, %s, %q", out.Stdout, out.Stderr, out.Sandbox.Missing)
		}
	}
}

// planted are what a command can leave in its /tmp at the path of a folder below which the next one has something. $1 is the folder, and $2 one
// outside.
var planted = map[string]string{
	"a link to a folder outside":  `ln -s $2 $1`,
	"a link further down":         `mkdir $1; ln -s $2 $1/in`,
	"a link at the end":           `mkdir -p $1/in; ln -s $2 $1/in/x`,
	"a link to nothing":           `ln -s $2/gone $1`,
	"a link to the root":          `ln -s / $1`,
	"a link in a circle":          `ln -s $1 $1`,
	"a link upwards":              `ln -s ../../../../../../$2 $1`,
	"a link of the system":        `ln -s /proc/self/cwd $1`,
	"a file":                      `echo >$1`,
	"a file further down":         `mkdir $1; echo >$1/in`,
	"a pipe":                      `mkfifo $1`,
	"a pipe at the end":           `mkdir -p $1/in; mkfifo $1/in/x`,
	"a folder without permission": `mkdir -p $1/in; chmod 0 $1/in $1`,
	"a folder that only is read":  `mkdir -p $1/in; chmod 555 $1/in $1`,
	"a folder in place of a file": `mkdir -p $1/in/x/y $1/in/dir/y`,
	"a file in place of a folder": `mkdir -p $1/in; echo >$1/in/dir`,
	"no /tmp to speak of":         `chmod 0 /tmp`,
}

// C76: nothing that a command leaves in its /tmp has the sandbox of the next one make anything outside, or show something else there. It is
// moved aside, and the next command runs.
func TestTempPlanted(t *testing.T) {
	t.Parallel()
	i := confined()[0]
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside, temp := folderIn(t, "/tmp"), folderIn(t, "/var/tmp"), folderIn(t, t.TempDir())
			fill(t, dir, outside)
			r := i.runner(t, Options{})
			c := i.withTemp(t, temp, "set -- "+dir+" "+outside+"\n"+plant)
			if out := run(t, r, c); out.ExitCode != 0 {
				t.Fatalf("%s", out.Stderr)
			}
			_ = os.Chmod(temp, 0o700) // as who has the folder does
			for range 2 {
				c = i.withTemp(t, temp, "cat "+dir+"/in/x "+dir+"/in/dir/y; echo new >"+dir+"/in/dir/y")
				c.Read, c.Write = []string{filepath.Join(dir, "in/x")}, append(c.Write, filepath.Join(dir, "in/dir"))
				out := run(t, r, c)
				if string(out.Stdout) != "text\nbelow\n" {
					t.Errorf("got %q, %s, %q", out.Stdout, out.Stderr, out.Sandbox)
				}
				if got, _ := os.ReadFile(filepath.Join(dir, "in/dir/y")); string(got) != "new\n" {
					t.Errorf("wrote %q", got)
				}
				write(t, filepath.Join(dir, "in/dir/y"), "below\n")
			}
			wantUntouched(t, outside)
		})
	}
}

// fill makes what the next command sees below /tmp, and what it must not touch.
func fill(t *testing.T, dir, outside string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "in/dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "in/x"), "text\n")
	write(t, filepath.Join(dir, "in/dir/y"), "below\n")
	write(t, filepath.Join(outside, "x"), "outside\n")
}

// wantUntouched reports what is in a folder, other than the file x.
func wantUntouched(t *testing.T, outside string) {
	t.Helper()
	list, err := os.ReadDir(outside)
	if text, _ := os.ReadFile(filepath.Join(outside, "x")); err != nil || len(list) != 1 || string(text) != "outside\n" {
		t.Errorf("outside there is %v, %q, %v", list, text, err)
	}
}

// C76: what a command leaves there while the next one starts ends that one at most, with one error, and never makes the machine seem to lack
// a layer of the sandbox.
func TestTempPlantedMeanwhile(t *testing.T) {
	t.Parallel()
	i := confined()[0]
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside, temp := folderIn(t, "/tmp"), folderIn(t, "/var/tmp"), folderIn(t, t.TempDir())
			fill(t, dir, outside)
			r := i.runner(t, Options{})
			run(t, r, i.withTemp(t, temp, "set -- "+dir+" "+outside+"\n"+plant))
			c := i.withTemp(t, temp, "cat "+dir+"/in/dir/y; echo new >"+dir+"/in/x")
			own := filepath.Join(dir, "in/dir")
			c.Read, c.Write, c.Own = []string{filepath.Join(dir, "in/x")}, append(c.Write, own), append(c.Own, own)
			p, err := r.plan(c)
			if err != nil {
				t.Fatal(err)
			}
			looked := *c
			looked.Temp = t.TempDir() // nothing is there when somebody looks
			p.c = &looked
			out, err := r.attempt(t.Context(), p)
			var wrong *fs.PathError
			if err != nil && !errors.As(err, &wrong) && !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("got %v", err)
			}
			if err == nil && string(out.Stdout) != "below\n" {
				t.Errorf("got %q, %s, %q", out.Stdout, out.Stderr, out.Sandbox.Missing)
			}
			if r.hasLost(Namespaces) {
				t.Error("the machine seems to have no namespaces")
			}
			wantUntouched(t, outside)
		})
	}
}
