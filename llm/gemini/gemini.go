// Package gemini is an llm.Model over the Gemini API, streamed, by the vendor's SDK.
//
// Key and address are options; the SDK looks at variables of the environment, and what it finds has no effect. (Where
// GOOGLE_API_KEY and GEMINI_API_KEY are both set it says so through package log; a command that wants silence sets the
// output of that package.) The package does not retry (llm.Retry does), follows no redirect and does not let the SDK
// go on by itself where an answer ends early. A model is safe for concurrent use.
package gemini

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"

	"google.golang.org/genai"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// provider is the package's name in errors and in llm.State.
const provider = "gemini"

// DefaultBaseURL is where the service is, unless Options say otherwise.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Options configures New.
type Options struct {
	Key     string        // sent as x-goog-api-key; may be "" only with a BaseURL, and no key is sent then
	BaseURL string        // what /v1beta/models/… is appended to; "" means DefaultBaseURL
	Model   string        // the API's name of the model, without "models/"
	HTTP    *http.Client  // does the work; nil means one without a proxy
	Idle    time.Duration // the longest silence before and within an answer; 0 means 120 s
}

// New returns the model that o describes. It sends nothing. Errors are *llm.Error of kind BadKey or BadRequest.
// Streams fail as llm.Error's kinds tell; a context that is done gives its own error.
func New(o *Options) (llm.Model, error) {
	if err := wire.CheckKey(provider, o.Key, o.BaseURL == ""); err != nil {
		return nil, err
	}
	base, err := wire.Endpoint(provider, o.BaseURL, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	if o.Model == "" {
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: "no model was named"}
	}
	client := wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle})
	client.Transport = &exact{next: client.Transport, keyless: o.Key == ""}
	// Whatever is "" here the SDK would take from the environment.
	m := &model{name: o.Model, config: genai.ClientConfig{
		Backend:     genai.BackendGeminiAPI,
		APIKey:      o.Key,
		HTTPClient:  client,
		HTTPOptions: genai.HTTPOptions{BaseURL: base, APIVersion: "v1beta"},
	}}
	if o.Key == "" {
		m.config.APIKey = "none" // taken off again before it is sent
	}
	return m, nil
}

type model struct {
	name   string
	config genai.ClientConfig

	once   sync.Once // guards what follows
	client *genai.Client
	err    error
}

// Stream sends r and yields the answer.
func (m *model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m.once.Do(func() { m.client, m.err = genai.NewClient(ctx, &m.config) }) // the context is for other backends
		if m.err != nil {
			yield(llm.Event{}, &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: m.err.Error(), Err: m.err})
			return
		}
		ctx, exchange := wire.Begin(ctx)
		a := answer{ids: wire.NewIDs(ownID, r.Messages)}
		var failed error
		for chunk, err := range m.client.Models.GenerateContentStream(ctx, m.name, contents(r.Messages), config(r)) {
			if err != nil {
				failed = err
				break
			}
			for _, e := range a.take(chunk) {
				if !yield(e, nil) {
					return
				}
			}
		}
		if reason, ok := a.reason(); ok && failed == nil && exchange.Err == nil {
			yield(llm.Event{Stop: reason}, nil)
			return
		}
		yield(llm.Event{}, a.failure(ctx, exchange, failed))
	}
}

// failure returns why a stream ended before its answer did.
func (a *answer) failure(ctx context.Context, x *wire.Exchange, err error) error {
	var said genai.APIError
	switch {
	case x.Err != nil:
		return x.Err
	case x.Status >= 400:
		p := read(x.Body)
		return p.apply(x.Failure(provider, p.Message, time.Now()))
	case errors.As(err, &said): // an event of the stream
		p := problem{Code: said.Code, Message: said.Message, Status: said.Status, Details: said.Details}
		return p.apply((&wire.Exchange{Status: said.Code}).Failure(provider, said.Message, time.Now()))
	case ctx.Err() != nil:
		return ctx.Err()
	case x.Status == 0:
		return &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: fmt.Sprintf("the request cannot be put together: %v", err), Err: err}
	case err != nil:
		return &llm.Error{Kind: llm.Malformed, Provider: provider, Message: wire.Clip(fmt.Sprintf("an event of the stream cannot be read: %v", err)), Err: err}
	case a.broken():
		return &llm.Error{Kind: llm.Malformed, Provider: provider, Message: fmt.Sprintf("the model did not get its call of a tool right (%s)", a.finish)}
	}
	return &llm.Error{Kind: llm.Cut, Provider: provider, Message: "the stream ended before its answer did"}
}
