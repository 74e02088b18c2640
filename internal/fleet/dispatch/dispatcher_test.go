package dispatch

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
