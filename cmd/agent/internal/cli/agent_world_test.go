package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/policy"
)

// world is a home and a project in which a test runs the whole command, inside its own process.
type world struct {
	policy        string // of the organisation; "" for none
	t             *testing.T
	home, project string
	env           []string
}

func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	return worldIn(t, scratch.Dir(t), env...)
}

// worldIn is newWorld in a folder.
func worldIn(t *testing.T, dir string, env ...string) *world {
	t.Helper()
	w := &world{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "work"),
		env: append([]string{"PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}, env...)}
	w.write("home/x", "")
	w.write("work/.git/HEAD", "")
	return w
}

// text returns the content of a file below the folder that holds home and work.
func (w *world) text(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(w.home), filepath.FromSlash(name)))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// write puts a file below the folder that holds home and work.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(filepath.Dir(w.home), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(filepath.Dir(w.home), filepath.FromSlash(name))); err != nil {
		w.t.Fatal(err)
	}
}

// usual is a text in which the home and the project have names of usual length.
func (w *world) usual(text string) string {
	return strings.NewReplacer(w.home, "/home/ada", w.project, "/home/ada/work").Replace(text)
}

// skill writes a skill of the user's.
func (w *world) skill(name, description, body string) {
	w.t.Helper()
	w.write("home/.agent/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+description+"\n---\n"+body)
}

// run runs the command, with a stdin of these lines or, for "", none.
func (w *world) run(stdin string, args ...string) (stdout, stderr string, code failure.Exit) {
	w.t.Helper()
	dir := scratch.Dir(w.t)
	in, err := os.Open(os.DevNull)
	if stdin != "" {
		name := filepath.Join(dir, "in")
		if err := os.WriteFile(name, []byte(stdin), 0o600); err != nil {
			w.t.Fatal(err)
		}
		in, err = os.Open(name)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer in.Close()
	out, errs := w.file(dir, "out"), w.file(dir, "err")
	defer out.Close()
	defer errs.Close()
	code = cli.Main(w.t.Context(), &setup.System{Args: args, In: in, Out: out, Err: errs, Environ: w.env, Home: w.home, Dir: w.project,
		Temp: dir, LookPath: exec.LookPath, Now: time.Now, Policy: w.document, Account: func() string { return w.home }})
	return w.read(out), w.read(errs), code
}

// document returns the policy of the organisation.
func (w *world) document() *policy.Document {
	if w.policy == "" {
		return nil
	}
	d, _ := policy.Parse([]byte(w.policy), "/etc/agent/policy.yaml") // the document has the error
	return d
}

func (w *world) file(dir, name string) *os.File {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *world) read(f *os.File) string {
	b, err := os.ReadFile(f.Name())
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// succeeds runs the command and fails the test unless all is well.
func (w *world) succeeds(stdin string, args ...string) string {
	w.t.Helper()
	stdout, stderr, code := w.run(stdin, args...)
	if code != failure.ExitOK {
		w.t.Fatalf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	return stdout
}
