// Package patience asks the nodes of a fleet again while they do not answer: they start, choose a leader, or are cut off for a moment.
package patience

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How long a node may take for one answer. A node without a leader never answers, so the first tries get less.
const (
	Answer = 3 * time.Second
	first  = time.Second
)

const maxPause = 200 * time.Millisecond

// Codes of the server that come with the code of a service that is not there for now, and that do not pass.
const (
	CodeResources = jetstream.ErrorCode(10023) // the disk or the memory of the server is full
	CodeStore     = jetstream.ErrorCode(10077) // the stream is full
)

// codeSame is the answer while the same message is on its way: what becomes of it is not known yet.
const codeSame = jetstream.ErrorCode(10158)

// Silent reports whether an error says that no node answered, or that none can answer yet. What was asked for may have been done.
func Silent(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode == codeSame || api.Code == 503 && api.ErrorCode != CodeResources && api.ErrorCode != CodeStore
	}
	for _, one := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// Ask calls do again and again, for most, while its error is Silent or one that passes, which may be nil. It returns nil as soon as do does.
// The context of each call ends after Answer, and sooner for the first two.
func Ask(ctx context.Context, most time.Duration, do func(context.Context) error, passes func(error) bool) error {
	until := time.Now().Add(most)
	var before error // the end of ctx in the middle of a try says nothing of the cause
	for pause, answer := time.Millisecond, first; ; pause, answer = min(2*pause, maxPause), min(answer+first, Answer) {
		once, cancel := context.WithTimeout(ctx, answer)
		err := do(once)
		cancel()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, context.Canceled), errors.Is(err, nats.ErrConnectionClosed), !Silent(err) && (passes == nil || !passes(err)):
			return err
		case ctx.Err() != nil && before != nil:
			err = before
		}
		before = err
		if time.Now().After(until) {
			return fmt.Errorf("no node did this within %s: make sure that most nodes run, reach each other and have a leader (%w)", most, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case <-time.After(pause/4 + rand.N(pause)):
		}
	}
}
