package patience

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Stream makes a stream, or changes it, within most. It takes no copy away: a process that does not know the cluster would ask for one.
func Stream(ctx context.Context, js jetstream.JetStream, most time.Duration, c jetstream.StreamConfig) (s jetstream.Stream, err error) {
	err = Ask(ctx, most, func(ctx context.Context) error { // several may make it at the same time, and then get no answer
		switch was, err := js.Stream(ctx, c.Name); {
		case err == nil:
			c.Replicas = max(c.Replicas, was.CachedInfo().Config.Replicas)
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			return err
		}
		s, err = js.CreateOrUpdateStream(ctx, c)
		return err
	}, fewNodes)
	return s, err
}

// codeNoPeers is the answer while fewer nodes run than a new stream is to have copies.
const codeNoPeers = 10005

// fewNodes reports whether an error says that, so far, fewer nodes run than a stream is to have copies.
func fewNodes(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == codeNoPeers
}
