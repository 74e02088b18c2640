package saved_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
	"github.com/agent-base/agent-base/llm/gemini"
	"github.com/agent-base/agent-base/llm/openai"
	"github.com/agent-base/agent-base/tool"
)

// wires are models of all wires, which send what they are asked to a server that keeps the last body and refuses it.
type wires struct {
	last   []byte
	models map[string]llm.Model
}

func newWires(t *testing.T) *wires {
	t.Helper()
	w := &wires{}
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.last, _ = io.ReadAll(r.Body)
		out.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(s.Close)
	a, err := anthropic.New(&anthropic.Options{Key: "k", BaseURL: s.URL, Model: "m"})
	g, failed := gemini.New(&gemini.Options{Key: "k", BaseURL: s.URL, Model: "m"})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	w.models = map[string]llm.Model{"anthropic": a, "gemini": g,
		"chat":      openai.NewChat(&openai.Options{Key: "k", BaseURL: s.URL, Model: "m"}),
		"responses": openai.New(&openai.Options{Key: "k", BaseURL: s.URL, Model: "m"})}
	return w
}

// bodies returns a request as each wire sends it.
func (w *wires) bodies(r *llm.Request) map[string]string {
	out := map[string]string{}
	for name, m := range w.models {
		for range m.Stream(context.Background(), r) {
		}
		out[name] = string(w.last)
	}
	return out
}

// play is what happens in a conversation, drawn before it runs: so it happens twice.
type play struct {
	prompts []string
	answers [][]llm.Event // in turn
	fails   []bool        // whether the request fails
	leaves  []int         // the step of each turn at which the user stops it
	stops   []bool        // whether the process ends before the turn
	images  []int         // how many go with each prompt
	shorts  []bool        // whether the user shortens the conversation after the turn
	window  int
}

func draw(t *rapid.T) *play {
	texts := rapid.SampledFrom([]string{"a", " b <&>\u2028", "\xff\xfe", "\ufffd", strings.Repeat("long ", 1200), "\"\\/\x00"})
	event := rapid.Custom(func(t *rapid.T) llm.Event {
		switch rapid.IntRange(0, 4).Draw(t, "event") {
		case 0, 1:
			return llm.Event{Text: texts.Draw(t, "text")}
		case 2:
			owner := rapid.SampledFrom([]string{"anthropic", "openai", "gemini"}).Draw(t, "owner")
			data := rapid.SampledFrom([]string{`{"type": "thinking", "thinking": "<a> & b", "signature":"c2ln"}`, `{"type":"reasoning", "id":"r1",  "encrypted_content":"x&y","summary":[]}`, `"sig <nature>"`}).Draw(t, "state")
			return llm.Event{State: &llm.State{Owner: owner, Data: json.RawMessage(data)}}
		}
		args := rapid.SampledFrom([]string{"", `{"x": "a < b && c"}`, "{ \"x\" :\t\"\u2028\" }", "[]", "{", `{"x":"` + "\xff" + `"}`}).Draw(t, "args")
		return llm.Event{Call: &llm.Call{ID: rapid.SampledFrom([]string{"", "a", "b", "call_2"}).Draw(t, "id"),
			Name: rapid.SampledFrom([]string{"echo", "publish", "no such tool"}).Draw(t, "name"), Args: json.RawMessage(args)}}
	})
	n := rapid.IntRange(2, 5).Draw(t, "prompts")
	p := &play{window: rapid.SampledFrom([]int{0, 6000, 9000}).Draw(t, "window")}
	for range n {
		p.prompts = append(p.prompts, "p"+texts.Draw(t, "prompt"))
		p.leaves = append(p.leaves, rapid.SampledFrom([]int{100, 100, 100, 1, 2, 5}).Draw(t, "leaves"))
		p.images = append(p.images, rapid.SampledFrom([]int{0, 0, 1, 11}).Draw(t, "images"))
		p.shorts = append(p.shorts, rapid.IntRange(0, 5).Draw(t, "shorts") == 0)
		p.stops = append(p.stops, rapid.Bool().Draw(t, "stops"))
	}
	for range 30 {
		p.answers = append(p.answers, rapid.SliceOfN(event, 0, 3).Draw(t, "answer"))
		p.fails = append(p.fails, rapid.IntRange(0, 7).Draw(t, "fails") == 0)
	}
	return p
}

// run plays a conversation and returns its requests. With o it is saved, and where the play says so read again.
func (p *play) run(ctx context.Context, t *rapid.T, o *saved.Options) (requests []*llm.Request) {
	next := 0
	model := llm.ModelFunc(func(_ context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		sent := *r
		sent.Messages, sent.Tools = slices.Clone(r.Messages), slices.Clone(r.Tools)
		requests = append(requests, &sent)
		i := next % len(p.answers)
		next++
		return func(yield func(llm.Event, error) bool) {
			for _, e := range p.answers[i] {
				if !yield(e, nil) {
					return
				}
			}
			if p.fails[i] {
				yield(llm.Event{}, &llm.Error{Kind: llm.BadKey, Message: "no"})
				return
			}
			if yield(llm.Event{Usage: &llm.Usage{Input: 700 + 300*i, Output: 5}}, nil) {
				yield(llm.Event{Stop: llm.StopEnd}, nil)
			}
		}
	})
	turns, asked, processes := 0, 0, 0
	options := func() *agent.Options {
		processes++
		first := processes == 1
		echo := tool.Tool{Name: "echo", Description: "<b> & c", Input: json.RawMessage(`{ "type": "object" }`),
			Call: func(_ context.Context, args json.RawMessage) tool.Result {
				r := tool.Success(map[string]string{"got": string(args)}, "odd \xff & <")
				r.Media = []tool.Media{{Type: "image/png", Name: "<e>.png", Data: []byte(pngStart + string(args))}}
				return r
			}}
		set := &tool.Set{}
		if err := set.Add(echo); err != nil {
			t.Fatal(err)
		}
		return &agent.Options{Model: model, Tools: &tool.Executor{Tools: set}, System: "sys <b>", MaxTurns: 4, Window: p.window, CacheKey: "key",
			Turn: func(context.Context, string) string { turns++; return fmt.Sprintf("turn %d", turns) },
			More: func(context.Context) []tool.Tool {
				var more []tool.Tool
				for i := range min(asked, 3) {
					more = append(more, tool.Tool{Name: []string{"weather", "zebra", "publish"}[i], Description: "later", Call: echo.Call})
				}
				asked++
				if !first { // toolsets start in any order
					slices.Reverse(more)
				}
				return more
			}}
	}
	if o == nil {
		c := agent.New(options())
		for i := range p.prompts {
			p.turn(ctx, c, i)
		}
		return requests
	}
	p.saved(ctx, t, o, options)
	return requests
}

const pngStart = "\x89PNG\r\n\x1a\n"

// turn asks one prompt.
func (p *play) turn(ctx context.Context, c *agent.Conversation, i int) {
	left := p.leaves[i]
	with := make([]llm.Media, p.images[i])
	for k := range with {
		with[k] = llm.Media{Type: "image/png", Name: fmt.Sprint(k, ".png"), Data: fmt.Append(nil, pngStart, k%3)}
	}
	for s := range c.Ask(ctx, p.prompts[i], with...) {
		if left--; left < 0 || s.Done != nil {
			break
		}
	}
	if p.shorts[i] {
		_, _ = c.Compact(ctx) // an error is the same each time
	}
}

// saved plays the conversation in several processes.
func (p *play) saved(ctx context.Context, t *rapid.T, o *saved.Options, options func() *agent.Options) {
	var l *saved.Log
	var c *agent.Conversation
	defer func() { l.Close() }()
	for i, prompt := range p.prompts {
		with := options()
		if l == nil {
			l = made(t)(saved.Create(ctx, o, &saved.Head{Key: "key"}))
			with.Record = recorder(&l)
			c = agent.New(with)
			l.Prefix(&saved.Prefix{System: with.System, Tools: c.Offered()})
		} else if p.stops[i] {
			l.Close()
			again, was, err := saved.Open(ctx, o, l.ID())
			if err != nil || was.Damage() != "" {
				t.Fatal(err, was.Damage())
			}
			l = again
			with.History, with.Offered, with.System, with.CacheKey, with.Record = was.Messages, was.Prefix.Tools, was.Prefix.System, l.Key(), recorder(&l)
			if err := json.Unmarshal(was.Ended().Counted, &with.Counted); err != nil {
				t.Fatal(err)
			}
			c = agent.New(with)
		}
		l.Begin("m", prompt)
		p.turn(ctx, c, i)
		counted, err := json.Marshal(c.Counted())
		if err != nil {
			t.Fatal(err)
		}
		l.End(&saved.End{Counted: counted})
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func made(t *rapid.T) func(*saved.Log, error) *saved.Log {
	return func(l *saved.Log, err error) *saved.Log {
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

func recorder(l **saved.Log) func(agent.Change) {
	return func(c agent.Change) {
		switch {
		case c.Taken:
			(*l).TakeBack()
		case c.Replaced:
			(*l).Replace(c.All)
		case c.Tools != nil:
			(*l).Tools(c.Tools)
		default:
			(*l).Add(c.Added)
		}
	}
}

// C81: a conversation that stopped between its turns and was read again sends the same bytes, over every wire, as one that never
// stopped: system text, tools in order, messages, and the key of the cache.
func TestSameBytes(t *testing.T) {
	w := newWires(t)
	dir, n, outer := t.TempDir(), 0, t
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		n++
		o := &saved.Options{Dir: filepath.Join(dir, fmt.Sprint(n)), Project: "/p", Now: time.Now}
		var want, got []*llm.Request
		synctest.Test(outer, func(in *testing.T) { // in it a call takes no time
			want, got = p.run(in.Context(), t, nil), p.run(in.Context(), t, o)
		})
		if len(got) != len(want) {
			t.Fatalf("%d requests, want %d", len(got), len(want))
		}
		for i := range want {
			sent := w.bodies(got[i])
			for wire, body := range w.bodies(want[i]) {
				if sent[wire] != body {
					t.Fatalf("request %d over %s:\ngot  %s\nwant %s", i, wire, sent[wire], body)
				}
			}
		}
	})
}
