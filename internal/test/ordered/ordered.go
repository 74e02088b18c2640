// Package ordered runs scripts of skills in tests as another machine does: by orders, of which only JSON gets across.
package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// New returns what runs scripts by orders. The worker has a host with these options. What their Granted and Trace are for stays on this
// side, with a host that runs nothing.
func New(tb testing.TB, o *script.Options) *order.Sender {
	tb.Helper()
	far := *o
	far.Trace = nil
	w, err := order.NewWorker(far)
	if err != nil {
		tb.Fatal(err)
	}
	here := *o
	here.Cache = scratch.Dir(tb)
	near, err := script.New(&here)
	if err != nil {
		tb.Fatal(err)
	}
	return order.NewSender(&order.SenderOptions{Host: near, Granted: o.Granted, AlwaysHelp: o.AlwaysHelp, Trace: o.Trace,
		Send: func(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
			return send(ctx, w, o, s, out)
		}})
}

// send has a worker carry out an order about the content in the folder of a skill.
func send(ctx context.Context, w *order.Worker, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
	b, err := o.Encode()
	if err != nil {
		return nil, err
	}
	if o, err = order.Decode(b); err != nil {
		return nil, err
	}
	dir, err := s.Dir(ctx)
	if err != nil {
		return nil, err
	}
	there, err := content.At(ctx, dir, o.Skill)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	var seq uint64
	r := w.Do(ctx, o, there, func(p *order.Part) error {
		b, err := json.Marshal(p)
		if err != nil {
			return err
		}
		p = &order.Part{}
		if err := json.Unmarshal(b, p); err != nil {
			return err
		}
		if seq++; p.Seq != seq || p.Run != o.Run {
			return errors.New("the parts of the output are in another order")
		}
		return out(p)
	})
	if b, err = r.Encode(); err != nil {
		return nil, err
	}
	return order.DecodeResult(b)
}
