package patience

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The first nodes of a cluster that start wait for as many as there are copies.
func TestTooFewNodes(t *testing.T) {
	asked := 0
	err := Ask(t.Context(), time.Minute, func(context.Context) error {
		if asked++; asked < 3 {
			return fmt.Errorf("made: %w", &jetstream.APIError{Code: 400, ErrorCode: jetstream.ErrorCode(server.JSClusterNoPeersErrF)})
		}
		return nil
	}, fewNodes)
	if err != nil || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	refused := &jetstream.APIError{Code: 500, ErrorCode: jetstream.ErrorCode(server.JSStorageResourcesExceededErr)}
	if err := Ask(t.Context(), time.Minute, func(context.Context) error { asked++; return refused }, fewNodes); !errors.Is(err, refused) || asked != 4 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// kept is a stream with three copies.
type kept struct{ jetstream.Stream }

func (k *kept) CachedInfo() *jetstream.StreamInfo {
	return &jetstream.StreamInfo{Config: jetstream.StreamConfig{Replicas: 3}}
}

// finds finds it, or does not, and keeps how many copies it is to have.
type finds struct {
	jetstream.JetStream
	kept  *kept
	found []error
	made  []int
}

func (f *finds) Stream(context.Context, string) (jetstream.Stream, error) {
	err := f.found[0]
	f.found = f.found[1:]
	return f.kept, err
}

func (f *finds) CreateOrUpdateStream(_ context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	f.made = append(f.made, c.Replicas)
	return f.kept, nil
}

// A process that asks for fewer copies than there are takes none away, and does not guess how many there are.
func TestStreamKeepsCopies(t *testing.T) {
	for _, c := range []struct {
		found []error
		asks  int
		want  int
	}{{[]error{nil}, 1, 3}, {[]error{nil}, 5, 5}, {[]error{nats.ErrTimeout, nil}, 1, 3}, {[]error{jetstream.ErrStreamNotFound}, 1, 1}} {
		f := &finds{kept: &kept{}, found: c.found}
		if _, err := Stream(t.Context(), f, time.Minute, jetstream.StreamConfig{Replicas: c.asks}); err != nil || len(f.made) != 1 || f.made[0] != c.want {
			t.Errorf("%v: %v, %v", c, f.made, err)
		}
	}
}
