package agent

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// backwards runs the last first, which shows where the order of the calls counts.
func backwards(runs []iter.Seq[Step]) iter.Seq2[int, Step] {
	return func(yield func(int, Step) bool) {
		for i := len(runs) - 1; i >= 0; i-- {
			for s := range runs[i] {
				if !yield(i, s) {
					return
				}
			}
		}
	}
}

// Sub-agents that calls of one tool in a row start run together, share what is left of the limits, and answer in the order of the calls.
func TestForksTogether(t *testing.T) {
	m := scripted(t, calls(call("a", "delegate", `{}`), call("b", "delegate", `{}`), call("c", "echo", `{}`), call("d", "delegate", `{}`)), says("done"))
	var limits []int
	var ends int
	answers := []string{"one", "two", "three"}
	c := New(&Options{Model: m, Tools: executor(t, echo(), forking()), MaxTurns: 11, Together: backwards, Fork: func(context.Context, tool.Fork) (*Options, error) {
		o := &Options{Model: scripted(t, says(answers[len(limits)])), End: func(context.Context) { ends++ }}
		limits = append(limits, 0)
		return o, nil
	}})
	order, texts := "", ""
	steps, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Text != "done" || a.Turns != 5 || ends != 3 || a.Usage.Input != 50 {
		t.Fatalf("%+v, %v, %d ended", a, err, ends)
	}
	for _, s := range steps {
		switch {
		case s.Call != nil:
			order += "+" + s.Call.ID
		case s.Result != nil:
			order += "-" + s.Result.Call.ID
		case s.Depth == 1 && s.Text != "":
			texts += s.Of + "=" + s.Text + " "
		}
	}
	if want := "+a+b-b-a+c-c+d-d"; order != want || !strings.HasPrefix(texts, "b=two a=one d=three") {
		t.Errorf("steps %s, texts %s", order, texts)
	}
	got := ""
	for _, p := range m.last.Messages[2].Parts {
		got += p.Result.ID
	}
	if got != "abcd" {
		t.Errorf("results in the order %s", got)
	}
}

func TestForksShare(t *testing.T) {
	endless := func() llm.Model {
		r := calls(call("", "echo", `{}`))
		return scripted(t, r, r, r, r, r, r)
	}
	m := scripted(t, calls(call("a", "delegate", `{}`), call("b", "delegate", `{}`)), says("done"))
	c := New(&Options{Model: m, Tools: executor(t, echo(), forking()), MaxTurns: 10, Together: backwards, Fork: func(context.Context, tool.Fork) (*Options, error) {
		return &Options{Model: endless(), Tools: executor(t, echo())}, nil
	}})
	steps, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Text != "done" || a.Turns != 10 {
		t.Errorf("%+v, %v", a, err)
	}
	of := map[string]string{}
	for _, s := range steps {
		if s.Call != nil && s.Depth == 1 {
			if other, ok := of[s.Call.ID]; ok && other != s.Of {
				t.Errorf("two sub-agents have a call %s", s.Call.ID)
			}
			of[s.Call.ID] = s.Of
		}
	}
}

// Who leaves the loop in the middle of two sub-agents leaves a history in which each call has one result.
func TestForksLeft(t *testing.T) {
	m := scripted(t, calls(call("a", "delegate", `{}`), call("b", "delegate", `{}`), call("c", "echo", `{}`)), says("again"))
	c := New(&Options{Model: m, Tools: executor(t, echo(), forking()), Together: backwards, Fork: func(context.Context, tool.Fork) (*Options, error) {
		return &Options{Model: scripted(t, says("never heard"))}, nil
	}})
	for s := range c.Ask(t.Context(), "go") {
		if s.Depth == 1 {
			break
		}
	}
	got := ""
	for _, p := range c.Messages()[2].Parts {
		got += p.Result.ID
		if !p.Result.Failed || p.Result.ID != "c" && !strings.Contains(p.Result.Text, "The sub-agent was stopped by the user") {
			t.Errorf("%s: %s", p.Result.ID, p.Result.Text)
		}
	}
	if got != "abc" {
		t.Errorf("results for %s", got)
	}
	if _, a, err := collect(t, c, t.Context(), "go on"); err != nil || a.Text != "again" {
		t.Errorf("%+v, %v", a, err)
	}
}
