package relay

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

func sample(t *testing.T) (*order.Order, *skill.Skill) {
	t.Helper()
	s := probe.In(t, t.TempDir(), probe.Tree{"scripts/a.sh": "echo hello\n"})
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &order.Order{Version: order.Version, Run: "r1", Call: order.Run, Skill: id, Script: &order.Script{Name: "a", File: "scripts/a.sh"}, Until: time.Now().Add(time.Minute)}, s
}

// What is sealed for one attempt is opened for that one alone, and what somebody else has made not at all.
func TestOpen(t *testing.T) {
	o, s := sample(t)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w, err := order.NewWorker(script.Options{Cache: t.TempDir(), LookPath: func(string) (string, error) { return "/bin/sh", nil }})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seal := func(edit func(*parcel, *dispatch.Run, *dispatch.To), key ed25519.PrivateKey) ([]byte, error) {
		text, err := o.Encode()
		if err != nil {
			t.Fatal(err)
		}
		p, r, to := &parcel{text, dir}, &dispatch.Run{ID: o.Run, Until: o.Until}, &dispatch.To{Worker: "w", Start: "s", Token: 7}
		if edit != nil {
			edit(p, r, to)
		}
		if r.Order, err = json.Marshal(p); err != nil {
			t.Fatal(err)
		}
		return Seal("d", key)(t.Context(), r, to)
	}
	for name, tt := range map[string]struct {
		edit  func(*parcel, *dispatch.Run, *dispatch.To)
		key   ed25519.PrivateKey
		token uint64
		want  string
	}{
		"of another run":    {func(_ *parcel, r *dispatch.Run, _ *dispatch.To) { r.ID = "r2" }, private, 7, "not that of the run"},
		"of another tenant": {func(_ *parcel, r *dispatch.Run, _ *dispatch.To) { r.Tenant = "t2" }, private, 7, "not that of the run"},
		"no order":          {func(p *parcel, _ *dispatch.Run, _ *dispatch.To) { p.Order = []byte("{") }, private, 7, "no order"},
		"another signer":    {nil, other, 7, "nobody signed"},
		"another worker":    {func(_ *parcel, _ *dispatch.Run, to *dispatch.To) { to.Worker = "v" }, private, 7, "another worker"},
		"another start":     {func(_ *parcel, _ *dispatch.Run, to *dispatch.To) { to.Start = "r" }, private, 7, "another start"},
		"another attempt":   {nil, private, 8, "another attempt"},
	} {
		b, err := seal(tt.edit, tt.key)
		if err == nil {
			receiver := &order.Receiver{Worker: "w", Start: "s", Keys: map[string]ed25519.PublicKey{"d": public}, Now: time.Now}
			_, err = Open(receiver, w, nil, 0)("r1", tt.token, b)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	receiver := &order.Receiver{Worker: "w", Start: "s", Keys: map[string]ed25519.PublicKey{"d": public}, Now: time.Now}
	open := Open(receiver, w, nil, 0)
	for folder, want := range map[string]string{dir: `"text":"hello`, "/nowhere/x": "does not come to worker w", "x": "not absolute"} {
		o.Run = "r" + rand.Text()
		b, err := seal(func(p *parcel, _ *dispatch.Run, _ *dispatch.To) { p.Folder = folder }, private)
		if err != nil {
			t.Fatal(err)
		}
		do, err := open(o.Run, 7, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(do(t.Context())); !strings.Contains(got, want) {
			t.Errorf("%s: %s", folder, got)
		}
		if _, err := open(o.Run, 7, b); err == nil {
			t.Errorf("%s: it is opened again", folder)
		}
	}
	if _, err := open("r", 1, []byte("[]")); err == nil {
		t.Error("no parcel was opened")
	}
}

// What is not known is an error, and everything else a result.
func TestResult(t *testing.T) {
	o, _ := sample(t)
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
	dir, err := os.MkdirTemp("", "node")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	n, err := node.Open(t.Context(), &node.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	q, err := dispatch.Open(t.Context(), n.Conn(), &dispatch.Options{Beat: 50 * time.Millisecond, Quota: 1})
	if err != nil {
		t.Fatal(err)
	}
	o, s := sample(t)
	copies := t.TempDir()
	c := &Caller{Queue: q, Seal: func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return s.Seal(ctx, copies) }}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := c.Send(ctx, o, s, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", r, err)
	}
	again := *o
	again.Run = "r2"
	r, err := c.Send(t.Context(), &again, s, nil)
	if err != nil || !strings.Contains(r.Failure.Err().Error(), "too many runs of this tenant wait") {
		t.Errorf("%+v, %v", r, err)
	}
	ticket, err := q.Submit(t.Context(), &dispatch.Run{ID: "r1", Until: time.Now().Add(time.Minute)}) // the same run again: how did it end?
	if err != nil {
		t.Fatal(err)
	}
	defer ticket.Close()
	if end, err := ticket.Wait(t.Context()); err != nil || end.State != dispatch.Cancelled {
		t.Errorf("%+v, %v", end, err)
	}
	c.Seal = func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, skill.ErrChanged }
	if _, err := c.Send(t.Context(), o, s, nil); !errors.Is(err, skill.ErrChanged) {
		t.Error(err)
	}
}
