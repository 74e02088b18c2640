package mcphost

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/tool"
)

// program is a fake program whose requests f answers. It ends at the end of its input.
type program struct {
	f      fake
	starts atomic.Int32
	mu     sync.Mutex
	out    io.Writer // of the last run
	kill   func()    // likewise
}

// write writes a line.
func (p *program) write(line string) {
	p.mu.Lock()
	out := p.out
	p.mu.Unlock()
	_, _ = io.WriteString(out, line+"\n")
}

// end has it die.
func (p *program) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill()
}

func (p *program) run(ctx context.Context, pipes *Pipes) error {
	p.starts.Add(1)
	ctx, end := context.WithCancel(ctx)
	defer end()
	out := &oneByOne{w: pipes.Out}
	p.mu.Lock()
	p.out, p.kill = out, end
	p.mu.Unlock()
	pipes.Started()
	over := make(chan struct{})
	go func() {
		defer close(over)
		answer(pipes.In, out, p.f)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		_, _ = io.WriteString(pipes.Err, "last words\n")
		return errors.New("it was killed")
	}
}

// oneByOne is a pipe that several goroutines write to.
type oneByOne struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneByOne) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// host returns a host of one server with the label demo.
func host(t *testing.T, f fake, o *HostOptions) (*Host, *program) {
	t.Helper()
	p := &program{f: f}
	if o == nil {
		o = &HostOptions{}
	}
	if o.Servers == nil {
		o.Servers = []Server{{}}
	}
	o.Servers[0].Label, o.Servers[0].Run = "demo", p.run
	o.Servers[0].Timeout = cmp.Or(o.Servers[0].Timeout, 20*time.Second)
	h, err := NewHost(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, p
}

func toolsOf(t *testing.T, h *Host) []tool.Tool {
	t.Helper()
	all, err := h.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newsOf waits for news.
func newsOf(t *testing.T, h *Host) []string {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if news := h.News(); news != nil {
			return news
		}
	}
	t.Fatal("no news")
	return nil
}

func call(t *testing.T, to *tool.Tool, args string) tool.Result {
	t.Helper()
	return to.Call(t.Context(), json.RawMessage(args))
}

// A server is started when its tools are wanted, stays, and is started again when it has died.
func TestHost(t *testing.T) {
	for name, f := range map[string]fake{"modern": modern, "older": refusing} {
		t.Run(name, func(t *testing.T) {
			h, p := host(t, f, nil)
			if p.starts.Load() != 0 || h.Info("demo").State != StateIdle || len(h.Known()) != 0 {
				t.Fatal("it was started")
			}
			all := toolsOf(t, h)
			if len(all) != 1 || all[0].Name != "mcp__demo__tell" || all[0].Source != "MCP server demo" || all[0].FullName() != all[0].Name || all[0].Description != "Tells" {
				t.Fatalf("got %+v", all)
			}
			for range 2 {
				if r := call(t, &all[0], `{}`); !r.Success || r.Message != "noon" || fmt.Sprintf("%s", r.Result) != `{"hour":12}` {
					t.Errorf("got %s", r.Encode())
				}
			}
			if p.starts.Load() != 1 || h.Info("demo").State != StateRunning || h.Info("demo").Calls != 2 {
				t.Errorf("%d starts, %+v", p.starts.Load(), h.Info("demo"))
			}
			p.end()
			<-h.servers[0].keep.Current().done
			if i := h.Info("demo"); i.State != StateFailed || i.Err.Error() != "MCP server demo: it was killed\nlast words" {
				t.Errorf("got %+v", i)
			}
			if r := call(t, &all[0], `{}`); !r.Success || p.starts.Load() != 2 {
				t.Errorf("got %s", r.Encode())
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if r := call(t, &all[0], `{}`); r.Success || r.Reason != "server_closed" {
				t.Errorf("got %s", r.Encode())
			}
		})
	}
}

// With a record the tools are known before the server is started.
func TestRecord(t *testing.T) {
	folder := t.TempDir()
	h, _ := host(t, modern, &HostOptions{Record: folder})
	toolsOf(t, h)
	_ = h.Close()
	h, p := host(t, modern, &HostOptions{Record: folder})
	all := h.Known()
	if len(all) != 1 || len(toolsOf(t, h)) != 1 || p.starts.Load() != 0 {
		t.Fatalf("got %+v", all)
	}
	if r := call(t, &all[0], `{}`); !r.Success || p.starts.Load() != 1 {
		t.Errorf("got %s", r.Encode())
	}
	if i := h.Info("demo"); i.Protocol != "2026-07-28" || i.Tools != 1 {
		t.Errorf("got %+v", i)
	}
	other, _ := host(t, modern, &HostOptions{Record: folder, Servers: []Server{{Entry: "another"}}})
	if len(other.Known()) > 0 {
		t.Error("what is remembered of one server is that of another")
	}
}

// One server that fails does not keep the others back, and the error says which it is.
func TestOneFails(t *testing.T) {
	good := &program{f: modern}
	bad := func(_ context.Context, p *Pipes) error {
		_, _ = io.WriteString(p.Err, "no such module\n")
		return errors.New("it ended with exit code 1")
	}
	h, err := NewHost(&HostOptions{Servers: []Server{{Label: "bad", Run: bad}, {Label: "good", Run: good.run}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	all, err := h.Tools(t.Context())
	if len(all) != 1 || all[0].Name != "mcp__good__tell" {
		t.Errorf("got %+v", all)
	}
	var e *ServerError
	if !errors.As(err, &e) || e.Label != "bad" || e.Error() != "MCP server bad: it ended with exit code 1\nno such module" {
		t.Errorf("got %v", err)
	}
	_, _ = h.Tools(t.Context())
	if _, err := h.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "it failed 2 times and is started again in") {
		t.Errorf("got %v", err)
	}
}

func TestLabels(t *testing.T) {
	for name, ok := range map[string]bool{"github": true, "my_server-2": true, "": false, "a__b": false, "a_": false, "a.b": false, strings.Repeat("a", 65): false} {
		if err := CheckLabel(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	run := (&program{f: modern}).run
	for _, servers := range [][]Server{{{Label: "a", Run: run}, {Label: "a", Run: run}}, {{Label: "a"}}, {{Label: "a", Run: run, URL: "https://example.com"}}, {{Label: "a", URL: "http://example.com/mcp"}}} {
		if _, err := NewHost(&HostOptions{Servers: servers}); err == nil {
			t.Errorf("accepted %+v", servers)
		}
	}
}

// answer has f answer requests.
func answer(in io.Reader, out io.Writer, f fake) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue
		}
		result, failure := f(&r)
		switch {
		case result != "":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
		case failure != "":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", r.ID, failure)
		}
	}
}

// A program that was not ready in time says itself what it lacked, if it knows.
func TestLateSaysWhatItLacked(t *testing.T) {
	for lacked, want := range map[error]string{&ServerError{Label: "a", Kind: KindCrash, Message: "it may not reach x.example"}: "it may not reach x.example", nil: "did not say within", errors.New("killed"): "did not say within"} {
		h, err := NewHost(&HostOptions{Servers: []Server{{Label: "a", Start: time.Millisecond, Run: func(ctx context.Context, p *Pipes) error {
			p.Started()
			<-ctx.Done()
			return lacked
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Start(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", lacked, err, want)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
