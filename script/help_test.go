package script

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

type tree = probe.Tree

// open makes a skill of files and loads it. front is added to its front matter.
func open(t testing.TB, front string, files tree) *skill.Skill {
	t.Helper()
	return openText(t, front+"---\nBody.\n", files)
}

// openBody opens a skill with those instructions.
func openBody(t testing.TB, body string, files tree) *skill.Skill {
	t.Helper()
	return openText(t, "---\n"+body, files)
}

func openText(t testing.TB, text string, files tree) *skill.Skill {
	t.Helper()
	all := tree{"SKILL.md": probe.Start + text}
	maps.Copy(all, files)
	return probe.In(t, t.TempDir(), all)
}

func load(t testing.TB, root string) *skill.Skill {
	t.Helper()
	return probe.From(t, skill.Dir(root, nil))
}

// rig is a host that tests may change between two calls: each call is made by a new Host of its options.
type rig struct {
	Options
	t testing.TB
}

// host runs scripts with the programs of this machine, asks them for JSON and each for its help.
func host(t testing.TB) *rig {
	t.Helper()
	return &rig{Options{LookPath: exec.LookPath, Cache: scratch.Dir(t), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, JSON: JSONYes, AlwaysHelp: true, Seen: seen}, t}
}

func (r *rig) host() *Host {
	r.t.Helper()
	h, err := New(&r.Options)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

func (r *rig) Run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	return r.host().Run(ctx, s, sc, o)
}

func (r *rig) Help(ctx context.Context, s *skill.Skill, sc Script) (*HelpText, error) {
	return r.host().Help(ctx, s, sc, nil)
}

func (r *rig) Prepare(ctx context.Context, s *skill.Skill, sc Script, o *PrepareOptions) (*Prepared, error) {
	return r.host().Prepare(ctx, s, sc, o)
}

func (r *rig) Sweep(ctx context.Context, o *SweepOptions) ([]Swept, error) {
	return r.host().Sweep(ctx, o)
}

// programs is the folder in which programs are asked.
func (r *rig) programs() string { return filepath.Join(r.Cache, "programs") }

// realPython is the path of this machine's own python3, behind a script that chooses among versions.
func realPython(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("python3", "-I", "-S", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// runAs runs one script as text or JSON.
func runAs(t testing.TB, h *rig, s *skill.Skill, name string, o *RunOptions) (*Result, error) {
	t.Helper()
	sc, err := Find(t.Context(), s, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.Run(t.Context(), s, sc, o)
}

// mustText runs a script and returns what it printed.
func mustText(t testing.TB, h *rig, s *skill.Skill, name string, args ...string) string {
	t.Helper()
	res, err := runAs(t, h, s, name, &RunOptions{JSON: JSONNo, Args: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res.Text
}

// failure checks an error's code and reason and that its message holds all parts.
func failure(t testing.TB, err error, code fail.Code, reason string, parts ...string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want an *Error", err)
	}
	if e.Code != code || e.Reason != reason {
		t.Errorf("got %s %q, want %s %q: %s", e.Code, e.Reason, code, reason, e.Message)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message, p) {
			t.Errorf("got message %q, want %q in it", e.Message, p)
		}
	}
	return e
}

// canned is a Runner that keeps the commands it was given and answers with a fixed output.
type canned struct {
	commands []*runner.Command
	out      runner.Output
	err      error
}

func (c *canned) Run(_ context.Context, cmd *runner.Command) (*runner.Output, error) {
	c.commands = append(c.commands, cmd)
	out := c.out
	return &out, c.err
}

func dirOf(t *testing.T, s interface {
	Dir(context.Context) (string, error)
}) string {
	t.Helper()
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
