package patience

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestSilent(t *testing.T) {
	for err, want := range map[error]bool{
		nats.ErrNoResponders:                                     true,
		fmt.Errorf("made: %w", nats.ErrTimeout):                  true,
		jetstream.ErrNoStreamResponse:                            true,
		&jetstream.APIError{Code: 503}:                           true,
		&jetstream.APIError{Code: 409, ErrorCode: codeSame}:      true,
		&jetstream.APIError{Code: 400}:                           false,
		fmt.Errorf("%w", nats.ErrPermissionViolation):            false,
		&jetstream.APIError{Code: 503, ErrorCode: CodeStore}:     false,
		&jetstream.APIError{Code: 503, ErrorCode: CodeResources}: false,
	} {
		if Silent(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

// What passes is asked again until it has passed, and what does not is an error at once.
func TestAsk(t *testing.T) {
	own, asked := errors.New("own"), 0
	do := func(errs ...error) func(context.Context) error {
		asked = 0
		return func(context.Context) error { asked++; return errs[min(asked, len(errs))-1] }
	}
	for _, c := range []struct {
		errs  []error
		tries int
		want  error
	}{
		{[]error{nats.ErrNoResponders, own, nats.ErrTimeout, nil}, 4, nil},
		{[]error{nats.ErrNoResponders, context.Canceled}, 2, context.Canceled},
		{[]error{errors.Join(own, nats.ErrConnectionClosed)}, 1, nats.ErrConnectionClosed},
		{[]error{nats.ErrBadSubject}, 1, nats.ErrBadSubject},
	} {
		err := Ask(t.Context(), time.Minute, do(c.errs...), func(err error) bool { return errors.Is(err, own) })
		if asked != c.tries || !errors.Is(err, c.want) {
			t.Errorf("%v: %d tries, %v", c.errs, asked, err)
		}
	}
	if err := Ask(t.Context(), 0, do(nats.ErrTimeout), nil); asked != 1 || !errors.Is(err, nats.ErrTimeout) || !strings.Contains(err.Error(), "most nodes run") {
		t.Errorf("%d tries, %v", asked, err)
	}
}

// A node that does not answer is asked again, the first times sooner.
func TestAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, began := 0, time.Now()
		err := Ask(t.Context(), time.Minute, func(ctx context.Context) error {
			if tries++; tries > 2 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}, nil)
		if err != nil || tries != 3 {
			t.Errorf("%d tries, %v", tries, err)
		}
		if took := time.Since(began).Round(100 * time.Millisecond); took != first+2*first {
			t.Errorf("after %v", took)
		}
	})
}

// A call that ends in the middle of a try says why the tries before it failed.
func TestAskSaysWhy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err := Ask(ctx, time.Minute, func(context.Context) error {
		if tries++; tries == 1 {
			return nats.ErrNoResponders
		}
		cancel()
		return context.DeadlineExceeded
	}, nil)
	if !errors.Is(err, nats.ErrNoResponders) || !errors.Is(err, context.Canceled) {
		t.Errorf("after %d tries: %v", tries, err)
	}
}
