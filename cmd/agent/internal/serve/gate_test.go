package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/test/scratch"
)

// safeBuffer is what a server writes.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *safeBuffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = bytes.Buffer{}
}

// house is a home with a server over it.
type house struct {
	home string
	log  safeBuffer
}

func (h *house) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(h.home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil { //nolint:gosec // scripts are executable
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".sh") {
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newHouse(t *testing.T, settings string) *house {
	t.Helper()
	h := &house{home: scratch.Dir(t)}
	h.write(t, ".agent/config.yaml", settings)
	h.write(t, ".agent/tokens", "ada token-of-ada-1234\nbob token-of-bob-1234\neve token-of-eve-1234\n")
	return h
}

// services returns the services over the house.
func (h *house) services(t *testing.T) *app.Services {
	t.Helper()
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = empty.Close() })
	sys := &setup.System{In: empty, Home: h.home, Dir: h.home, Temp: t.TempDir(), LookPath: exec.LookPath, Now: time.Now, Environ: []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH")}}
	return app.New(sys, &setup.Flags{Flags: output.Flags{LogFormat: "json"}}, &ui.Streams{Out: io.Discard, Err: &h.log})
}

// server returns a server of the house, which the test closes.
func (h *house) server(t *testing.T) (*Server, error) {
	t.Helper()
	s, err := New(t.Context(), h.services(t), true)
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

// listen serves the house until the test ends, and returns the addresses of the server and of its state.
func (h *house) listen(t *testing.T) (at, health string) {
	t.Helper()
	s, err := h.server(t)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	listens, ended := make(chan string, 1), make(chan error, 1)
	free := freeAddress(t)
	go func() {
		ended <- s.HTTP(ctx, &HTTPOptions{Addr: "127.0.0.1:0", Health: free, Hosts: []string{"skills.example.com"}}, func(at net.Addr) { listens <- at.String() })
	}()
	select {
	case at = <-listens:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + at + "/mcp", "http://" + free
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// call calls a tool and returns its text.
func call(t *testing.T, at, token, name string, args map[string]any) (string, error) {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return "", err
	}
	defer c.Close()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	return r.Content[0].(*mcp.TextContent).Text, nil
}

func get(t *testing.T, method, at, token string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

const own = "---\nname: %s\ndescription: Is of %s.\n---\nRun scripts/who.sh.\n"

// security 2.14 #188: who calls is known by the token alone, and each tenant has its own skills, approvals, files and handles.
func TestTenants(t *testing.T) {
	a := newAuthority(t)
	key := a.key(t, "one")
	h := newHouse(t, fmt.Sprintf("serve:\n  key: ~/.agent/key\n  tokens: ~/.agent/tokens\n  issuer: %s\n  audience: %s\n  scopes: [skills:run]\n"+
		"  tenants:\n    ada: acme\n    bob: corp\n    oauth:zoe: acme\n    claim:org=corp-7: corp\n    claim:groups=acme: acme\n", a.url, audience))
	h.write(t, ".agent/key", strings.Repeat("k", 32))
	h.write(t, ".agent/skills/shared/SKILL.md", "---\nname: shared\ndescription: Is of all.\n---\nBody\n")
	h.write(t, ".agent/skills/scoped/SKILL.md", "---\nname: scoped\ndescription: Is of corp.\nscope: {tenants: [corp]}\n---\nBody\n")
	for _, tenant := range []string{"acme", "corp"} {
		h.write(t, ".agent/tenants/"+tenant+"/skills/"+tenant+"s/SKILL.md", fmt.Sprintf(own, tenant+"s", tenant))
		h.write(t, ".agent/tenants/"+tenant+"/skills/"+tenant+"s/scripts/who.sh", "#!/bin/sh\necho of "+tenant+"\n")
	}
	h.write(t, ".agent/tenants/acme/trust.json", "{")
	at, health := h.listen(t)

	if res, text := get(t, "GET", health+"/readyz", ""); res.StatusCode != 200 {
		t.Errorf("it is not ready: %s", text)
	}
	access := func(claims map[string]any) string {
		return sign(t, jose.ES256, key, "one", "at+jwt", a.claims(time.Now(), claims))
	}
	acme, corp := "acmes scoped- shared", "corps scoped shared"
	for name, tt := range map[string]struct{ token, want string }{
		"a name":                    {"token-of-ada-1234", acme},
		"another name":              {"token-of-bob-1234", corp},
		"a subject":                 {access(map[string]any{"sub": "zoe", "org": "corp-7"}), acme},
		"a claim":                   {access(map[string]any{"org": "corp-7"}), corp},
		"a claim with a list":       {access(map[string]any{"groups": []string{"x", "acme"}}), acme},
		"two tenants":               {access(map[string]any{"org": "corp-7", "groups": []string{"acme"}}), ""},
		"no tenant":                 {"token-of-eve-1234", ""},
		"no entry":                  {access(nil), ""},
		"the name of another way":   {access(map[string]any{"sub": "ada"}), ""},
		"a claim that says it":      {access(map[string]any{"tenant": "acme"}), ""},
		"a claim of another form":   {access(map[string]any{"org": map[string]any{"corp-7": true}}), ""},
		"a subject that is a claim": {access(map[string]any{"sub": "claim:org=corp-7"}), ""},
	} {
		text, err := call(t, at, tt.token, "skill", map[string]any{"action": "list"})
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), "Forbidden") {
				t.Errorf("%s: got %s, %v", name, text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for word := range strings.FieldsSeq(tt.want) {
			skill, none := strings.CutSuffix(word, "-")
			if strings.Contains(text, "- "+skill+":") == none {
				t.Errorf("%s: want %q: %s", name, word, text)
			}
		}
		if other := map[string]string{acme: "corps", corp: "acmes"}[tt.want]; strings.Contains(text, other) {
			t.Errorf("%s: it sees %s", name, other)
		}
	}

	// A header or an argument changes nothing, and a handle is of its tenant.
	text, err := call(t, at, "token-of-ada-1234", "skill", map[string]any{"skill_name": "acmes"})
	if err != nil || !strings.Contains(text, "of acme") && !strings.Contains(text, "who.sh") {
		t.Errorf("got %s, %v", text, err)
	}
	var activated struct{ Metadata struct{ Session string } }
	if err := json.Unmarshal([]byte(text), &activated); err != nil || activated.Metadata.Session == "" {
		t.Fatalf("got %s, %v", text, err)
	}
	for name, args := range map[string]map[string]any{
		"a handle of acme": {"skill_name": "shared", "path": "SKILL.md", "session": activated.Metadata.Session},
		"a skill of acme":  {"skill_name": "acmes", "path": "SKILL.md"},
		"a name of acme":   {"skill_name": "acmes", "path": "SKILL.md", "tenant": "acme"},
		"a way to acme":    {"skill_name": "corps", "path": "../../../acme/skills/acmes/SKILL.md"},
	} {
		if text, err := call(t, at, "token-of-bob-1234", "skill_read", args); err != nil || !strings.Contains(text, `"success":false`) || strings.Contains(text, "Is of acme") {
			t.Errorf("%s: got %s, %v", name, text, err)
		}
	}

	// What is approved for one is not for the other.
	corps := h.approve(t, "corp", "corps")
	if text, err := call(t, at, "token-of-bob-1234", "script_run", map[string]any{"skill_name": "corps", "script_name": "who"}); err != nil || !strings.Contains(text, "of corp") {
		t.Errorf("%s: got %s, %v", corps, text, err)
	}
	if text, _ := call(t, at, "token-of-ada-1234", "script_run", map[string]any{"skill_name": "acmes", "script_name": "who"}); !strings.Contains(text, `"reason":"untrusted"`) {
		t.Errorf("got %s", text)
	}
	for _, dir := range []string{"acme", "corp"} {
		b, err := os.ReadFile(filepath.Join(h.home, ".agent/tenants", dir, "audit/audit.jsonl"))
		other := map[string]string{"acme": "corp", "corp": "acme"}[dir]
		if err != nil || !strings.Contains(string(b), `"tenant_id":"`+dir+`"`) || strings.Contains(string(b), `"tenant_id":"`+other+`"`) || strings.Contains(string(b), `"skill_name":"`+other) {
			t.Errorf("the log of %s: %v\n%s", dir, err, b)
		}
	}
	if _, err := os.Stat(filepath.Join(h.home, ".agent/audit")); err == nil {
		t.Error("something was logged for nobody")
	}
	h.counted(t, health)
}

// approve approves a skill as a person does, with the setting tenant.
func (h *house) approve(t *testing.T, tenant, name string) string {
	t.Helper()
	sys := &setup.System{Home: h.home, Dir: h.home, LookPath: exec.LookPath, Now: time.Now, Environ: []string{"HOME=" + h.home, "AGENT_TENANT=" + tenant, "PATH=" + os.Getenv("PATH")}}
	s := app.New(sys, &setup.Flags{Flags: output.Flags{LogFormat: "text"}}, &ui.Streams{Out: io.Discard, Err: io.Discard})
	k, err := s.Skills.Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	p, err := s.Consent.Propose(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Consent.Approve(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.Digest()
}

// counted checks what is counted and logged after TestTenants.
func (h *house) counted(t *testing.T, health string) {
	t.Helper()
	_, text := get(t, "GET", health+"/metrics", "")
	for _, want := range []string{`agent_serve_calls_total{tool="skill",outcome="ok"} 6`, `agent_serve_calls_total{tool="script_run",outcome="ok"} 1`, `agent_serve_calls_total{tool="script_run",outcome="permission_denied"} 1`,
		`agent_serve_call_duration_seconds_bucket{tool="script_run",le="+Inf"} 2`, "agent_serve_calls_in_flight 0", "agent_serve_tenants 2", `agent_serve_refused_total{reason="stranger"} `} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "agent_serve_places") {
		t.Errorf("a server without workers has metrics of a fleet:\n%s", text)
	}
	log := h.log.String()
	for _, want := range []string{`"msg":"call","client":"mcp:bob:test","tenant":"corp","tool":"script_run","outcome":"ok","reason":"","duration_ms":`, `"msg":"call","client":"mcp:oauth:zoe:test","tenant":"acme"`, `"msg":"refused","reason":"stranger"`} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is missing in\n%s", want, log)
		}
	}
	if strings.Contains(text+log, "token-of") || strings.Contains(log, "eyJ") || strings.Contains(text, "acme") {
		t.Errorf("a secret is told:\n%s%s", text, log)
	}
}

// RFC 9728: a client without a token is told where to get one, and the server says what it is.
func TestProtectedResource(t *testing.T) {
	a := newAuthority(t)
	key := a.key(t, "one")
	h := newHouse(t, fmt.Sprintf("serve: {issuer: %s, audience: %s, scopes: [skills:run]}\n", a.url, audience))
	at, _ := h.listen(t)
	const about = `resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource/mcp", scope="skills:run"`
	for name, tt := range map[string]struct {
		token string
		code  int
		want  string
	}{
		"no token":   {"", 401, "Bearer " + about},
		"no JWT":     {"token-of-ada-1234", 401, `Bearer error="invalid_token", ` + about},
		"over":       {sign(t, jose.ES256, key, "one", "", a.claims(time.Now(), map[string]any{"exp": 1})), 401, `Bearer error="invalid_token", ` + about},
		"too little": {sign(t, jose.ES256, key, "one", "", a.claims(time.Now(), map[string]any{"scope": ""})), 403, `Bearer error="insufficient_scope", ` + about},
	} {
		res, text := get(t, "POST", at, tt.token)
		if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != tt.code || got != tt.want || strings.Contains(text, "exp") {
			t.Errorf("%s: got %d, %s, %s", name, res.StatusCode, got, text)
		}
	}
	origin := strings.TrimSuffix(at, "/mcp")
	res, text := get(t, "GET", origin+"/.well-known/oauth-protected-resource/mcp", "")
	var m struct {
		Resource             string
		AuthorizationServers []string `json:"authorization_servers"`
		ScopesSupported      []string `json:"scopes_supported"`
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || res.StatusCode != 200 || m.Resource != audience || fmt.Sprint(m.AuthorizationServers, m.ScopesSupported) != "["+a.url+"] [skills:run]" {
		t.Errorf("got %d, %s", res.StatusCode, text)
	}
	if res, _ := get(t, "GET", origin+"/.well-known/oauth-protected-resource", ""); res.StatusCode == 200 {
		t.Error("the metadata are at another place too")
	}
	if text, err := call(t, at, sign(t, jose.ES256, key, "one", "", a.claims(time.Now(), nil)), "skill", map[string]any{"action": "list"}); err != nil {
		t.Errorf("got %s, %v", text, err)
	}
}

// Settings by which somebody could call who must not are refused.
func TestRefusedSettings(t *testing.T) {
	for name, settings := range map[string]string{
		"tenants without tokens":  "serve: {tenants: {ada: acme}}\n",
		"a broken table":          "serve: {tokens: ~/.agent/tokens, tenants: {ada: ../acme}}\n",
		"a broken file":           "serve: {\n",
		"an issuer alone":         "serve: {issuer: https://login.example.com}\n",
		"tokens that are nowhere": "serve: {tokens: ~/.agent/none}\n",
	} {
		h := newHouse(t, settings)
		s, err := h.server(t)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		err = s.HTTP(ctx, &HTTPOptions{Addr: "127.0.0.1:0"}, func(net.Addr) { stop() })
		stop()
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// security 2.13 #180: a request that only begins is not waited for.
func TestHalfHeader(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config = newHTTP(http.NotFoundHandler())
	if server.Config.ReadHeaderTimeout != headerTime || server.Config.MaxHeaderBytes != headerSize {
		t.Fatal("headers have no limits")
	}
	server.Config.ReadHeaderTimeout = 50 * time.Millisecond
	server.Start()
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("POST / HTTP/1.1\r\nHost: localhost\r\nX: ")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("got %v", err)
	}
	res, err := http.Get(server.URL) //nolint:noctx // a test
	if err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("afterwards: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X", strings.Repeat("x", headerSize+8<<10))
	if res, err = http.DefaultClient.Do(r); err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long header: %v, %v", res, err)
	}
}

// An answer is for the content that was shown: after a change it is not one, and nothing is approved. A yes for one call is not stored.
func TestReplayedAnswer(t *testing.T) {
	h := newHouse(t, "skills: {sandbox: off}\n")
	h.write(t, ".agent/skills/who/SKILL.md", fmt.Sprintf(own, "who", "one"))
	h.write(t, ".agent/skills/who/scripts/who.sh", "#!/bin/sh\necho first\n")
	s, err := New(t.Context(), h.services(t), false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Stdio(t.Context(), in, out) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}).Connect(t.Context(), &mcp.IOTransport{Reader: ours, Writer: theirs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(answer, state string) *mcp.CallToolResult {
		params := &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "who", "script_name": "who"}, RequestState: state}
		if answer != "" {
			params.InputResponses = mcp.InputResponseMap{"run": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": answer}}}
		}
		r, err := c.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	text := func(r *mcp.CallToolResult) string {
		if len(r.Content) == 0 {
			return "a question"
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	first := run("", "")
	if first.RequestState == "" || len(first.InputRequests) != 1 {
		t.Fatalf("nobody is asked: %s", text(first))
	}
	h.write(t, ".agent/skills/who/scripts/who.sh", "#!/bin/sh\necho second\n")
	for range 2 {
		if got := text(run("yes", first.RequestState)); strings.Contains(got, "second") || !strings.Contains(got, "untrusted") {
			t.Errorf("an answer to another content counts: %s", got)
		}
	}
	if b, err := os.ReadFile(filepath.Join(h.home, ".agent/trust.json")); err == nil && strings.Contains(string(b), "who") {
		t.Errorf("it was approved: %s", b)
	}
	second := run("", "")
	if got := text(run("once", second.RequestState)); !strings.Contains(got, `"second\n"`) {
		t.Errorf("got %s", got)
	}
	if got := text(run("", "")); got != "a question" {
		t.Errorf("once is for ever: %s", got)
	}
	if got := text(run("yes", run("", "").RequestState)); !strings.Contains(got, `"second\n"`) {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(filepath.Join(h.home, ".agent/trust.json")); err != nil { // there was none before, either
		t.Fatal(err)
	}
	if got := text(run("", "")); got != "a question" {
		t.Errorf("the approval is gone, and it ran: %s", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
