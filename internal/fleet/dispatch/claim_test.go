package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

// silent never answers.
type silent struct{ jetstream.KeyValue }

func (silent) Get(ctx context.Context, _ string) (jetstream.KeyValueEntry, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A read whose answer is lost, as when the leader was killed, ends soon, however long its caller waits for the run.
func TestClaimUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		if _, _, err := (&Queue{claims: silent{}}).claim(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > patience.Answer {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// deaf never answers.
type deaf struct{ jetstream.JetStream }

func (deaf) Stream(ctx context.Context, _ string) (jetstream.Stream, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The question whether there is room for claims holds up one caller of Submit, and not for long.
func TestRoomUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began, q := time.Now(), &Queue{js: deaf{}, o: Options{Beat: time.Minute}}
		go q.crowded(ctx)
		synctest.Wait()
		if q.crowded(ctx); time.Since(began) > 0 {
			t.Errorf("another one waits %v", time.Since(began))
		}
		time.Sleep(2 * time.Minute)
		began = time.Now()
		if q.crowded(ctx); time.Since(began) > patience.Answer {
			t.Errorf("it waits %v", time.Since(began))
		}
	})
}
