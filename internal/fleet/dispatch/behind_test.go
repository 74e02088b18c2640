package dispatch

import (
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

// leaders returns who leads the consumer of a tenant, and what the leader of the queue says, when both have one.
func (d *Dispatcher) leaders(t *testing.T, subject string) (string, *jetstream.StreamInfo) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(beat / 10) {
		info, err := d.q.runs.Info(t.Context(), jetstream.WithSubjectFilter(subject))
		if err != nil || info.Cluster.Leader == "" {
			continue
		}
		if c, err := d.from[subject].Info(t.Context()); err == nil && c.Cluster.Leader != "" {
			return c.Cluster.Leader, info
		}
	}
	t.Fatal("no leader")
	return "", nil
}

// A consumer that has not seen all of the queue, because its node is behind, is led by the node that leads the queue afterwards.
func TestBehind(t *testing.T) {
	conn := three(t)
	q, err := Open(t.Context(), conn, &Options{Beat: beat, Replicas: 3, QueueBytes: 1 << 20, ClaimBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, q, run("r"))
	d := q.Dispatcher(plain)
	for d.look(t.Context()) != nil { // the consumer has no leader yet
		time.Sleep(beat / 10)
	}
	subject := d.turns[0]
	by, info := d.leaders(t, subject)
	for ; by == info.Cluster.Leader; by, info = d.leaders(t, subject) {
		if _, err := conn.Request("$JS.API.CONSUMER.LEADER.STEPDOWN.RUNS."+strings.TrimPrefix(subject, runsOf), nil, beat); err != nil {
			t.Log(err)
		}
		time.Sleep(beat / 2)
	}
	for _, node := range info.Cluster.Replicas {
		node.Current, node.Offline = node.Name != by, false
	}
	look := func(waiting uint64) string {
		info.State.Subjects[subject] = waiting
		d.lags, d.led = lags{by: time.Now().Add(-time.Minute)}, time.Time{}
		d.behind(t.Context(), info)
		time.Sleep(beat)
		by, _ := d.leaders(t, subject)
		return by
	}
	if now := look(1); now != by {
		t.Errorf("a consumer that has seen all moved from %s to %s", by, now)
	}
	if now := look(2); now != info.Cluster.Leader {
		t.Errorf("%s leads the consumer, want %s", now, info.Cluster.Leader)
	}
}

// A node is behind for long only if it always was when it was looked at, and it is there.
func TestLags(t *testing.T) {
	l, now := lags{}, time.Now()
	at := func(after time.Duration, node jetstream.PeerInfo) bool {
		node.Name = "a"
		return l.note(&jetstream.ClusterInfo{Replicas: []*jetstream.PeerInfo{&node, {Name: "b", Current: true}}}, now.Add(after), time.Minute)
	}
	if l.note(nil, now, time.Minute) {
		t.Error("a server alone is behind")
	}
	for i, c := range []struct {
		after time.Duration
		node  jetstream.PeerInfo
		want  bool
	}{
		{0, jetstream.PeerInfo{}, false},
		{time.Minute, jetstream.PeerInfo{}, false},
		{2 * time.Minute, jetstream.PeerInfo{}, true},
		{3 * time.Minute, jetstream.PeerInfo{Current: true}, false},
		{4 * time.Minute, jetstream.PeerInfo{}, false},
		{6 * time.Minute, jetstream.PeerInfo{Offline: true}, false},
		{7 * time.Minute, jetstream.PeerInfo{}, false},
		{9 * time.Minute, jetstream.PeerInfo{}, true},
	} {
		if got := at(c.after, c.node); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}
