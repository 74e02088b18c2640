// Package anthropic is an llm.Model over Anthropic's Messages API, streamed, by the vendor's SDK.
//
// It reads no environment: key and address are options, and the variables that the SDK looks for have no effect. It
// does not retry (llm.Retry does) and follows no redirect. The prefix of a conversation is marked for the provider's
// cache. A model is safe for concurrent use.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// provider is the package's name in errors and in llm.State.
const provider = "anthropic"

// DefaultBaseURL is where the service is, unless Options say otherwise.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens is the longest answer that is asked for where a request names none; the API wants a number.
const DefaultMaxTokens = 8192

// Options configures New.
type Options struct {
	Key     string        // sent as x-api-key; may be "" only with a BaseURL, and no key is sent then
	BaseURL string        // what /v1/messages is appended to; "" means DefaultBaseURL
	Model   string        // the API's name of the model
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
	opts := []option.RequestOption{
		option.WithBaseURL(base + "/"),
		option.WithHTTPClient(wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle})),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(), // else variables of the environment decide
		option.WithOpenTelemetryPropagation(false),
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	// NewClient would read the environment; a service of its own takes only these options.
	return &model{name: o.Model, messages: sdk.NewMessageService(opts...)}, nil
}

type model struct {
	name     string
	messages sdk.MessageService
}

// Stream sends r and yields the answer.
func (m *model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		ctx, exchange := wire.Begin(ctx)
		stream := m.messages.NewStreaming(ctx, params(m.name, r))
		defer stream.Close()
		a := answer{blocks: map[int64]*block{}, ids: wire.NewIDs("toolu_", r.Messages)}
		for stream.Next() {
			events, err := a.take(stream.Current())
			if err != nil {
				yield(llm.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) || e.Stop != "" {
					return
				}
			}
		}
		yield(llm.Event{}, failure(ctx, exchange, stream.Err()))
	}
}

// failure returns why a stream ended before its answer did.
func failure(ctx context.Context, x *wire.Exchange, err error) error {
	var said *sdk.Error
	switch {
	case x.Err != nil:
		return x.Err
	case x.Status >= 400:
		message, kind := problem(string(x.Body))
		e := x.Failure(provider, message, time.Now())
		if kind != "" {
			e.Kind = kind
		}
		return e
	case errors.As(err, &said): // an event of the stream
		message, kind := problem(said.RawJSON())
		if kind == "" {
			kind = llm.Overloaded
		}
		return &llm.Error{Kind: kind, Provider: provider, Message: wire.Clip(message)}
	case ctx.Err() != nil:
		return ctx.Err()
	case x.Status == 0:
		return &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: fmt.Sprintf("the request cannot be put together: %v", err), Err: err}
	case err == nil:
		return &llm.Error{Kind: llm.Cut, Provider: provider, Message: "the stream ended before its message did"}
	}
	return &llm.Error{Kind: llm.Malformed, Provider: provider, Message: wire.Clip(fmt.Sprintf("an event of the stream cannot be read: %v", err)), Err: err}
}
