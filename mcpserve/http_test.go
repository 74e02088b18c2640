package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer adds a token to requests.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// listen serves w over HTTP, and returns the address.
func (w *world) listen(t *testing.T, o *HTTPOptions) string {
	t.Helper()
	s, err := New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler(o))
	t.Cleanup(server.Close)
	return server.URL
}

// dial returns a client of a server at an address.
func dial(t *testing.T, at, token, version string) (*mcp.ClientSession, error) {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// verify knows two callers.
func verify(_ context.Context, token string) (*Caller, error) {
	switch token {
	case "token-of-ada":
		return &Caller{Subject: "ada"}, nil
	case "token-of-bob":
		return &Caller{Subject: "bob", Until: time.Now().Add(time.Hour)}, nil
	case "token-of-nobody":
		return &Caller{}, nil
	case "token-of-old":
		return &Caller{Subject: "old", Until: time.Now().Add(-time.Hour)}, nil
	}
	return nil, errors.New("unknown, and the client must not read this")
}

// C79: each request stands alone, and a handle is good for the caller that it was given to, at every server with the key.
func TestHTTP(t *testing.T) {
	for _, version := range revisions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, greet)
			w.o.Key = []byte(strings.Repeat("k", 32))
			here, there := w.listen(t, &HTTPOptions{Verify: verify}), w.listen(t, &HTTPOptions{Verify: verify})
			ada, err := dial(t, here, "token-of-ada", version)
			if err != nil {
				t.Fatal(err)
			}
			a := call(t, ada, "skill", map[string]any{"skill_name": "greet"})
			again, err := dial(t, there, "token-of-ada", version)
			if err != nil {
				t.Fatal(err)
			}
			args := map[string]any{"skill_name": "notes", "path": "SKILL.md", "session": a.Metadata.Session}
			if r := call(t, again, "skill_read", args); r.Error != "permission_denied" {
				t.Errorf("got %+v", r)
			}
			bob, err := dial(t, here, "token-of-bob", version)
			if err != nil {
				t.Fatal(err)
			}
			if r := call(t, bob, "skill_read", args); r.Success || !strings.Contains(r.Message, "another caller") {
				t.Errorf("got %+v", r)
			}
			for _, token := range []string{"", "token-of-old", "token-of-nobody", "x"} {
				if _, err := dial(t, here, token, version); err == nil || strings.Contains(err.Error(), "must not read") {
					t.Errorf("token %q: %v", token, err)
				}
			}
		})
	}
}

// security 2.13 #177, #178: what a web page or a broken client could send is refused before the call is looked at.
func TestRefusedRequests(t *testing.T) {
	w := newWorld(t, greet)
	at := w.listen(t, &HTTPOptions{Hosts: []string{"skills.example.com"}, Origins: []string{"https://app.example.com"}})
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, tt := range []struct {
		name, method, body string
		header             map[string]string
		host               string
		code               int
		says               string
	}{
		{"a call", "POST", list, nil, "", 200, "script_run"},
		{"the name that it has", "POST", list, nil, "skills.example.com:443", 200, ""},
		{"another name", "POST", list, nil, "evil.example.com", 403, "another name"},
		{"a name that only begins so", "POST", list, nil, "localhost.evil.example.com", 403, ""},
		{"a name with a user", "POST", list, nil, "evil@localhost", 403, ""},
		{"an allowed page", "POST", list, map[string]string{"Origin": "https://app.example.com"}, "", 200, ""},
		{"a page of its own", "POST", list, map[string]string{"Origin": "http://skills.example.com"}, "skills.example.com", 200, ""},
		{"another page of this machine", "POST", list, map[string]string{"Origin": "http://localhost:3000"}, "localhost:8080", 403, ""},
		{"another page", "POST", list, map[string]string{"Origin": "https://evil.example.com"}, "", 403, "origin"},
		{"a page without an origin", "POST", list, map[string]string{"Origin": "null"}, "", 403, ""},
		{"GET", "GET", "", nil, "", 405, ""},
		{"DELETE", "DELETE", "", nil, "", 405, ""},
		{"an unknown revision", "POST", list, map[string]string{"Mcp-Protocol-Version": "2030-01-01"}, "", 400, `"code":-32022`},
		{"an unknown revision, and the id", "POST", list, map[string]string{"Mcp-Protocol-Version": "2030-01-01"}, "", 400, `"id":1,`},
		{"an unknown revision without an id", "POST", `{"id":{"x":1}}`, map[string]string{"Mcp-Protocol-Version": "2030-01-01"}, "", 400, `"id":null,`},
		{"a form", "POST", list, map[string]string{"Content-Type": "text/plain"}, "", 415, ""},
		{"too much", "POST", `{"x":"` + strings.Repeat("x", maxBody) + `"}`, nil, "", 413, ""},
		{"no JSON", "POST", "{", nil, "", 400, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), tt.method, at, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"} {
				r.Header.Set(k, v)
			}
			for k, v := range tt.header {
				r.Header.Set(k, v)
			}
			if tt.host != "" {
				r.Host = tt.host
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.code || !strings.Contains(string(b), tt.says) {
				t.Errorf("got %d, %s", res.StatusCode, b)
			}
		})
	}
}

// Over the limit a client is told to come back.
func TestTooManyRequests(t *testing.T) {
	w := newWorld(t, greet)
	w.o.Limits.Calls = 1
	s, err := New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	hold, in := make(chan struct{}), make(chan struct{}, maxRequests+1)
	everybody := func(_ context.Context, token string) (*Caller, error) { return &Caller{Subject: token}, nil }
	o := &HTTPOptions{Verify: everybody}
	h := o.identified(s.limited(o, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		in <- struct{}{}
		<-hold
	})))
	ask := func(of string) *httptest.ResponseRecorder {
		out, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.Header.Set("Authorization", "Bearer "+of)
		h.ServeHTTP(out, r)
		return out
	}
	refused := func(of string) {
		if got := ask(of); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: got %d", of, got.Code)
		}
	}
	done := make(chan int, maxRequests)
	for _, of := range []string{"ada", "bob"} {
		for range maxRequests / 2 {
			go func() { done <- ask(of).Code }()
			<-in
		}
		refused(of) // it has its half
	}
	refused("eve") // there is no room
	close(hold)
	for range maxRequests {
		if code := <-done; code != http.StatusOK {
			t.Errorf("got %d", code)
		}
	}
	if got := ask("eve"); got.Code != http.StatusOK {
		t.Errorf("afterwards: got %d", got.Code)
	}
}

// A client that does not read its answer holds no request. One whose answer takes long is waited for.
func TestClientThatDoesNotRead(t *testing.T) {
	s, err := New(newWorld(t, greet).o)
	if err != nil {
		t.Fatal(err)
	}
	s.patience = 100 * time.Millisecond
	ended := make(chan error, 1)
	server := httptest.NewServer(s.limited(&HTTPOptions{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/much" {
			_, err := w.Write(make([]byte, 256<<20))
			ended <- err
			return
		}
		for _, text := range []string{"a", "b"} {
			fmt.Fprint(w, text)
			w.(http.Flusher).Flush()
			<-time.After(3 * s.patience)
		}
		fmt.Fprint(w, "c")
		<-time.After(3 * s.patience)
	})))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /much HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	res, err := http.Post(server.URL, "text/plain", nil) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); string(b) != "abc" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}

// A call ends with its request.
func TestGoneOverHTTP(t *testing.T) {
	w := newWorld(t, map[string]string{"slow/SKILL.md": "---\nname: slow\ndescription: Takes its time.\n---\nBody\n", "slow/scripts/wait.sh": "#!/bin/sh\nsleep 300\n"})
	c, err := dial(t, w.listen(t, &HTTPOptions{}), "", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "slow", "script_name": "wait"}}); err == nil {
		t.Error("it ended well")
	}
	// httptest waits at the end for the request: the test hangs if the script goes on.
}
