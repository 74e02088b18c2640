package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
)

// audit H1, issue 26.5: an answer that was cut says where, to the model and to the user.
func TestCutInCall(t *testing.T) {
	whole := &llm.Call{ID: "a", Name: "echo", Args: json.RawMessage(`{"text":"x"}`)}
	for _, tt := range []struct {
		name string
		last *llm.Call
		cut  bool
		rest []llm.Event
	}{
		{"in the middle", &llm.Call{ID: "b", Name: "echo", Args: json.RawMessage(`{}`), Raw: `{"text":"y`}, true, nil},
		{"before its arguments", &llm.Call{ID: "b", Name: "echo", Args: json.RawMessage(`{}`)}, true, nil},
		{"with a signature behind it", &llm.Call{ID: "b", Name: "echo", Args: json.RawMessage(`{}`), Raw: `{`}, true, []llm.Event{{State: &llm.State{Owner: "x", Data: json.RawMessage(`1`)}}}},
		{"whole", &llm.Call{ID: "b", Name: "echo", Args: json.RawMessage(`{"text":"z"}`)}, false, nil},
		{"text follows it", &llm.Call{ID: "b", Name: "echo", Args: json.RawMessage(`{}`)}, false, []llm.Event{{Text: "and"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := slices.Concat([]llm.Event{{Call: whole}, {Call: tt.last}}, tt.rest,
				[]llm.Event{{Usage: &llm.Usage{Input: 10, Output: 8192}}, {Stop: llm.StopLength}})
			m := scripted(t, reply{events: events}, uncounted("done"))
			c := New(&Options{Model: m, Tools: executor(t, echo())})
			steps, a, err := collect(t, c, t.Context(), "go")
			if err != nil || a.Stop != End {
				t.Fatalf("got %+v, %v", a, err)
			}
			const to = "the answer was cut at 8192 tokens"
			if got := strings.Contains(m.asked[1], to+": write the file in parts"); got != tt.cut {
				t.Errorf("the model is told: %t\n%s", got, m.asked[1])
			}
			if got := slices.Contains(notices(steps), to+", in the middle of a call of echo"); got != tt.cut {
				t.Errorf("the user is told: %t, %q", got, notices(steps))
			}
			if !strings.Contains(m.asked[1], `x`) {
				t.Errorf("the first call did not run: %s", m.asked[1])
			}
		})
	}
}

// An answer without calls that was cut ends the turn; the next request says where it was cut.
func TestCutText(t *testing.T) {
	m := scripted(t, reply{events: []llm.Event{{Text: "half"}, {Usage: &llm.Usage{Input: 1, Output: 300}}, {Stop: llm.StopLength}}}, uncounted("done"))
	c := New(&Options{Model: m})
	_, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Stop != Length || a.Cut != 300 || a.Text != "half" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if _, _, err := collect(t, c, t.Context(), "go on"); err != nil || !strings.Contains(m.asked[1], "[the answer was cut at 300 tokens.]") {
		t.Errorf("%v, sent %s", err, m.asked[1])
	}
}

// Thoughts are steps and no part of the answer.
func TestThoughtSteps(t *testing.T) {
	m := scripted(t, reply{events: []llm.Event{{Thought: "hm"}, {Text: "yes"}, {Stop: llm.StopEnd}}})
	steps, a, err := collect(t, New(&Options{Model: m, Effort: llm.Effort{Level: "high"}}), t.Context(), "go")
	if err != nil || a.Text != "yes" || steps[0].Thought != "hm" {
		t.Errorf("got %+v, %+v, %v", steps, a, err)
	}
}
