package ordered

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// beat is short, so that a worker is known at once.
const beat = 100 * time.Millisecond

// Queued is New by way of a queue and a worker of its own, over its own connection. They start with the first order.
func Queued(tb testing.TB, o *script.Options) *order.Sender {
	tb.Helper()
	here := *o
	here.Cache = scratch.Dir(tb)
	near, err := script.New(&here)
	if err != nil {
		tb.Fatal(err)
	}
	started := sync.OnceValues(func() (*relay.Caller, error) { return start(tb, *o, near.Seal) })
	return order.NewSender(&order.SenderOptions{Host: near, Granted: o.Granted, AlwaysHelp: o.AlwaysHelp, Trace: o.Trace,
		Send: func(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
			caller, err := started()
			if err != nil {
				return nil, err
			}
			return caller.Send(ctx, o, s, out)
		}})
}

// start starts a node, a worker whose host has these options, and what gives it the runs of the queue. They end with the test.
func start(tb testing.TB, far script.Options, seal func(context.Context, *skill.Skill) (*skill.Skill, error)) (*relay.Caller, error) {
	far.Trace = nil
	w, err := order.NewWorker(far)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "node") // a socket's path is short
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	n, err := node.Open(ctx, &node.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	tb.Cleanup(n.Close)
	q, err := dispatch.Open(ctx, n.Conn(), &dispatch.Options{Beat: beat})
	if err != nil {
		return nil, err
	}
	seed, err := n.Admit("w")
	if err != nil {
		return nil, err
	}
	conn, err := node.Dial(dir, seed)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(conn.Close)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	receiver := &order.Receiver{Worker: "w", Start: rand.Text(), Keys: map[string]ed25519.PublicKey{"d": public}, Now: time.Now}
	worker := &dispatch.Worker{Conn: conn, Name: "w", Start: receiver.Start, Slots: 8, Beat: beat, Open: relay.Open(receiver, w, conn, beat)}
	ended := make(chan error, 2)
	go func() { ended <- worker.Serve(ctx) }()
	go func() { ended <- q.Dispatcher(relay.Seal("d", private)).Serve(ctx) }()
	tb.Cleanup(func() { cancel(); <-ended; <-ended })
	return &relay.Caller{Queue: q, Seal: seal, Conn: n.Conn(), Beat: beat}, nil
}
