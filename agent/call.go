package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// maxCalls is how many calls of one answer are run. The other limits count requests: without this one, a single answer
// could run any number of commands.
const maxCalls = 100

// cut returns why the last of the calls is not run if the answer was cut in the middle of it, else "".
func (t *turn) cut(a llm.Answer, calls []*llm.Call) string {
	last := calls[len(calls)-1]
	if a.Stop != llm.StopLength || !endsInCall(a.Message.Parts) || last.Raw == "" && string(last.Args) != "{}" {
		return ""
	}
	t.step(Step{Notice: fmt.Sprintf("%s, in the middle of a call of %s", t.limit(a), last.Name)})
	return t.limit(a) + ": write the file in parts, or send less in one call"
}

// endsInCall reports whether the last part of a message, but for states, is a call.
func endsInCall(parts []llm.Part) bool {
	for _, p := range slices.Backward(parts) {
		if p.State == nil {
			return p.Call != nil
		}
	}
	return false
}

// limit says where an answer was cut.
func (t *turn) limit(a llm.Answer) string {
	t.answer.Cut = cmp.Or(a.Usage.Output, t.c.o.AnswerTokens)
	if t.answer.Cut == 0 {
		return "the answer was cut at its limit"
	}
	return fmt.Sprintf("the answer was cut at %d tokens", t.answer.Cut)
}

// runCalls runs the calls of one answer in order, one at a time, because an activation changes what the next call may
// do, and two writes to one file must not race. Only sub-agents that calls of one tool in a row ask for run together, if
// Options.Together is set. Each call gets exactly one result. All results together stay within half of the window; otherwise the
// conversation could neither continue nor be shortened.
// With a text in cut the last one is not run, for that reason.
func (t *turn) runCalls(ctx context.Context, calls []*llm.Call, cut string) {
	b := &batch{t: t, media: media.Half(), left: t.c.share(resultsPercent) * bytesPerToken}
	rest := "cancelled by the user"
	defer func() { t.skip(calls[b.done:], t.why(ctx, rest)) }()
	for i, call := range calls {
		if len(b.open) > 0 && b.open[0].call.Name != call.Name && !b.flush(ctx) {
			return
		}
		if i == maxCalls {
			rest = fmt.Sprintf("not run, because one answer may have %d calls: look at the results so far, then continue", maxCalls)
			break
		}
		if cut != "" && i == len(calls)-1 {
			rest = cut
			break
		}
		if ctx.Err() != nil || !t.step(Step{Call: call}) {
			return
		}
		r := t.runCall(ctx, call)
		b.open = append(b.open, &called{call: call, fork: r.Fork, result: r})
		if (len(b.open) == 1 && r.Fork == nil || t.c.o.Together == nil) && !b.flush(ctx) {
			return
		}
	}
	b.flush(ctx)
}

// batch has the calls of an answer that wait for their results: one, or several that start sub-agents.
type batch struct {
	t     *turn
	left  int // bytes of results that have room
	done  int // calls that have their results
	open  []*called
	media media.Room // of the images and documents that have room
}

// called is a call that was made.
type called struct {
	call   *llm.Call
	fork   *tool.Fork // what the sub-agent that answers it has to do; nil if none does
	result tool.Result
	media  []llm.Media
	text   string // as the model gets it
	cut    bool
}

// flush runs the sub-agents of the open calls, and adds the results in the order of the calls. It reports whether the turn goes on.
func (b *batch) flush(ctx context.Context) bool {
	t, open := b.t, b.open
	b.open = nil
	var forks []*called
	for _, c := range open {
		if c.fork != nil {
			forks = append(forks, c)
		} else {
			b.settle(c)
		}
	}
	shown := map[*called]bool{}
	if len(forks) > 0 {
		t.forks(ctx, forks, func(c *called) {
			if b.settle(c); len(open) > 1 { // else its result is added first
				shown[c] = true
				t.step(c.step())
			}
		})
	}
	for _, c := range open {
		t.c.add(llm.User, llm.Part{Result: &llm.Result{ID: c.call.ID, Name: t.c.historyName(c.call.Name), Text: c.text, Media: c.media, Failed: !c.result.Success}})
		b.done++
	}
	for _, c := range open {
		if !shown[c] && !t.broken {
			t.step(c.step())
		}
	}
	return !t.broken
}

// settle makes the text of a result, as far as there is room.
func (b *batch) settle(c *called) {
	c.text, c.cut = limitText(string(c.result.Encode()), min(resultLimit, max(b.left, resultLeast)))
	b.left -= len(c.text)
	if c.result.Success {
		b.show(c, c.result.Media)
	}
}

func (c *called) step() Step {
	return Step{Result: &Result{Call: c.call, Result: c.result, Text: c.text, Cut: c.cut}}
}

func (t *turn) runCall(ctx context.Context, call *llm.Call) tool.Result {
	args := call.Args
	if call.Raw != "" { // the executor says what is wrong with it
		args = json.RawMessage(call.Raw)
	}
	return t.c.o.Tools.Call(t.watched(tool.WithCall(ctx, call.ID, call.Name), call.ID), call.Name, args)
}

// watched returns the context of a call whose events Options.Watch gets.
func (t *turn) watched(ctx context.Context, id string) context.Context {
	if t.c.o.Watch == nil {
		return ctx
	}
	return tool.WithWatch(ctx, func(e tool.Event) {
		e.Call, e.Depth = id, t.c.depth
		t.c.o.Watch(e)
	})
}

// limitText returns a text of at most limit characters. Of a longer text it keeps a fifth of them from the beginning and
// the rest from the end, where errors usually are, with a line between them that says how much is missing.
func limitText(text string, limit int) (short string, cut bool) {
	if len(text) <= limit {
		return text, false
	}
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text, false
	}
	head, tail := 0, len(text)
	for range limit / 5 {
		_, w := utf8.DecodeRuneInString(text[head:])
		head += w
	}
	for range limit - limit/5 {
		_, w := utf8.DecodeLastRuneInString(text[:tail])
		tail -= w
	}
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s", text[:head], n-limit, text[tail:]), true
}
