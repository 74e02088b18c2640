package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// R108: an answer of Help is kept for a short time, by content: the script is not run again until its time is over or
// anything of the skill changes. What failed is not kept.
func TestHelpIsKept(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "probe")
	tree{"SKILL.md": "---\nname: probe\ndescription: A skill for tests.\n---\n", "scripts/a.sh": "", "scripts/b.sh": ""}.Write(t, dir)
	c := &canned{out: runner.Output{Stdout: []byte("usage: a\n")}}
	r := host(t)
	r.Runner = c
	h := r.host()
	now := time.Now()
	h.helps.now = func() time.Time { return now }
	help := func(name string, runs int) {
		t.Helper()
		s := load(t, root)
		got, err := h.Help(t.Context(), s, Script{Name: name, File: "scripts/" + name + ".sh"}, nil)
		if err != nil || got.Text != "usage: a\n" || got.Usage != "usage: a" || len(c.commands) != runs {
			t.Errorf("%s: got %+v, %v; %d runs, want %d", name, got, err, len(c.commands), runs)
		}
	}
	help("a", 1)
	help("a", 1)
	help("b", 2)
	tree{"references/new.md": "x"}.Write(t, dir)
	help("a", 3)
	now = now.Add(helpTTL)
	help("a", 4)
	help("a", 4)

	c.out = runner.Output{ExitCode: 1}
	now = now.Add(helpTTL)
	for i := range 2 {
		_, err := h.Help(t.Context(), load(t, root), Script{Name: "a", File: "scripts/a.sh"}, nil)
		failure(t, err, ExecutionFailed, "")
		if len(c.commands) != 5+i {
			t.Errorf("a failure is kept: %d runs", len(c.commands))
		}
	}
	c.out = runner.Output{}
	for i := range maxHelps + 1 {
		h.helps.put(helpKey{file: strings.Repeat("x", i)}, &HelpText{})
	}
	if len(h.helps.known) > maxHelps {
		t.Errorf("%d answers are kept", len(h.helps.known))
	}
}

// Whether content may run is decided before an answer that was kept is given.
func TestHelpIsAdmitted(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": "echo usage: a\n"})
	h, sc := host(t).host(), Script{Name: "a", File: "scripts/a.sh"}
	if _, err := h.Help(t.Context(), s, sc, nil); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	help, err := h.Help(t.Context(), s, sc, &HelpOptions{Admit: func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, refused }})
	if help != nil || err != refused {
		t.Errorf("got %v, %v", help, err)
	}
}

// F20: a sweep that does not end is waited for as long as the script may take, and no longer.
func TestUseIsBounded(t *testing.T) {
	r := host(t)
	c := &canned{out: runner.Output{Stdout: []byte("{}")}}
	r.Runner = c
	unlock, err := lockfile.Lock(t.Context(), filepath.Join(r.Cache, "use.lock"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	s := open(t, "", tree{"scripts/a.sh": ""})
	_, err = runAs(t, r, s, "a", &RunOptions{Timeout: 20 * time.Millisecond})
	failure(t, err, Timeout, ReasonCache, "The cache for scripts was locked for 0.02s by another process")
	r.Timeout = 20 * time.Millisecond
	_, err = r.Help(t.Context(), s, Script{Name: "a", File: "scripts/a.sh"})
	failure(t, err, Timeout, ReasonCache)
	_, err = r.Prepare(t.Context(), s, Script{Name: "a", File: "scripts/a.sh"}, nil)
	failure(t, err, Timeout, ReasonCache)
	if len(c.commands) > 0 {
		t.Errorf("something ran: %v", c.commands)
	}
}

// F20: a lock that is a link is not followed.
func TestLinkedLock(t *testing.T) {
	r := host(t)
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, filepath.Join(r.Cache, "use.lock")); err != nil {
		t.Fatal(err)
	}
	mustText(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a")
	if _, err := os.Lstat(target); err == nil {
		t.Error("the link was followed")
	}
	if _, err := r.Sweep(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "use.lock") {
		t.Errorf("got %v", err)
	}
}

// Admit decides before anything runs, is asked once, and what it returns is what runs.
func TestAdmit(t *testing.T) {
	r := host(t)
	h := r.host()
	s := open(t, "", tree{"scripts/a.sh": "echo $AGENT_SKILL_DIR\n"})
	sc := Script{Name: "a", File: "scripts/a.sh"}
	var sealed *skill.Skill
	asked := 0
	admit := func(ctx context.Context, s *skill.Skill) (_ *skill.Skill, err error) {
		asked++
		if _, err := h.Sweep(ctx, &SweepOptions{Wait: time.Millisecond}); !errors.Is(err, ErrInUse) {
			t.Errorf("while it is decided: %v, want ErrInUse", err)
		}
		sealed, err = h.Seal(ctx, s)
		return sealed, err
	}
	res, err := h.Run(t.Context(), s, sc, &RunOptions{JSON: JSONNo, Admit: admit})
	if err != nil || asked != 1 || !strings.HasPrefix(res.Text, filepath.Join(r.Cache, "sealed")) {
		t.Errorf("got %+v, %v, asked %d times", res, err, asked)
	}
	if _, err := sealed.ReadFile("SKILL.md"); !errors.Is(err, skill.ErrClosed) {
		t.Errorf("the copy is open: %v", err)
	}
	if _, err := s.ReadFile("SKILL.md"); err != nil {
		t.Errorf("the skill is closed: %v", err)
	}
	refused := errors.New("refused")
	if _, err := h.Run(t.Context(), s, sc, &RunOptions{Admit: func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, refused }}); err != refused {
		t.Errorf("got %v", err)
	}
	if _, err := h.Run(t.Context(), s, sc, &RunOptions{Args: []string{"\x00"}, Admit: admit}); err == nil || asked != 1 {
		t.Errorf("got %v, asked %d times: arguments are checked first", err, asked)
	}
}

// What was changed since its digest was computed is not sealed.
func TestSealChanged(t *testing.T) {
	h := host(t).host()
	s := open(t, "", tree{"scripts/a.sh": ""})
	if _, err := s.Digest(t.Context()); err != nil {
		t.Fatal(err)
	}
	tree{"scripts/a.sh": "echo changed\n"}.Write(t, dirOf(t, s))
	_, err := h.Seal(t.Context(), s)
	failure(t, err, PermissionDenied, ReasonChanged, "Skill 'probe' has changed since it was loaded: its scripts are not run")
}
