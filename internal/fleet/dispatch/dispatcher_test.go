package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

// refusing is a queue with runs of two tenants that makes no consumer for the second, once.
type refusing struct {
	jetstream.Stream
	asked int
}

func (r *refusing) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return &jetstream.StreamInfo{State: jetstream.StreamState{Subjects: map[string]uint64{"run.a": 1, "run.b": 1}}}, nil
}

func (r *refusing) CreateOrUpdateConsumer(context.Context, jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if r.asked++; r.asked == 2 {
		return nil, nats.ErrTimeout
	}
	return noConsumer{}, nil
}

// noConsumer gives nothing.
type noConsumer struct{ jetstream.Consumer }

func (noConsumer) FetchNoWait(int) (jetstream.MessageBatch, error) { return nil, nats.ErrTimeout }

// A tenant is not forgotten because no consumer can be made for another one.
func TestLookAgain(t *testing.T) {
	d := (&Queue{o: Options{Beat: beat}, runs: &refusing{}}).Dispatcher(plain)
	if err := d.look(t.Context()); !errors.Is(err, nats.ErrTimeout) {
		t.Fatal(err)
	}
	if err := d.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(d.turns); !slices.Equal(d.turns, []string{"run.a", "run.b"}) {
		t.Errorf("turns %q", d.turns)
	}
	for range 2 {
		if _, m, err := d.next(t.Context()); m != nil || err != nil {
			t.Errorf("got %v, %v", m, err)
		}
	}
}

// silentQueue is a queue that does not answer.
type silentQueue struct{ jetstream.Stream }

func (silentQueue) Info(ctx context.Context, _ ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A node that does not answer holds the dispatcher up for two beats.
func TestLookEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, began := (&Queue{o: Options{Beat: beat}, runs: silentQueue{}}).Dispatcher(plain), time.Now()
		if err := d.look(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*beat {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// What is asked of a node without a deadline of its own ends, too.
func TestAnswersEnd(t *testing.T) {
	n, _ := start(t)
	if got := queue(t, n, nil).js.Options().DefaultTimeout; got != patience.Answer {
		t.Errorf("an answer may take %v", got)
	}
}

// counted is a consumer that counts how often it is asked, and answers with an error, or not at all.
type counted struct {
	jetstream.Consumer
	asked  *int
	silent bool
}

func (c counted) Info(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	*c.asked++
	if c.silent {
		<-ctx.Done()
	}
	return nil, nats.ErrTimeout
}

// However many tenants there are, few consumers are asked, not again within a beat, and without an answer no longer than for two beats. One
// that does not answer leaves time for others.
func TestMoveConsumersIsBounded(t *testing.T) {
	for _, c := range []struct {
		silent      bool
		asked, more int // more may be asked, one for each call: the last time ends together with all of it
	}{{false, maxAsked, 0}, {true, 4 * looking, 2}} {
		synctest.Test(t, func(t *testing.T) {
			d, asked := (&Queue{o: Options{Beat: beat}}).Dispatcher(plain), 0
			info := &jetstream.StreamInfo{State: jetstream.StreamState{Subjects: map[string]uint64{}},
				Cluster: &jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{{Name: "b", Active: time.Second}}}}
			for i := range 1000 {
				s := fmt.Sprint(runsOf, i)
				info.State.Subjects[s], d.from[s] = 1, counted{asked: &asked, silent: c.silent}
			}
			move := func(after time.Duration, want int) {
				t.Helper()
				time.Sleep(after)
				now := time.Now()
				d.lags = lags{at: now, since: map[string]time.Time{"b": now.Add(-time.Minute)}}
				if d.moveConsumers(t.Context(), info); asked < want || asked > want+c.more || time.Since(now) > looking*beat {
					t.Errorf("silent %v: %d consumers were asked, want %d, within %v", c.silent, asked, want, time.Since(now))
				}
			}
			move(time.Minute, c.asked)
			move(beat/2, c.asked)
			move(beat, 2*c.asked)
			info.Cluster.Leader = ""
			move(time.Minute, 2*c.asked)
		})
	}
}
