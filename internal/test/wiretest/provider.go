package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// Options are what a model of every provider is made of: the providers' own options convert from it.
type Options struct {
	Key     string
	BaseURL string
	Model   string
	HTTP    *http.Client
	Idle    time.Duration
}

// Provider is one wire under test.
type Provider struct {
	Name  string // of the package, as its errors say it
	New   func(*Options) (llm.Model, error)
	Begun string // a stream with the text "a" that does not end
	Whole string // a stream that ends in order
	Cut   string // the message for a stream without its last event

	KeyHeader string // where the key stands in a request
	Vendor    string // the address that a request goes to without a BaseURL, for the model "model-1"

	Messages string   // the field of a request that holds the messages
	Fixed    []string // fields that are the same in each turn of a conversation
	Mark     string   // in a request, what moves on from turn to turn; may be ""
}

// Model returns a model that asks the server.
func (p *Provider) Model(t testing.TB, s *Server) llm.Model {
	t.Helper()
	return p.with(t, &Options{Key: "key-1", BaseURL: s.URL})
}

func (p *Provider) with(t testing.TB, o *Options) llm.Model {
	t.Helper()
	o.Model = "model-1"
	m, err := p.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Hello is a request of one word.
func Hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Text: "hello"}}}}}
}

// Collect asks a model.
func Collect(t *testing.T, m llm.Model, r *llm.Request) (llm.Answer, error) {
	t.Helper()
	return llm.Collect(t.Context(), m, r, nil)
}

// Answer checks what a stream is read as, and whom the one request for it went to with which key.
func (p *Provider) Answer(t *testing.T, stream string, want llm.Answer) {
	t.Helper()
	s := Serve(t, SSE(stream))
	got, err := Collect(t, p.Model(t, s), Hello())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", dump(got), dump(want))
	}
	vendor, err := url.Parse(p.Vendor)
	if err != nil {
		t.Fatal(err)
	}
	q := s.Last()
	if len(s.Asked()) != 1 || q.URL != vendor.RequestURI() || q.Header.Get(p.KeyHeader) != "key-1" {
		t.Errorf("got %+v, want one request of %s with key-1", s.Asked(), vendor.RequestURI())
	}
}

func dump(v any) string {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Stops checks the stop reason of a stream without an error.
func (p *Provider) Stops(t *testing.T, stream string, want llm.StopReason) {
	t.Helper()
	got, err := Collect(t, p.Model(t, Serve(t, SSE(stream))), Hello())
	if got.Stop != want || err != nil {
		t.Errorf("got %q, %v, want %q", got.Stop, err, want)
	}
}

// Fault checks the error that comes of a server's answer, and that the server was asked once. Of want the provider
// need not be named, and a Message of "*" is any. It returns what was yielded before the error.
func (p *Provider) Fault(t *testing.T, answer http.HandlerFunc, want llm.Error) llm.Answer {
	t.Helper()
	s := Serve(t, answer)
	o := &Options{Key: "key-1", BaseURL: s.URL}
	if want.Kind == llm.TimedOut {
		o.Idle = 100 * time.Millisecond
	}
	told, err := Collect(t, p.with(t, o), Hello())
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *llm.Error", err)
	}
	got := *e
	got.Err, want.Provider = nil, p.Name
	if want.Message == "*" {
		got.Message = "*"
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.Close() // waits for its handlers
	if n := len(s.Asked()); n != 1 {
		t.Errorf("got %d requests, want 1", n)
	}
	return told
}

// Faults checks failures that are the same for every provider, and that the text before them is yielded.
func (p *Provider) Faults(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		told   string
		want   llm.Error
	}{
		{"a gateway's page", Status(502, "<html>no</html>"), "", llm.Error{Kind: llm.Overloaded, Status: 502, Message: "Bad Gateway"}},
		{"nothing", SSE(""), "", llm.Error{Kind: llm.Cut, Message: p.Cut}},
		{"cut before the end", SSE(p.Begun), "a", llm.Error{Kind: llm.Cut, Message: p.Cut}},
		{"broken connection", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, "", llm.Error{Kind: llm.Network, Message: "*"}},
		{"broken within", Broken(p.Begun), "a", llm.Error{Kind: llm.Cut, Message: "the answer broke off: unexpected EOF"}},
		{"silence", Hang, "", llm.Error{Kind: llm.TimedOut, Message: "no data for 100ms"}},
		{"silence within", Stall(p.Begun), "a", llm.Error{Kind: llm.TimedOut, Message: "no data for 100ms"}},
		{"endless line", SSE(p.Begun + "data: " + strings.Repeat("x", 5<<20)), "a",
			llm.Error{Kind: llm.Malformed, Message: "a line of the answer exceeds 4194304 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := p.Fault(t, tt.answer, tt.want).Text(); got != tt.told {
				t.Errorf("got the text %q before the error, want %q", got, tt.told)
			}
		})
	}
}

// Unreachable checks the error where no server is.
func (p *Provider) Unreachable(t *testing.T) {
	s := Serve(t, Hang)
	s.Close()
	_, err := Collect(t, p.Model(t, s), Hello())
	wantKind(t, err, llm.Network)
}

func wantKind(t *testing.T, err error, want llm.ErrorKind) {
	t.Helper()
	if e, ok := err.(*llm.Error); !ok || e.Kind != want {
		t.Errorf("got %v, want an *llm.Error of kind %s", err, want)
	}
}

// HidesKey checks that an error never holds the key, wherever the server puts it.
func (p *Provider) HidesKey(t *testing.T) {
	const key = "secret-key-1"
	problem := `{"type":"error","error":{"code":400,"type":"invalid_request_error","message":"not valid: ` + key + `"}}`
	for name, answer := range map[string]http.HandlerFunc{
		"status":   Status(400, problem),
		"stream":   SSE(p.Begun + "event: error\ndata: " + problem + "\n\n"),
		"redirect": Status(302, "", "Location", "https://other.example/?key="+key),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Collect(t, p.with(t, &Options{Key: key, BaseURL: Serve(t, answer).URL}), Hello())
			if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "[the key]") {
				t.Errorf("got %v, want an error without the key", err)
			}
		})
	}
}

// Cancel checks that cancelling ends the request and gives the context's own error.
func (p *Provider) Cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, gone := p.stalled(t)
	var last error
	for e, err := range m.Stream(ctx, Hello()) {
		if e.Text != "" {
			cancel()
		}
		last = err
	}
	if last != context.Canceled {
		t.Errorf("got %v, want context.Canceled", last)
	}
	<-gone
	for _, err := range m.Stream(ctx, Hello()) {
		if err != context.Canceled {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}

// Break checks that breaking off the loop ends the request.
func (p *Provider) Break(t *testing.T) {
	m, gone := p.stalled(t)
	for e, err := range m.Stream(t.Context(), Hello()) {
		if e.Text != "" || err != nil {
			break
		}
	}
	<-gone
}

// stalled returns a model whose server begins an answer and stops; gone is closed when the server sees its client leave.
func (p *Provider) stalled(t *testing.T) (m llm.Model, gone chan struct{}) {
	t.Helper()
	gone = make(chan struct{}, 1)
	return p.Model(t, Serve(t, func(w http.ResponseWriter, r *http.Request) {
		Stall(p.Begun)(w, r)
		gone <- struct{}{}
	})), gone
}
