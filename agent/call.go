package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// maxCalls is how many calls of one answer are run. The bounds of a turn count requests: without this one, a single
// answer could have any number of commands run.
const maxCalls = 100

// runCalls runs the calls of one answer in their order, one at a time: an activation changes what the next call is
// allowed, and two writes of one file must not race. Whatever happens, each call gets its one result. All of them
// together stay within half of the window, or the conversation could neither go on nor be shortened.
func (t *turn) runCalls(ctx context.Context, calls []*llm.Call) {
	results := make([]llm.Part, 0, len(calls))
	rest := "cancelled by the user"
	defer func() {
		for _, call := range calls[len(results):] {
			results = append(results, notRun(call, t.why(ctx, rest)))
		}
		t.c.add(llm.User, results...)
	}()
	left := t.c.share(resultsPercent) * bytesPerToken
	for i, call := range calls {
		if i == maxCalls {
			rest = fmt.Sprintf("not run, for one answer may have %d calls: look at what these gave, then go on", maxCalls)
			return
		}
		if ctx.Err() != nil || !t.step(Step{Call: call}) {
			return
		}
		r := t.runCall(ctx, call)
		text, cut := limitText(string(r.Encode()), min(t.c.o.ResultLimit, max(left, resultLeast)))
		left -= len(text)
		results = append(results, llm.Part{Result: &llm.Result{ID: call.ID, Name: call.Name, Text: text, Failed: !r.Success}})
		if !t.step(Step{Result: &Result{Call: call, Result: r, Text: text, Cut: cut}}) {
			return
		}
	}
}

func (t *turn) runCall(ctx context.Context, call *llm.Call) tool.Result {
	if call.Raw != "" {
		r := malformed(call)
		t.trace(ctx, trace.Event{Kind: trace.ToolCalled, Level: slog.LevelWarn, Tool: call.Name, Message: r.Message})
		return r
	}
	r := t.c.o.Tools.Call(ctx, call.Name, call.Args)
	if r.Fork == nil {
		return r
	}
	return t.fork(ctx, *r.Fork)
}

// malformed tells the model what is wrong with the arguments that it sent.
func malformed(call *llm.Call) tool.Result {
	var v any
	fault := "they must be one JSON object"
	if err := json.Unmarshal([]byte(call.Raw), &v); err != nil {
		fault = err.Error()
	}
	shown, _ := limitText(call.Raw, 200)
	r := tool.Failure(tool.ExecutionFailed, fmt.Sprintf("arguments of '%s' are not a JSON object: %s; they were: %s", call.Name, fault, shown))
	r.Reason = tool.ReasonArguments
	return r
}

// limitText returns a text of at most limit characters: of a longer one the first fifth of them and the rest from its
// end, where errors stand, with a line between that says how much is missing.
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
