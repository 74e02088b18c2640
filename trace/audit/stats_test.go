package audit

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/trace"
)

// R131: counters by model, computed from the stream, and the same from the log.
func TestStats(t *testing.T) {
	dir := t.TempDir()
	l, live := New(&Options{Dir: dir}), &Stats{}
	both := trace.Tee(l, live)
	one := trace.WithIdentity(t.Context(), trace.Identity{Task: "1", Model: "a/one"})
	two := trace.WithIdentity(t.Context(), trace.Identity{Task: "2", Model: "b/two"})
	request := func(in, out int) trace.Event {
		return trace.Event{Kind: trace.ModelRequested, Attrs: []slog.Attr{slog.Int(trace.AttrInput, in), slog.Int(trace.AttrOutput, out)}}
	}
	blocked := []slog.Attr{slog.Bool(trace.AttrBlocked, true)}
	for _, e := range []trace.Event{
		request(5, 5), // no skill is active
		{Kind: trace.SkillActivated, Skill: "x"},
		request(100, 10),
		{Kind: trace.SkillActivated, Skill: "y"},
		{Kind: trace.SkillActivated, Skill: "x", Attrs: []slog.Attr{slog.String(trace.AttrChange, "renewed")}},
		request(200, 20),
		{Kind: trace.ScriptRun, Skill: "y"},
		{Kind: trace.ScriptRun, Skill: "y", Err: errors.New("no")},
		{Kind: trace.ScriptRun, Skill: "y"},
		{Kind: trace.PathUnresolved, Skill: "y"},
		{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Skill: "y", Tool: "bash"},
		{Kind: trace.ScriptReadAttempted, Skill: "y", Attrs: blocked},
		{Kind: trace.ScriptReadAttempted, Skill: "y"},
		{Kind: trace.SkillDeactivated, Skill: "y"},
		request(1000, 0),
		{Kind: trace.SkillDeactivated, Skill: "x"},
	} {
		trace.Emit(one, both, e)
	}
	trace.Emit(two, both, trace.Event{Kind: trace.SkillActivated, Skill: "y"})
	trace.Emit(two, both, trace.Event{Kind: trace.ScriptReadAttempted, Skill: "y", Attrs: blocked})

	read := &Stats{}
	for e := range Read(t.Context(), dir) {
		read.Add(&e.Record)
	}
	want := `{"models":[{"model":"a/one","skill_path_resolution_failures":1,"tool_restriction_violations":1,"average_tokens_per_skill_execution":665,` +
		`"script_read_attempts":2,"script_read_attempts_blocked":1,"script_execution_success_rate":66.66666666666667},` +
		`{"model":"b/two","skill_path_resolution_failures":0,"tool_restriction_violations":0,"average_tokens_per_skill_execution":null,` +
		`"script_read_attempts":1,"script_read_attempts_blocked":1,"script_execution_success_rate":null}],` +
		`"total":{"model":"","skill_path_resolution_failures":1,"tool_restriction_violations":1,"average_tokens_per_skill_execution":665,` +
		`"script_read_attempts":3,"script_read_attempts_blocked":2,"script_read_attempts_by_llm_model":{"a/one":2,"b/two":1},"script_execution_success_rate":66.66666666666667}}`
	for name, s := range map[string]*Stats{"live": live, "log": read} {
		got, err := json.Marshal(struct {
			Models []Metrics `json:"models"`
			Total  Metrics   `json:"total"`
		}{s.Models(), s.Total()})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		usage := s.Skills()
		for i := range usage {
			if time.Since(usage[i].LastUsed) > time.Minute {
				t.Errorf("%s: last use %v", name, usage[i].LastUsed)
			}
			usage[i].LastUsed = time.Time{}
		}
		if usage[0].Skill == "x" {
			usage[0], usage[1] = usage[1], usage[0]
		}
		if d := cmp.Diff([]Usage{{Skill: "y", Activations: 2, Runs: 3, Failures: 1, Refusals: 3, Tokens: 220}, {Skill: "x", Activations: 1, Tokens: 1110}}, usage); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestFilter(t *testing.T) {
	r := Record{Timestamp: "2026-11-22T11:00:00.005Z", Event: trace.ToolDenied, Skill: "x", Tool: "Bash"}
	at := r.Time()
	for _, tt := range []struct {
		name string
		f    Filter
		want bool
	}{
		{"all", Filter{}, true},
		{"skill", Filter{Skill: "x"}, true},
		{"other skill", Filter{Skill: "y"}, false},
		{"event", Filter{Event: trace.ToolDenied}, true},
		{"other event", Filter{Event: trace.ScriptRun}, false},
		{"tool", Filter{Tool: "bash"}, true},
		{"other tool", Filter{Tool: "read"}, false},
		{"denied", Filter{Denied: true}, true},
		{"since", Filter{Since: at}, true},
		{"too early", Filter{Since: at.Add(1)}, false},
		{"until", Filter{Until: at.Add(1)}, true},
		{"too late", Filter{Until: at}, false},
	} {
		if got := tt.f.Match(&r); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
