package relay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/want"
)

// Signer makes the orders that a dispatcher hands over.
type Signer struct {
	Name string // of the key
	Key  ed25519.PrivateKey

	// Variables returns the values of the variables that a skill of a tenant was granted, by name; those that are not set are left out.
	// The names may be patterns, as a manifest has them. It is asked at each hand-over. Nil sends none: then the worker's own count.
	Variables func(ctx context.Context, tenant string, names []string) (map[string]string, error)
}

// Environ returns a Signer.Variables that has the variables of an environment, which are NAME=value, for every tenant.
func Environ(env []string) func(context.Context, string, []string) (map[string]string, error) {
	return func(_ context.Context, _ string, names []string) (map[string]string, error) {
		out := map[string]string{}
		for _, kv := range env {
			if name, value, _ := strings.Cut(kv, "="); variable.Matches(names, name) {
				out[name] = value
			}
		}
		return out, nil
	}
}

// Seal signs the order of a run for one attempt, and seals the values of its variables to the worker: it is that of a dispatch.Dispatcher.
func (s *Signer) Seal(ctx context.Context, r *dispatch.Run, to *dispatch.To) ([]byte, error) {
	o, err := order.Decode(r.Order)
	if err != nil {
		return nil, err
	}
	if o.Run != r.ID || o.For.Tenant != r.Tenant || len(o.Sealed) > 0 {
		return nil, errors.New("the order is not that of the run")
	}
	o.Attempt, o.Worker, o.Start, o.Until = to.Token, to.Worker, to.Start, r.Until
	if err := s.variables(ctx, o, to.Key); err != nil {
		return nil, err
	}
	return o.Sign(s.Name, s.Key)
}

func (s *Signer) variables(ctx context.Context, o *order.Order, key []byte) error {
	names := o.Grant.Given.Named(want.Variable)
	if s.Variables == nil || len(names) == 0 {
		return nil
	}
	values, err := s.Variables(ctx, o.For.Tenant, names)
	if err != nil {
		return fmt.Errorf("read the variables %q: %w", names, err)
	}
	return o.Seal(key, values)
}
