package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
)

// Talk is a request with a system text, two tools and these messages.
func Talk(messages []llm.Message) *llm.Request {
	return &llm.Request{
		System: "You have skills.",
		Tools: []llm.Tool{
			{Name: "hello", Description: "greets <all>", Input: json.RawMessage(`{"type":"object","$defs":{"n":{"maximum":9223372036854775807}},"properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`)},
			{Name: "glob", Input: json.RawMessage(`{"type":"object"}`)},
		},
		Messages:  messages,
		MaxTokens: 100,
	}
}

// Shown is a request with an image and a document, of the user and of a tool.
func Shown() *llm.Request {
	image, document := llm.Media{Type: "image/png", Name: "a.png", Data: []byte("PNG")}, llm.Media{Type: "application/pdf", Name: "b.pdf", Data: []byte("PDF")}
	return &llm.Request{Messages: []llm.Message{
		{Role: llm.User, Parts: []llm.Part{{Media: &image}, {Media: &document}, {Text: "compare"}}},
		{Role: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: "c1", Name: "read", Args: json.RawMessage(`{}`)}}}},
		{Role: llm.User, Parts: []llm.Part{{Result: &llm.Result{ID: "c1", Name: "read", Text: "two", Media: []llm.Media{image, document}}}}},
	}}
}

// Sent returns the body of the request that the model makes of r, without the line break at its end.
func (p *Provider) Sent(t *testing.T, r *llm.Request) string {
	t.Helper()
	s := Serve(t, SSE(p.Whole))
	if _, err := Collect(t, p.Model(t, s), r); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(s.Last().Body, "\n")
}

// Fields returns the fields of the request that the model makes of r.
func (p *Provider) Fields(t *testing.T, r *llm.Request) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(p.Sent(t, r)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Request checks the body that the model makes of r, byte for byte but for the spaces in want and how < and > are
// escaped, and that it makes the same bytes again.
func (p *Provider) Request(t *testing.T, r *llm.Request, want string) {
	t.Helper()
	got := p.Sent(t, r)
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if unescaped := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(got); unescaped != compact.String() {
		t.Errorf("got  %s\nwant %s", unescaped, compact.String())
	}
	if again := p.Sent(t, r); again != got {
		t.Errorf("got other bytes the second time:\n%s\n%s", got, again)
	}
}

// PrefixStays checks that a conversation which goes on after r is sent with the same bytes up to there, but for Mark.
// It returns the messages of both requests.
func (p *Provider) PrefixStays(t *testing.T, r *llm.Request) (first, second json.RawMessage) {
	t.Helper()
	further := *r
	further.Messages = append(further.Messages[:len(r.Messages):len(r.Messages)],
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "done"}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "and now?"}}})
	was, is := p.Fields(t, r), p.Fields(t, &further)
	for _, key := range p.Fixed {
		if was[key] == nil || !bytes.Equal(was[key], is[key]) {
			t.Errorf("%s: got %s and then %s", key, was[key], is[key])
		}
	}
	first, second = was[p.Messages], is[p.Messages]
	unmarked := func(b json.RawMessage) string { return strings.ReplaceAll(string(b), p.Mark, "") }
	if old := strings.TrimSuffix(unmarked(first), "]"); old == "" || !strings.HasPrefix(unmarked(second), old+",") {
		t.Errorf("got %s %s, want them to begin with %s", p.Messages, second, old)
	}
	return first, second
}

// BadSchema checks that a tool with a schema that is not JSON is refused before a request is sent.
func (p *Provider) BadSchema(t *testing.T) {
	t.Helper()
	s := Serve(t, SSE(p.Whole))
	r := Hello()
	r.Tools = []llm.Tool{{Name: "bad", Input: json.RawMessage(`{`)}}
	_, err := Collect(t, p.Model(t, s), r)
	wantKind(t, err, llm.BadRequest)
	if n := len(s.Asked()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

// Refuses checks what no model is made of.
func (p *Provider) Refuses(t *testing.T) {
	for _, o := range []Options{
		{Key: "k"},
		{Key: "k\n", Model: "m"},
		{Key: "k", Model: "m", BaseURL: "localhost"},
	} {
		if _, err := p.New(&o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

// Environment checks that nothing of the environment reaches a request, and that what is not given is not looked up:
// words are the names of variables that a vendor's SDK reads, addresses those that set its address.
func (p *Provider) Environment(t *testing.T, words, addresses []string) {
	s, evil := Serve(t, SSE(p.Whole)), Serve(t, SSE(""))
	for _, name := range words {
		t.Setenv(name, "evil-value")
	}
	for _, name := range append(addresses, "HTTP_PROXY") {
		t.Setenv(name, evil.URL)
	}
	for _, key := range []string{"key-1", ""} {
		if _, err := Collect(t, p.with(t, &Options{Key: key, BaseURL: s.URL + "/"}), Hello()); err != nil {
			t.Fatal(err)
		}
		h := s.Last().Header
		if got := h.Get(p.KeyHeader); got != key || h.Get("Authorization") != "" {
			t.Errorf("got key %q and authorization %q, want %q and none", got, h.Get("Authorization"), key)
		}
		if all := fmt.Sprint(h); strings.Contains(strings.ToLower(all), "evil") {
			t.Errorf("got headers of the environment: %s", all)
		}
	}
	if n := len(evil.Asked()); n != 0 {
		t.Errorf("got %d requests at the environment's address, want none", n)
	}
	_, err := p.New(&Options{Model: "model-1"})
	wantKind(t, err, llm.BadKey)
	// Without a BaseURL the vendor's address is asked, whatever the environment says.
	var asked string
	m := p.with(t, &Options{Key: "k", HTTP: &http.Client{Transport: RoundTrip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})}})
	_, _ = Collect(t, m, Hello()) // the address alone is looked at
	if asked != p.Vendor {
		t.Errorf("got %s, want %s", asked, p.Vendor)
	}
}

// Fuzz checks, from the streams that were added to f, that an answer ends with a stop or an error whatever a server
// sends, and that its calls have ids and arguments.
func (p *Provider) Fuzz(f *testing.F) {
	f.Add(p.Begun)
	f.Add(p.Whole)
	f.Fuzz(func(t *testing.T, stream string) {
		m := p.with(t, &Options{Key: "k", HTTP: &http.Client{Transport: RoundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
				Body: io.NopCloser(strings.NewReader(stream)), Request: r}, nil
		})}})
		got, err := Collect(t, m, Hello())
		if (got.Stop == "") == (err == nil) {
			t.Errorf("got stop %q and error %v, want one of them", got.Stop, err)
		}
		for _, c := range got.Calls() {
			var args map[string]json.RawMessage
			if c.ID == "" || json.Unmarshal(c.Args, &args) != nil {
				t.Errorf("got call %+v, want an id and an object", c)
			}
		}
	})
}
