// Package gemini is an llm.Model over the REST interface of the Gemini API, streamed.
//
// The package reads no environment: key and address are options. It does not retry (llm.Retry does) and follows no
// redirect. What the provider says in an error is passed on, without the key. A model is safe for concurrent use.
package gemini

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// provider is the package's name in errors and in llm.State.
const provider = "gemini"

// defaultBaseURL is the address of the service where Options name none.
const defaultBaseURL = "https://generativelanguage.googleapis.com"

// Options configures New.
type Options struct {
	Key     string        // sent as x-goog-api-key; may be "" only with a BaseURL, and no key is sent then
	BaseURL string        // what /v1beta/models/… is appended to; "" means https://generativelanguage.googleapis.com
	Model   string        // the API's name of the model; "models/" may be left out
	HTTP    *http.Client  // does the work; nil means one without a proxy
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
	path, err := modelPath(o.Model)
	if err != nil {
		return nil, err
	}
	return &model{
		key:     o.Key,
		address: base + "/v1beta/" + path + ":streamGenerateContent?alt=sse",
		http:    wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle}),
	}, nil
}

// modelPath returns the model's part of the address, escaped.
func modelPath(name string) (string, error) {
	switch {
	case name == "":
		return "", &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: "no model was named"}
	case strings.Contains(name, ".."):
		return "", &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: fmt.Sprintf("invalid model name %q", name)}
	case !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/"):
		name = "models/" + name
	}
	return (&url.URL{Path: name}).EscapedPath(), nil
}

type model struct {
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
			err = pump(wire.NewEvents(resp.Body), answer{ids: wire.NewIDs(ownID, r.Messages)}, yield)
		}
		if err != nil || exchange.Status >= 400 {
			yield(llm.Event{}, exchange.Explain(ctx, err, &wire.Caller{Provider: provider, Key: m.key, Refused: refused}))
		}
	}
}

// send makes the request.
func (m *model) send(ctx context.Context, r *llm.Request) (*http.Response, error) {
	req, err := wire.NewPost(ctx, m.address, newRequest(r))
	if err != nil {
		return nil, err
	}
	if m.key != "" {
		req.Header.Set("X-Goog-Api-Key", m.key)
	}
	return m.http.Do(req)
}

// pump yields the events of one answer. Its error has not been yielded yet.
func pump(events *wire.Events, a answer, yield func(llm.Event, error) bool) error {
	for events.Next() {
		out, err := a.take(events.Data())
		for _, e := range out {
			if !yield(e, nil) {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	reason, err := a.reason()
	if err == nil {
		yield(llm.Event{Stop: reason}, nil)
	}
	return err
}
