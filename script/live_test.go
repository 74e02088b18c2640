package script

import (
	"strings"
	"testing"

	"context"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// What a script writes is passed on as it comes, both streams apart and without secrets; the answer is the same.
func TestOutputIsLive(t *testing.T) {
	h := host(t)
	h.Env = append(h.Env, "GITHUB_TOKEN=tok-123456789")
	h.Granted = func(context.Context, *skill.Skill) (Grant, error) {
		return Grant{Given: given(t, "env:GITHUB_TOKEN")}, nil
	}
	h.Runner = runner.Exec{}
	h.Confine = runner.ConfineOff
	s := open(t, "", tree{"scripts/a.sh": "#!/bin/sh\nprintf 'out %s\\n' \"$GITHUB_TOKEN\"\necho err $GITHUB_TOKEN >&2\n"})
	var out, err strings.Builder
	res, failed := runAs(t, h, s, "a", &RunOptions{JSON: JSONNo, Out: &out, Err: &err})
	if failed != nil {
		t.Fatal(failed)
	}
	if out.String() != "out [redacted GITHUB_TOKEN]\n" || err.String() != "err [redacted GITHUB_TOKEN]\n" || res.Text != out.String() {
		t.Errorf("out %q, err %q, answer %q", out.String(), err.String(), res.Text)
	}
}
