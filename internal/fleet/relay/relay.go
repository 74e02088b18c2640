// Package relay carries the orders of calls of skills through the queue of a fleet to a worker, and their results back. What is sent
// and what is known of it afterwards are those of package order; who gets it, and whether it may have run, of package dispatch.
//
// The two sides share no folder. The content of a skill, and standard input that is too long for an order, are named by their digests:
// a worker that does not have one asks the process that sent the order, which has it until the run ends, and checks what comes. Values of
// variables are read there too, when the order is handed over, and sealed to one start of one worker: no queue and no dispatcher has them.
package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/flow"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/skill"
)

// Caller sends orders.
type Caller struct {
	Queue *dispatch.Queue
	Seal  func(context.Context, *skill.Skill) (*skill.Skill, error) // that of the host: a worker never reads a folder that changes

	Chosen func(key string) []byte // that of the host: workers have the versions of packages that it has; nil if they choose themselves

	Lasting []string // canonical names of the skills whose homes last: all their orders are for one worker

	Temp string // a folder for contents while they are sent

	Conn *nats.Conn    // of the queue: output comes over it, and contents and sealed variables go
	Beat time.Duration // likewise

	// Variables returns the variables that passes chooses, as NAME=value. It is asked at each hand-over. Nil sends none.
	Variables func(passes func(name string) bool) ([]string, error)
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
	if err := content.Check(ctx, sealed); err != nil {
		return order.Failed(o, err), nil
	}
	if most := time.Now().Add(dispatch.Longest - time.Minute); o.Until.IsZero() || o.Until.After(most) {
		o.Until = most
	}
	r := &dispatch.Run{ID: o.Run, Tenant: o.For.Tenant, Skill: o.Skill.Name, Until: o.Until, Repeat: o.Repeat, Stick: o.Sticks()}
	if slices.Contains(c.Lasting, o.Skill.Name) {
		r.Home = o.Home()
	}
	if r.Order, err = o.Encode(); err != nil {
		return nil, err
	}
	shelf := &shelf{ctx: ctx, o: o, s: sealed, temp: c.Temp, chosen: c.Chosen}
	has := func(worker string) bool { return q.Has(ctx, worker, o.Run) }
	stop, err := flow.Offer(c.Conn, o.Run, has, shelf.open)
	if err != nil {
		return nil, err
	}
	defer shelf.close()
	defer stop()
	stopSealing, err := c.seals(o)
	if err != nil {
		return nil, err
	}
	defer stopSealing()
	var reader *flow.Reader
	if o.Watch {
		if reader, err = flow.NewReader(ctx, c.Conn, o.Run, c.Beat, has, out); err != nil {
			return nil, err
		}
		defer reader.Close()
	}
	ticket, err := q.Submit(ctx, r)
	switch {
	case errors.Is(err, dispatch.ErrQuota), errors.Is(err, dispatch.ErrFull):
		return order.Failed(o, err), nil
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
		if len(end.Result) > 0 { // why its own worker did not come
			return order.Failed(o, fmt.Errorf("no worker had time for it: %.1000q", end.Result)), nil
		}
		return order.Failed(o, errors.New("no worker had time for it before its deadline")), nil
	case dispatch.Cancelled:
		return order.Failed(o, errors.New("it was taken back")), nil
	case dispatch.Refused:
		return order.Failed(o, fmt.Errorf("worker %s does not take it: %.1000s", end.Worker, end.Result)), nil
	}
	why := ""
	if len(end.Result) > 0 {
		why = fmt.Sprintf(" (%.1000q)", end.Result)
	}
	return nil, fmt.Errorf("worker %s was lost with it%s: it may have run", end.Worker, why)
}
