package cli_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// toolServer is a program for the scripts: an MCP server that tells by the names of its tools what it can do where it runs.
// mcptools [-need URL] [CHECK:VALUE]... has a tool for each check: read:FILE, write:FILE, reach:URL or var:NAME, as CHECK_yes_N or
// CHECK_no_N; another argument is the name of a tool. SAYS is what the tools say of themselves. With -need it first gets URL, and fails without it.
func toolServer() {
	args := os.Args[1:]
	if len(args) > 1 && args[0] == "-need" {
		if err := got(args[1]); err != nil {
			exitOn(fmt.Errorf("failed to fetch the package: %w", err))
		}
		args = args[2:]
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "mcptools", Version: "1"}, nil)
	for i, arg := range args {
		check, value, ok := strings.Cut(arg, ":")
		name := check
		if ok {
			name = fmt.Sprintf("%s_%s_%d", check, map[bool]string{true: "yes", false: "no"}[can(check, value)], i)
		}
		addTool(s, name)
	}
	exitOn(s.Run(context.Background(), &mcp.StdioTransport{}))
}

func addTool(s *mcp.Server, name string) {
	s.AddTool(&mcp.Tool{Name: name, Description: cmp.Or(os.Getenv("SAYS"), "A tool."), InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
}

func can(check, value string) bool {
	switch check {
	case "read":
		_, err := os.ReadFile(value)
		return err == nil
	case "write":
		return os.WriteFile(value, nil, 0o600) == nil
	case "reach":
		return got(value) == nil
	case "var":
		name, want, has := strings.Cut(value, "=")
		return has && os.Getenv(name) == want || !has && os.Getenv(name) != ""
	}
	return false
}

// got gets an address, also of this machine, through the proxy of the environment if there is one.
func got(address string) error {
	t := &http.Transport{}
	if proxy, err := url.Parse(os.Getenv("HTTP_PROXY")); err == nil && proxy.Host != "" {
		t.Proxy = http.ProxyURL(proxy)
	}
	res, err := (&http.Client{Transport: t}).Get(address)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, res.Status)
	}
	return nil
}

// openBrowser is xdg-open for the scripts: its person agrees to everything.
func openBrowser() { exitOn(got(os.Args[1])) }

// mcpSite starts an MCP server that wants a login, with its authorization server: mcpsite NAME sets NAME to its address. Tokens are
// good for one request to tools/list when NAME_SHORT is asked for by the scope "short".
func mcpSite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mcpsite NAME")
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "2"}, nil)
	addTool(server, "far_tool")
	site := &loginSite{mcp: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}), good: map[string]bool{}}
	s := httptest.NewServer(site)
	ts.Defer(s.Close)
	site.url = s.URL
	ts.Setenv(args[0], s.URL)
}

type loginSite struct {
	url string
	mcp http.Handler

	mu        sync.Mutex
	challenge string
	good      map[string]bool // tokens
	turn      int
}

func (l *loginSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	l.mu.Lock()
	known := l.good[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	l.mu.Unlock()
	switch r.URL.Path {
	case "/mcp":
		if known || r.Header.Get("X-Key") == "letmein" {
			l.mcp.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+l.url+`/.well-known/oauth-protected-resource/mcp", scope="tools"`)
		w.WriteHeader(http.StatusUnauthorized)
	case "/.well-known/oauth-protected-resource/mcp":
		answer(map[string]any{"resource": l.url + "/mcp", "authorization_servers": []string{l.url}})
	case "/.well-known/oauth-authorization-server":
		answer(map[string]any{"issuer": l.url, "authorization_endpoint": l.url + "/authorize", "token_endpoint": l.url + "/token", "registration_endpoint": l.url + "/register",
			"revocation_endpoint": l.url + "/revoke", "code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"}})
	case "/register":
		w.WriteHeader(http.StatusCreated)
		answer(map[string]any{"client_id": "c", "token_endpoint_auth_method": "none"})
	case "/authorize":
		q := r.URL.Query()
		l.mu.Lock()
		l.challenge = q.Get("code_challenge")
		l.mu.Unlock()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		l.token(w, r, answer)
	case "/revoke":
		l.mu.Lock()
		l.good = map[string]bool{}
		l.mu.Unlock()
	case "/forget": // the server does not know its tokens any more
		l.mu.Lock()
		l.good = map[string]bool{}
		l.mu.Unlock()
	default:
		http.NotFound(w, r)
	}
}

func (l *loginSite) token(w http.ResponseWriter, r *http.Request, answer func(any)) {
	_ = r.ParseForm()
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	renewed := r.PostForm.Get("grant_type") == "refresh_token"
	if r.PostForm.Get("resource") != l.url+"/mcp" || !renewed && base64.RawURLEncoding.EncodeToString(sum[:]) != l.challenge {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	l.turn++
	token := fmt.Sprintf("token-%d", l.turn)
	l.good[token] = true
	answer(map[string]any{"access_token": token, "refresh_token": "again", "token_type": "Bearer", "expires_in": 3600})
}
