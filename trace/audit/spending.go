package audit

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/agent-base/agent-base/trace"
)

// spending counts the tokens of requests for the skill that was activated last. Conversations are kept apart by the agent
// and the task of their identity. The zero value is empty.
type spending struct {
	mu    sync.Mutex
	tasks map[taskKey][]spent
}

type taskKey struct{ agent, task string }

// spent is one active skill and its tokens.
type spent struct {
	skill  string
	tokens int64
}

func keyOf(ctx context.Context) taskKey {
	id := trace.IdentityOf(ctx)
	return taskKey{id.Agent, id.Task}
}

// count takes note of an activation and adds the tokens of a request.
func (s *spending) count(ctx context.Context, e *trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(ctx)
	stack := s.tasks[key]
	switch e.Kind {
	case trace.SkillActivated:
		if s.tasks == nil {
			s.tasks = map[taskKey][]spent{}
		}
		if !slices.ContainsFunc(stack, func(a spent) bool { return a.skill == e.Skill }) {
			s.tasks[key] = append(stack, spent{skill: e.Skill})
		}
	case trace.ModelRequested:
		if len(stack) > 0 {
			stack[len(stack)-1].tokens += tokensOf(e.Attrs)
		}
	}
}

// take returns the tokens of a skill that is no longer active.
func (s *spending) take(ctx context.Context, skill string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(ctx)
	stack := s.tasks[key]
	i := slices.IndexFunc(stack, func(a spent) bool { return a.skill == skill })
	if i < 0 {
		return 0
	}
	tokens := stack[i].tokens
	if stack = slices.Delete(stack, i, i+1); len(stack) == 0 {
		delete(s.tasks, key)
	} else {
		s.tasks[key] = stack
	}
	return tokens
}

// tokensOf returns the tokens of a request and its answer.
func tokensOf(attrs []slog.Attr) (sum int64) {
	for _, a := range attrs {
		if (a.Key == trace.AttrInput || a.Key == trace.AttrOutput) && a.Value.Kind() == slog.KindInt64 {
			sum += a.Value.Int64()
		}
	}
	return sum
}
