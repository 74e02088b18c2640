package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// get asks a server that answers with h, and reads the answer to its end.
func get(t *testing.T, o *wire.Options, h http.HandlerFunc) (string, *wire.Exchange, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return ask(t, t.Context(), o, server.URL)
}

func ask(t *testing.T, ctx context.Context, o *wire.Options, url string) (string, *wire.Exchange, error) {
	t.Helper()
	o.Provider = "test"
	ctx, x := wire.Begin(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := wire.Client(o).Do(req)
	if err != nil {
		return "", x, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), x, err
}

// flush sends what is written so far.
func flush(w http.ResponseWriter, text string) {
	fmt.Fprint(w, text)
	w.(http.Flusher).Flush()
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// issue 4.1: every fault of the way to a provider has its kind.
func TestClientFaults(t *testing.T) {
	tests := []struct {
		name string
		h    http.HandlerFunc
		kind llm.ErrorKind
		text string
	}{
		{"silence before the answer", hang, llm.TimedOut, "test: no data for 30ms"},
		{"silence within it", func(w http.ResponseWriter, r *http.Request) { flush(w, "data: 1\n"); hang(w, r) },
			llm.TimedOut, "test: no data for 30ms"},
		{"broken connection", func(w http.ResponseWriter, _ *http.Request) { flush(w, "data: 1\n"); panic(http.ErrAbortHandler) },
			llm.Cut, "test: the answer broke off: unexpected EOF"},
		{"an endless line", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", wire.MaxLine+1))
		}, llm.Malformed, "test: a line of the answer exceeds 4194304 bytes"},
		{"endless lines", func(w http.ResponseWriter, _ *http.Request) {
			line := strings.Repeat("x", 1<<20) + "\n"
			for range 65 {
				fmt.Fprint(w, line)
			}
		}, llm.Malformed, "test: the answer exceeds 67108864 bytes"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		},
			llm.Malformed, "test: the answer is a web page; check the base URL"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusTemporaryRedirect)
		},
			llm.BadRequest, `test: the server points to another address, "http://elsewhere.invalid/", and redirects are not followed; set the base URL to where the service is`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &wire.Options{}
			if tt.kind == llm.TimedOut {
				o.Idle = 30 * time.Millisecond
			}
			_, x, err := get(t, o, tt.h)
			var got *llm.Error
			if !errors.As(err, &got) || got.Kind != tt.kind || got.Error() != tt.text {
				t.Errorf("got %v, want %s: %s", err, tt.kind, tt.text)
			}
			if !errors.Is(err, x.Err) {
				t.Errorf("the exchange holds %v, want %v", x.Err, err)
			}
		})
	}
}

func TestClientReads(t *testing.T) {
	line := strings.Repeat("x", wire.MaxLine-1) + "\n"
	got, x, err := get(t, &wire.Options{}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, line, line, "end") })
	if want := line + line + "end"; got != want || err != nil || x.Err != nil || x.Status != 200 {
		t.Errorf("got %d bytes, %v, status %d, %v; want %d bytes of 200", len(got), err, x.Status, x.Err, len(want))
	}
}

func TestFailureIsKept(t *testing.T) {
	var got string
	var x *wire.Exchange
	var err error
	for idle := 50 * time.Millisecond; idle < time.Minute && got != "busy"; idle *= 5 { // on a busy machine the answer may begin late
		got, x, err = get(t, &wire.Options{Idle: idle}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(529)
			flush(w, "busy")
			hang(w, r)
		})
	}
	if got != "busy" || err != nil || string(x.Body) != "busy" || x.Err != nil {
		t.Errorf("got %q, %v; kept %q, %v; want busy and no error", got, err, x.Body, x.Err)
	}
	e := x.Failure("test", "", time.Now())
	if want := (llm.Error{Kind: llm.Overloaded, Provider: "test", Status: 529, RetryAfter: 7 * time.Second, Message: "busy"}); *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
	_, x, _ = get(t, &wire.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		fmt.Fprint(w, strings.Repeat("x", wire.MaxErrorBody+1))
	})
	if len(x.Body) != wire.MaxErrorBody {
		t.Errorf("got %d bytes, want %d", len(x.Body), wire.MaxErrorBody)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, _, err := ask(t, t.Context(), &wire.Options{}, server.URL)
	var got *llm.Error
	if !errors.As(err, &got) || got.Kind != llm.Network || !strings.Contains(got.Error(), "connection refused") {
		t.Errorf("got %v, want kind network: connection refused", err)
	}
}

func TestContextAndTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flush(w, "data")
		cancel()
		hang(w, r)
	}))
	t.Cleanup(server.Close)
	if _, x, err := ask(t, ctx, &wire.Options{}, server.URL); !errors.Is(err, context.Canceled) || x.Err != context.Canceled {
		t.Errorf("got %v and %v, want context.Canceled unchanged", err, x.Err)
	}
	o := &wire.Options{HTTP: &http.Client{Timeout: 30 * time.Millisecond}}
	_, x, _ := ask(t, t.Context(), o, server.URL)
	var got *llm.Error
	if !errors.As(x.Err, &got) || got.Kind != llm.TimedOut {
		t.Errorf("got %v, want kind timed_out", x.Err)
	}
}
