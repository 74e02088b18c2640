// Package ordered runs scripts of skills in tests as another machine does: by orders that a worker gets by way of a queue.
package ordered

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/fleet/relay"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// beat is short, so that a worker is known at once.
const beat = 100 * time.Millisecond

// New returns what runs scripts by orders, which a worker of its own gets over its own connection. They start with the first order. The
// worker has a host with these options. What their Granted and Trace are for stays on this side, with a host that runs nothing.
func New(tb testing.TB, o *script.Options) *order.Sender {
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
	worker := &relay.Worker{Conn: conn, Name: "w", Slots: 8, Beat: beat, Keys: map[string]ed25519.PublicKey{"d": public}, Host: func(string) (*script.Options, error) { return &far, nil },
		Contents: &content.Cache{Dir: store.Dir{Root: scratch.Dir(tb)}}}
	signer := &relay.Signer{Name: "d", Key: private, Conn: n.Conn()}
	ended := make(chan error, 2)
	go func() { ended <- worker.Serve(ctx) }()
	go func() { ended <- q.Dispatcher(signer.Seal).Serve(ctx) }()
	tb.Cleanup(func() { cancel(); <-ended; <-ended })
	return &relay.Caller{Queue: q, Seal: seal, Temp: tb.TempDir(), Conn: n.Conn(), Beat: beat, Variables: func(passes func(string) bool) ([]string, error) {
		return slices.DeleteFunc(slices.Clone(far.Env), func(kv string) bool { name, _, _ := strings.Cut(kv, "="); return !passes(name) }), nil
	}}, nil
}
