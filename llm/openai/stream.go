package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// protocol holds the differences between Responses and Chat Completions.
type protocol struct {
	request func() (any, error) // the body of the request
	reader  func() reader
}

// reader turns the events of one answer into llm.Events.
type reader interface {
	// read takes the data of one event. The answer is complete with an event that has Stop set.
	read(data []byte) ([]llm.Event, error)
	// end is called when the stream ends without an event that completes the answer. It returns the remaining events if
	// the answer is complete, or nil.
	end() []llm.Event
}

// stream sends one request and yields its events.
func (c *client) stream(ctx context.Context, p *protocol) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if c.err != nil {
			yield(llm.Event{}, c.err)
			return
		}
		inner, x := wire.Begin(ctx)
		if err := c.ask(inner, x, p, yield); err != nil {
			yield(llm.Event{}, x.Explain(ctx, err, &wire.Caller{Provider: provider, Key: c.key, Refused: refused}))
		}
	}
}

// errRefused stands for the answer that refused reads.
var errRefused = errors.New("refused")

// ask sends the request and yields the events of the answer. It returns an error without yielding it.
func (c *client) ask(ctx context.Context, x *wire.Exchange, p *protocol, yield func(llm.Event, error) bool) error {
	body, err := p.request()
	if err != nil {
		return err
	}
	res, err := c.post(ctx, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if x.Status >= 400 {
		return errRefused
	}
	doc, stream, err := document(res)
	if err != nil {
		return err
	}
	if doc != nil {
		return whole(doc, p.reader(), yield)
	}
	return pump(wire.NewEvents(stream), p.reader(), yield)
}

// maxDocument is how many bytes an answer may have that is not a stream.
const maxDocument = 8 << 20

// document reads an answer that is one JSON document, as servers without streams give it, and some in place of an error. Of a stream of
// events, which never begins like one, it returns a reader.
func document(res *http.Response) (doc []byte, stream io.Reader, err error) {
	body := bufio.NewReader(res.Body)
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media != "application/json" {
		if first, err := body.Peek(1); err != nil || first[0] != '{' && first[0] != '[' {
			return nil, body, nil // reading it says what is wrong
		}
	}
	doc, err = io.ReadAll(io.LimitReader(body, maxDocument+1))
	if err == nil && len(doc) > maxDocument {
		err = &llm.Error{Kind: llm.Malformed, Provider: provider, Message: fmt.Sprintf("the answer has more than %d bytes", maxDocument)}
	}
	return doc, nil, err
}

// whole yields the events of an answer that is one document. It returns an error without yielding it.
func whole(doc []byte, r reader, yield func(llm.Event, error) bool) error {
	if readFailure(doc).Message != "" {
		return midway(doc)
	}
	events, err := r.read(doc)
	if err != nil || pass(events, yield) || pass(r.end(), yield) {
		return err
	}
	return &llm.Error{Kind: llm.Malformed, Provider: provider, Message: "the answer is a JSON document and not a stream of events"}
}

// pump yields the events of one answer. It returns an error without yielding it.
func pump(from *wire.Events, r reader, yield func(llm.Event, error) bool) error {
	for from.Next() {
		events, err := r.read(from.Data())
		if done := pass(events, yield); done || err != nil {
			return err
		}
	}
	if pass(r.end(), yield) {
		return nil
	}
	if err := from.Err(); err != nil {
		return err
	}
	return &llm.Error{Kind: llm.Cut, Provider: provider, Message: "the answer ended before it was complete"}
}

// pass yields events and reports whether to stop: the caller left the loop, or the answer is complete.
func pass(events []llm.Event, yield func(llm.Event, error) bool) bool {
	for _, e := range events {
		if !yield(e, nil) || e.Stop != "" {
			return true
		}
	}
	return false
}

// malformed returns the error for an event that violates the protocol.
func malformed(data []byte, err error) error {
	return &llm.Error{Kind: llm.Malformed, Provider: provider, Err: err,
		Message: fmt.Sprintf("an event of the answer cannot be read: %v in %.100q", err, data)}
}

// tokens is the usage in both protocols, which use different names.
type tokens struct {
	InputTokens         int64         `json:"input_tokens"`
	OutputTokens        int64         `json:"output_tokens"`
	InputTokensDetails  *inputDetails `json:"input_tokens_details"`
	PromptTokens        int64         `json:"prompt_tokens"`
	CompletionTokens    int64         `json:"completion_tokens"`
	PromptTokensDetails *inputDetails `json:"prompt_tokens_details"`
}

type inputDetails struct {
	CachedTokens int64 `json:"cached_tokens"`
}

// usage fails if a count is invalid.
func (t *tokens) usage() (*llm.Usage, error) {
	var cached int64
	for _, d := range []*inputDetails{t.InputTokensDetails, t.PromptTokensDetails} {
		if d == nil {
			continue
		}
		if err := wire.CheckTokens(provider, d.CachedTokens); err != nil {
			return nil, err
		}
		cached += d.CachedTokens
	}
	if err := wire.CheckTokens(provider, t.InputTokens, t.PromptTokens, t.OutputTokens, t.CompletionTokens); err != nil {
		return nil, err
	}
	return &llm.Usage{Input: int(t.InputTokens + t.PromptTokens), CacheRead: int(cached),
		Output: int(t.OutputTokens + t.CompletionTokens)}, nil
}

// words returns the text of a field that is a string, null, or a list of parts with a text each.
func words(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			s += p.Text
		}
	}
	return s
}
