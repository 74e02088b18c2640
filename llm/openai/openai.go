// Package openai provides llm.Models for the two protocols of OpenAI: Responses (New), and Chat Completions (NewChat),
// which Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others also speak. Requests of Responses and the streams of
// both use the official SDK. Answers and the requests of Chat Completions use types of this package, which accept what
// compatible servers leave out; the SDK's package for them would add 13 MB to a program.
//
// The package reads no environment, stores nothing with the provider (store is false) and does not retry (see llm.Retry).
// Errors contain the provider's message without the key. A model is safe for concurrent use.
package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// Vendor is the address of OpenAI's own servers.
const Vendor = "https://api.openai.com/v1"

// Options configures New and NewChat.
type Options struct {
	// Key goes into the Authorization header, or into api-key if the host is Azure; "" sends neither.
	Key string
	// BaseURL is what comes before /responses or /chat/completions; "" means Vendor. Without a path, /v1 is added.
	// Its query, such as Azure's api-version, goes with every request.
	BaseURL string
	// Model is the name of the model, on Azure that of the deployment.
	Model string
	// HTTP sends the requests; nil means a client without a proxy and without settings of the environment.
	HTTP *http.Client
	// Idle is the longest silence within an answer; 0 means 2 minutes.
	Idle time.Duration
}

// New returns a model that speaks Responses. An invalid BaseURL is an error of each stream.
func New(o *Options) llm.Model {
	c := newClient(o)
	service := responses.NewResponseService(c.options()...)
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return c.stream(ctx, &protocol{
			send: func(ctx context.Context) (*http.Response, error) {
				params, err := responsesParams(c.model, r)
				if err != nil {
					return nil, err
				}
				var res *http.Response
				err = service.NewStreaming(ctx, *params, option.WithResponseBodyInto(&res)).Err()
				return res, err
			},
			reader: func() reader { return &responsesReader{ids: wire.NewIDs("call_", r.Messages)} },
		})
	})
}

// NewChat returns a model that speaks Chat Completions. An invalid BaseURL is an error of each stream.
func NewChat(o *Options) llm.Model {
	c := newClient(o)
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return c.stream(ctx, &protocol{
			send:   func(ctx context.Context) (*http.Response, error) { return c.sendChat(ctx, r) },
			reader: func() reader { return &chatReader{ids: wire.NewIDs("call_", r.Messages)} },
		})
	})
}

// provider is the name in errors, and the owner of states.
const provider = "openai"

// client is shared by both protocols.
type client struct {
	model string
	key   string
	host  host
	http  *http.Client
	base  string     // without a slash at its end
	query url.Values // of the base
	chat  string     // the address for Chat Completions
	err   error      // why no request can be made
}

// host is the operator of the servers, because some fields are accepted only by some of them.
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
	if c.query, err = url.ParseQuery(query); err != nil {
		c.err = &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: "the query of the base URL cannot be read", Err: err}
	}
	c.host = hostOf(u)
	c.base = u.String()
	u = u.JoinPath("chat/completions")
	u.RawQuery = c.query.Encode()
	c.chat = u.String()
	c.http = wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle})
	return c
}

// options returns the options of the SDK. They set everything that it would otherwise read from the environment.
func (c *client) options() []option.RequestOption {
	if c.http == nil {
		return nil // no request is sent
	}
	out := []option.RequestOption{option.WithMaxRetries(0), option.WithHTTPClient(c.http), option.WithBaseURL(c.base)}
	switch {
	case c.key == "":
	case c.host == azure:
		out = append(out, option.WithHeader("api-key", c.key))
	default:
		out = append(out, option.WithAPIKey(c.key))
	}
	for name, all := range c.query {
		for _, v := range all {
			out = append(out, option.WithQueryAdd(name, v))
		}
	}
	return out
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
