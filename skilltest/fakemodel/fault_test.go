package fakemodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

var hello = talk{prompt: "Hello?"}

// httpError is the error of a client: the status and the body of the response.
type httpError struct {
	status int
	body   string
}

func (r *httpError) Error() string { return fmt.Sprintf("%d %s", r.status, r.body) }

// status returns the HTTP status and the body that a client got as an error.
func status(err error) (int, string) {
	if p, ok := errors.AsType[*httpError](err); ok {
		return p.status, p.body
	}
	return 0, fmt.Sprint(err)
}

func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, w Wire, stream bool) {
		for _, want := range []int{400, 401, 403, 404, 413, 429, 500, 503, 529} {
			s := New(t, Step{Status: want, Message: "not now"})
			_, err := clients[w](t.Context(), s, hello, stream)
			if got, text := status(err); got != want || !strings.Contains(text, "not now") {
				t.Errorf("got %d %s, want %d", got, text, want)
			}
			s.Close()
		}
	})
}

func TestRetryAfterAndForeignBody(t *testing.T) {
	for _, w := range wires() {
		s := New(t, Step{Status: 429, RetryAfter: "7", Code: "slow_down"}, Step{Status: 502, Body: "<html>Bad Gateway"})
		resp, err := http.DefaultClient.Do(request(t, s, w, false))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("Retry-After"); got != "7" || !strings.Contains(string(body), `"slow_down"`) {
			t.Errorf("%s: got Retry-After %q, %s", w, got, body)
		}
		if status, body := post(t, s, good[w].path, good[w].body); status != 502 || body != "<html>Bad Gateway" {
			t.Errorf("%s: got %d %s", w, status, body)
		}
	}
}

// request returns the valid conversation as a request, streaming or not.
func request(t *testing.T, s *Server, w Wire, stream bool) *http.Request {
	t.Helper()
	path, body := good[w].path, good[w].body
	switch {
	case stream && w == Gemini:
		path = strings.Replace(path, "generateContent", "streamGenerateContent?alt=sse", 1)
	case stream:
		body = strings.Replace(body, `"model"`, `"stream":true,"model"`, 1)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("X-Goog-Api-Key", "k")
	return r
}

// read returns the body of the next answer and its read error.
func read(t *testing.T, s *Server, w Wire, stream bool) ([]byte, error) {
	t.Helper()
	resp, err := http.DefaultClient.Do(request(t, s, w, stream))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// A fault changes the rest of an answer and nothing before it.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, w Wire, stream bool) {
		plain := Step{Text: "Grüezi mitenand, wie geht es?"}
		with := func(f Fault) Step { s := plain; s.Fault = f; return s }
		released := make(chan struct{})
		close(released)
		after := 2
		if !stream {
			after = 0
		}
		s := Start(plain,
			with(Fault{Kind: Cut, After: after, Bytes: 20}), with(Fault{Kind: End, After: after, Bytes: 20}),
			with(Fault{Kind: Hang, After: after, Bytes: 20, Release: released}), with(Fault{Kind: Garbage, After: after}),
			with(Fault{Kind: Mute, Release: released}), with(Fault{Kind: Cut, After: 99}))
		defer s.Close()
		id := func(b []byte) []byte { // answers differ only in their number
			for i := range 6 {
				b = bytes.ReplaceAll(b, fmt.Appendf(nil, "answer_%d", i), []byte("answer"))
			}
			return b
		}
		raw, err := read(t, s, w, stream)
		whole := id(raw)
		if err != nil || len(whole) < 40 {
			t.Fatal(err)
		}
		cut, err := read(t, s, w, stream)
		if cut = id(cut); !errors.Is(err, io.ErrUnexpectedEOF) || len(cut) == 0 || !bytes.HasPrefix(whole, cut) || len(cut) == len(whole) {
			t.Errorf("cut: %v, %q", err, cut)
		}
		end, err := read(t, s, w, stream)
		if end = id(end); err != nil || !bytes.Equal(end, cut) {
			t.Errorf("end: %v, %q", err, end)
		}
		if late, err := read(t, s, w, stream); err != nil || !bytes.Equal(id(late), whole) {
			t.Errorf("released: %v, %q", err, late)
		}
		if garbage, err := read(t, s, w, stream); err != nil || !bytes.Contains(garbage, []byte(`{]"`)) || bytes.Count(garbage, []byte("\n")) != bytes.Count(whole, []byte("\n")) {
			t.Errorf("garbage: %v, %q", err, garbage)
		}
		if late, err := read(t, s, w, stream); err != nil || !bytes.Equal(id(late), whole) {
			t.Errorf("mute, released: %v, %q", err, late)
		}
		if len(s.Problems()) > 0 {
			t.Error(s.Problems())
		}
		if _, err := read(t, s, w, stream); err != nil || len(s.Problems()) != 1 {
			t.Errorf("a fault that cannot happen: %v, %v", err, s.Problems())
		}
	})
}

// The clients report a broken stream as an error.
func TestFaultsSeenByClients(t *testing.T) {
	each(t, func(t *testing.T, w Wire, stream bool) {
		after := 2
		if !stream {
			after = 0
		}
		for _, kind := range []FaultKind{Cut, Garbage, Failure} {
			s := New(t, Step{Text: "A long enough text for some events.", Message: "broken inside", Fault: Fault{Kind: kind, After: after, Bytes: 9}})
			_, err := clients[w](t.Context(), s, hello, stream)
			if _, text := status(err); err == nil || kind == Failure && !strings.Contains(text+err.Error(), "broken inside") {
				t.Errorf("%s: got %v", kind, err)
			}
			s.Close()
		}
	})
}

// A hanging answer ends when the client disconnects and when the server closes.
func TestHang(t *testing.T) {
	each(t, func(t *testing.T, w Wire, stream bool) {
		for _, kind := range []FaultKind{Hang, Mute} {
			hangs(t, w, stream, kind)
		}
	})
}

func hangs(t *testing.T, w Wire, stream bool, kind FaultKind) {
	t.Helper()
	arrived := make(chan struct{})
	s := New(t, Step{Forever: true, From: func(*Request) Step {
		arrived <- struct{}{}
		return Step{Text: "Never.", Fault: Fault{Kind: kind}}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := clients[w](ctx, s, hello, stream); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	go func() {
		<-arrived
		s.Close()
	}()
	if _, err := clients[w](t.Context(), s, hello, stream); err == nil {
		t.Error("no error from a closed server")
	}
}

func TestMalformedArguments(t *testing.T) {
	each(t, func(t *testing.T, w Wire, stream bool) {
		const args = `{"city": "Be`
		s := New(t, Step{Calls: []Call{{Name: "weather", Args: args}}})
		got, err := clients[w](t.Context(), s, hello, stream)
		switch {
		case w == Gemini:
			if err != nil || got.Stop != "MALFORMED_FUNCTION_CALL" || len(got.Calls) != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		case w == Anthropic && !stream:
			if err != nil || got.Calls[0].Args != fmt.Sprintf("%q", args) {
				t.Errorf("got %+v, %v", got, err)
			}
		default:
			if err != nil || len(got.Calls) != 1 || got.Calls[0].Args != args {
				t.Errorf("got %+v, %v", got, err)
			}
		}
	})
}

func TestStops(t *testing.T) {
	words := map[Wire][4]string{
		Anthropic: {"end_turn", "tool_use", "max_tokens", "refusal"},
		Responses: {"completed", "completed", "max_output_tokens", "content_filter"},
		Chat:      {"stop", "tool_calls", "length", "content_filter"},
		Gemini:    {"STOP", "STOP", "MAX_TOKENS", "SAFETY"},
	}
	each(t, func(t *testing.T, w Wire, stream bool) {
		for i, step := range []Step{{Text: "a"}, {Calls: []Call{{Name: "weather"}}}, {Text: "a", Stop: StopLength}, {Stop: StopRefused}} {
			s := New(t, step)
			got, err := clients[w](t.Context(), s, hello, stream)
			if err != nil || got.Stop != words[w][i] {
				t.Errorf("got %q, %v, want %q", got.Stop, err, words[w][i])
			}
			s.Close()
		}
	})
}

// Each byte is sent by itself: reads end within characters.
func TestDrip(t *testing.T) {
	s := New(t, Step{Text: "äöü", Drip: true})
	resp, err := http.DefaultClient.Do(request(t, s, Chat, true))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), "äöü") {
		t.Errorf("got %s, %v", b, err)
	}
}

// A chat stream reports usage if the client asks for it, unless the step is silent.
func TestChatUsage(t *testing.T) {
	s := New(t, Step{Text: "a"}, Step{Text: "a", Silent: true}, Step{Text: "a"})
	for i, want := range []int{1, 0} {
		got, err := clients[Chat](t.Context(), s, hello, true)
		if err != nil || min(got.Usage.Output, 1) != want {
			t.Errorf("request %d: got %+v, %v", i, got, err)
		}
	}
	if b, err := read(t, s, Chat, true); err != nil || strings.Contains(string(b), `"usage"`) {
		t.Errorf("usage without a request for it: %s, %v", b, err)
	}
}

// A stream of Gemini without alt=sse is one array.
func TestGeminiArray(t *testing.T) {
	s := New(t, Step{Text: "one two three four"})
	status, body := post(t, s, "/v1beta/models/m:streamGenerateContent", good[Gemini].body)
	if status != 200 || !strings.HasPrefix(body, "[{") || !strings.HasSuffix(body, "}]") {
		t.Errorf("got %d %s", status, body)
	}
}

func TestScriptEnds(t *testing.T) {
	s := Start(Step{Text: "one"})
	defer s.Close()
	for i, want := range []int{200, 400} {
		if status, body := post(t, s, good[Chat].path, good[Chat].body); status != want {
			t.Errorf("request %d: got %d %s, want %d", i, status, body, want)
		}
	}
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "request after the last of 1 steps") {
		t.Errorf("problems: %v", p)
	}
	s.SetSteps(Step{Text: "two"})
	if status, body := post(t, s, good[Chat].path, good[Chat].body); status != 200 || !strings.Contains(body, "two") {
		t.Errorf("got %d %s", status, body)
	}
}

// Concurrent conversations are distinguished by their content.
func TestConcurrent(t *testing.T) {
	s := New(t, Step{Forever: true, From: func(q *Request) Step { return Step{Text: "to " + q.Prompt()} }})
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			w := wires()[i%4]
			prompt := fmt.Sprintf("prompt %d", i)
			got, err := clients[w](context.WithoutCancel(t.Context()), s, talk{prompt: prompt}, i%2 == 0)
			if err != nil || got.Text != "to "+prompt {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	group.Wait()
	if n := len(s.Requests()); n != 20 {
		t.Errorf("got %d requests", n)
	}
}

func TestEnv(t *testing.T) {
	s := New(t)
	for _, want := range []string{"ANTHROPIC_BASE_URL=" + s.URL, "OPENAI_BASE_URL=" + s.URL + "/v1", "GOOGLE_GEMINI_BASE_URL=" + s.URL} {
		if !slices.Contains(s.Env(), want) {
			t.Errorf("no %s in %v", want, s.Env())
		}
	}
}

// A request is read only up to the limit.
func TestLargeRequest(t *testing.T) {
	s := Start(Step{})
	defer s.Close()
	if status, _ := post(t, s, good[Chat].path, strings.Repeat(" ", maxBody+1)); status != 413 {
		t.Errorf("got %d, want 413", status)
	}
}
