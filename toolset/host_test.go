package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// files are the files of a skill by their paths.
type files map[string]string

// open returns a skill with some files.
func open(t testing.TB, name string, all files) *skill.Skill {
	t.Helper()
	root := t.TempDir()
	if all["SKILL.md"] == "" {
		all["SKILL.md"] = "---\nname: " + name + "\ndescription: d\n---\nBody\n"
	}
	for file, text := range all {
		path := filepath.Join(root, name, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(root, nil), Trust: skill.TrustRoot}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fakes is an mcp.json with fake servers, each of which has the name of its mode.
func fakes(t testing.TB, modes ...string) files {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]any{}
	for _, mode := range modes {
		servers[mode] = map[string]any{"command": exe, "args": []string{fakeArg, mode}}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	return files{"mcp.json": string(b)}
}

// newHost returns a Host whose processes are not confined.
func newHost(t testing.TB, change func(*Options)) *Host {
	t.Helper()
	scripts, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t), Env: []string{"API_TOKEN=sesame-open-42"}})
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{Scripts: scripts, Cache: scratch.Dir(t)}
	if change != nil {
		change(o)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// must returns the tools of a skill by their sources and names.
func must(t testing.TB, h *Host, s *skill.Skill) map[string]tool.Tool {
	t.Helper()
	all, err := h.Tools(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return byName(all)
}

func byName(all []tool.Tool) map[string]tool.Tool {
	out := map[string]tool.Tool{}
	for _, one := range all {
		out[one.Source+"."+one.Name] = one
	}
	return out
}

func call(ctx context.Context, one tool.Tool, args string) tool.Result {
	return one.Call(ctx, json.RawMessage(args))
}

func TestServer(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", fakes(t, "good"))
	tools := must(t, h, s)
	for _, tt := range []struct {
		tool, args, want string
	}{
		{"echo", `{"a":[1,2]}`, `{"success":true,"result":{"a":[1,2]},"message":""}`},
		{"text", `{}`, `{"success":true,"result":"plain words","message":""}`},
		{"fail", `{}`, `{"success":false,"error":"execution_failed","message":"it broke"}`},
		{"stray", `{}`, `{"success":true,"result":{"success":true,"result":1,"message":"done"},"message":""}`},
	} {
		if got := string(call(t.Context(), tools["demo.good."+tt.tool], tt.args).Encode()); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.tool, got, tt.want)
		}
	}
}

// The tools of one toolset start no other: one that hangs delays nothing.
func TestToolsOf(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", fakes(t, "good", "hang"))
	all, err := h.ToolsOf(t.Context(), s, nil, "good")
	if err != nil {
		t.Fatal(err)
	}
	if r := call(t.Context(), byName(all)["demo.good.text"], `{}`); r.Result != "plain words" {
		t.Errorf("got %s", r.Encode())
	}
	for _, o := range h.owners {
		for _, u := range o.units {
			u.mu.Lock()
			_, fails, _ := u.keep.Wait(h.now())
			if running := u.keep.Current() != nil; running != (u.entries[0].Class == "good") || fails > 0 {
				t.Errorf("%s runs: %v", u.entries[0].Class, running)
			}
			u.mu.Unlock()
		}
	}
	if all, err := h.ToolsOf(t.Context(), s, nil, "nobody"); err != nil || all != nil {
		t.Errorf("got %v, %v", all, err)
	}
	if all, known := h.Known(t.Context(), s, nil); known || len(all) > 0 {
		t.Errorf("a part of the tools is on record: %v", all)
	}
}

// Each fault of a toolset is its own, and says why.
func TestFaultsAtStart(t *testing.T) {
	for _, tt := range []struct {
		mode string
		kind Kind
		want []string
	}{
		{"crash", KindCrash, []string{"exit code 3", "SyntaxError: this is wrong"}},
		{"hang", KindStart, []string{"did not say within 1s"}},
		{"flood", KindCrash, []string{"more than 16 MiB", "noise that is no message"}},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			h := newHost(t, func(o *Options) {
				if o.start = 10 * time.Minute; tt.mode == "hang" {
					o.start = time.Second
				}
			})
			modes := []string{"good", tt.mode}
			if tt.mode == "hang" {
				modes = modes[1:] // a good one may take longer on a busy machine
			}
			all, err := h.Tools(t.Context(), open(t, "demo", fakes(t, modes...)), nil)
			var e *Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Toolset != tt.mode || len(Errors(err)) != 1 {
				t.Fatalf("got %v of kind %v", err, e)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			if tt.mode == "hang" {
				return
			}
			if r := call(t.Context(), byName(all)["demo.good.text"], `{}`); !r.Success {
				t.Errorf("the other one: %+v", r)
			}
		})
	}
}

// A call that goes wrong fails with its cause, and the next one finds a process.
func TestFaultsOfCalls(t *testing.T) {
	for _, tt := range []struct {
		tool string
		code tool.Code
		want []string
	}{
		{"exit", tool.ExecutionFailed, []string{"exit code 7", "leaving"}},
		{"never", tool.Timeout, []string{"did not answer within 300ms"}},
		{"mute", tool.ExecutionFailed, []string{"it was ended: it closed its standard output and did not end", "going on"}},
		{"flood", tool.ExecutionFailed, []string{"more than 16 MiB"}},
		{"huge", tool.ExecutionFailed, []string{"its answer has 1000000", "at most 8388608 are taken"}},
		{"large", tool.ExecutionFailed, []string{"2097152 bytes", "at most 1048576 are given to a model"}},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			h := newHost(t, func(o *Options) {
				if tt.code == tool.Timeout {
					o.Call = 300 * time.Millisecond
				}
			})
			h.ping = time.Minute
			tools := must(t, h, open(t, "demo", fakes(t, "good")))
			r := call(t.Context(), tools["demo.good."+tt.tool], `{}`)
			if r.Error != tt.code {
				t.Errorf("got %+v", r)
			}
			for _, want := range tt.want {
				if !strings.Contains(r.Message, want) {
					t.Errorf("got %q, want %q", r.Message, want)
				}
			}
			h.o.Call = time.Minute
			if r := call(t.Context(), tools["demo.good.text"], `{}`); !r.Success {
				t.Errorf("the next call: %+v", r)
			}
		})
	}
}

// events collects the steps of one kind.
func events(o *Options, kind trace.Kind) <-chan trace.Event {
	c := make(chan trace.Event, 100)
	o.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) {
		if e.Kind == kind {
			c <- e
		}
	})
	return c
}

// A process that answers nothing any more after a call that was cancelled is killed.
func TestStuck(t *testing.T) {
	var ended <-chan trace.Event
	h := newHost(t, func(o *Options) { ended = events(o, trace.ToolsetEnded) })
	h.ping = 50 * time.Millisecond
	tools := must(t, h, open(t, "demo", fakes(t, "good")))
	call(t.Context(), tools["demo.good.stick"], `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if r := call(ctx, tools["demo.good.never"], `{}`); r.Error != tool.Timeout || !strings.Contains(r.Message, "was cancelled") {
		t.Errorf("got %+v", r)
	}
	if r := call(t.Context(), tools["demo.good.text"], `{}`); !r.Success { // it waits for the verdict
		t.Errorf("the next call: %+v", r)
	}
	if e := <-ended; e.Err == nil || !strings.Contains(e.Err.Error(), "answered nothing for 50ms") {
		t.Errorf("got %v", e.Err)
	}
}

// A call that is cancelled is cancelled in the toolset, and its process goes on.
func TestCancelReachesTool(t *testing.T) {
	h := newHost(t, nil)
	h.ping = time.Hour
	tools := must(t, h, open(t, "demo", fakes(t, "good")))
	pid := call(t.Context(), tools["demo.good.pid"], `{}`)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if r := call(ctx, tools["demo.good.never"], `{}`); r.Error != tool.Timeout {
		t.Errorf("got %+v", r)
	}
	for { // the cancellation is sent in the background
		if r := call(t.Context(), tools["demo.good.cancelled"], `{}`); r.Result == "1" {
			break
		}
	}
	if again := call(t.Context(), tools["demo.good.pid"], `{}`); string(again.Encode()) != string(pid.Encode()) {
		t.Errorf("got %s, then %s", pid.Encode(), again.Encode())
	}
}

// Calls of one process run at the same time.
func TestConcurrentCalls(t *testing.T) {
	h := newHost(t, nil)
	tools := must(t, h, open(t, "demo", fakes(t, "good")))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan tool.Result)
	go func() { done <- call(ctx, tools["demo.good.never"], `{}`) }()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			args := fmt.Sprintf(`{"n":%d}`, i)
			if r := call(t.Context(), tools["demo.good.echo"], args); fmt.Sprintf("%s", r.Result) != args {
				t.Errorf("got %+v, want %s", r, args)
			}
		})
	}
	wg.Wait()
	cancel()
	if r := <-done; r.Cause() != tool.CauseStopped {
		t.Errorf("got %+v", r)
	}
}

// A process ends when nobody calls it, and the next call starts another one.
func TestIdle(t *testing.T) {
	var ended <-chan trace.Event
	h := newHost(t, func(o *Options) {
		o.idle = time.Nanosecond
		ended = events(o, trace.ToolsetEnded)
	})
	tools := must(t, h, open(t, "demo", fakes(t, "good")))
	seen := map[string]bool{}
	for range 3 {
		if e := <-ended; e.Err != nil {
			t.Errorf("got %v", e.Err)
		}
		r := call(t.Context(), tools["demo.good.pid"], `{}`)
		if !r.Success || seen[fmt.Sprintf("%s", r.Result)] {
			t.Errorf("got %+v after %v", r, seen)
		}
		seen[fmt.Sprintf("%s", r.Result)] = true
	}
}

// A toolset that fails again and again is started more and more seldom.
func TestBackOff(t *testing.T) {
	h := newHost(t, nil)
	var clock atomic.Int64
	h.now = func() time.Time { return time.Unix(0, clock.Load()) }
	s := open(t, "demo", fakes(t, "crash"))
	kind := func() Kind {
		_, err := h.Tools(t.Context(), s, nil)
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("got %v", err)
		}
		if e.Kind == KindWait && !strings.Contains(e.Error(), "exit code 3") {
			t.Errorf("got %v", e)
		}
		return e.Kind
	}
	for i, want := range []struct {
		after time.Duration
		kind  Kind
	}{
		{0, KindCrash}, {0, KindCrash}, {0, KindWait}, {999 * time.Millisecond, KindWait}, {time.Millisecond, KindCrash},
		{time.Second, KindWait}, {time.Second, KindCrash}, {time.Minute, KindCrash},
	} {
		clock.Add(int64(want.after))
		if got := kind(); got != want.kind {
			t.Errorf("step %d: got %s, want %s", i, got, want.kind)
		}
	}
}

// A tool whose description is another one after a restart is refused, with the reason.
func TestPinned(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", fakes(t, "changes"))
	tools := must(t, h, s)
	if r := call(t.Context(), tools["demo.changes.exit"], `{}`); r.Success {
		t.Errorf("got %+v", r)
	}
	if r := call(t.Context(), tools["demo.changes.echo"], `{}`); r.Success || r.Reason != "toolset_changed" || !strings.Contains(r.Message, "another description") {
		t.Errorf("got %+v", r)
	}
	if r := call(t.Context(), tools["demo.changes.text"], `{}`); !r.Success {
		t.Errorf("got %+v", r)
	}
	if _, err := h.Tools(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), "another description") {
		t.Errorf("got %v", err)
	}
}

// A skill that changed since its tools were listed is not started with them.
func TestChangedContent(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", fakes(t, "good"))
	tools := must(t, h, s)
	call(t.Context(), tools["demo.good.exit"], `{}`)
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := call(t.Context(), tools["demo.good.text"], `{}`); r.Reason != "toolset_changed" {
		t.Errorf("got %+v", r)
	}
}

// What an earlier run had is known without starting anything, and a call starts it.
func TestKnown(t *testing.T) {
	s := open(t, "demo", fakes(t, "good"))
	cache := scratch.Dir(t)
	first := newHost(t, func(o *Options) { o.Cache = cache })
	if all, ok := first.Known(t.Context(), s, nil); ok || len(all) > 0 {
		t.Errorf("got %v, %v before the first run", all, ok)
	}
	tools := must(t, first, s)
	first.Close()
	var started <-chan trace.Event
	second := newHost(t, func(o *Options) {
		o.Cache = cache
		started = events(o, trace.ToolsetStarted)
	})
	asked := 0
	known, ok := second.Known(t.Context(), s, func(_ context.Context, s *skill.Skill) (*skill.Skill, error) { asked++; return s, nil })
	if !ok || len(known) != len(tools) || len(started) > 0 || asked > 0 {
		t.Fatalf("got %d of %d, %v", len(known), len(tools), ok)
	}
	if r := call(t.Context(), byName(known)["demo.good.text"], `{}`); !r.Success || len(started) != 1 || asked != 1 {
		t.Errorf("got %+v", r)
	}
}

// Nothing runs that is not admitted, at a start or at a restart.
func TestAdmit(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", fakes(t, "good"))
	no := errors.New("not approved")
	var admitted error = no
	admit := func(_ context.Context, s *skill.Skill) (*skill.Skill, error) { return s, admitted }
	if all, err := h.Tools(t.Context(), s, admit); !errors.Is(err, no) || len(all) > 0 {
		t.Fatalf("got %v, %v", all, err)
	}
	admitted = nil
	all, err := h.Tools(t.Context(), s, admit)
	if err != nil {
		t.Fatal(err)
	}
	call(t.Context(), byName(all)["demo.good.exit"], `{}`)
	admitted = no
	if r := call(t.Context(), byName(all)["demo.good.text"], `{}`); r.Success || !strings.Contains(r.Message, "not approved") {
		t.Errorf("got %+v", r)
	}
}

// Without options New says what is needed.
func TestNewWithoutOptions(t *testing.T) {
	for _, o := range []*Options{nil, {}} {
		if h, err := New(o); h != nil || err == nil || !strings.Contains(err.Error(), "Scripts is missing") {
			t.Errorf("got %v, %v", h, err)
		}
	}
}

// R119: toolsets in Go are called in this process and come first.
func TestRegister(t *testing.T) {
	h := newHost(t, nil)
	hello := tool.Tool{Name: "hello", Call: func(context.Context, json.RawMessage) tool.Result { return tool.Success(os.Getpid(), "") }}
	if err := h.Register("Demo", "InGo", hello); err != nil {
		t.Fatal(err)
	}
	if err := h.Register("demo", "InGo", hello); err == nil {
		t.Error("registered twice")
	}
	if !h.Registered("DEMO") || h.Registered("other") {
		t.Error("it does not know for which skill there are toolsets")
	}
	all, err := h.Tools(t.Context(), open(t, "demo", files{}), nil)
	if err != nil || len(all) != 1 || all[0].Source != "demo.InGo" {
		t.Fatalf("got %v, %v", all, err)
	}
	if r := call(t.Context(), all[0], `{}`); r.Result != os.Getpid() {
		t.Errorf("got %+v", r)
	}
}
