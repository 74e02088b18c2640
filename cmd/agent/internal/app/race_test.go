package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
)

// racer runs a script while somebody writes to a skill that nobody approved.
type racer struct {
	t     *testing.T
	dir   string // of the skill
	s     *Services
	shown []string // what the person was shown, one element a question
	cat   *skill.Catalog
}

const (
	goodScript = "echo '{\"ran\":\"good\"}'\n"
	evilScript = "echo '{\"ran\":\"evil\"}'\n"
	plainOdd   = "---\nname: odd\ndescription: Runs an odd script.\n---\n"
)

func newRacer(t *testing.T) *racer {
	t.Helper()
	home, project := scratch.Dir(t), t.TempDir()
	streams, _, _, _ := ui.Test()
	sys := &setup.System{Home: home, Dir: project, Temp: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH")}, LookPath: exec.LookPath, Now: time.Now}
	r := &racer{t: t, s: New(sys, &setup.Flags{}, streams), dir: filepath.Join(home, ".agent", "skills", "odd")}
	r.write("SKILL.md", plainOdd)
	r.write("scripts/odd.sh", evilScript)
	var err error
	if r.cat, err = r.s.Skills.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *racer) write(name, text string) {
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// run calls the script as a model does. before happens between the digest and the question, after between a yes and
// the copy.
func (r *racer) run(before, after func()) string {
	r.t.Helper()
	approver := consent.NewChatApprover(func(_ context.Context, q *ui.Question) (string, error) {
		r.shown = append(r.shown, strings.Join(q.Details, "\n"))
		return "y", nil
	})
	o, err := r.s.Tools.Options(r.cat)
	if err != nil {
		r.t.Fatal(err)
	}
	o.Policy.Approve = func(ctx context.Context, s *skill.Skill) (bool, error) {
		before()
		yes, err := r.s.Consent.With(approver).Scripts(ctx, s)
		after()
		return yes, err
	}
	for _, tl := range skilltool.New(o).Tools() {
		if tl.Name == "script_run" {
			return string(tl.Call(r.t.Context(), []byte(`{"skill_name":"odd","script_name":"odd"}`)).Encode())
		}
	}
	r.t.Fatal("there is no script_run")
	return ""
}

// C57, security 2.3 #44: what a person was shown is what runs. A file that is swapped between the digest and the copy runs
// nothing, and nothing but what was shown is remembered.
func TestApprovedIsWhatRuns(t *testing.T) {
	nothing := func() {}
	t.Run("nothing swapped", func(t *testing.T) {
		r := newRacer(t)
		if got := r.run(nothing, nothing); !strings.Contains(got, `"ran":"evil"`) || len(r.shown) != 1 {
			t.Errorf("got %s after %d questions", got, len(r.shown))
		}
	})
	t.Run("between the digest and the question", func(t *testing.T) {
		r := newRacer(t)
		digest, err := r.load().Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := r.run(func() { r.write("scripts/odd.sh", goodScript) }, nothing)
		if !strings.Contains(got, "has changed since it was trusted") || strings.Contains(got, `"ran"`) {
			t.Errorf("got %s", got)
		}
		if digest = strings.TrimPrefix(digest, "sha256:"); len(r.shown) != 1 || !strings.Contains(r.shown[0], digest) {
			t.Errorf("got %q, want the digest %s in it", r.shown, digest)
		}
		if again := r.run(nothing, nothing); !strings.Contains(again, `"ran":"good"`) || len(r.shown) != 2 {
			t.Errorf("the swapped content ran without a question of its own: %s, %d questions", again, len(r.shown))
		}
	})
	t.Run("between the answer and the copy", func(t *testing.T) {
		r := newRacer(t)
		r.write("scripts/odd.sh", goodScript)
		got := r.run(nothing, func() { r.write("scripts/odd.sh", evilScript) })
		if !strings.Contains(got, "has changed since it was trusted") || strings.Contains(got, `"ran"`) {
			t.Errorf("got %s", got)
		}
		if again := r.run(nothing, nothing); !strings.Contains(again, `"ran":"evil"`) || len(r.shown) != 2 {
			t.Errorf("the swapped content ran without a question of its own: %s, %d questions", again, len(r.shown))
		}
	})
}

// C57: what a skill asks for is shown of the manifest that is approved, also where that is a link.
func TestApprovedManifestIsShown(t *testing.T) {
	const asking = "---\nname: odd\ndescription: Runs an odd script.\npermissions:\n  env: [\"KALSHI_*\"]\n---\n"
	for _, c := range []struct{ name, manifest string }{{"a file", "SKILL.md"}, {"a link", "doc/manifest.md"}} {
		t.Run(c.name, func(t *testing.T) {
			r := newRacer(t)
			r.write(c.manifest, plainOdd)
			if c.manifest != "SKILL.md" {
				if err := errors.Join(os.Remove(filepath.Join(r.dir, "SKILL.md")), os.Symlink(c.manifest, filepath.Join(r.dir, "SKILL.md"))); err != nil {
					t.Fatal(err)
				}
			}
			s := r.load()
			if _, err := r.s.Consent.Propose(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			s = r.load()
			r.write(c.manifest, asking)
			if p, err := r.s.Consent.Propose(t.Context(), s); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
				t.Errorf("got %v, %v; want an error", p, err)
			}
		})
	}
}

func (r *racer) load() *skill.Skill {
	r.t.Helper()
	e, err := r.cat.Lookup("odd")
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := e.Load(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	return s
}

// F10: the question names the variables that the wildcards match now. It shows no value, and keys of providers never
// pass by a wildcard.
func TestQuestionNamesForwarded(t *testing.T) {
	r := newRacer(t)
	r.write("SKILL.md", "---\nname: odd\ndescription: Runs an odd script.\npermissions:\n  env: [\"KALSHI_*\", \"OPENAI_*\", \"ANTHROPIC_*\"]\n---\n")
	r.s.Sys.Environ = append(r.s.Sys.Environ, "KALSHI_KEY=value-one", "KALSHI_URL=value-two", "OPENAI_API_KEY=value-three", "ANTHROPIC_API_KEY=value-four", "OTHER=value-five")
	r.run(func() {}, func() {})
	if len(r.shown) != 1 {
		t.Fatalf("%d questions, want 1", len(r.shown))
	}
	for _, want := range []string{"  reads variables that you have set: KALSHI_KEY, KALSHI_URL\n", "it gets: write in the directory you work in, KALSHI_*\n"} {
		if !strings.Contains(r.shown[0]+"\n", want) {
			t.Errorf("got %q, want %q in it", r.shown[0], want)
		}
	}
	for _, never := range []string{"value-", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OTHER"} {
		if strings.Contains(r.shown[0], never) {
			t.Errorf("%q is shown: %q", never, r.shown[0])
		}
	}
}

// A scan that takes too long approves nothing, and says so.
func TestScanEndsInTime(t *testing.T) {
	r := newRacer(t)
	e, err := r.cat.Lookup("odd")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r.s.Scanner.Most = 1
	if _, err := r.s.Consent.Propose(t.Context(), s); err == nil || !strings.Contains(err.Error(), `skill "odd" is refused: its scan took more than 1ns`) || failure.Explain(err).Exit != failure.ExitDenied {
		t.Error(err)
	}
	if seen, err := r.s.Scanner.Sight(t.Context(), s); err != nil || len(seen.Unread) != 1 || !strings.Contains(seen.Unread[0].Unread, "more than 1ns") {
		t.Error(seen, err)
	}
}
