package relay

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/flow"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// Worker carries orders out, for one start of a worker.
type Worker struct {
	Conn    *nats.Conn
	Name    string // of the worker; the connection has its key
	Version string // of the program
	Slots   int    // runs at the same time
	Beat    time.Duration

	Keys     map[string]ed25519.PublicKey // of those whose orders are carried out, by name
	Tenant   string                       // if set, orders of another tenant are refused
	Contents *content.Cache

	Host func(tenant string) (*script.Options, error) // returns those of the host of a tenant, see order.NewWorker

	receiver order.Receiver
	orders   *order.Worker
}

// Serve works until ctx is done or the connection ends. Then it ends what is under way and waits for it.
func (w *Worker) Serve(ctx context.Context) error {
	d, err := w.start()
	if err != nil {
		return err
	}
	defer w.orders.Close()
	return d.Serve(ctx)
}

// start gives the worker a name and a key of this start.
func (w *Worker) start() (*dispatch.Worker, error) {
	orders := order.NewWorker(w.Host)
	key, err := order.NewKey()
	if err != nil {
		return nil, err
	}
	orders.Key = key
	orders.Hold = func(ctx context.Context, id skill.ID) (func(), error) {
		path, err := w.Contents.Dir.Path(id.Name, id.Digest)
		if err != nil {
			return nil, err
		}
		return w.Contents.Dir.Lease(ctx, path)
	}
	orders.Chosen = func(ctx context.Context, o *order.Order, key string) ([]byte, error) {
		return w.read(ctx, o, versions+key, maxVersions)
	}
	w.orders, w.receiver = orders, order.Receiver{Worker: w.Name, Start: rand.Text(), Keys: w.Keys, Tenant: w.Tenant}
	return &dispatch.Worker{Conn: w.Conn, Name: w.Name, Version: w.Version, Slots: w.Slots, Beat: w.Beat, Start: w.receiver.Start, Key: orders.Key.Public(), Open: w.open}, nil
}

// open opens the order of an attempt.
func (w *Worker) open(r *dispatch.Run, token uint64) (func(context.Context) []byte, error) {
	o, err := w.receiver.Open(r.Order)
	if err != nil {
		return nil, err
	}
	if o.Run != r.ID || o.Attempt != token || !o.Until.Equal(r.Until) {
		return nil, errors.New("the order is for another run, another attempt, or another time")
	}
	return func(ctx context.Context) []byte {
		out := func(*order.Part) error { return nil }
		if o.Watch {
			if sender, err := flow.NewSender(w.Conn, o.Worker, o.Run, w.Beat); err == nil { // else the output is in the result alone
				defer sender.Close()
				out = func(p *order.Part) error { return sender.Send(ctx, p) }
			}
		}
		return w.do(ctx, o, out)
	}, nil
}

// do carries an order out, and returns its result.
func (w *Worker) do(ctx context.Context, o *order.Order, out func(*order.Part) error) (b []byte) {
	answer := func(r *order.Result) ([]byte, error) {
		r.Attempt, r.Worker, r.Start = o.Attempt, o.Worker, o.Start
		return r.Encode()
	}
	defer func() {
		if p := recover(); p != nil { // the other runs of this worker go on
			b, _ = answer(order.Failed(o, fmt.Errorf("internal error of worker %s: %v", o.Worker, p)))
		}
	}()
	s, release, err := w.Contents.Open(ctx, o.Skill, func(ctx context.Context) (io.ReadCloser, error) { return w.fetch(ctx, o, o.Skill.Digest) })
	if err != nil {
		b, _ = answer(order.Failed(o, fmt.Errorf("its content does not come to worker %s: %w", o.Worker, err)))
		return b
	}
	defer release()
	defer s.Close()
	input, err := w.input(ctx, o)
	if err != nil {
		b, _ = answer(order.Failed(o, fmt.Errorf("its standard input does not come to worker %s: %w", o.Worker, err)))
		return b
	}
	r := w.orders.Do(ctx, o, s, input, out)
	if r.Failure != nil && errors.Is(ctx.Err(), context.Canceled) { // or its caller has taken it back, and does not hear this
		r.Failure = order.Failed(o, fmt.Errorf("worker %s was told to end while it ran", o.Worker)).Failure
	}
	if b, err = answer(r); err != nil { // it is too large
		b, _ = answer(order.Failed(o, err))
	}
	return b
}

// fetch gets what an order names by a digest from the process that sent it.
func (w *Worker) fetch(ctx context.Context, o *order.Order, digest string) (io.ReadCloser, error) {
	return flow.Fetch(ctx, w.Conn, o.Worker, o.Run, digest, w.Beat)
}

// input gets standard input that is too long for the order. Nobody has checked it.
func (w *Worker) input(ctx context.Context, o *order.Order) ([]byte, error) {
	if o.Stdin == nil || o.Stdin.Digest == "" {
		return nil, nil
	}
	return w.read(ctx, o, o.Stdin.Digest, o.Stdin.Size+1)
}

// maxVersions bounds the versions of packages of one environment, in bytes.
const maxVersions = 16 << 20

// read fetches the first bytes of something.
func (w *Worker) read(ctx context.Context, o *order.Order, digest string, most int64) ([]byte, error) {
	from, err := w.fetch(ctx, o, digest)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(io.LimitReader(from, most))
}
