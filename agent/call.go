package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

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
// do, and two writes to one file must not race. Each call gets exactly one result. All results together stay within half
// of the window; otherwise the conversation could neither continue nor be shortened.
// With a text in cut the last one is not run, for that reason.
func (t *turn) runCalls(ctx context.Context, calls []*llm.Call, cut string) {
	done, rest := 0, "cancelled by the user"
	defer func() { t.skip(calls[done:], t.why(ctx, rest)) }()
	left := t.c.share(resultsPercent) * bytesPerToken
	for i, call := range calls {
		if i == maxCalls {
			rest = fmt.Sprintf("not run, because one answer may have %d calls: look at the results so far, then continue", maxCalls)
			return
		}
		if cut != "" && i == len(calls)-1 {
			rest = cut
			return
		}
		if ctx.Err() != nil || !t.step(Step{Call: call}) {
			return
		}
		r := t.runCall(ctx, call)
		text, cut := limitText(string(r.Encode()), min(t.c.o.ResultLimit, max(left, resultLeast)))
		left -= len(text)
		t.c.add(llm.User, llm.Part{Result: &llm.Result{ID: call.ID, Name: t.c.historyName(call.Name), Text: text, Failed: !r.Success}})
		done++
		if !t.step(Step{Result: &Result{Call: call, Result: r, Text: text, Cut: cut}}) {
			return
		}
	}
}

func (t *turn) runCall(ctx context.Context, call *llm.Call) tool.Result {
	args := call.Args
	if call.Raw != "" { // the executor says what is wrong with it
		args = json.RawMessage(call.Raw)
	}
	r := t.c.o.Tools.Call(t.watched(tool.WithCall(ctx, call.ID, call.Name), call.ID), call.Name, args)
	if r.Fork == nil {
		return r
	}
	return t.fork(ctx, *r.Fork)
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
