package agent

import (
	"context"
	"iter"
	"runtime"
	"testing"

	"github.com/agent-base/agent-base/llm"
)

// instant is a model without a delay: one call of echo, then an answer of about 400 bytes.
func instant() llm.Model {
	usage := &llm.Usage{Input: 100, Output: 100}
	return llm.ModelFunc(func(_ context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			last := r.Messages[len(r.Messages)-1]
			if last.Parts[0].Result == nil {
				_ = yield(llm.Event{Call: call("", "echo", `{"x":1}`)}, nil) && yield(llm.Event{Usage: usage}, nil) &&
					yield(llm.Event{Stop: llm.StopCalls}, nil)
				return
			}
			for range 20 {
				if !yield(llm.Event{Text: "twenty bytes of text"}, nil) {
					return
				}
			}
			_ = yield(llm.Event{Usage: usage}, nil) && yield(llm.Event{Stop: llm.StopEnd}, nil)
		}
	})
}

func ask(tb testing.TB, c *Conversation) {
	for s, err := range c.Ask(tb.Context(), "a prompt") {
		if s.Done != nil && (err != nil || s.Done.Stop != End) {
			tb.Fatal(s.Done, err)
		}
	}
}

// The overhead of one turn without the model: two requests, one tool call, twenty pieces of text.
func BenchmarkTurn(b *testing.B) {
	c := New(&Options{Model: instant(), Tools: executor(b, echo())})
	b.ReportAllocs()
	for b.Loop() {
		if len(c.messages) > 800 {
			_ = c.Reset()
		}
		ask(b, c)
	}
}

// What a conversation of 200 turns keeps in memory in addition to its messages.
func BenchmarkConversation200(b *testing.B) {
	var kept, said float64
	for b.Loop() {
		before := heap()
		c := New(&Options{Model: instant(), Tools: executor(b, echo())})
		for range 200 {
			ask(b, c)
		}
		kept, said = float64(heap()-before), float64(weight(c.Messages()))
		runtime.KeepAlive(c)
	}
	b.ReportMetric(kept/1024, "KiB/conversation")
	b.ReportMetric(said/1024, "KiB-said")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A conversation keeps little in addition to its messages: no copies of them.
func TestMemory(t *testing.T) {
	before := heap()
	c := New(&Options{Model: instant(), Tools: executor(t, echo())})
	for range 200 {
		ask(t, c)
	}
	kept, said := int(heap()-before), weight(c.Messages())
	if kept > 4*said {
		t.Errorf("%d bytes are kept of %d that were said", kept, said)
	}
	runtime.KeepAlive(c)
}
