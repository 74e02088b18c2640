package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
)

const beat = 150 * time.Millisecond

// connected returns the connections of a replica and of two workers.
func connected(t *testing.T) (replica, w1, w2 *nats.Conn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "flow") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n, err := node.Open(t.Context(), &node.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	worker := func(name string) *nats.Conn {
		seed, err := n.Admit(name)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := node.Dial(dir, seed)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	return n.Conn(), worker("w1"), worker("w2")
}

func part(seq uint64) *order.Part {
	return &order.Part{Run: "r", Seq: seq, Data: bytes.Repeat([]byte{byte(seq)}, order.MaxPart)}
}

// All of a long output comes in order to a reader that is slow, and never is more of it under way than a window.
func TestSlowReader(t *testing.T) {
	replica, w1, _ := connected(t)
	const parts = 5 * window
	var sent, read atomic.Int64
	var most int64
	r, err := NewReader(t.Context(), replica, "r", beat, func(w string) bool { return w == "w1" }, func(p *order.Part) error {
		if n := read.Load(); p.Seq != uint64(n)+1 || p.Data[0] != byte(p.Seq) || len(p.Data) != order.MaxPart {
			t.Errorf("part %d after %d", p.Seq, n)
		}
		if read.Load() == 3 {
			time.Sleep((patience + 2) * beat) // it is slow, and not gone
		}
		time.Sleep(time.Millisecond)
		most = max(most, sent.Load()-read.Load())
		read.Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := replica.Flush(); err != nil { // the node has the subscription
		t.Fatal(err)
	}
	s, err := NewSender(w1, "w1", "r", beat)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range parts {
		if err := s.Send(t.Context(), part(uint64(i)+1)); err != nil {
			t.Fatal(err)
		}
		sent.Add(1)
	}
	r.Wait(t.Context(), parts, beat)
	if n := read.Load(); n != parts || most > window+1 || most < window/2 {
		t.Errorf("%d of %d parts, at most %d under way", n, parts, most)
	}
}

// A reader that is gone, or was never there, holds nobody up, and a run that is taken back ends the waiting at once.
func TestNoReader(t *testing.T) {
	_, w1, _ := connected(t)
	s, err := NewSender(w1, "w1", "r", beat)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send := func(ctx context.Context, n int) (err error) {
		for i := range n {
			if err = s.Send(ctx, part(uint64(i)+1)); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), beat)
	defer cancel()
	if err := send(ctx, window+1); err == nil {
		t.Error("more than a window is sent to nobody")
	}
	if err := send(t.Context(), 10*window); err != nil {
		t.Error(err)
	}
}

// A worker that has no part in a run says nothing in it, and what is out of order ends the output, not the run.
func TestForged(t *testing.T) {
	long := part(3)
	long.Data = make([]byte, order.MaxPart+1)
	for name, bad := range map[string]*order.Part{"out of order": part(4), "long": long} {
		t.Run(name, func(t *testing.T) { forged(t, bad) })
	}
}

func forged(t *testing.T, bad *order.Part) {
	replica, w1, w2 := connected(t)
	var got []uint64
	r, err := NewReader(t.Context(), replica, "r", beat, func(w string) bool { return w == "w1" }, func(p *order.Part) error {
		got = append(got, p.Seq)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := replica.Flush(); err != nil {
		t.Fatal(err)
	}
	say := func(conn *nats.Conn, subject string, p *order.Part) {
		b, _ := json.Marshal(p)
		if err := conn.Publish(subject, b); err != nil {
			t.Fatal(err)
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	say(w2, "from.w2.part.r", part(1)) // another worker, which is first
	say(w1, "from.w1.part.r", part(1))
	r.Wait(t.Context(), 1, beat)
	say(w2, "from.w2.part.r", part(2))
	say(w2, "from.w1.part.r", part(2)) // which the node does not let through
	say(w1, "from.w1.part.r", part(2))
	say(w1, "from.w1.part.r", bad)
	say(w1, "from.w1.part.r", part(3))
	r.Wait(t.Context(), 3, beat)
	r.Close()
	if len(got) != 2 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
}
