package order

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/json"
	"errors"
	"fmt"
)

// Key is what one start of a worker opens variables with. It is never stored.
type Key struct{ private hpke.PrivateKey }

// NewKey returns a new key.
func NewKey() (*Key, error) {
	private, err := hpke.DHKEM(ecdh.X25519()).GenerateKey()
	return &Key{private}, err
}

// Public returns what variables are sealed to.
func (k *Key) Public() []byte { return k.private.PublicKey().Bytes() }

// bound is what a seal holds for: variables of one order cannot be opened as those of another.
func (o *Order) bound() ([]byte, error) {
	return json.Marshal([]any{"agent-base variables", o.Run, o.Attempt, o.Worker, o.Start, o.For.Tenant, o.Skill})
}

// Seal puts variables, as NAME=value, into an order that names its attempt and its worker, for the key with this public part alone.
func (o *Order) Seal(public []byte, env []string) error {
	to, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("no key of a worker: %w", err)
	}
	text, err := json.Marshal(env)
	if err != nil {
		return err
	}
	info, err := o.bound()
	if err != nil {
		return err
	}
	o.Sealed, err = hpke.Seal(to, hpke.HKDFSHA256(), hpke.AES256GCM(), info, text)
	return err
}

// open returns the variables of an order.
func (k *Key) open(o *Order) ([]string, error) {
	if len(o.Sealed) == 0 {
		return nil, nil
	}
	if k == nil {
		return nil, errors.New("the worker has no key")
	}
	info, err := o.bound()
	if err != nil {
		return nil, err
	}
	text, err := hpke.Open(k.private, hpke.HKDFSHA256(), hpke.AES256GCM(), info, o.Sealed)
	if err != nil {
		return nil, errors.New("they are sealed to another key, as that of a former start, or for another order")
	}
	var env []string
	err = json.Unmarshal(text, &env)
	return env, err
}
