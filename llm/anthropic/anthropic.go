// Package anthropic is an llm.Model over the REST interface of Anthropic's Messages API, streamed.
//
// The package reads no environment: key and address are options. It does not retry (llm.Retry does) and follows no
// redirect. What the provider says in an error is passed on, without the key. It marks the prefix of a conversation
// for the provider's cache. A model is safe for concurrent use.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// provider is the package's name in errors and in llm.State.
const provider = "anthropic"

// defaultBaseURL is the address of the service where Options name none.
const defaultBaseURL = "https://api.anthropic.com"

// defaultMaxTokens is the limit of an answer where neither the request nor Options have one; the API requires a number.
const defaultMaxTokens = 8192

// Options configures New.
type Options struct {
	Key     string        // sent as x-api-key; may be "" only with a BaseURL, and no key is sent then
	BaseURL string        // what /v1/messages is appended to; "" means https://api.anthropic.com
	Model   string        // the API's name of the model
	Answer  int           // the limit of an answer in tokens for a request without one, such as the model's own; 0 means 8,192
	HTTP    *http.Client  // sends the requests; nil means a client without a proxy
	Idle    time.Duration // the longest silence before and within an answer; 0 means 120 s
}

// New returns the model that o describes. It sends nothing. Its error is an *llm.Error of kind BadKey or BadRequest.
// A stream fails with an *llm.Error, or with the context's own error when the context is done.
func New(o *Options) (llm.Model, error) {
	if err := wire.CheckKey(provider, o.Key, o.BaseURL == ""); err != nil {
		return nil, err
	}
	base, err := wire.Endpoint(provider, o.BaseURL, defaultBaseURL)
	if err != nil {
		return nil, err
	}
	if o.Model == "" {
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: "no model was named"}
	}
	return &model{
		name:    o.Model,
		answer:  cmp.Or(o.Answer, defaultMaxTokens),
		key:     o.Key,
		address: base + "/v1/messages",
		http:    wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle}),
	}, nil
}

type model struct {
	name    string
	answer  int
	key     string
	address string
	http    *http.Client
}

// Stream sends r and yields the answer.
func (m *model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		inner, exchange := wire.Begin(ctx)
		resp, err := m.send(inner, r)
		if err == nil {
			defer resp.Body.Close()
		}
		if err == nil && exchange.Status < 400 {
			a := answer{blocks: map[int64]*part{}, ids: wire.NewIDs("toolu_", r.Messages)}
			err = a.pump(wire.NewEvents(resp.Body), yield)
		}
		if err != nil || exchange.Status >= 400 {
			yield(llm.Event{}, exchange.Explain(ctx, err, &wire.Caller{Provider: provider, Key: m.key, Refused: refused}))
		}
	}
}

// send makes the request.
func (m *model) send(ctx context.Context, r *llm.Request) (*http.Response, error) {
	req, err := wire.NewPost(ctx, m.address, newRequest(m, r))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if m.key != "" {
		req.Header.Set("X-Api-Key", m.key)
	}
	return m.http.Do(req)
}

// pump yields the events of one answer. Its error has not been yielded yet.
func (a *answer) pump(events *wire.Events, yield func(llm.Event, error) bool) error {
	for events.Next() {
		out, err := a.take(events.Data())
		if err != nil {
			return err
		}
		for _, e := range out {
			if !yield(e, nil) || e.Stop != "" {
				return nil
			}
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	return &llm.Error{Kind: llm.Cut, Provider: provider, Message: "the stream ended before its message did"}
}
