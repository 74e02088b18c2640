package state

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// hub wakes the watches of this process after changes: they share one consumer of the stream. A watch then reads the document from the
// leader.
type hub struct {
	s *State

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool // by the subject of a log
	consume jetstream.ConsumeContext          // nil without a watch, or after it could not be made
	closed  chan nats.Status                  // gets the end of the connection
}

// join returns a channel that gets a value after changes, and the function that ends it. Without a consumer no value comes.
func (h *hub) join(ctx context.Context, log string) (<-chan struct{}, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.start(ctx)
	c := make(chan struct{}, 1)
	if h.waiting == nil {
		h.waiting = map[string]map[chan struct{}]bool{}
	}
	if h.waiting[log] == nil {
		h.waiting[log] = map[chan struct{}]bool{}
	}
	h.waiting[log][c] = true
	return c, func() { h.leave(log, c) }
}

func (h *hub) leave(log string, c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(h.waiting[log], c); len(h.waiting[log]) == 0 {
		delete(h.waiting, log)
	}
	if len(h.waiting) == 0 && h.consume != nil {
		h.consume.Stop()
		h.s.conn.RemoveStatusListener(h.closed)
		h.consume = nil
	}
}

// ensure makes the consumer if there is none.
func (h *hub) ensure(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.start(ctx)
}

// start makes the consumer, if there is none. It begins after the last message that there is now: no change that comes later is missed.
func (h *hub) start(ctx context.Context) {
	if h.consume != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	info, err := h.s.stream.Info(ctx)
	if err != nil {
		return
	}
	c, err := h.s.stream.OrderedConsumer(context.WithoutCancel(ctx), jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"state.log.>"}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: info.State.LastSeq + 1, HeadersOnly: true, InactiveThreshold: pollTime,
	})
	if err != nil {
		return
	}
	if h.consume, err = c.Consume(func(m jetstream.Msg) { h.wake(m.Subject()) }); err != nil {
		return
	}
	closed := h.s.conn.StatusChanged(nats.CLOSED)
	h.closed = closed
	go func() {
		for range closed { // until the last watch leaves
			h.wake("")
		}
	}()
}

// wake wakes the watches of the document of a log, or with "" all watches.
func (h *hub) wake(log string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for of, waiting := range h.waiting {
		for c := range waiting {
			if log != "" && of != log {
				break
			}
			select {
			case c <- struct{}{}:
			default: // it is awake
			}
		}
	}
}
