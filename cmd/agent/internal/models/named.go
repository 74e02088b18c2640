package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/agent-base/agent-base/llm"
)

// named is a model that is shown what it reads, and whose errors name the provider that the user chose: several providers share a protocol.
type named struct {
	model    llm.Model
	provider provider
	wire     wire
	senses   senses
}

// Stream implements llm.Model.
func (n *named) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for e, err := range n.model.Stream(ctx, n.senses.seen(r)) {
			if !yield(e, n.explain(err)) {
				return
			}
		}
	}
}

// explain puts the name of the provider into an error. To an unknown address or model (404) it adds what was asked and how
// to choose another one.
func (n *named) explain(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Provider = n.provider.name
	if e.Status == http.StatusNotFound {
		out.Message += fmt.Sprintf("; asked for the model %q with %s", n.wire.name, n.provider.protocol)
		if n.wire.base != "" {
			out.Message += " at " + n.wire.base
		}
		out.Message += fmt.Sprintf("; choose another with --model %s/NAME", n.provider.name)
		if n.provider.protocol == responses {
			out.Message += ", or with --model chat/NAME if the server knows only " + chat
		}
	}
	return &out
}
