package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/hook"
)

// security 2.12 #176: a hook cannot change a call.
func TestRead(t *testing.T) {
	twice := hook.Answer{Verdict: hook.Failed, Reason: "its answer has a key twice"}
	for _, tt := range []struct {
		event          string
		exit           int
		stdout, stderr string
		want           hook.Answer
	}{
		{hook.PreToolUse, 0, "", "", hook.Answer{}},
		{hook.PreToolUse, 0, "fine", "noise", hook.Answer{}},
		{hook.PreToolUse, 2, "", "not here\n", hook.Answer{Verdict: hook.Refuses, Reason: "not here"}},
		{hook.PreToolUse, 1, "why", "", hook.Answer{Verdict: hook.Failed, Reason: "why"}},
		{hook.PreToolUse, 127, "", "", hook.Answer{Verdict: hook.Failed}},
		{hook.PreToolUse, 0, `{"decision":"block","reason":"no"}`, "", hook.Answer{Verdict: hook.Refuses, Reason: "no"}},
		{hook.PreToolUse, 0, `{"decision":"approve"}`, "", hook.Answer{}},
		{hook.PreToolUse, 0, `{"decision":"block","reason":"not ls","decision":"approve"}`, "", twice},
		{hook.PreToolUse, 0, `{"decision":"block","reason":"not ls","Deci\u017fion":"approve"}`, "", twice},
		{hook.PreToolUse, 0, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}`, "", twice},
		{hook.PreToolUse, 0, `{"decision":"Block"}`, "", hook.Answer{Verdict: hook.Failed, Reason: "its answer has an unknown decision"}},
		{hook.PreToolUse, 0, `{"hookSpecificOutput":{"permissionDecision":"block"}}`, "", hook.Answer{Verdict: hook.Failed, Reason: "its answer has an unknown decision"}},
		{hook.PreToolUse, 0, `{"continue":false,"stopReason":"enough"}`, "", hook.Answer{Verdict: hook.Refuses, Reason: "enough"}},
		{hook.PreToolUse, 0, "\ufeff" + ` {"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}} `, "", hook.Answer{Verdict: hook.Refuses, Reason: "no"}},
		{hook.PreToolUse, 0, `{"hookSpecificOutput":{"permissionDecision":"ask"}}`, "", hook.Answer{Verdict: hook.Refuses, Reason: "it wants a person to decide"}},
		{hook.PreToolUse, 0, `{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"x"}}}`, "",
			hook.Answer{Verdict: hook.Refuses, Reason: "it wants to change the arguments; make the call with other ones"}},
		{hook.PreToolUse, 0, `{"decision":"block"`, "", hook.Answer{Verdict: hook.Failed, Reason: "its answer is not a JSON document"}},
		{hook.Stop, 2, "", "more", hook.Answer{Verdict: hook.GoesOn, Reason: "more"}},
		{hook.Stop, 0, `{"continue":false,"decision":"block","reason":"x"}`, "", hook.Answer{}},
		{hook.PostToolUse, 2, "", "wrong", hook.Answer{Verdict: hook.Objects, Reason: "wrong"}},
		{hook.SessionStart, 0, `{"decision":"block","reason":"no"}`, "", hook.Answer{Verdict: hook.Objects, Reason: "no"}},
		{hook.Pre, 2, "", "no", hook.Answer{Verdict: hook.Refuses, Reason: "no"}},
		{hook.PreToolUse, 0, `{"x":[{"a":1,"a":2}]}`, "", twice},
		{hook.PostToolUse, 0, `{"hookSpecificOutput":{"additionalContext":"look"}}`, "", hook.Answer{Note: "look"}},
		{hook.SessionStart, 0, "ready\n", "", hook.Answer{Note: "ready"}},
	} {
		if got := hook.Read(tt.event, tt.exit, []byte(tt.stdout), []byte(tt.stderr)); got != tt.want {
			t.Errorf("%d %q: got %+v, want %+v", tt.exit, tt.stdout, got, tt.want)
		}
	}
	if got := hook.Read(hook.PreToolUse, 1, nil, []byte(strings.Repeat("\xff", 1<<20))).Reason; len(got) > 32<<10 || strings.Contains(got, "\xff") {
		t.Errorf("%d bytes reach the model", len(got))
	}
}

// A hook gets its own copy of the arguments, and the names that hooks of another host know.
func TestInput(t *testing.T) {
	args := json.RawMessage(`{"command":"ls"}`)
	in := hook.NewInput(hook.PreToolUse, "x", "bash", args)
	args[2] = 'C'
	out, err := json.Marshal(in)
	if want := `{"hook_event_name":"PreToolUse","skill_name":"x","tool_name":"Bash","agent_tool":"bash","tool_input":{"command":"ls"}}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
	if in := hook.NewInput(hook.Stop, "x", "", nil); in.Tool != "" {
		t.Errorf("got %+v", in)
	}
	if !hook.IsGuard(hook.Pre) || !hook.IsGuard(hook.PreToolUse) || hook.IsGuard(hook.Stop) {
		t.Error("wrong guards")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"decision":"block"}`)
	f.Fuzz(func(t *testing.T, stdout string) {
		a := hook.Read(hook.PreToolUse, 0, []byte(stdout), nil)
		if a.Verdict == hook.Agrees && strings.HasPrefix(strings.TrimSpace(stdout), "{") && !json.Valid([]byte(strings.TrimSpace(stdout))) {
			t.Fatalf("%q allows", stdout)
		}
	})
}
