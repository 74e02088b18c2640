package mcphost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/tool"
)

// sdkServer returns a server of the SDK with the tool tell, which waits until its progress is heard, ask, which asks the user, and more, which adds another
// one.
func sdkServer(heard <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	tell := func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half"})
			<-heard
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noon"}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "tell", Description: "Tells"}, tell)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, ok := r.Params.InputResponses["who"].(*mcp.ElicitResult)
		if !ok {
			schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"who": &mcp.ElicitParams{Mode: "form", Message: "Who?", RequestedSchema: schema}}}, nil, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(a.Action, a.Content["name"])}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "more"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "late"}, tell)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
	})
	return s
}

// web returns a host of one server that a handler is.
func web(t *testing.T, handler http.Handler, o *HostOptions) *Host {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	if o == nil {
		o = &HostOptions{}
	}
	if o.Servers == nil {
		o.Servers = []Server{{}}
	}
	o.Servers[0].Label, o.Servers[0].URL = "demo", s.URL+"/mcp"
	h, err := NewHost(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func handlers(heard <-chan struct{}) map[string]http.Handler {
	get := func(s *mcp.Server) func(*http.Request) *mcp.Server {
		return func(*http.Request) *mcp.Server { return s }
	}
	legacy := mcp.NewStreamableHTTPHandler(get(sdkServer(heard)), nil)
	return map[string]http.Handler{
		"modern": mcp.NewStreamableHTTPHandler(get(sdkServer(heard)), &mcp.StreamableHTTPOptions{Stateless: true}),
		"older": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") != "" {
				http.Error(w, "Not Found", http.StatusNotFound)
				return
			}
			legacy.ServeHTTP(w, r)
		}),
	}
}

func TestHTTP(t *testing.T) {
	heard := make(chan struct{}, 1)
	for name, handler := range handlers(heard) {
		t.Run(name, func(t *testing.T) {
			h := web(t, handler, &HostOptions{Elicit: elicit(ActionAccept, map[string]any{"name": "Ada"})})
			all := toolsOf(t, h)
			if len(all) != 3 || all[2].Name != "mcp__demo__tell" {
				t.Fatalf("got %+v", all)
			}
			var said string
			ctx := tool.WithWatch(t.Context(), func(e tool.Event) {
				said = fmt.Sprint(e.Kind, e.Text, e.Done, e.Total)
				heard <- struct{}{}
			})
			if r := call(t, &all[0], `{}`); r.Result != "acceptAda" {
				t.Errorf("got %s", r.Encode())
			}
			if r := all[2].Call(ctx, json.RawMessage(`{}`)); !r.Success || r.Result != "noon" {
				t.Errorf("got %s", r.Encode())
			}
			if said != "progresshalf1 2" {
				t.Errorf("got %q", said)
			}
			want := map[string]string{"modern": "2026-07-28", "older": "2025-11-25"}[name]
			if i := h.Info("demo"); i.Protocol != want || i.Name != "sdk" || !i.Remote {
				t.Errorf("got %+v", i)
			}
			if r := call(t, &all[1], `{}`); !r.Success {
				t.Errorf("got %s", r.Encode())
			}
			newsOf(t, h)
			if all := toolsOf(t, h); len(all) != 4 || all[1].Name != "mcp__demo__late" {
				t.Errorf("got %+v", all)
			}
		})
	}
}

// A session that the server has forgotten is begun again, with the call that found it out.
func TestSessionGone(t *testing.T) {
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer(nil) }, nil)
	for name, body := range map[string]string{"plain": "session not found", "as JSON": `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			forgotten := map[string]bool{}
			forget, starts := false, 0
			h := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				id := r.Header.Get("Mcp-Session-Id")
				mu.Lock()
				if id == "" && r.Header.Get("Mcp-Method") == "" {
					starts++
				}
				if forget && id != "" {
					forgotten[id], forget = true, false
				}
				gone := forgotten[id]
				mu.Unlock()
				switch {
				case r.Header.Get("Mcp-Method") != "":
					http.Error(w, "no", http.StatusBadRequest)
				case gone:
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, body)
				default:
					handler.ServeHTTP(w, r)
				}
			}), nil)
			all := toolsOf(t, h)
			mu.Lock()
			forget = true
			mu.Unlock()
			for range 2 {
				if r := call(t, &all[2], `{}`); !r.Success {
					t.Errorf("got %s", r.Encode())
				}
			}
			if starts != 2 {
				t.Errorf("%d starts", starts)
			}
		})
	}
}

// What identifies the user goes to no other host, and a server that asks for it says so.
func TestRedirect(t *testing.T) {
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("Authorization")) }))
	defer other.Close()
	client := &http.Client{Transport: identified{http.DefaultTransport}}
	h := web(t, http.RedirectHandler(other.URL, http.StatusTemporaryRedirect), &HostOptions{Servers: []Server{{Client: client}}})
	_, err := h.Tools(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it redirects to "+other.URL) || len(got) > 0 {
		t.Errorf("got %v, %q", err, got)
	}
	h = web(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }), nil)
	_, err = h.Tools(t.Context())
	if e, ok := errors.AsType[*ServerError](err); !ok || e.Kind != KindLogin {
		t.Errorf("got %v", err)
	}
	modern := handlers(nil)["modern"]
	h = web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusPermanentRedirect)
			return
		}
		modern.ServeHTTP(w, r)
	}), nil)
	if all := toolsOf(t, h); len(all) != 3 {
		t.Errorf("got %+v", all)
	}
}

type identified struct{ http.RoundTripper }

func (i identified) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer secret")
	return i.RoundTripper.RoundTrip(r)
}

// Nothing that a server on the web sends makes a call wait or grow without bound.
func TestBadWeb(t *testing.T) {
	modern := handlers(nil)["modern"]
	only := func(method string, f http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") == method {
				f(w, r)
				return
			}
			modern.ServeHTTP(w, r)
		})
	}
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	events := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1,\"message\":\""+strings.Repeat("x", 1<<16)+"\"}}\n\n")
		}
	}
	big := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 10 << 10 {
			_, _ = io.WriteString(w, strings.Repeat(" ", 1<<10))
		}
	}
	for _, tt := range []struct {
		name, method string
		f            http.HandlerFunc
		timeout      time.Duration
		want         string
	}{
		{"never answers", "tools/call", hang, time.Second, "it did not answer within 1s"},
		{"floods progress", "tools/call", events, time.Minute, "it sent more than 32 MiB that answer nothing"},
		{"a huge answer", "tools/call", big, time.Minute, "its answer has more than 8388608 bytes"},
		{"a web page", "tools/call", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, time.Minute, "unsupported content type"},
		{"busy", "tools/call", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, time.Minute, "Service Unavailable"},
		{"listens without a word", "subscriptions/listen", hang, time.Minute, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := web(t, only(tt.method, tt.f), &HostOptions{Servers: []Server{{Timeout: tt.timeout}}})
			h.begin = 100 * time.Millisecond
			all := toolsOf(t, h)
			r := call(t, &all[2], `{}`)
			if r.Success != (tt.want == "") || !strings.Contains(r.Message, tt.want) {
				t.Errorf("got %s", r.Encode())
			}
		})
	}
}

// A server of the transport before streamable HTTP takes only GET: the error says so.
func TestFormerTransport(t *testing.T) {
	h := web(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdkServer(nil) }, nil), nil)
	if err := h.Start(t.Context(), "demo"); err == nil || !strings.Contains(err.Error(), "one for streamable HTTP, often /mcp, and not /sse") {
		t.Errorf("got %v", err)
	}
}

// A server that is silent about its revisions for a while is used in the revision that it speaks.
func TestSilentWeb(t *testing.T) {
	for name, handler := range handlers(nil) {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				switch discover := r.Header.Get("Mcp-Method") == "server/discover"; {
				case discover && name == "older":
					<-r.Context().Done()
					return
				case discover:
					time.Sleep(300 * time.Millisecond)
				case name == "modern" && bytes.Contains(body, []byte(`"initialize"`)):
					http.Error(w, "older revisions are not spoken", http.StatusBadRequest)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			defer s.Close()
			r := newRemote(s.URL, nil, func(why string) { t.Error(why) })
			r.probe = 100 * time.Millisecond
			c := New(&Options{Kill: r.kill, remote: r})
			if err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if page, err := c.Tools(t.Context(), ""); err != nil || len(page.Tools) != 3 {
				t.Errorf("got %+v, %v", page, err)
			}
			c.Close()
			<-r.lost
		})
	}
}

// A server that ends its stream of changes is listened to again, and what may have changed meanwhile is asked for.
func TestListenedAgain(t *testing.T) {
	s := sdkServer(nil)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	for name, end := range map[string]string{"closed": "", "answered": `data: {"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete"}}` + "\n\n", "unavailable": "503", "refused": "405"} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			changed := make(chan string, 100)
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Mcp-Method") != "subscriptions/listen" || asked.Add(1) > 2 && name != "refused" {
					handler.ServeHTTP(w, r)
					return
				}
				if code, err := strconv.Atoi(end); err == nil && asked.Load() > 1 {
					w.WriteHeader(code)
					return
				}
				var request struct{ ID json.RawMessage }
				_ = json.NewDecoder(r.Body).Decode(&request)
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}\n\n")
				if strings.HasPrefix(end, "data") {
					fmt.Fprint(w, strings.ReplaceAll(end, "ID", string(request.ID)))
					w.(http.Flusher).Flush()
					<-r.Context().Done() // it does not close it
				}
			}))
			defer h.Close()
			r := newRemote(h.URL, nil, func(why string) { t.Error(why) })
			r.relisten = time.Millisecond
			c := New(&Options{Kill: r.kill, remote: r, Changed: func(list string) { changed <- list }})
			if err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := <-changed; got != "prompts" {
				t.Errorf("got %q", got)
			}
			if name != "refused" {
				for got := range changed { // what the stream that is not ended tells first
					if got == "resources" && asked.Load() > 2 {
						break
					}
				}
				for len(changed) > 0 {
					<-changed
				}
				for told := false; !told; { // the server has perhaps not begun to listen to changes
					mcp.AddTool(s, &mcp.Tool{Name: "new-" + name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
						return nil, nil, nil
					})
					select {
					case got := <-changed:
						told = got == "tools"
					case <-time.After(50 * time.Millisecond):
					}
				}
			}
			c.Close()
			<-r.lost
			if n := asked.Load(); name == "refused" && n > 2 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// Close ends a call that is under way, and tells the server that the session is over.
func TestCloseWeb(t *testing.T) {
	older := handlers(nil)["older"]
	reached, deleted := make(chan struct{}), make(chan struct{}, 1)
	h := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case bytes.Contains(body, []byte(`"tools/call"`)):
			close(reached)
			<-r.Context().Done()
			return
		case r.Method == http.MethodDelete:
			deleted <- struct{}{}
		}
		older.ServeHTTP(w, r)
	}), nil)
	all := toolsOf(t, h)
	done := make(chan tool.Result)
	go func() { done <- all[0].Call(t.Context(), nil) }()
	<-reached
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.Reason != "server_closed" {
		t.Errorf("got %s", r.Encode())
	}
	<-deleted
}
