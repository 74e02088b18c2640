package relay

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/flow"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

const beat = 200 * time.Millisecond

func sample(t *testing.T, files probe.Tree) (*order.Order, *skill.Skill) {
	t.Helper()
	s := probe.In(t, t.TempDir(), files)
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &order.Order{Version: order.Version, Run: "r1", Call: order.Run, Skill: id, Script: &order.Script{Name: "a", File: "scripts/a.sh"}, Until: time.Now().Add(time.Minute)}, s
}

// fleet is a node with a queue, and what a worker needs.
type fleet struct {
	*Caller
	dir     string
	node    *node.Node
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dir, err := os.MkdirTemp("", "node") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &fleet{dir: dir}
	if f.node, err = node.Open(t.Context(), &node.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.node.Close)
	q := f.queue(t, 0)
	copies := scratch.Dir(t)
	f.Caller = &Caller{Queue: q, Conn: f.node.Conn(), Beat: beat, Temp: copies, Seal: func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return s.Seal(ctx, copies) }}
	if f.public, f.private, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	return f
}

// queue returns the queue, of which each tenant may have a number of runs; 0 means the usual one.
func (f *fleet) queue(t *testing.T, quota int) *dispatch.Queue {
	t.Helper()
	q, err := dispatch.Open(t.Context(), f.node.Conn(), &dispatch.Options{Beat: beat, Quota: quota})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// runs lets something serve until the test ends.
func runs(t *testing.T, serve func(context.Context) error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { serve(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
}

// worker is one with a connection of its own. It counts the scripts that it has started.
func (f *fleet) worker(t *testing.T, name string) (*Worker, *atomic.Int32) {
	t.Helper()
	seed, err := f.node.Admit(name)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := node.Dial(f.dir, seed, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // it may try what it may not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	var did atomic.Int32
	dir := scratch.Dir(t)
	return &Worker{Conn: conn, Name: name, Slots: 2, Beat: beat, Tenant: "acme", Keys: map[string]ed25519.PublicKey{"d": f.public}, Contents: &content.Cache{Dir: store.Dir{Root: scratch.Dir(t)}},
		Host: func(tenant string) (*script.Options, error) {
			return &script.Options{LookPath: exec.LookPath, Cache: filepath.Join(dir, "of-"+tenant), Env: []string{"A_TOKEN=of the worker", "B_TOKEN=of the worker"},
				Trace: trace.TracerFunc(func(_ context.Context, e trace.Event) {
					if e.Kind == trace.ScriptStarted {
						did.Add(1)
					}
				})}, nil
		}}, &did
}

// A worker carries out one attempt at an order, and nothing that only resembles it. The attacker has the rights of a dispatcher, but not its
// key.
func TestHostileOrders(t *testing.T) {
	f := newFleet(t)
	w, did := f.worker(t, "w")
	d, err := w.start()
	if err != nil {
		t.Fatal(err)
	}
	runs(t, d.Serve)
	o, s := sample(t, probe.Tree{"scripts/a.sh": "echo hello\n"})
	o.For.Tenant = "acme"
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(6)
	attempt := func(edit func(r *dispatch.Run, to *dispatch.To, s *Signer, o *order.Order), handed func(m *nats.Msg)) (state, text string) {
		t.Helper()
		again := *o
		n++
		again.Run = fmt.Sprintf("r%d", n)
		r, to, signer := &dispatch.Run{ID: again.Run, Tenant: "acme", Until: o.Until}, &dispatch.To{Worker: "w", Start: d.Start, Key: d.Key, Token: n}, &Signer{Name: "d", Key: f.private}
		if edit != nil {
			edit(r, to, signer, &again)
		}
		shelf := &shelf{ctx: t.Context(), o: &again, s: s, temp: t.TempDir()}
		stop, err := flow.Offer(f.Conn, again.Run, func(string) bool { return true }, shelf.open)
		if err != nil {
			t.Fatal(err)
		}
		defer shelf.close()
		defer stop()
		if r.Order, err = again.Encode(); err != nil {
			t.Fatal(err)
		}
		m := nats.NewMsg("to.w.run")
		if m.Data, err = signer.Seal(t.Context(), r, to); err != nil {
			return "unsigned", err.Error()
		}
		m.Header = nats.Header{"Run": {again.Run}, "Token": {fmt.Sprint(n)}, "Until": {r.Until.UTC().Format(time.RFC3339Nano)}}
		if handed != nil {
			handed(m)
		}
		said, ask := "", nats.NewMsg("to.w.ask")
		for range 500 {
			now := m
			if said == string(dispatch.Running) {
				now, ask.Header = ask, m.Header
			}
			if a, err := f.Conn.RequestMsg(now, time.Second); err == nil { // else it does not serve yet
				if said = a.Header.Get("State"); said != string(dispatch.Running) {
					return said, string(a.Data)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		return "silent", ""
	}
	var kept *nats.Msg
	if state, text := attempt(nil, func(m *nats.Msg) { kept = m }); state != "done" || !strings.Contains(text, `"text":"hello`) || did.Load() != 1 {
		t.Fatalf("%s, %s: nothing below counts", state, text)
	}
	type edit = func(*dispatch.Run, *dispatch.To, *Signer, *order.Order)
	for name, tt := range map[string]struct {
		edit   edit
		handed func(*nats.Msg)
		state  string
		want   string
	}{
		"forged":            {func(_ *dispatch.Run, _ *dispatch.To, s *Signer, _ *order.Order) { s.Key = stranger }, nil, "refused", "nobody signed"},
		"another signer":    {func(_ *dispatch.Run, _ *dispatch.To, s *Signer, _ *order.Order) { s.Name = "e" }, nil, "refused", "nobody signed"},
		"altered":           {nil, func(m *nats.Msg) { m.Data = bytes.Replace(m.Data, []byte(`"order":"ey`), []byte(`"order":"eX`), 1) }, "refused", "nobody signed"},
		"garbage":           {nil, func(m *nats.Msg) { m.Data = []byte("[]") }, "refused", "no order"},
		"of another worker": {func(_ *dispatch.Run, to *dispatch.To, _ *Signer, _ *order.Order) { to.Worker = "v" }, nil, "refused", "another worker"},
		"of a former start": {func(_ *dispatch.Run, to *dispatch.To, _ *Signer, _ *order.Order) { to.Start = "former" }, nil, "refused", "another start"},
		"of another tenant": {func(r *dispatch.Run, _ *dispatch.To, _ *Signer, o *order.Order) {
			r.Tenant, o.For.Tenant = "evil", "evil"
		}, nil, "refused", "another tenant"},
		"of another run":     {nil, func(m *nats.Msg) { m.Header.Set("Run", "other") }, "refused", "another run"},
		"of another attempt": {nil, func(m *nats.Msg) { m.Header.Set("Token", "99") }, "refused", "another attempt"},
		"of another time": {nil, func(m *nats.Msg) {
			m.Header.Set("Until", time.Now().Add(30*time.Minute).UTC().Format(time.RFC3339Nano))
		}, "refused", "another time"},
		"late": {func(r *dispatch.Run, _ *dispatch.To, _ *Signer, _ *order.Order) {
			r.Until = time.Now().Add(-time.Second)
		}, nil, "refused", "has passed"},
		"of next year": {func(r *dispatch.Run, _ *dispatch.To, _ *Signer, _ *order.Order) {
			r.Until = time.Now().Add(9000 * time.Hour)
		}, nil, "refused", "from now"},
		"replayed":                      {nil, func(m *nats.Msg) { *m = nats.Msg{Subject: m.Subject, Header: kept.Header, Data: kept.Data} }, "done", ""},
		"of a run that is another":      {func(r *dispatch.Run, _ *dispatch.To, _ *Signer, _ *order.Order) { r.ID = "other" }, nil, "unsigned", "not that of the run"},
		"of a tenant's that is another": {func(r *dispatch.Run, _ *dispatch.To, _ *Signer, _ *order.Order) { r.Tenant = "evil" }, nil, "unsigned", "not that of the run"},
		"sealed by who queued it":       {func(_ *dispatch.Run, _ *dispatch.To, _ *Signer, o *order.Order) { o.Sealed = []byte("x") }, nil, "unsigned", "not that of the run"},
		"about another content": {func(_ *dispatch.Run, _ *dispatch.To, _ *Signer, o *order.Order) {
			o.Skill.Digest = "sha256:" + strings.Repeat("0", 64)
		}, nil, "done", "does not come to worker w"},
	} {
		if state, text := attempt(tt.edit, tt.handed); state != tt.state || !strings.Contains(text, tt.want) || did.Load() != 1 {
			t.Errorf("%s: %s %.300s; %d scripts were started", name, state, text, did.Load())
		}
	}
}

// What is not known is an error, and everything else a result.
func TestResult(t *testing.T) {
	o, _ := sample(t, nil)
	good, err := (&order.Result{Version: order.Version, Run: o.Run, Attempt: 7, Worker: "w"}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		end  dispatch.End
		want string // of the error, or of the failure
		ok   bool
	}{
		"done":            {dispatch.End{State: dispatch.Done, Worker: "w", Token: 7, Result: good}, "", true},
		"another attempt": {dispatch.End{State: dispatch.Done, Worker: "w", Token: 8, Result: good}, "answers as", false},
		"another worker":  {dispatch.End{State: dispatch.Done, Worker: "v", Token: 7, Result: good}, "answers as", false},
		"garbage":         {dispatch.End{State: dispatch.Done, Worker: "w", Token: 7, Result: []byte("{")}, "no result", false},
		"lost":            {dispatch.End{State: dispatch.Lost, Worker: "w"}, "may have run", false},
		"late":            {dispatch.End{State: dispatch.Late}, "before its deadline", true},
		"cancelled":       {dispatch.End{State: dispatch.Cancelled}, "taken back", true},
		"refused":         {dispatch.End{State: dispatch.Refused, Worker: "w", Result: []byte("a bad order")}, "a bad order", true},
	} {
		r, err := result(o, &tt.end)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && tt.want != "" {
			err = r.Failure.Err()
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A full queue is an answer, and a call that is given up is taken back.
func TestSend(t *testing.T) {
	f := newFleet(t)
	f.Queue = f.queue(t, 1)
	o, s := sample(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := f.Send(ctx, o, s, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", r, err)
	}
	again := *o
	again.Run = "r2"
	r, err := f.Send(t.Context(), &again, s, nil)
	if err != nil || !strings.Contains(r.Failure.Err().Error(), "too many runs of this tenant wait") {
		t.Errorf("%+v, %v", r, err)
	}
	ticket, err := f.Queue.Submit(t.Context(), &dispatch.Run{ID: "r1", Until: time.Now().Add(time.Minute)}) // the same run again: how did it end?
	if err != nil {
		t.Fatal(err)
	}
	defer ticket.Close()
	if end, err := ticket.Wait(t.Context()); err != nil || end.State != dispatch.Cancelled {
		t.Errorf("%+v, %v", end, err)
	}
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("SKILL.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no links here: ", err)
	}
	f.Seal = func(context.Context, *skill.Skill) (*skill.Skill, error) {
		return probe.From(t, skill.Dir(filepath.Dir(dir), nil)), nil
	}
	if r, err := f.Send(t.Context(), o, s, nil); err != nil || !strings.Contains(r.Failure.Err().Error(), `because "link.md" is a symbolic link`) {
		t.Errorf("%+v, %v", r, err)
	}
	f.Seal = func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, skill.ErrChanged }
	if _, err := f.Send(t.Context(), o, s, nil); !errors.Is(err, skill.ErrChanged) {
		t.Error(err)
	}
}
