package toolset

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/tool"
)

// Whoever watches a call gets its messages of progress and what the process prints meanwhile, and nothing of other calls.
func TestWatchedCall(t *testing.T) {
	h := newHost(t, nil)
	tools := must(t, h, open(t, "demo", fakes(t, "good")))
	var mu sync.Mutex
	var got []string
	ctx := tool.WithWatch(t.Context(), func(e tool.Event) {
		mu.Lock()
		defer mu.Unlock()
		b, _ := json.Marshal([]any{e.Kind, e.Text, e.Done, e.Total})
		got = append(got, string(b))
	})
	if r := call(t.Context(), tools["demo.good.slow"], `{}`); !r.Success {
		t.Fatal(r)
	}
	if len(got) > 0 {
		t.Errorf("a call that nobody watches: %q", got)
	}
	if r := call(ctx, tools["demo.good.slow"], `{}`); !r.Success {
		t.Fatal(r)
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(got, "\n"); !strings.Contains(all, `["progress","half",1,2]`) || strings.Contains(all, "stranger") {
		t.Errorf("got %s", all)
	}
}

func TestWhatAProcessPrintsDuringACall(t *testing.T) {
	var got []tool.Event
	ctx := tool.WithWatch(t.Context(), func(e tool.Event) { got = append(got, e) })
	p := &process{u: &unit{owner: &owner{h: &Host{}, name: "s"}}, c: mcphost.New(&mcphost.Options{Kill: func(string) {}}), serving: &script.Serving{Redact: redact.New([]redact.Secret{{Name: "KEY", Value: "hunter2hunter2"}})}}
	w := &printer{all: p.c.Err(), p: p}
	write := func(text string) { _, _ = w.Write([]byte(text)) }
	write("before\n")
	progress, end := p.watch(ctx)
	write("the key hunter2hunter2\n")
	progress(&mcphost.Progress{Message: "hunter2hunter2"})
	end()
	write("after\n")
	if len(got) != 2 || got[0].Text != "the key [redacted KEY]\n" || got[1].Text != "[redacted KEY]" || got[1].Done != 0 {
		t.Errorf("got %+v", got)
	}
}
