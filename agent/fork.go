package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

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

// fork runs the sub-agent that a tool asks for and returns its answer as the result of the call.
func (t *turn) fork(ctx context.Context, f tool.Fork) tool.Result {
	start := t.c.o.Now()
	r := t.subAgent(ctx, f)
	r.Duration = t.c.o.Now().Sub(start)
	ev := trace.Event{Kind: AgentForked, Skill: f.Skill, Message: r.Message, Duration: r.Duration}
	if !r.Success {
		ev.Level = slog.LevelWarn
	}
	t.trace(ctx, ev)
	return r
}

func (t *turn) subAgent(ctx context.Context, f tool.Fork) tool.Result {
	if t.c.depth >= maxDepth {
		return forkFailure(reasonForkDepth, "a sub-agent cannot start another one: do the task yourself", "")
	}
	o, err := t.forkOptions(ctx, f)
	if err != nil {
		return forkFailure(reasonForkFailed, err.Error(), "")
	}
	ctx = trace.WithIdentity(ctx, o.Identity)
	if o.End != nil {
		defer o.End(ctx)
	}
	if o.MaxTurns < 1 {
		return forkFailure(reasonForkFailed, "the limit on requests leaves none for a sub-agent", "")
	}
	sub := New(o)
	sub.depth = t.c.depth + 1
	var done *Answer
	var failure error
	for s, err := range sub.Ask(ctx, f.Prompt) {
		if s.Done != nil {
			done, failure = s.Done, err
		} else if !t.step(s) {
			break
		}
	}
	t.count(sub.usage)
	t.c.spent += sub.spent
	if done == nil {
		return forkFailure(reasonForkFailed, "cancelled by the user", "")
	}
	t.answer.Turns += done.Turns
	switch {
	case failure != nil:
		return forkFailure(reasonForkFailed, fmt.Sprintf("the sub-agent did not finish: %v", failure), done.Text)
	case done.Stop != End:
		return forkFailure(reasonForkFailed, fmt.Sprintf("the sub-agent did not finish (%s)", done.Stop), done.Text)
	}
	return tool.Success(forkAnswer{done.Text}, "a sub-agent answered")
}

// forkOptions returns the options of a sub-agent, limited to what is left of this turn: one request is kept for the
// answer here. The context carries the remaining time.
func (t *turn) forkOptions(ctx context.Context, f tool.Fork) (*Options, error) {
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
	left := t.c.o.MaxTurns - t.answer.Turns - 1
	if o.MaxTurns == 0 || o.MaxTurns > left {
		o.MaxTurns = left
	}
	if all := t.c.o.MaxTokens; all > 0 {
		left := max(all-t.spent(), 1)
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
