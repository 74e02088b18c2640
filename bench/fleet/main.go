// Command fleet measures a fleet of one machine: how much a tenant that floods costs another one, how runs grow with the workers, what a run
// costs on its way through the queue, and what many skills of many tenants need. It prints Markdown: fleet WHAT AGENT, where WHAT is one of the
// parts, or all. bench/run.sh builds and starts it. Linux only.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// parts are what is measured, in the order of all.
var parts = []struct {
	name string
	do   func(ctx context.Context, agent string) error
}{{"fairness", fairness}, {"growth", growth}, {"path", path}, {"runs", runs}, {"cluster", cluster}, {"waiting", waiting}, {"scripts", scripts}, {"tenants", many}}

func main() {
	log.SetFlags(0)
	log.SetPrefix("fleet: ")
	known := false
	for _, p := range parts {
		if len(os.Args) == 3 && (os.Args[1] == p.name || os.Args[1] == "all") {
			known = true
			fmt.Printf("\n%s, %s, load %s\n\n", p.name, time.Now().UTC().Format(time.TimeOnly), load())
			if err := p.do(context.Background(), os.Args[2]); err != nil {
				log.Fatalf("%s: %v", p.name, err)
			}
		}
	}
	if !known {
		log.Fatal("usage: fleet all|fairness|growth|path|runs|cluster|waiting|scripts|tenants AGENT")
	}
}

// load returns how many processes wanted a processor in the last minute.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// yard is a queue with a dispatcher and workers, all in this process. Each worker has a connection of its own, as that of another process.
type yard struct {
	dir    string
	nodes  []*node.Node
	queue  *dispatch.Queue
	conns  []*nats.Conn // of this process and the workers
	stop   context.CancelFunc
	closes []func()
}

// hands is what workers of a yard do.
type hands func(ctx context.Context, r *dispatch.Run, token uint64) []byte

// newYard opens a yard with some workers, each with some places. seal may be nil.
func newYard(ctx context.Context, o *dispatch.Options, seal func(context.Context, *dispatch.Run, *dispatch.To) ([]byte, error), workers, slots int, do hands) (*yard, error) {
	dir, err := os.MkdirTemp("", "yard")
	if err != nil {
		return nil, err
	}
	y := &yard{dir: dir}
	n, err := node.Open(ctx, &node.Options{Dir: dir, Disk: 8 << 30})
	if err != nil {
		return nil, err
	}
	y.nodes = []*node.Node{n}
	return y, y.begin(ctx, o, seal, workers, slots, do)
}

func (y *yard) begin(ctx context.Context, o *dispatch.Options, seal func(context.Context, *dispatch.Run, *dispatch.To) ([]byte, error), workers, slots int, do hands) (err error) {
	ctx, y.stop = context.WithCancel(ctx)
	if y.queue, err = dispatch.Open(ctx, y.nodes[0].Conn(), o); err != nil {
		return err
	}
	y.conns = append(y.conns, y.nodes[0].Conn())
	if seal == nil {
		seal = func(_ context.Context, r *dispatch.Run, _ *dispatch.To) ([]byte, error) { return r.Order, nil }
	}
	y.serve(ctx, y.queue.Dispatcher(seal).Serve)
	for i := range workers {
		name := fmt.Sprint("w", i)
		seed, err := y.nodes[0].Admit(name)
		if err != nil {
			return err
		}
		conn, err := node.Dial(y.dir, seed)
		if err != nil {
			return err
		}
		y.closes, y.conns = append(y.closes, conn.Close), append(y.conns, conn)
		w := &dispatch.Worker{Conn: conn, Name: name, Start: "s" + name, Slots: slots, Beat: time.Second,
			Open: func(r *dispatch.Run, token uint64) (func(context.Context) []byte, error) {
				return func(ctx context.Context) []byte { return do(ctx, r, token) }, nil
			}}
		y.serve(ctx, w.Serve)
	}
	return nil
}

func (y *yard) serve(ctx context.Context, serve func(context.Context) error) {
	done := make(chan struct{})
	go func() { _ = serve(ctx); close(done) }()
	y.closes = append(y.closes, func() { <-done })
}

func (y *yard) close() {
	y.stop()
	for _, c := range slices.Backward(y.closes) {
		c()
	}
	for _, n := range y.nodes {
		n.Close()
	}
	_ = os.RemoveAll(y.dir)
}

// one brings one run to its end, and returns how long that took.
func (y *yard) one(ctx context.Context, r *dispatch.Run) (time.Duration, error) {
	begun := time.Now()
	if r.Until.IsZero() {
		r.Until = begun.Add(10 * time.Minute)
	}
	t, err := y.queue.Submit(ctx, r)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	e, err := t.Wait(ctx)
	if err == nil && e.State != dispatch.Done {
		err = fmt.Errorf("run %s is %s", r.ID, e.State)
	}
	return time.Since(begun), err
}

// at returns the time below which a share of all lies.
func at(all []time.Duration, share float64) time.Duration {
	slices.Sort(all)
	return all[min(len(all)-1, int(share*float64(len(all))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

// sorted returns the keys of a map in their order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
