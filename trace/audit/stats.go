package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// Stats counts records: how often each skill was used, and what happened with each model. It counts the records of a log
// that are given to Add, or, as a trace.Tracer, the events of this process; nothing is written. The zero value is empty.
type Stats struct {
	mu     sync.Mutex
	spent  spending
	skills map[string]*Usage
	models map[string]*tally
	since  time.Time
}

// Usage is how often a skill was used.
type Usage struct {
	Skill       string
	Activations int       // without renewed and restored ones
	Runs        int       // of its scripts
	Failures    int       // of Runs, those that failed or were denied
	Refusals    int       // of tools that it does not allow, and of texts of its scripts
	Tokens      int64     // of the requests while it was the skill activated last
	LastUsed    time.Time // of an activation or a run
}

// Metrics are the counters of one model, or of all. A rate without runs and an average without executions are nil.
type Metrics struct {
	Model string `json:"model"` // "" for what no model asked for

	PathFailures      int            `json:"skill_path_resolution_failures"`
	Violations        int            `json:"tool_restriction_violations"`
	AverageTokens     *float64       `json:"average_tokens_per_skill_execution"` // an execution is from activation to deactivation
	ReadAttempts      int            `json:"script_read_attempts"`
	BlockedReads      int            `json:"script_read_attempts_blocked"`
	ReadsByModel      map[string]int `json:"script_read_attempts_by_llm_model,omitempty"` // of all models together
	ScriptSuccessRate *float64       `json:"script_execution_success_rate"`               // percent
}

// tally is what the metrics of one model are computed from.
type tally struct {
	paths, violations, reads, blocked int
	executions                        int
	tokens                            int64
	runs, succeeded                   int
}

// Trace counts an event.
func (s *Stats) Trace(ctx context.Context, e trace.Event) {
	s.spent.count(ctx, &e)
	m := maker{redact: func(text string) string { return text }}
	r, ok := m.record(ctx, &e)
	if !ok {
		return
	}
	if e.Kind == trace.SkillDeactivated {
		r.Tokens = s.spent.take(ctx, e.Skill)
	}
	s.Add(&r)
}

// Add counts a record.
func (s *Stats) Add(r *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skills == nil {
		s.skills, s.models = map[string]*Usage{}, map[string]*tally{}
	}
	if at := r.Time(); s.since.IsZero() || at.Before(s.since) {
		s.since = at
	}
	t := s.models[r.Model]
	if t == nil {
		t = &tally{}
		s.models[r.Model] = t
	}
	t.add(r)
	if r.Skill == "" {
		return
	}
	u := s.skills[r.Skill]
	if u == nil {
		u = &Usage{Skill: r.Skill}
		s.skills[r.Skill] = u
	}
	u.add(r)
}

func (u *Usage) add(r *Record) {
	used := false
	switch r.Event {
	case trace.SkillActivated:
		if used = r.Change == ""; used {
			u.Activations++
		}
	case trace.SkillDeactivated:
		u.Tokens += r.Tokens
	case trace.ScriptRun:
		if used = !r.Help; !used {
			return
		}
		u.Runs++
		if r.Outcome != ok {
			u.Failures++
		}
	case trace.RestrictionViolated, trace.ScriptReadAttempted:
		if r.Refused() {
			u.Refusals++
		}
	}
	if at := r.Time(); used && at.After(u.LastUsed) {
		u.LastUsed = at
	}
}

func (t *tally) add(r *Record) {
	switch r.Event {
	case trace.PathUnresolved:
		t.paths++
	case trace.RestrictionViolated:
		t.violations++
	case trace.SkillDeactivated:
		t.executions++
		t.tokens += r.Tokens
	case trace.ScriptReadAttempted:
		t.reads++
		if r.Refused() {
			t.blocked++
		}
	case trace.ScriptRun:
		if r.Help {
			return
		}
		t.runs++
		if r.Outcome == ok {
			t.succeeded++
		}
	}
}

// Since returns the time of the oldest record, or the zero time without records.
func (s *Stats) Since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since
}

// Skills returns the usage of each skill that a record names, the last used first.
func (s *Stats) Skills() []Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Usage, 0, len(s.skills))
	for _, u := range s.skills {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b Usage) int { return cmp.Or(b.LastUsed.Compare(a.LastUsed), cmp.Compare(a.Skill, b.Skill)) })
	return out
}

// Models returns the metrics of each model, sorted by its name.
func (s *Stats) Models() []Metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Metrics, 0, len(s.models))
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		out = append(out, s.models[name].metrics(name))
	}
	return out
}

// Total returns the metrics of all models together.
func (s *Stats) Total() Metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum tally
	reads := map[string]int{}
	for name, t := range s.models {
		sum.paths += t.paths
		sum.violations += t.violations
		sum.reads += t.reads
		sum.blocked += t.blocked
		sum.executions += t.executions
		sum.tokens += t.tokens
		sum.runs += t.runs
		sum.succeeded += t.succeeded
		if t.reads > 0 {
			reads[name] = t.reads
		}
	}
	m := sum.metrics("")
	m.ReadsByModel = reads
	return m
}

func (t *tally) metrics(model string) Metrics {
	m := Metrics{Model: model, PathFailures: t.paths, Violations: t.violations, ReadAttempts: t.reads, BlockedReads: t.blocked}
	if t.executions > 0 {
		average := float64(t.tokens) / float64(t.executions)
		m.AverageTokens = &average
	}
	if t.runs > 0 {
		rate := 100 * float64(t.succeeded) / float64(t.runs)
		m.ScriptSuccessRate = &rate
	}
	return m
}
