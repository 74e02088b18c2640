package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/trace"
)

// ask sends the conversation. If it is too long, it is shortened once; if the answer breaks off, it is asked for again, with the
// patience of Options.Retry.
func (t *turn) ask(ctx context.Context) (llm.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shortened, patience := false, t.anew(cancel).Patience()
	for {
		a, err := t.send(ctx, t.c.request(), true)
		var e *llm.Error
		if err == nil || ctx.Err() != nil || t.broken || !errors.As(err, &e) || t.exhausted() != "" {
			return a, err
		}
		said := len(a.Message.Parts) > 0
		switch {
		case e.Kind == llm.TooLong && !shortened:
			shortened = true
			if t.tooLong(ctx) != nil || said && !t.step(Step{Notice: brokeOff(err, 0), Anew: true}) {
				return a, err
			}
		case said:
			if patience.Wait(ctx, err) != nil {
				return a, err
			}
		default:
			return a, err
		}
	}
}

// request returns the conversation as a request. It shares the history's memory, clipped so nothing is appended to it.
func (c *Conversation) request() *llm.Request {
	n := len(c.messages)
	return &llm.Request{System: c.o.System, Tools: c.tools, Messages: c.messages[:n:n],
		MaxTokens: c.o.AnswerTokens, Effort: c.o.Effort, CacheKey: c.o.CacheKey}
}

// send asks the model once and counts the tokens. If show is true, it yields the text as it arrives.
func (t *turn) send(ctx context.Context, r *llm.Request, show bool) (llm.Answer, error) {
	if t.broken {
		return llm.Answer{}, context.Canceled
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := t.c.o.Now()
	ctx, span := trace.Begin(ctx, t.c.o.Trace, trace.Event{Kind: trace.ModelRequested})
	model := t.c.o.Model
	if t.c.o.Retry != nil {
		model = llm.Retry(model, t.retry(cancel))
	}
	a, err := llm.Collect(ctx, t.relay(model, show), r, nil)
	u := a.Usage
	if show {
		t.answer.Turns++
	}
	t.count(u)
	t.c.spent += u.Charged()
	if u == (llm.Usage{}) && (err == nil || len(a.Message.Parts) > 0) {
		t.c.spent += (prefixSize(r.System, r.Tools) + weight(r.Messages) + size(a.Message.Parts)) / bytesPerToken
	}
	ev := trace.Event{Kind: trace.ModelRequested, Duration: t.c.o.Now().Sub(start), Err: err, Attrs: append(usageAttrs(u),
		slog.String("stop", string(a.Stop)), slog.Int("depth", t.c.depth), slog.Bool("summary", !show))}
	if err != nil {
		ev.Level = slog.LevelWarn
	}
	ev.Time = t.c.o.Now()
	span.End(ev)
	if err == nil || u != (llm.Usage{}) {
		t.step(Step{Usage: &u, Model: t.c.o.Identity.Model})
	}
	return a, err
}

// relay yields the text and the thoughts of a stream and ends the stream when the caller leaves the loop.
func (t *turn) relay(m llm.Model, show bool) llm.Model {
	if !show {
		return m
	}
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			for e, err := range m.Stream(ctx, r) {
				if !yield(e, err) || e.Text+e.Thought != "" && !t.step(Step{Text: e.Text, Thought: e.Thought}) {
					return
				}
			}
		}
	})
}

// retry returns the options of Options.Retry with a notice before each wait.
func (t *turn) retry(cancel context.CancelFunc) *llm.RetryOptions {
	return t.told(*t.c.o.Retry, cancel, func(err error, wait, left time.Duration) Step {
		text := fmt.Sprintf("%v; asking again in %v", err, wait.Round(100*time.Millisecond))
		if left > 0 {
			text += fmt.Sprintf(", and for %v more", left.Round(time.Second))
		}
		return Step{Notice: text}
	})
}

// anew returns the options for an answer that broke off. Without Options.Retry it is asked for again once, at once.
func (t *turn) anew(cancel context.CancelFunc) *llm.RetryOptions {
	o := llm.RetryOptions{Attempts: 2, Base: -1}
	if t.c.o.Retry != nil {
		o = *t.c.o.Retry
	}
	return t.told(o, cancel, func(err error, wait, _ time.Duration) Step { return Step{Notice: brokeOff(err, wait), Anew: true} })
}

// told returns options that yield a step before each wait.
func (t *turn) told(o llm.RetryOptions, cancel context.CancelFunc, step func(err error, wait, left time.Duration) Step) *llm.RetryOptions {
	waiting := o.Waiting
	o.Waiting = func(err error, wait, left time.Duration) {
		if waiting != nil {
			waiting(err, wait, left)
		}
		if !t.step(step(err, wait, left)) {
			cancel()
		}
	}
	return &o
}

// brokeOff says that an answer starts again.
func brokeOff(err error, wait time.Duration) string {
	if wait = wait.Round(100 * time.Millisecond); wait > 0 {
		return fmt.Sprintf("%v; the answer starts again in %v", err, wait)
	}
	return fmt.Sprintf("%v; the answer starts again", err)
}

// count adds the cost of a request, or of a sub-agent.
func (t *turn) count(u llm.Usage) {
	t.answer.Usage = t.answer.Usage.Add(u)
	t.c.usage = t.c.usage.Add(u)
}

func usageAttrs(u llm.Usage) []slog.Attr {
	return []slog.Attr{slog.Int("input", u.Input), slog.Int("cache_read", u.CacheRead),
		slog.Int("cache_write", u.CacheWrite), slog.Int("output", u.Output)}
}
