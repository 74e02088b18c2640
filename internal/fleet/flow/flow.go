// Package flow carries the output of a run from the worker to whoever reads it, as it comes. A reader that is slow holds the script up:
// no more than a window of output is under way. A reader that is gone holds nobody up.
package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/order"
)

// window is how many parts are under way at most: 1 MiB of output.
const window = 1 << 20 / order.MaxPart

// patience is for how many beats of its reader a worker waits without hearing one.
const patience = 10

// Sender sends the output of one run. Its method Send is for one goroutine at a time.
type Sender struct {
	conn    *nats.Conn
	to      string
	beat    time.Duration
	credits chan struct{}
	more    *nats.Subscription
	heard   atomic.Int64 // when, in nanoseconds
	gone    bool
}

// NewSender returns the sender of a worker for a run. The caller closes it.
func NewSender(conn *nats.Conn, worker, run string, beat time.Duration) (*Sender, error) {
	s := &Sender{conn: conn, to: "from." + worker + ".part." + run, beat: beat, credits: make(chan struct{}, window)}
	s.add(window)
	var err error
	s.more, err = conn.Subscribe("to."+worker+".more."+run, func(m *nats.Msg) {
		if n, err := strconv.Atoi(string(m.Data)); err == nil {
			s.add(n)
		}
	})
	return s, err
}

// add notes that the reader is there and takes n parts more.
func (s *Sender) add(n int) {
	s.heard.Store(time.Now().UnixNano())
	for range min(n, window) {
		select {
		case s.credits <- struct{}{}:
		default: // there are never more
		}
	}
}

// Send sends a part. It waits while the reader is slow, and not for one that is gone: then the output is nobody's any more.
func (s *Sender) Send(ctx context.Context, p *order.Part) error {
	for !s.gone {
		select {
		case <-s.credits:
			b, err := json.Marshal(p)
			if err != nil {
				return err
			}
			return s.conn.Publish(s.to, b)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.beat):
			s.gone = time.Since(time.Unix(0, s.heard.Load())) > patience*s.beat
		}
	}
	return nil
}

// Close ends the sender.
func (s *Sender) Close() { _ = s.more.Unsubscribe() }

// Reader reads the output of one run.
type Reader struct {
	conn   *nats.Conn
	run    string
	has    func(worker string) bool
	out    func(*order.Part) error
	parts  *nats.Subscription
	stop   context.CancelFunc
	worker atomic.Pointer[string]
	read   atomic.Uint64 // parts
	done   chan struct{}
}

// NewReader returns a reader that gives the parts of a run to out, in their order; has reports whether a worker has the run. It is made
// before the run can begin. The caller closes it.
func NewReader(ctx context.Context, conn *nats.Conn, run string, beat time.Duration, has func(worker string) bool, out func(*order.Part) error) (*Reader, error) {
	r := &Reader{conn: conn, run: run, has: has, out: out, done: make(chan struct{})}
	var err error
	if r.parts, err = conn.SubscribeSync("from.*.part." + run); err != nil {
		return nil, err
	}
	ctx, r.stop = context.WithCancel(ctx)
	go r.serve(ctx)
	go func() {
		for {
			select {
			case <-r.done:
				return
			case <-time.After(beat):
				r.more(0)
			}
		}
	}()
	return r, nil
}

// serve reads until the reader is closed, out fails, or a worker sends what it must not.
func (r *Reader) serve(ctx context.Context) {
	defer close(r.done)
	for {
		m, err := r.parts.NextMsgWithContext(ctx)
		if err != nil {
			return
		}
		worker, known := from(m), r.worker.Load()
		if known == nil && r.has(worker) {
			known = &worker
			r.worker.Store(known)
		}
		if known == nil || *known != worker {
			continue // another worker, which has no part in the run
		}
		if err := r.take(m.Data); err != nil {
			return
		}
		r.more(1)
	}
}

func (r *Reader) take(b []byte) error {
	p := &order.Part{}
	if err := json.Unmarshal(b, p); err != nil {
		return err
	}
	if p.Run != r.run || p.Seq != r.read.Load()+1 || len(p.Data) > order.MaxPart {
		return fmt.Errorf("part %d of the output of %.40q", p.Seq, p.Run)
	}
	if err := r.out(p); err != nil {
		return err
	}
	r.read.Add(1)
	return nil
}

// more says that the reader is there, and takes n parts more.
func (r *Reader) more(n int) {
	if w := r.worker.Load(); w != nil {
		_ = r.conn.Publish("to."+*w+".more."+r.run, []byte(strconv.Itoa(n)))
	}
}

// Wait waits until so many parts were read, or no more come.
func (r *Reader) Wait(ctx context.Context, parts uint64, beat time.Duration) {
	for last, still := r.read.Load(), 0; r.read.Load() < parts && still < 10*patience; still++ {
		select {
		case <-r.done:
			return
		case <-ctx.Done():
			return
		case <-time.After(beat / 10):
		}
		if now := r.read.Load(); now != last {
			last, still = now, 0
		}
	}
}

// Close ends the reader. No part is given to out after it.
func (r *Reader) Close() {
	r.stop()
	<-r.done
	_ = r.parts.Unsubscribe()
}
