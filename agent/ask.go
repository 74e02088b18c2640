package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/trace"
)

// errTime is the cause of a context that is done because MaxTime is over.
var errTime = errors.New("the time for one prompt is used up")

// Ask answers a prompt: ranging over it runs the turn and yields its steps. The last pair has Step.Done set. Its error
// is nil, the error of ctx if it was cancelled, and an *llm.Error in most other cases. A second Ask inside the first and an empty prompt
// are errors.
//
// After any end the conversation can be asked again. The messages stay, and calls that were not run get a result that
// says so. Breaking out of the loop cancels the turn. Only a prompt whose first request failed is removed, so asking
// again does not repeat it; the text of Options.Turn stays, because it is given only once.
//
// The model is shown images and documents before the prompt. A request may have 20, with 14 MB: of more, the oldest ones are left out,
// and of a prompt with more the error says so.
func (c *Conversation) Ask(ctx context.Context, prompt string, images ...llm.Media) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		if strings.TrimSpace(prompt) == "" {
			yield(Step{Depth: c.depth, Done: &Answer{Stop: Failed}}, errNoPrompt)
			return
		}
		with, err := shown(images)
		if err != nil {
			yield(Step{Depth: c.depth, Done: &Answer{Stop: Failed}}, err)
			return
		}
		if !c.busy.CompareAndSwap(false, true) {
			yield(Step{Depth: c.depth, Done: &Answer{Stop: Failed}}, errBusy)
			return
		}
		defer c.busy.Store(false)
		limited, cancel := c.limit(trace.WithIdentity(ctx, c.o.Identity))
		defer cancel()
		limited, span := trace.Begin(limited, c.o.Trace, trace.Event{Kind: trace.AgentAnswered})
		t := &turn{c: c, yield: yield, prompt: prompt, with: with, start: c.o.Now(), before: c.spent, span: span}
		stop, err := t.run(limited, prompt)
		t.finish(limited, stop, err)
	}
}

func (c *Conversation) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.o.MaxTime <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.o.MaxTime, errTime)
}

// turn is the work on one prompt.
type turn struct {
	c      *Conversation
	yield  func(Step, error) bool
	start  time.Time
	span   *trace.Span
	broken bool       // the caller left the loop: nothing may be yielded
	heard  bool       // the model has answered once
	before int        // tokens that the conversation had spent when the turn began
	prompt string     // as it was asked
	with   []llm.Part // the images and documents of the prompt
	again  int        // how often Options.Continue kept the turn going
	answer Answer     // so far
}

// step yields s, and reports whether the turn goes on.
func (t *turn) step(s Step) bool {
	s.Depth = max(s.Depth, t.c.depth)
	t.broken = t.broken || !t.yield(s, nil)
	return !t.broken
}

func (t *turn) run(ctx context.Context, prompt string) (Stop, error) {
	var parts []llm.Part
	if t.c.o.Turn != nil {
		if text := t.c.o.Turn(ctx, prompt); strings.TrimSpace(text) != "" {
			parts = append(parts, llm.Part{Text: text})
		}
	}
	parts = append(append(parts, t.with...), llm.Part{Text: prompt})
	t.c.add(llm.User, parts...)
	stop, err := t.loop(ctx)
	if err != nil && !t.heard && ctx.Err() == nil && !t.broken {
		t.c.takeBackPrompt()
	}
	return stop, err
}

// loop asks the model and runs its calls until an answer has none and is accepted.
func (t *turn) loop(ctx context.Context) (Stop, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Cancelled, err
		}
		t.c.grow(ctx)
		if err := t.fit(ctx); err != nil {
			return Failed, err
		}
		if stop := t.exhausted(); stop != "" {
			return stop, nil
		}
		a, err := t.ask(ctx)
		calls := t.hear(a, err == nil)
		switch {
		case err != nil:
			t.skip(calls, t.why(ctx, "the answer with this call did not arrive whole"))
			return Failed, err
		case a.Stop == llm.StopRefused:
			t.skip(calls, "not run, because the answer was refused")
			return Refused, nil
		case len(calls) > 0:
			t.runCalls(ctx, calls, t.cut(a, calls))
		case a.Stop == llm.StopLength:
			t.c.add(llm.User, llm.Part{Text: "[" + t.limit(a) + ".]"})
			return Length, nil
		case !t.goesOn(ctx):
			return stopOf(a), nil
		}
		if t.broken {
			return Cancelled, nil
		}
	}
}

// goesOn asks Options.Continue whether the turn goes on after an answer, and if so adds the text for the model.
func (t *turn) goesOn(ctx context.Context) bool {
	if t.c.o.Continue == nil || t.broken {
		return false
	}
	text := t.c.o.Continue(ctx, t.again)
	if strings.TrimSpace(text) == "" || ctx.Err() != nil {
		return false
	}
	if t.again == maxContinued {
		t.step(Step{Notice: fmt.Sprintf("the answer stands, because the turn was continued %d times: %s", maxContinued, text)})
		return false
	}
	t.again++
	t.c.add(llm.User, llm.Part{Text: text})
	return t.step(Step{Notice: fmt.Sprintf("continued (%d of at most %d): %s", t.again, maxContinued, text)})
}

// exhausted returns the limit that does not allow another request, or "".
func (t *turn) exhausted() Stop {
	o := &t.c.o
	switch {
	case t.answer.Turns >= o.MaxTurns:
		return Turns
	case o.MaxTokens > 0 && t.spent()+t.c.next() > o.MaxTokens:
		return Tokens
	}
	return ""
}

// next returns the tokens that the next request will probably be charged, without its answer.
func (c *Conversation) next() int { return llm.Usage{Input: c.Size(), CacheRead: c.held}.Charged() }

// spent returns the charged tokens of the turn's requests so far.
func (t *turn) spent() int { return t.c.spent - t.before }

func stopOf(a llm.Answer) Stop {
	if strings.TrimSpace(a.Text()) == "" {
		return Empty
	}
	return End
}

// hear adds an answer to the history and returns its calls.
func (t *turn) hear(a llm.Answer, whole bool) []*llm.Call {
	if text := a.Text(); strings.TrimSpace(text) != "" {
		t.answer.Text = text
	}
	n := len(a.Message.Parts)
	t.heard = t.heard || whole || n > 0
	calls := t.c.addAnswer(a, whole)
	if a.Usage.Input > 0 && whole {
		t.c.known, t.c.bytes, t.c.held = a.Usage.Input+a.Usage.Output, 0, a.Usage.CacheRead+a.Usage.CacheWrite
	}
	return calls
}

// why returns why a call was not run: cancelled, out of time, or otherwise.
func (t *turn) why(ctx context.Context, otherwise string) string {
	switch {
	case context.Cause(ctx) == errTime:
		return "not run, because the time for this prompt is used up"
	case t.broken || ctx.Err() != nil:
		return "cancelled by the user"
	}
	return otherwise
}

// skip adds a result for each call that is not run.
func (t *turn) skip(calls []*llm.Call, why string) {
	if len(calls) == 0 {
		return
	}
	results := make([]llm.Part, 0, len(calls))
	for _, call := range calls {
		results = append(results, t.c.notRun(call, why))
	}
	t.c.add(llm.User, results...)
}

// finish traces and yields the end of the turn.
func (t *turn) finish(ctx context.Context, stop Stop, err error) {
	switch {
	case context.Cause(ctx) == errTime && err != nil:
		stop, err = Time, nil
	case ctx.Err() != nil && err != nil:
		stop, err = Cancelled, ctx.Err()
	}
	a := &t.answer
	a.Stop = stop
	ev := trace.Event{Kind: trace.AgentAnswered, Message: string(stop), Duration: t.c.o.Now().Sub(t.start), Err: err,
		Attrs: append(usageAttrs(a.Usage), slog.Int("turns", a.Turns), slog.Int("depth", t.c.depth))}
	if stop != End {
		ev.Level = slog.LevelWarn
	}
	ev.Time = t.c.o.Now()
	t.span.End(ev)
	if !t.broken {
		t.yield(Step{Depth: t.c.depth, Done: a}, err)
	}
}

func (t *turn) trace(ctx context.Context, e trace.Event) {
	e.Time = t.c.o.Now()
	trace.Emit(ctx, t.c.o.Trace, e)
}
