package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// maxDepth is the depth of sub-agents: a sub-agent does not start another.
const maxDepth = 1

// The reasons of a fork's failure.
const (
	reasonForkDepth  = "fork_depth"
	reasonForkFailed = "fork_failed"
)

// forkAnswer is the result of a call that a sub-agent answered.
type forkAnswer struct {
	Answer string `json:"answer"`
}

// subAgent is a sub-agent that answers a call.
type subAgent struct {
	of      *called
	o       *Options
	c       *Conversation // nil if it could not be made
	start   time.Time
	done    *Answer
	failure error
	over    bool // of.result is the one of the sub-agent
}

// forks runs the sub-agents that calls ask for, together if there are several, and makes their answers the results of the calls. ended
// is called when one has its result.
func (t *turn) forks(ctx context.Context, list []*called, ended func(*called)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	subs, runs := make([]*subAgent, len(list)), make([]iter.Seq[Step], len(list))
	for i, c := range list {
		subs[i] = t.subAgent(ctx, c, len(list))
		runs[i] = func(yield func(Step) bool) { subs[i].run(ctx, yield) }
	}
	together := t.c.o.Together
	if len(list) == 1 {
		together = alone
	}
	for i, s := range together(runs) {
		if s.Done != nil {
			t.close(ctx, subs[i])
			ended(list[i])
			continue
		}
		if s.Of = list[i].call.ID; !t.step(s) {
			cancel()
			break
		}
	}
	for _, s := range subs {
		if !s.over {
			t.close(ctx, s)
			ended(s.of)
		}
	}
}

// alone runs one sub-agent.
func alone(runs []iter.Seq[Step]) iter.Seq2[int, Step] {
	return func(yield func(int, Step) bool) {
		for s := range runs[0] {
			if !yield(0, s) {
				return
			}
		}
	}
}

// subAgent makes a sub-agent, one of several that share what is left of this turn.
func (t *turn) subAgent(ctx context.Context, c *called, several int) *subAgent {
	s := &subAgent{of: c, start: t.c.o.Now()}
	if t.c.depth >= maxDepth {
		c.result = forkFailure(reasonForkDepth, "a sub-agent cannot start another one: do the task yourself", "")
		return s
	}
	o, err := t.forkOptions(ctx, *c.fork, several)
	switch {
	case err != nil:
		c.result = forkFailure(reasonForkFailed, err.Error(), "")
	case o.MaxTurns < 1:
		c.result = forkFailure(reasonForkFailed, "the limit on requests leaves none for a sub-agent", "")
		if o.End != nil {
			o.End(trace.WithIdentity(ctx, o.Identity))
		}
	default:
		s.o, s.c = o, New(o)
		t.c.forks++
		s.c.depth, s.c.number = t.c.depth+1, t.c.forks
	}
	return s
}

// run works on the task. The last step that it yields has Done set.
func (s *subAgent) run(ctx context.Context, yield func(Step) bool) {
	if s.c == nil {
		yield(Step{Done: &Answer{Stop: Failed}})
		return
	}
	ctx = trace.WithIdentity(ctx, s.o.Identity)
	if s.o.End != nil {
		defer s.o.End(ctx)
	}
	for step, err := range s.c.Ask(ctx, s.of.fork.Prompt) {
		if step.Done != nil {
			s.done, s.failure = step.Done, err
		}
		if !yield(step) {
			return
		}
	}
}

// close makes the result of a sub-agent that has ended, and counts what it used.
func (t *turn) close(ctx context.Context, s *subAgent) {
	s.over = true
	r := &s.of.result
	if s.c != nil {
		t.count(s.c.usage)
		t.c.spent += s.c.spent
		*r = s.answer(ctx)
	}
	if s.done != nil {
		t.answer.Turns += s.done.Turns
	}
	r.Duration = t.c.o.Now().Sub(s.start)
	ev := trace.Event{Kind: AgentForked, Skill: s.of.fork.Skill, Message: r.Message, Duration: r.Duration}
	if !r.Success {
		ev.Level = slog.LevelWarn
	}
	t.trace(ctx, ev)
}

func (s *subAgent) answer(ctx context.Context) tool.Result {
	switch done := s.done; {
	case done == nil, done.Stop == Cancelled:
		r := tool.Interruption(ctx, "The sub-agent")
		if done != nil && done.Text != "" {
			r.Result = forkAnswer{done.Text}
		}
		return r
	case s.failure != nil:
		return forkFailure(reasonForkFailed, fmt.Sprintf("the sub-agent did not finish: %v", s.failure), done.Text)
	case done.Stop != End:
		return forkFailure(reasonForkFailed, fmt.Sprintf("the sub-agent did not finish (%s)", done.Stop), done.Text)
	}
	return tool.Success(forkAnswer{s.done.Text}, "a sub-agent answered")
}

// forkOptions returns the options of a sub-agent, limited to what is left of this turn: one request is kept for the
// answer here, and several share the rest. The context carries the remaining time.
func (t *turn) forkOptions(ctx context.Context, f tool.Fork, several int) (*Options, error) {
	o := t.c.o
	o.Turn, o.Continue, o.More, o.Carry, o.End, o.Record = nil, nil, nil, nil, nil, nil
	if t.c.o.Fork != nil {
		own, err := t.c.o.Fork(ctx, f)
		if err != nil {
			return nil, err
		}
		if own == nil || own.Model == nil {
			return nil, errors.New("no model for this sub-agent: do the task yourself")
		}
		o = *own
	}
	left := (t.c.o.MaxTurns - t.answer.Turns - 1) / several
	if o.MaxTurns == 0 || o.MaxTurns > left {
		o.MaxTurns = left
	}
	if all := t.c.o.MaxTokens; all > 0 {
		left := max((all-t.spent())/several, 1)
		if o.MaxTokens == 0 || o.MaxTokens > left {
			o.MaxTokens = left
		}
	}
	return &o, nil
}

func forkFailure(reason, message, said string) tool.Result {
	r := tool.Failure(tool.ExecutionFailed, message)
	r.Reason = reason
	if said != "" {
		r.Result = forkAnswer{said}
	}
	return r
}
