package order

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
)

// signed is an order with its signature. The signature is of the bytes of the order, so nothing depends on how they are read.
type signed struct {
	Order []byte `json:"order"`
	Key   string `json:"key"` // the name of the key
	Sig   []byte `json:"sig"`
}

// domain begins what is signed: a signature of something else is none of an order.
const domain = "agent-base order\n"

// Sign returns an order for one start of one worker, signed with a key of this name.
func (o *Order) Sign(name string, key ed25519.PrivateKey) ([]byte, error) {
	if o.Worker == "" || o.Start == "" || o.Attempt == 0 || o.Until.IsZero() {
		return nil, errors.New("an order is signed for one attempt, one start of one worker, and some time")
	}
	b, err := o.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(signed{b, name, ed25519.Sign(key, append([]byte(domain), b...))})
}

// Receiver reads the orders that are for one start of a worker. Its caller refuses those that are too late, or were carried out before.
type Receiver struct {
	Worker, Start string
	Keys          map[string]ed25519.PublicKey // of those whose orders are carried out, by name
	Tenant        string                       // if set, orders of another tenant are refused
}

// Open reads a signed order. It returns an error for one that is not to be carried out: nothing of it may run.
func (r *Receiver) Open(b []byte) (*Order, error) {
	var s signed
	if len(b) > 2*MaxOrder {
		return nil, fmt.Errorf("an order of %d bytes", len(b))
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("no order: %w", err)
	}
	key, ok := r.Keys[s.Key]
	if !ok || !ed25519.Verify(key, append([]byte(domain), s.Order...), s.Sig) {
		return nil, errors.New("nobody signed the order whose orders are carried out")
	}
	o, err := Decode(s.Order)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Worker != r.Worker:
		return nil, errors.New("the order is for another worker")
	case o.Start != r.Start:
		return nil, errors.New("the order is for another start of the worker")
	case r.Tenant != "" && o.For.Tenant != r.Tenant:
		return nil, errors.New("the order is of another tenant")
	}
	return o, nil
}
