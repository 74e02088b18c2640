// Package openai speaks the two protocols of OpenAI: Responses (New), and Chat Completions (NewChat), which Ollama,
// vLLM, llama.cpp, LM Studio, OpenRouter and others speak too. Requests go through the official SDK; answers are read
// with structures of our own, which forgive what compatible servers leave out.
//
// The package reads no environment, keeps nothing on the provider's side (store is false) and does not retry: that is
// llm.Retry's. What a provider says in an error is passed on, without the key. A model is safe for concurrent use.
package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// Vendor is the address of OpenAI's own servers.
const Vendor = "https://api.openai.com/v1"

// Options says whom to ask.
type Options struct {
	// Key goes into the Authorization header, or into api-key where the host is Azure's; "" sends neither.
	Key string
	// BaseURL is what comes before /responses or /chat/completions; "" means Vendor. One without a path gets /v1.
	// Its query, such as Azure's api-version, goes with every request.
	BaseURL string
	// Model is the name of the model, on Azure that of the deployment.
	Model string
	// HTTP sends the requests; nil means a client of wire's: no proxy, nothing from the environment.
	HTTP *http.Client
	// Idle is the longest silence within an answer; 0 means wire.DefaultIdle.
	Idle time.Duration
}

// New returns a model behind the Responses protocol. A bad BaseURL is an error of each stream.
func New(o *Options) llm.Model {
	c := newClient(o)
	service := responses.NewResponseService(c.options...)
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return c.stream(ctx, &protocol{
			send: func(ctx context.Context, into option.RequestOption) error {
				params, err := responsesParams(c.model, r)
				if err != nil {
					return err
				}
				return service.NewStreaming(ctx, *params, into).Err()
			},
			reader: func() reader { return &responsesReader{ids: wire.NewIDs("call_", r.Messages)} },
		})
	})
}

// NewChat returns a model behind the Chat Completions protocol. A bad BaseURL is an error of each stream.
func NewChat(o *Options) llm.Model {
	c := newClient(o)
	service := openai.NewChatCompletionService(c.options...)
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return c.stream(ctx, &protocol{
			send: func(ctx context.Context, into option.RequestOption) error {
				params, err := chatParams(c, r)
				if err != nil {
					return err
				}
				return service.NewStreaming(ctx, *params, into).Err()
			},
			reader: func() reader { return &chatReader{ids: wire.NewIDs("call_", r.Messages)} },
		})
	})
}

// provider is the name in errors, and the owner of states.
const provider = "openai"

// client is what both protocols share.
type client struct {
	model   string
	key     string
	host    host
	options []option.RequestOption
	err     error // why no request can be made
}

// host tells whose servers are asked: some fields are taken by some of them alone.
type host int

const (
	compatible host = iota
	vendor
	azure
)

func newClient(o *Options) *client {
	c := &client{model: o.Model, key: o.Key, err: wire.CheckKey(provider, o.Key, false)}
	address, query, _ := strings.Cut(o.BaseURL, "?")
	base, err := wire.Endpoint(provider, address, Vendor)
	if err != nil {
		c.err = err
		return c
	}
	u, err := url.Parse(base)
	if err != nil {
		c.err = &llm.Error{Kind: llm.BadRequest, Provider: provider, Err: err}
		return c
	}
	if u.Path == "" {
		u.Path = "/v1"
	}
	c.host = hostOf(u)
	c.options = []option.RequestOption{
		option.WithMaxRetries(0),
		option.WithHTTPClient(wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle})),
		option.WithBaseURL(u.String()),
	}
	switch {
	case o.Key == "":
	case c.host == azure:
		c.options = append(c.options, option.WithHeader("api-key", o.Key))
	default:
		c.options = append(c.options, option.WithAPIKey(o.Key))
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		c.err = &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: "the query of the base URL cannot be read", Err: err}
	}
	for name, all := range values {
		for _, v := range all {
			c.options = append(c.options, option.WithQueryAdd(name, v))
		}
	}
	return c
}

func hostOf(u *url.URL) host {
	name := strings.ToLower(u.Hostname())
	for _, domain := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(name, domain) {
			return azure
		}
	}
	if name == "api.openai.com" || strings.HasSuffix(name, ".api.openai.com") {
		return vendor
	}
	return compatible
}
