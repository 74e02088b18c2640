package mcphost

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of what is taken of a list.
const (
	maxPrompts   = 1000 // of a server
	maxResources = 1000 // of a page
	maxText      = 2 << 10
)

// Prompt is a text that a server offers to the user.
type Prompt struct {
	Name        string
	Title       string // may be empty
	Description string // may be empty
	Arguments   []Argument
}

// Argument is one of a Prompt.
type Argument struct {
	Name        string
	Description string // may be empty
	Required    bool
}

// Message is one of a conversation that a prompt begins.
type Message struct {
	Role string // "user" or "assistant"
	Text string // what is no text is named in it
}

// Resource is something to read at a server.
type Resource struct {
	URI, Name, Title, Description, MIMEType string // all but URI may be empty
	Size                                    int64  // bytes; 0 if it is not known
}

// Content is what a resource has, or one of several that it has.
type Content struct {
	URI, MIMEType string
	Text          string
	Blob          []byte // nil for a text
}

// Prompts returns the prompts of a server, up to 1,000. The error is that of ctx or a *ServerError, as for all methods of this kind.
func (h *Host) Prompts(ctx context.Context, label string) (out []Prompt, err error) {
	err = h.use(ctx, label, func(ctx context.Context, r *running) error {
		out = nil
		cursor := ""
		for range maxPages {
			if !r.c.has("prompts") {
				return nil
			}
			res, err := r.c.session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return own(err)
			}
			for _, p := range res.Prompts {
				if p != nil && p.Name != "" && len(out) < maxPrompts {
					out = append(out, r.s.prompt(p))
				}
			}
			if res.NextCursor == "" || res.NextCursor == cursor {
				break
			}
			cursor = res.NextCursor
		}
		return nil
	})
	return out, err
}

func (s *server) prompt(p *mcp.Prompt) Prompt {
	out := Prompt{Name: p.Name, Title: s.short(p.Title), Description: s.short(p.Description)}
	for _, a := range p.Arguments[:min(len(p.Arguments), maxFields)] {
		if a != nil {
			out.Arguments = append(out.Arguments, Argument{a.Name, s.short(a.Description), a.Required})
		}
	}
	return out
}

func (s *server) short(text string) string { return Plain(s.plain(text), maxText) }

// Prompt returns the messages of a prompt with arguments.
func (h *Host) Prompt(ctx context.Context, label, name string, args map[string]string) (out []Message, err error) {
	err = h.use(ctx, label, func(ctx context.Context, r *running) error {
		out = nil
		params, size := &mcp.GetPromptParams{Name: name, Arguments: args}, int64(0)
		return r.c.rounds(ctx, func(answers mcp.InputResponseMap, state string) (more, error) {
			params.InputResponses, params.RequestState = answers, state
			res, err := r.c.session.GetPrompt(ctx, params)
			if err != nil {
				return more{}, err
			}
			if res.NeedsInput() {
				return more{true, res.InputRequests, res.RequestState}, nil
			}
			for _, m := range res.Messages {
				if m == nil {
					continue
				}
				text, _ := contents([]mcp.Content{m.Content})
				one := Message{string(m.Role), r.s.redacted(text)}
				if one.Role != "assistant" {
					one.Role = "user"
				}
				if size += int64(len(one.Text)); size > h.o.MaxResult {
					return more{}, &Error{Message: fmt.Sprintf("the prompt has more than %d bytes", h.o.MaxResult)}
				}
				out = append(out, one)
			}
			return more{}, nil
		})
	})
	return out, err
}

// Complete returns values for an argument of a prompt that go on from what is there, up to 100. others are the arguments that are filled in. There are none if
// the server does not complete.
func (h *Host) Complete(ctx context.Context, label, prompt, argument, value string, others map[string]string) (out []string, err error) {
	err = h.use(ctx, label, func(ctx context.Context, r *running) error {
		if !r.c.has("completions") {
			return nil
		}
		res, err := r.c.session.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: prompt},
			Argument: mcp.CompleteParamsArgument{Name: argument, Value: value}, Context: &mcp.CompleteContext{Arguments: others}})
		if err != nil {
			return own(err)
		}
		for _, v := range res.Completion.Values[:min(len(res.Completion.Values), 100)] {
			out = append(out, r.s.short(v))
		}
		return nil
	})
	return out, err
}

// Resources returns a page of what there is to read at a server, and the cursor of the next page: "" is the first page, and no next one.
func (h *Host) Resources(ctx context.Context, label, cursor string) (out []Resource, next string, err error) {
	err = h.use(ctx, label, func(ctx context.Context, r *running) error {
		out = nil
		if !r.c.has("resources") {
			return nil
		}
		res, err := r.c.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return own(err)
		}
		for _, o := range res.Resources[:min(len(res.Resources), maxResources)] {
			if o != nil && o.URI != "" {
				out = append(out, Resource{o.URI, r.s.short(o.Name), r.s.short(o.Title), r.s.short(o.Description), Plain(o.MIMEType, 200), max(o.Size, 0)})
			}
		}
		if next = res.NextCursor; next == cursor {
			next = ""
		}
		return nil
	})
	return out, next, err
}

// Read reads a resource of a server. The answer has at most 24 MiB, as a file of 16 MiB has; the contents are given as they are, but for
// secrets.
func (h *Host) Read(ctx context.Context, label, uri string) (out []Content, err error) {
	err = h.use(ctx, label, func(ctx context.Context, r *running) error {
		out = nil
		r.c.w.reads.Add(1)
		defer r.c.w.reads.Add(-1)
		params := &mcp.ReadResourceParams{URI: uri}
		return r.c.rounds(ctx, func(answers mcp.InputResponseMap, state string) (more, error) {
			params.InputResponses, params.RequestState = answers, state
			res, err := r.c.session.ReadResource(ctx, params)
			if err != nil {
				return more{}, err
			}
			if res.NeedsInput() {
				return more{true, res.InputRequests, res.RequestState}, nil
			}
			for _, o := range res.Contents {
				if o != nil {
					out = append(out, Content{o.URI, Plain(o.MIMEType, 200), r.s.redacted(o.Text), o.Blob})
				}
			}
			return more{}, nil
		})
	})
	return out, err
}

func (s *server) redacted(text string) string {
	if s.Redact == nil {
		return text
	}
	return s.Redact(text)
}

// News returns the labels of the servers whose lists have changed since the last call. What has changed is asked for by Tools, Prompts
// and Resources.
func (h *Host) News() []string {
	var out []string
	for _, s := range h.servers {
		s.mu.Lock()
		if s.news {
			out = append(out, s.Label)
		}
		s.news = false
		s.mu.Unlock()
	}
	return out
}

// heard notes that a list of the server has changed.
func (s *server) heard(list string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = true
	if list == "tools" {
		s.stale = true
	}
}

// Ask sends a method of an extension that a server declares, see Extension, and reads its result into what result points to. params are
// an object as JSON. Methods of the protocol itself are refused.
func (h *Host) Ask(ctx context.Context, label, method string, params, result any) error {
	return h.use(ctx, label, func(ctx context.Context, r *running) error {
		if len(r.c.about().Extensions) == 0 {
			return r.s.fault(KindProtocol, "it declares no extension", nil)
		}
		raw, err := r.c.ask(ctx, method, params)
		if err != nil {
			return own(err)
		}
		if err := json.Unmarshal(raw, result); err != nil {
			return r.s.fault(KindProtocol, fmt.Sprintf("its answer to %s cannot be read: %v", method, err), err)
		}
		return nil
	})
}

// askParams are parameters of any form.
type askParams struct {
	mcp.ParamsBase
	all map[string]json.RawMessage
}

// MarshalJSON returns the parameters with what the SDK adds to each request.
func (p *askParams) MarshalJSON() ([]byte, error) {
	all := maps.Clone(p.all)
	if len(p.Meta) > 0 {
		b, err := json.Marshal(p.Meta)
		if err != nil {
			return nil, err
		}
		all["_meta"] = b
	}
	return json.Marshal(all)
}

// askResult is a result of any form.
type askResult struct {
	mcp.ResultBase
	raw json.RawMessage
}

// UnmarshalJSON keeps the result as it is.
func (r *askResult) UnmarshalJSON(b []byte) error {
	r.raw = slices.Clone(b)
	return nil
}

// ask sends a method that the SDK does not know.
func (c *Conn) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	p := &askParams{all: map[string]json.RawMessage{}}
	if b, err := json.Marshal(params); err != nil {
		return nil, err
	} else if err := json.Unmarshal(b, &p.all); err != nil {
		return nil, err
	}
	if strings.HasPrefix(method, "notifications/") {
		return nil, fmt.Errorf("%s is no request", method)
	}
	if err := mcp.AddSendingCustomMethod[*askParams, *askResult](c.client, method); err != nil {
		return nil, err
	}
	res, err := mcp.CallCustomMethod[*askParams, *askResult](ctx, c.session, method, p)
	if err != nil {
		return nil, err
	}
	return res.raw, nil
}
