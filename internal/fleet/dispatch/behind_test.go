package dispatch

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// three starts three servers, and returns a connection to them.
func three(t *testing.T) *nats.Conn {
	t.Helper()
	held, routes, urls := make([]net.Listener, 3), make([]string, 3), make([]string, 3)
	for i := range held { // all are open at once, so they have different ports
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held[i], routes[i] = l, "nats://"+l.Addr().String()
	}
	for i, l := range held {
		l.Close()
		s, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
			JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30, Routes: server.RoutesFromStr(strings.Join(routes, ",")),
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		urls[i] = s.ClientURL()
	}
	conn, err := nats.Connect(strings.Join(urls, ","))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// late is a queue that reports a node as behind.
type late struct {
	jetstream.Stream
	node string
}

func (l *late) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	info, err := l.Stream.Info(ctx, o...)
	if err == nil && info.Cluster != nil {
		for _, node := range info.Cluster.Replicas {
			node.Current, node.Active = node.Name != l.node, beat
		}
	}
	return info, err
}

// A consumer is moved to the node that leads the queue if its own is behind, and only then.
func TestMoveConsumers(t *testing.T) {
	q, err := Open(t.Context(), three(t), &Options{Beat: quick, Replicas: 3, QueueBytes: 1 << 20, ClaimBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	queue := &late{Stream: q.runs}
	q.runs = queue
	submit(t, q, run("r"))
	d := q.Dispatcher(plain)
	// until looks as a dispatcher does until the leaders of the consumer and the queue are as they should be.
	until := func(what string, ok func(consumer, queue string) bool) (consumer, leader string) {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(quick) {
			if d.look(t.Context()) != nil {
				continue
			}
			info, err := queue.Info(t.Context())
			if err != nil || info.Cluster.Leader == "" {
				continue
			}
			if c, err := d.from[d.turns[0]].Info(t.Context()); err == nil && c.Cluster.Leader != "" && ok(c.Cluster.Leader, info.Cluster.Leader) {
				return c.Cluster.Leader, info.Cluster.Leader
			}
		}
		t.Fatalf("not %s", what)
		return "", ""
	}
	consumer, leader := until("two leaders", func(consumer, queue string) bool {
		if consumer == queue {
			_ = q.conn.Publish("$JS.API.CONSUMER.LEADER.STEPDOWN.RUNS."+strings.TrimPrefix(d.turns[0], runsOf), nil)
		}
		return consumer != queue
	})
	for _, node := range []string{"n0", "n1", "n2"} {
		if node != consumer && node != leader {
			queue.node = node
		}
	}
	for end := time.Now().Add(3 * silence * quick); time.Now().Before(end); {
		if now, _ := until("led", func(string, string) bool { return true }); now != consumer {
			t.Fatalf("%s leads the consumer in place of %s, which is not behind", now, consumer)
		}
	}
	queue.node = consumer
	until("moved", func(consumer, queue string) bool { return consumer == queue })
}

// A node counts as behind if the leader hears it and it was behind at each note for a minute, with no longer pause between two notes.
func TestLags(t *testing.T) {
	l, now := lags{}, time.Now()
	late := jetstream.PeerInfo{Active: time.Second}
	for i, c := range []struct {
		after time.Duration // in seconds
		node  *jetstream.PeerInfo
		want  bool
	}{
		{0, &late, false},
		{50, &late, false},
		{100, &late, true},
		{110, &jetstream.PeerInfo{Current: true}, false},
		{120, &late, false},
		{150, &jetstream.PeerInfo{Active: time.Second, Offline: true}, false},
		{190, &late, false},
		{240, &jetstream.PeerInfo{}, false},
		{250, &late, false},
		{300, nil, false}, // it leads
		{320, &late, false},
		{360, &late, false},
		{390, &late, true},
		{460, &late, false}, // the first note for more than a minute
	} {
		info := &jetstream.ClusterInfo{Replicas: []*jetstream.PeerInfo{{Name: "b", Current: true}}}
		if c.node != nil {
			node := *c.node
			node.Name = "a"
			info.Replicas = append(info.Replicas, &node)
		}
		if got := l.note(info, now.Add(c.after*time.Second), time.Minute); got["a"] != c.want || got["b"] {
			t.Errorf("%d: %v", i, got)
		}
	}
	if got := l.note(nil, now, time.Minute); len(got) > 0 {
		t.Errorf("a server alone: %v", got)
	}
}
