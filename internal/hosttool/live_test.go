package hosttool

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/tool"
)

// events is what happens during calls in a context.
func events(ctx context.Context) (context.Context, func() []tool.Event) {
	var mu sync.Mutex
	var got []tool.Event
	return tool.WithWatch(ctx, func(e tool.Event) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, e)
		}), func() []tool.Event {
			mu.Lock()
			defer mu.Unlock()
			return got
		}
}

// What a command writes is there while it runs, without keys, and its result is the same.
func TestBashOutputIsLive(t *testing.T) {
	k := newKit(t, func(o *Options) {
		allow(o)
		r := redact.New([]redact.Secret{{Name: "KEY", Value: "hunter2hunter2"}})
		o.Clean, o.CleanTo = r.String, r.Writer
	})
	seen := make(chan bool)
	var once sync.Once
	var all strings.Builder // the events of a call come one at a time
	ctx := tool.WithWatch(t.Context(), func(e tool.Event) {
		if all.WriteString(e.Text); strings.Contains(all.String(), "begun [redacted KEY]") {
			once.Do(func() { close(seen) })
		}
		if e.Kind == tool.EventOutput && strings.Contains(e.Text, "hunter2") {
			t.Errorf("the key is in %q", e.Text)
		}
	})
	done := make(chan tool.Result)
	go func() {
		done <- k.exec.Call(ctx, "bash", []byte(`{"command":"printf 'begun hunter2'; printf 'hunter2\n'; while ! [ -e go ]; do sleep 0.05; done; echo over"}`))
	}()
	<-seen // while the command waits
	files(t, k.ws, map[string]string{"go": ""})
	if r := <-done; !r.Success || r.Result.(Ran).Output != "begun [redacted KEY]\nover\n" {
		t.Errorf("got %s", text(r))
	}
}

// A Runner gets the writer for what its command writes, and none if nobody watches.
func TestRunnerOutputIsLive(t *testing.T) {
	live := false
	k := newKit(t, func(o *Options) {
		allow(o)
		o.Runner = func(_ context.Context, c *Command) (*Output, error) {
			if live = c.Live != nil; live {
				_, _ = io.WriteString(c.Live, "a line\n")
			}
			return &Output{Stdout: []byte("a line\n"), Total: 7}, nil
		}
	})
	if k.call("bash", `{"command":"x"}`); live {
		t.Error("somebody watches")
	}
	ctx, got := events(t.Context())
	k.exec.Call(ctx, "bash", []byte(`{"command":"x"}`))
	if all := got(); len(all) != 3 || all[0].Kind != tool.EventStarted || all[1].Text != "a line\n" || all[2].Kind != tool.EventEnded || all[2].Failed {
		t.Errorf("got %+v", all)
	}
}

// Whoever watches learns which file is asked about or refused, and a question that ends with the turn was stopped.
func TestFilesThatAreNeeded(t *testing.T) {
	for _, tt := range []struct {
		decision permit.Decision
		want     string
	}{
		{permit.Decision{Verdict: permit.Denied, Reason: "no"}, "needs refused write new.txt, ended permission_denied"},
		{permit.Decision{Verdict: permit.Asked, Reason: "ask"}, "needs  write new.txt, ended stopped"},
	} {
		ctx, cancel := cancelled(t)
		k := newKit(t, func(o *Options) {
			o.Decide = func(context.Context, *permit.Call) permit.Decision { return tt.decision }
			o.Approve = func(ctx context.Context, _ *Request) (Answer, error) { cancel(); return Answer{}, ctx.Err() }
		})
		ctx, got := events(ctx)
		k.exec.Call(ctx, "write_file", []byte(`{"file_path":"new.txt","content":"x"}`))
		var said []string
		for _, e := range got() {
			switch e.Kind {
			case tool.EventNeeds:
				said = append(said, fmt.Sprintf("needs %s %s %s", e.Need.From, e.Need.Kind, strings.TrimPrefix(e.Need.Name, k.ws+"/")))
			case tool.EventEnded:
				said = append(said, "ended "+e.Cause.String())
			}
		}
		if got := strings.Join(said, ", "); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
