// Package relay carries the orders of calls of skills through the queue of a fleet to a worker, and their results back. What is sent
// and what is known of it afterwards are those of package order; who gets it, and whether it may have run, of package dispatch.
//
// Both sides are of one machine and one user: the content of a skill is a folder that both see, and the worker checks its digest.
package relay

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/cause"
	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/flow"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// parcel is what waits in the queue, and what a worker gets: there Order is signed.
type parcel struct {
	Order  []byte `json:"order"`
	Folder string `json:"folder"` // where the content is; nobody believes it, for the order has the digest
}

// Caller sends orders.
type Caller struct {
	Queue *dispatch.Queue
	Seal  func(context.Context, *skill.Skill) (*skill.Skill, error) // that of the host: a worker never reads a folder that changes

	Conn *nats.Conn    // over which output comes; nil for none
	Beat time.Duration // of the queue
}

// Send has an order carried out by way of the queue: it is an order.SenderOptions.Send. It returns an error if the run may have happened
// and nobody knows. When ctx is done the run is taken back.
func (c *Caller) Send(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
	q := c.Queue
	sealed, err := c.Seal(ctx, s)
	if err != nil {
		return nil, err
	}
	defer sealed.Close()
	folder, err := sealed.Dir(ctx)
	if err != nil {
		return nil, err
	}
	o.Watch = o.Watch && c.Conn != nil
	if most := time.Now().Add(dispatch.Longest - time.Minute); o.Until.IsZero() || o.Until.After(most) {
		o.Until = most
	}
	r := &dispatch.Run{ID: o.Run, Tenant: o.For.Tenant, Until: o.Until, Repeat: o.Repeat}
	text, err := o.Encode()
	if err == nil {
		r.Order, err = json.Marshal(parcel{text, folder})
	}
	if err != nil {
		return nil, err
	}
	var reader *flow.Reader
	if o.Watch {
		if reader, err = flow.NewReader(ctx, c.Conn, o.Run, c.Beat, out); err != nil {
			return nil, err
		}
		defer reader.Close()
	}
	ticket, err := q.Submit(ctx, r)
	switch {
	case errors.Is(err, dispatch.ErrQuota), errors.Is(err, dispatch.ErrFull):
		return failed(o, err), nil
	case err != nil:
		return nil, err
	}
	defer ticket.Close()
	end, err := ticket.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		return nil, errors.Join(err, q.Cancel(ctx, o.Run))
	}
	if err != nil {
		return nil, err
	}
	got, err := result(o, end)
	if err == nil && reader != nil {
		reader.Wait(ctx, got.Parts, c.Beat) // it is a moment behind
	}
	return got, err
}

// cancelTime is how long it may take to say that a run is taken back.
const cancelTime = 5 * time.Second

// result returns what the end of a run says.
func result(o *order.Order, end *dispatch.End) (*order.Result, error) {
	switch end.State {
	case dispatch.Done:
		r, err := order.DecodeResult(end.Result)
		if err != nil {
			return nil, err
		}
		if r.Attempt != end.Token || r.Worker != end.Worker {
			return nil, fmt.Errorf("worker %s answers as %.40q", end.Worker, r.Worker)
		}
		o.Attempt, o.Worker, o.Start = r.Attempt, r.Worker, r.Start
		return r, nil
	case dispatch.Late:
		return failed(o, errors.New("no worker had time for it before its deadline")), nil
	case dispatch.Cancelled:
		return failed(o, errors.New("it was taken back")), nil
	case dispatch.Refused:
		return failed(o, fmt.Errorf("worker %s does not take it: %.1000s", end.Worker, end.Result)), nil
	}
	return nil, fmt.Errorf("worker %s was lost with it: it may have run", end.Worker)
}

// failed returns the result of an order that has none, for a cause.
func failed(o *order.Order, err error) *order.Result {
	e := &script.Error{Code: script.ExecutionFailed, Err: err, Message: fmt.Sprintf("Skill '%s' has no result: %v", o.Skill.Name, err)}
	return &order.Result{Version: order.Version, Run: o.Run, Failure: cause.Of(e)}
}

// Seal returns what signs orders for a dispatcher, with a key of a name.
func Seal(name string, key ed25519.PrivateKey) func(context.Context, *dispatch.Run, *dispatch.To) ([]byte, error) {
	return func(_ context.Context, r *dispatch.Run, to *dispatch.To) ([]byte, error) {
		var p parcel
		if err := json.Unmarshal(r.Order, &p); err != nil {
			return nil, err
		}
		o, err := order.Decode(p.Order)
		if err != nil {
			return nil, err
		}
		if o.Run != r.ID || o.For.Tenant != r.Tenant {
			return nil, errors.New("the order is not that of the run")
		}
		o.Attempt, o.Worker, o.Start, o.Until = to.Token, to.Worker, to.Start, r.Until
		if p.Order, err = o.Sign(name, key); err != nil {
			return nil, err
		}
		return json.Marshal(p)
	}
}

// Open returns what a dispatch.Worker opens orders with: those that the receiver takes are carried out by w. Their output goes over conn,
// as long as a reader says each beat that it is there.
func Open(receiver *order.Receiver, w *order.Worker, conn *nats.Conn, beat time.Duration) func(string, uint64, []byte) (func(context.Context) []byte, error) {
	return func(run string, token uint64, b []byte) (func(context.Context) []byte, error) {
		var p parcel
		if err := json.Unmarshal(b, &p); err != nil {
			return nil, fmt.Errorf("no order: %w", err)
		}
		o, err := receiver.Open(p.Order)
		if err != nil {
			return nil, err
		}
		if o.Run != run || o.Attempt != token {
			return nil, errors.New("the order is for another run, or another attempt")
		}
		return func(ctx context.Context) []byte {
			out := func(*order.Part) error { return nil }
			if o.Watch {
				if sender, err := flow.NewSender(conn, o.Worker, o.Run, beat); err == nil { // else the output is in the result alone
					defer sender.Close()
					out = func(p *order.Part) error { return sender.Send(ctx, p) }
				}
			}
			return do(ctx, w, o, p.Folder, out)
		}, nil
	}
}

// do carries an order out, and returns its result.
func do(ctx context.Context, w *order.Worker, o *order.Order, folder string, out func(*order.Part) error) (b []byte) {
	answer := func(r *order.Result) ([]byte, error) {
		r.Attempt, r.Worker, r.Start = o.Attempt, o.Worker, o.Start
		return r.Encode()
	}
	defer func() {
		if p := recover(); p != nil { // the other runs of this worker go on
			b, _ = answer(failed(o, fmt.Errorf("internal error of worker %s: %v", o.Worker, p)))
		}
	}()
	var s *skill.Skill
	err := fmt.Errorf("folder %q is not absolute", folder)
	if filepath.IsAbs(folder) {
		s, err = content.At(ctx, folder, o.Skill) // order.Worker.Do checks it
	}
	if err != nil {
		b, _ = answer(failed(o, fmt.Errorf("its content does not come to worker %s: %w", o.Worker, err)))
		return b
	}
	defer s.Close()
	if b, err = answer(w.Do(ctx, o, s, out)); err != nil { // it is too large
		b, _ = answer(failed(o, err))
	}
	return b
}
