package dispatch

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxAsked is how many consumers one call of moveConsumers asks for their leader.
const maxAsked = 50

// moveConsumers gives consumers another leader, the leader of the queue, if their own has long been behind with the queue. A consumer delivers
// only what its leader's copy of the queue has. A node that was cut off, or whose disk was full, may need most of a minute to catch up.
func (d *Dispatcher) moveConsumers(ctx context.Context, info *jetstream.StreamInfo) {
	behind := d.lags.note(info.Cluster, time.Now(), silence*d.q.o.Beat)
	if len(behind) == 0 || info.Cluster.Leader == "" || time.Since(d.moved) < d.q.o.Beat {
		return
	}
	request, _ := json.Marshal(map[string]any{"placement": map[string]string{"preferred": info.Cluster.Leader}})
	ctx, cancel := context.WithTimeout(ctx, looking*d.q.o.Beat)
	defer cancel()
	left := maxAsked // the others later: the order of a map is another one each time
	for subject := range info.State.Subjects {
		c := d.from[subject]
		if c == nil {
			continue
		}
		if left--; left < 0 || ctx.Err() != nil {
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

// note records which nodes are behind now, as the leader of the queue reports. It returns those that were behind at each note for longer than
// long. Notes that are further apart do not count.
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
