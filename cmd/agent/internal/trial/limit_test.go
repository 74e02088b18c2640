package trial_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// stuck is a Lister whose toolsets do not answer before they are given up.
type stuck struct{ begun func() }

func (l stuck) Tools(ctx context.Context, _ *skill.Skill, _ script.Admit) ([]tool.Tool, error) {
	l.begun()
	<-ctx.Done()
	return nil, ctx.Err()
}

const stuckSkill = "-- t/SKILL.md --\n---\nname: t\ndescription: Has tools.\ntoolsets: ['toolsets.a:A']\n---\n-- t/toolsets/a.py --\n"

// A test that is out of time has failed, and says what was not finished and what not begun.
func TestLimit(t *testing.T) {
	s, _ := load(t, stuckSkill, "t")
	o := &trial.Options{Groups: []trial.Group{trial.Toolsets, trial.Tests}, Toolsets: stuck{func() {}}, Limit: time.Millisecond}
	expect(t, outcomes(t, s, o), "failed not finished: the test was not finished within 1ms", "skipped not begun: ")
}

// A test that is interrupted returns what it knows, and is not green.
func TestInterrupted(t *testing.T) {
	s, _ := load(t, stuckSkill, "t")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var each []trial.Case
	r, err := trial.Run(ctx, s, &trial.Options{Groups: []trial.Group{trial.Manifest, trial.Toolsets, trial.Tests}, Toolsets: stuck{cancel},
		Each: func(c trial.Case) { each = append(each, c) }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	i := slices.IndexFunc(r.Cases, func(c trial.Case) bool { return c.Name == "not finished" })
	if i < 0 || r.Cases[i].Group != trial.Toolsets || r.Cases[i].Status != trial.Failed || r.Cases[len(r.Cases)-1].Group != trial.Tests {
		t.Errorf("the cases are %+v", r.Cases)
	}
	if slices.ContainsFunc(each, func(c trial.Case) bool { return c.Group != trial.Manifest }) {
		t.Errorf("after the end it called Each: %+v", each)
	}
}
