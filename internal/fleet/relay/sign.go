package relay

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/flow"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/want"
)

// Signer makes the orders that a dispatcher hands over.
type Signer struct {
	Name string // of the key
	Key  ed25519.PrivateKey
	Conn *nats.Conn // of the queue: the sender of an order is asked over it for the values of variables
}

// Seal signs the order of a run for one attempt, with the values of its variables, which its sender has sealed to the worker: it is that of a
// dispatch.Dispatcher.
func (s *Signer) Seal(ctx context.Context, r *dispatch.Run, to *dispatch.To) ([]byte, error) {
	o, err := order.Decode(r.Order)
	if err != nil {
		return nil, err
	}
	if o.Run != r.ID || o.For.Tenant != r.Tenant || len(o.Sealed) > 0 {
		return nil, errors.New("the order is not that of the run")
	}
	o.Attempt, o.Worker, o.Start, o.Until = to.Token, to.Worker, to.Start, r.Until
	if len(variables(o)) > 0 {
		if o.Sealed, err = s.ask(ctx, o.Run, to); err != nil {
			return nil, fmt.Errorf("its variables cannot be read: %w", err)
		}
	}
	return o.Sign(s.Name, s.Key)
}

// variables returns the names of the variables that an order needs. They may be patterns, as a manifest has them.
func variables(o *order.Order) []string { return o.Grant.Given.Named(want.Variable) }

const sealTime = 5 * time.Second // for the answer of the sender

func sealSubject(run string) string { return "seal." + run }

// ask asks the sender of an order for the sealed values.
func (s *Signer) ask(ctx context.Context, run string, to *dispatch.To) ([]byte, error) {
	text, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, sealTime)
	defer cancel()
	for {
		m, err := s.Conn.RequestWithContext(ctx, sealSubject(run), text)
		switch {
		case errors.Is(err, nats.ErrNoResponders): // the sender may be connecting again
		case err != nil:
			return nil, err
		case flow.Refused(m) != "":
			return nil, errors.New(flow.Refused(m))
		default:
			return m.Data, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("the process that asked for the run is gone")
		case <-time.After(sealTime / 20):
		}
	}
}

// seals answers a Signer that asks for the values of an order's variables: it reads and seals them for each attempt.
func (c *Caller) seals(o *order.Order) (stop func(), err error) {
	if len(variables(o)) == 0 {
		return func() {}, nil
	}
	sub, err := c.Conn.Subscribe(sealSubject(o.Run), func(m *nats.Msg) {
		a := nats.NewMsg(m.Reply)
		sealed, err := c.seal(*o, m.Data)
		if a.Data = sealed; err != nil {
			flow.Refuse(a, err)
		}
		_ = c.Conn.PublishMsg(a) // otherwise it is asked again
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// seal returns the variables of an order for an attempt; nothing if there are none to send. It seals those that the worker would pass to
// the script: a pattern of a manifest matches more, such as keys of model providers.
func (c *Caller) seal(o order.Order, attempt []byte) ([]byte, error) {
	to := &dispatch.To{}
	if err := json.Unmarshal(attempt, to); err != nil || c.Variables == nil {
		return nil, err
	}
	grant := &script.Grant{Given: o.Grant.Given}
	env, err := c.Variables(func(name string) bool { return grant.Passes(nil, name) })
	if err != nil {
		return nil, err
	}
	o.Attempt, o.Worker, o.Start = to.Token, to.Worker, to.Start
	err = o.Seal(to.Key, env)
	return o.Sealed, err
}
