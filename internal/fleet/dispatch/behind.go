package dispatch

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// behind finds the tenants from whom nothing comes although they have runs in the queue, because the node that leads their consumer has an
// old copy of the queue. It has another node lead those: the one that leads the queue, which has all of it. A node that was cut off, or whose
// disk was full, may need most of a minute to catch up. It looks once a beat.
func (d *Dispatcher) behind(ctx context.Context, info *jetstream.StreamInfo) {
	if now := time.Now(); !d.lags.note(info.Cluster, now, silence*d.q.o.Beat) || now.Sub(d.led) < d.q.o.Beat {
		return
	}
	d.led = time.Now()
	ctx, cancel := context.WithTimeout(ctx, looks*d.q.o.Beat)
	defer cancel()
	for subject, n := range info.State.Subjects {
		c := d.from[subject]
		if c == nil {
			continue
		}
		seen, err := c.Info(ctx)
		if err != nil || seen.Cluster == nil || seen.Cluster.Leader == info.Cluster.Leader || seen.NumPending+uint64(seen.NumAckPending) >= n { //nolint:gosec // a count
			continue
		}
		request, _ := json.Marshal(map[string]any{"placement": map[string]string{"preferred": info.Cluster.Leader}})
		name := strings.TrimPrefix(subject, runsOf)
		_, _ = d.q.conn.RequestWithContext(ctx, "$JS.API.CONSUMER.LEADER.STEPDOWN."+runsName+"."+name, request) // otherwise it is asked again
	}
}

// lags knows since when nodes are behind with the queue.
type lags map[string]time.Time

// note notes which nodes are behind now, as the leader says, and reports whether one of them has been for long.
func (l lags) note(c *jetstream.ClusterInfo, now time.Time, long time.Duration) (behind bool) {
	if c == nil {
		return false
	}
	for _, node := range c.Replicas {
		since, known := l[node.Name]
		switch {
		case node.Current || node.Offline:
			delete(l, node.Name)
		case !known:
			l[node.Name] = now
		case now.Sub(since) > long:
			behind = true
		}
	}
	return behind
}
