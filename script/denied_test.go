package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// everythingIn are rules that name what lies in a folder.
type everythingIn string

func (e everythingIn) Empty() bool { return false }

func (e everythingIn) Starts() []string { return []string{string(e)} }

func (e everythingIn) Exact() []string { return nil }

func (e everythingIn) Name(path string) bool {
	return path != string(e) && paths.Within(e.Starts(), path)
}

// P5: what cannot be searched is refused, not ignored.
func TestTooManyDenied(t *testing.T) {
	dir := t.TempDir()
	for i := range 2001 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".env"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := host(t)
	r.UserDir = dir
	r.Runner = &canned{}
	r.Denied = runner.Denied{Read: everythingIn(dir)}
	_, err := runAs(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a", nil)
	failure(t, err, PermissionDenied, "", "they name more than 2000 files", "Read(secrets/**)")
	var tooMuch *runner.DeniedError
	if !errors.As(err, &tooMuch) {
		t.Errorf("got %v", err)
	}
}

// P5: a script that fails at a file which a rule denies is told so, and no grant is suggested.
func TestDeniedIsSaid(t *testing.T) {
	dir := t.TempDir()
	tree{"docs/x.md": "x"}.Write(t, dir)
	r := host(t)
	r.UserDir = paths.Real(dir)
	r.Runner = &canned{out: runner.Output{ExitCode: 1, Stderr: []byte("a.sh: docs/x.md: Read-only file system\n"), Sandbox: &runner.Sandbox{Tier: "A"}}}
	r.Granted = func(context.Context, *skill.Skill) (Grant, error) {
		return Grant{Given: want.New(want.WriteOf(want.Here))}, nil
	}
	r.Denied = runner.Denied{Write: everythingIn(filepath.Join(paths.Real(dir), "docs"))}
	_, err := runAs(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a", nil)
	if e := failure(t, err, ExecutionFailed, ReasonBlocked, "a rule of the user's denies"); len(e.Wants) > 0 {
		t.Errorf("it lacks %s", e.Wants)
	}
}
