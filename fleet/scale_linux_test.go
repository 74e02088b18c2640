package fleet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// BenchmarkRuns measures points of docs/scale.md: runs that do nothing, with an order and a result of 1 KiB each, 64 at a time, through one
// node and through three, all in this process.
func BenchmarkRuns(b *testing.B) {
	for name, start := range map[string]func(*testing.B) []*node.Options{"one": oneNode, "three": threeNodes} {
		b.Run(name, func(b *testing.B) {
			options := start(b)
			nodes := make([]*node.Node, len(options))
			var all sync.WaitGroup
			for i, o := range options {
				all.Go(func() {
					var err error
					if nodes[i], err = node.Open(b.Context(), o); err != nil {
						b.Error(err)
					}
				})
			}
			if all.Wait(); b.Failed() {
				b.FailNow()
			}
			for _, n := range nodes {
				defer n.Close()
			}
			measureRuns(b, nodes[0], options[0].Dir, len(nodes))
		})
	}
}

func oneNode(b *testing.B) []*node.Options { return []*node.Options{{Dir: b.TempDir()}} }

func threeNodes(b *testing.B) (out []*node.Options) {
	dir := b.TempDir()
	until := time.Now().Add(time.Hour)
	ca, caKey, err := node.Certificate(nil, "bench", until)
	if err != nil {
		b.Fatal(err)
	}
	authority, err := tls.X509KeyPair(ca, caKey)
	if err != nil {
		b.Fatal(err)
	}
	cert, key, err := node.Certificate(&authority, "127.0.0.1", until)
	if err != nil {
		b.Fatal(err)
	}
	path := map[string]string{}
	for name, text := range map[string][]byte{"ca": ca, "cert": cert, "key": key} {
		path[name] = filepath.Join(dir, name)
		if err := os.WriteFile(path[name], text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	issuer, err := node.NewIssuer(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	var at []string
	for range 6 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		at = append(at, l.Addr().String())
	}
	for i := range 3 {
		out = append(out, &node.Options{Dir: filepath.Join(dir, fmt.Sprint(i)), Cluster: &node.Cluster{Name: fmt.Sprint("n", i), Listen: at[i], Route: at[3+i],
			Peers: at[3:], Cert: path["cert"], Key: path["key"], CA: path["ca"], Issuer: issuer}})
	}
	return out
}

// measureRuns reports for each run, besides the time: the processor time of everything in this process, the bytes that are kept of it
// afterwards, and those that its worker gets and sends.
func measureRuns(b *testing.B, n *node.Node, dir string, copies int) {
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	q, err := dispatch.Open(ctx, n.Conn(), &dispatch.Options{Replicas: copies, AtOnce: 64, Quota: 1000})
	if err != nil {
		b.Fatal(err)
	}
	seed, err := n.Admit("w")
	if err != nil {
		b.Fatal(err)
	}
	conn, err := node.Dial(dir, seed)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	text := make([]byte, 1<<10)
	w := &dispatch.Worker{Conn: conn, Name: "w", Start: "3f0c6a52d1b84e97", Slots: 64, Beat: time.Second}
	w.Open = func(*dispatch.Run, uint64) (func(context.Context) []byte, error) {
		return func(context.Context) []byte { return text }, nil
	}
	d := q.Dispatcher(func(context.Context, *dispatch.Run, *dispatch.To) ([]byte, error) { return text, nil })
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = w.Serve(ctx) })
	all.Go(func() { _ = d.Serve(ctx) })
	run := func(id string) {
		ticket, err := q.Submit(ctx, &dispatch.Run{ID: id, Until: time.Now().Add(10 * time.Minute), Order: text})
		if err != nil {
			b.Error(err)
			return
		}
		defer ticket.Close()
		if end, err := ticket.Wait(ctx); err != nil || end.State != dispatch.Done {
			b.Errorf("run %s: %v, %v", id, end, err)
		}
	}
	run("first")
	kept, processor, before := claimBytes(b, n.Conn()), used(b), conn.Stats()
	places := make(chan bool, 64)
	b.ResetTimer()
	var runs sync.WaitGroup
	for i := range b.N {
		places <- true
		runs.Go(func() { run(fmt.Sprintf("%026d", i)); <-places })
	}
	runs.Wait()
	b.StopTimer()
	after := conn.Stats()
	each := func(total float64, unit string) { b.ReportMetric(total/float64(b.N), unit+"/op") }
	each(float64(used(b)-processor)/1e6, "cpu-ms")
	each(float64(claimBytes(b, n.Conn())-kept), "kept-B")
	each(float64(after.InBytes+after.OutBytes-before.InBytes-before.OutBytes), "worker-B")
}

// claimBytes returns how many bytes the claims take on each node.
func claimBytes(b *testing.B, conn *nats.Conn) uint64 {
	js, err := jetstream.New(conn)
	if err != nil {
		b.Fatal(err)
	}
	s, err := js.Stream(b.Context(), "KV_claims")
	if err != nil {
		b.Fatal(err)
	}
	return s.CachedInfo().State.Bytes
}

// used returns the processor time that this process has taken.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
