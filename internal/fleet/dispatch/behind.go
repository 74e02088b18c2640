package dispatch

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// asked is how many consumers are asked at once who leads them.
const asked = 50

// moveConsumers moves consumers whose leader has long been behind with the queue to the leader of the queue. A consumer delivers what its
// leader's copy of the queue has. A node that was cut off, or whose disk was full, may need most of a minute to catch up.
func (d *Dispatcher) moveConsumers(ctx context.Context, info *jetstream.StreamInfo) {
	behind := d.lags.note(info.Cluster, time.Now(), silence*d.q.o.Beat)
	if len(behind) == 0 || info.Cluster.Leader == "" || time.Since(d.moved) < d.q.o.Beat {
		return
	}
	request, _ := json.Marshal(map[string]any{"placement": map[string]string{"preferred": info.Cluster.Leader}})
	left := asked // the others another time: a map has no order
	for subject := range info.State.Subjects {
		c := d.from[subject]
		if c == nil {
			continue
		}
		if left--; left < 0 {
			break
		}
		once, cancel := context.WithTimeout(ctx, d.q.o.Beat/4)
		now, err := c.Info(once)
		cancel()
		if err == nil && now.Cluster != nil && behind[now.Cluster.Leader] {
			_ = d.q.conn.Publish("$JS.API.CONSUMER.LEADER.STEPDOWN."+runsName+"."+strings.TrimPrefix(subject, runsOf), request)
		}
	}
	d.moved = time.Now()
}

// lags knows since when nodes are behind with the queue.
type lags struct {
	at    time.Time // of the last note
	since map[string]time.Time
}

// note notes which nodes are behind now, as the leader of the queue says, and returns those that were at each note for so long.
func (l *lags) note(c *jetstream.ClusterInfo, now time.Time, long time.Duration) map[string]bool {
	was := l.since
	if now.Sub(l.at) > long {
		was = nil
	}
	behind := map[string]bool{}
	l.at, l.since = now, map[string]time.Time{}
	if c == nil {
		return behind
	}
	for _, node := range c.Replicas {
		if node.Current || unheard(node) {
			continue
		}
		since, known := was[node.Name]
		if !known {
			since = now
		}
		l.since[node.Name] = since
		if now.Sub(since) > long {
			behind[node.Name] = true
		}
	}
	return behind
}
