// Package openai provides llm.Models for the two protocols of OpenAI: Responses (New), and Chat Completions (NewChat),
// which Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others also speak. It accepts what compatible servers leave out.
//
// The package reads no environment, stores nothing with the provider (store is false), follows no redirect and does not
// retry (see llm.Retry).
// Errors contain the provider's message without the key. A model is safe for concurrent use.
package openai

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// vendorURL is the address of OpenAI's own servers.
const vendorURL = "https://api.openai.com/v1"

// Options configures New and NewChat.
type Options struct {
	// Key goes into the Authorization header, or into api-key if the host is Azure; "" sends neither.
	Key string
	// BaseURL is what comes before /responses or /chat/completions; "" means OpenAI's own servers. Without a path, /v1 is added.
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
	c := newClient(o, "responses")
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return c.stream(ctx, &protocol{
			request: func() (any, error) { return newResponsesRequest(c.model, r) },
			reader:  func() reader { return &responsesReader{ids: wire.NewIDs("call_", r.Messages)} },
		})
	})
}

// NewChat returns a model that speaks Chat Completions. An invalid BaseURL is an error of each stream.
func NewChat(o *Options) llm.Model {
	c := newClient(o, "chat/completions")
	return llm.ModelFunc(func(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
		return c.stream(ctx, &protocol{
			request: func() (any, error) { return c.newChatRequest(r) },
			reader:  func() reader { return &chatReader{ids: wire.NewIDs("call_", r.Messages)} },
		})
	})
}

// provider is the name in errors, and the owner of states.
const provider = "openai"

// client sends the requests of one protocol.
type client struct {
	model   string
	key     string
	host    host
	files   bool // Chat Completions take PDF documents
	http    *http.Client
	address string
	err     error // why no request can be made
}

// host is the operator of the servers, because some fields are accepted only by some of them.
type host int

const (
	compatible host = iota
	vendor
	azure
)

// newClient returns a client whose requests go to path below the base URL.
func newClient(o *Options, path string) *client {
	c := &client{model: o.Model, key: o.Key, err: wire.CheckKey(provider, o.Key, false)}
	address, query, _ := strings.Cut(o.BaseURL, "?")
	base, err := wire.Endpoint(provider, address, vendorURL)
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
	values, err := url.ParseQuery(query)
	if err != nil {
		c.err = &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: "the query of the base URL cannot be read", Err: err}
	}
	c.host = hostOf(u)
	c.files = takesDocuments(u)
	u = u.JoinPath(path)
	u.RawQuery = values.Encode()
	c.address = u.String()
	c.http = wire.Client(&wire.Options{Provider: provider, HTTP: o.HTTP, Idle: o.Idle})
	return c
}

// post sends a request. The caller closes the body of the answer.
func (c *client) post(ctx context.Context, body any) (*http.Response, error) {
	req, err := wire.NewPost(ctx, c.address, body)
	if err != nil {
		return nil, err
	}
	switch {
	case c.key == "":
	case c.host == azure:
		req.Header.Set("Api-Key", c.key)
	default:
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return c.http.Do(req)
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

// TakesDocuments reports whether Chat Completions at this BaseURL have PDF documents. Those of most compatible servers have none.
func TakesDocuments(base string) bool {
	u, err := url.Parse(cmp.Or(base, vendorURL))
	return err == nil && takesDocuments(u)
}

func takesDocuments(u *url.URL) bool {
	return hostOf(u) != compatible || strings.EqualFold(u.Hostname(), "openrouter.ai")
}

// dataURL returns an image or a document as an address that has its bytes.
func dataURL(m *llm.Media) string {
	return "data:" + m.Type + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

// fileName returns the name of a document: a file without one is refused.
func fileName(m *llm.Media) string { return cmp.Or(m.Name, "document.pdf") }

// schema returns a tool's schema.
func schema(t *llm.Tool) (json.RawMessage, error) {
	if len(t.Input) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(t.Input, &object); err != nil || object == nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: provider, Err: err,
			Message: fmt.Sprintf("the schema of tool %q is not a JSON object", t.Name)}
	}
	return t.Input, nil
}

// cacheKey returns the cache key of the request, cut to the length that OpenAI accepts.
func cacheKey(r *llm.Request) string {
	return strings.ToValidUTF8(r.CacheKey[:min(len(r.CacheKey), 64)], "")
}
