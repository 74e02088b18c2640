package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/oauth"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/want"
)

// newServers returns the servers of a home and a project in it, with an environment.
func newServers(t *testing.T, env ...string) *Servers {
	t.Helper()
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	sys := &setup.System{Home: home, Dir: project, Environ: append([]string{"HOME=" + home, "PATH=/usr/bin:/bin"}, env...), Now: time.Now}
	s := setup.NewSettings(sys, &setup.Flags{})
	return &Servers{Sys: sys, Settings: s, Sandbox: sandbox.New(sys, s)}
}

// What identifies the user goes to the server alone: not to another host, port or scheme, and not to a name that looks like it.
func TestIdentityStaysAtServer(t *testing.T) {
	m := newServers(t)
	var got []string
	tokens := m.Logins("https://mcp.example.com/mcp")
	if err := tokens.Put(t.Context(), &oauth.Token{Server: "https://mcp.example.com/mcp", Issuer: "https://i.example", Resource: "https://mcp.example.com/mcp", Access: "token"}); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse("https://mcp.example.com/mcp")
	c := &identified{label: "x", server: u, header: http.Header{"X-Key": {"key"}}, tokens: tokens, base: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = append(got, r.URL.String()+" "+r.Header.Get("X-Key")+" "+r.Header.Get("Authorization"))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
	})}
	for _, test := range []struct{ address, want string }{
		{"https://mcp.example.com/mcp", "key Bearer token"},
		{"https://mcp.example.com/other", "key Bearer token"},
		{"http://mcp.example.com/mcp", " "},
		{"https://mcp.example.com:8443/mcp", " "},
		{"https://mcp.example.com.evil.example/mcp", " "},
		{"https://evil.example/mcp", " "},
	} {
		got = nil
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, test.address, nil)
		res, err := c.RoundTrip(req)
		if err != nil || len(got) != 1 || got[0] != test.address+" "+test.want {
			t.Errorf("%s: %q, %v", test.address, got, err)
			continue
		}
		res.Body.Close()
		if len(req.Header) > 0 {
			t.Errorf("%s: the caller's request has %v", test.address, req.Header)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An answer that wants a login, or more of it, is an error that names the command.
func TestLoginIsWanted(t *testing.T) {
	m := newServers(t)
	for _, test := range []struct {
		status            int
		challenge, header string
		want              string
	}{
		{401, "Bearer", "", "agent mcp login far"},
		{403, `Bearer error="insufficient_scope", scope="files:write admin"`, "", "agent mcp login far --scope files:write --scope admin"},
		{401, "Bearer", "Bearer mine", "header Authorization of its entry"},
		{403, "", "", ""},
		{500, "", "", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", test.challenge)
			w.WriteHeader(test.status)
		}))
		filled := &filledServer{Server: config.Server{Label: "far", URL: s.URL, Headers: map[string]string{}}}
		if test.header != "" {
			filled.Headers["authorization"] = test.header
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("{}"))
		res, err := m.client(filled).Do(req)
		var failed *mcphost.ServerError
		switch {
		case test.want == "" && err == nil:
			res.Body.Close()
		case test.want == "" || !errors.As(err, &failed) || failed.Kind != mcphost.KindLogin || !strings.HasSuffix(failed.Message, test.want):
			t.Errorf("%d %s: %v, want %q", test.status, test.challenge, err, test.want)
		}
		s.Close()
	}
}

// The values of variables are filled in; what an entry may not have, and what a header cannot have, is refused.
func TestFill(t *testing.T) {
	m := newServers(t, "TOKEN=hush-123456789", "BREAK=a\r\nb", "HTTP=http://evil.example", "OPENAI_API_KEY=sk-hush", "AGENT_X=1")
	for _, test := range []struct {
		entry   config.Server
		project bool
		want    string
	}{
		{config.Server{Command: "/bin/sh", Args: []string{"${TOKEN}", "${NO:-b}", "$TOKEN", "${TOKEN"}, Env: map[string]string{"A": "x${TOKEN}"}}, false, "hush-123456789 b $TOKEN ${TOKEN A=xhush-123456789"},
		{config.Server{Command: "/bin/sh", Args: []string{"${NO} ${ALSO}"}}, false, "error: it needs variables that are not set: ALSO, NO"},
		{config.Server{Command: "/bin/sh", Args: []string{"${AGENT_X}"}}, false, "error: it names AGENT_X, which it does not get"},
		{config.Server{Command: "/bin/sh", Args: []string{"${OPENAI_API_KEY}"}}, false, "sk-hush"},
		{config.Server{Command: "/bin/sh", Args: []string{"${OPENAI_API_KEY}"}}, true, "error: it names OPENAI_API_KEY, which it does not get"},
		{config.Server{URL: "https://a.example/${TOKEN}", Headers: map[string]string{"X": "${TOKEN}"}}, false, "https://a.example/hush-123456789 X=hush-123456789"},
		{config.Server{URL: "${HTTP}/mcp"}, false, "error: its url does not begin with https once its variables are filled in"},
		{config.Server{URL: "https://a.example", Headers: map[string]string{"X": "${BREAK}"}}, false, "error: the value of its header X has a line break"},
		{config.Server{Command: "no-such-program"}, false, "error: there is no program no-such-program"},
	} {
		e := &Entry{Server: test.entry, State: Own}
		if test.project {
			e.State = Approved
		}
		got := ""
		s, err := m.fill(e)
		if err != nil {
			got = "error: " + err.Error()
		} else {
			words := append([]string{}, s.Args...)
			if s.URL != "" {
				words = append(words, s.URL)
			}
			for _, all := range []map[string]string{s.Env, s.Headers} {
				for name, value := range all {
					words = append(words, name+"="+value)
				}
			}
			if got = strings.Join(words, " "); strings.Contains(s.redactor().String(got), "hush-123456789") {
				t.Errorf("%+v: a secret stays in %q", test.entry, s.redactor().String(got))
			}
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.entry, got, test.want)
		}
	}
}

// A server has the variables of its entry and those that every script has, and no other.
func TestServerEnvironment(t *testing.T) {
	m := newServers(t, "TOKEN=hush", "TZ=UTC", "USER=me")
	env := func(e *Entry) string {
		s, err := m.fill(e)
		if err != nil {
			t.Fatal(err)
		}
		return " " + strings.Join(m.environment(e, s, []string{"/bin"}), " ") + " "
	}
	e := &Entry{Server: config.Server{Command: "/bin/sh", Env: map[string]string{"A": "b"}}, State: Own}
	if got := env(e); strings.Contains(got, "hush") || strings.Contains(got, "USER=") || strings.Contains(got, "HOME=") || !strings.Contains(got, " A=b ") || !strings.Contains(got, " TZ=UTC ") {
		t.Errorf("in the sandbox: %s", got)
	}
	e.Open = true
	if got := env(e); strings.Contains(got, "hush") || !strings.Contains(got, " USER=me ") || !strings.Contains(got, " HOME=") {
		t.Errorf("outside: %s", got)
	}
}

// Only hosts that the user named in the settings may have private addresses, and of those in a project's entry the ones that show it.
func TestServerNetwork(t *testing.T) {
	m := newServers(t)
	policy, _ := m.Settings.Permissions()
	e := &Entry{Server: config.Server{Opens: want.Each(want.Host, want.User, "api.example.com", "localhost:8080")}, State: Own}
	if n := m.network(context.Background(), e, &Options{}, policy); len(n.Hosts) != 2 || len(n.Private) != 2 || n.All || n.Ask != nil {
		t.Errorf("the user's: %+v", n)
	}
	e.State = Approved
	if n := m.network(context.Background(), e, &Options{}, policy); len(n.Private) != 1 || n.Private[0] != "localhost:8080" {
		t.Errorf("the project's: %+v", n)
	}
	e.Given = want.Each(want.Host, want.User, want.Any)
	if n := m.network(context.Background(), e, &Options{}, policy); !n.All {
		t.Errorf("all: %+v", n)
	}
}

// The digest of a project's server covers the files of the project that it names, and no others.
func TestServerDigest(t *testing.T) {
	m := newServers(t)
	project := m.Sys.Dir
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a.sh", "1")
	put("b.sh", "1")
	for _, dir := range []string{"folder/deep", "folder/other", "many", "large"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(project, "out")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		entry   config.Server
		changes bool
	}{
		{config.Server{Command: "sh", Args: []string{"a.sh"}}, true},
		{config.Server{Command: "./a.sh"}, true},
		{config.Server{Command: filepath.Join(project, "a.sh")}, true},
		{config.Server{Command: "sh", Args: []string{"--script=a.sh"}}, true},
		{config.Server{Command: "python3", Args: []string{"-m", "folder"}}, true},
		{config.Server{Command: "node", Args: []string{"folder/deep"}}, true},
		{config.Server{Command: "node", Args: []string{"folder/other", "."}}, false},
		{config.Server{Command: "sh", Args: []string{"-x", "b.sh"}}, false},
		{config.Server{Command: "sh", Args: []string{"out", "..", "/etc/passwd", "", "a.sh/x"}}, false},
	} {
		put("a.sh", "1")
		put("folder/deep/x.js", "1")
		before, _ := m.digest(t.Context(), &test.entry)
		put("a.sh", "2")
		put("folder/deep/x.js", "2")
		now, err := m.digest(t.Context(), &test.entry)
		if changed := now != before; err != nil || changed != test.changes {
			t.Errorf("%+v: changed %v, %v", test.entry, changed, err)
		}
	}
}

// Homes of projects that are not there are not needed, and old ones; what a program uses is.
func TestUnneededOfServers(t *testing.T) {
	m := newServers(t)
	e := &Entry{Server: config.Server{Label: "a"}}
	_, done, err := m.home(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	names := func(remove bool) (out []string) {
		for _, s := range m.Unneeded(t.Context(), remove) {
			out = append(out, s.Why[:strings.IndexAny(s.Why+",:", ",:")])
		}
		return out
	}
	later := func() time.Time { return time.Now().Add(keepHome + time.Hour) }
	if got := names(true); len(got) > 0 {
		t.Errorf("fresh: %q", got)
	}
	m.Sys.Now = later
	if got := names(true); len(got) > 0 {
		t.Errorf("in use: %q", got)
	}
	done()
	served := filepath.Join(m.Settings.Config().Paths.Served(), ".a-1")
	if err := cmp.Or(os.MkdirAll(served, 0o700), os.WriteFile(filepath.Join(served, "list.json"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	old := []string{"home of a server", "skills of a server"}
	for _, remove := range []bool{false, true} {
		if got := names(remove); !slices.Equal(got, old) {
			t.Errorf("remove %v: %q", remove, got)
		}
	}
	m.Sys.Now = time.Now
	if _, done, err = m.home(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(m.Sys.Dir); err != nil {
		t.Fatal(err)
	}
	if got := names(true); len(got) > 0 {
		t.Errorf("in use: %q", got)
	}
	done()
	if got := names(true); !slices.Equal(got, []string{"servers of a project that is not there"}) || len(names(false)) > 0 {
		t.Errorf("gone: %q", got)
	}
}

// What is too large to be part of an approval is refused, and named.
func TestServerDigestLimits(t *testing.T) {
	m := newServers(t)
	for _, dir := range []string{"many", "large"} {
		if err := os.Mkdir(filepath.Join(m.Sys.Dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxNamedFiles + 1 {
		if err := os.WriteFile(filepath.Join(m.Sys.Dir, "many", fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	large := filepath.Join(m.Sys.Dir, "large", "data")
	if err := cmp.Or(os.WriteFile(large, nil, 0o644), os.Truncate(large, maxNamed+1)); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"many": "more than 2000 files and folders", "large": "files exceed 16777216 bytes", "large/data": "more than 16777216 bytes"} {
		got, err := m.digest(t.Context(), &config.Server{Command: "node", Args: []string{word}})
		if got != "" || err == nil || !strings.Contains(err.Error(), strconv.Quote(word)+", which it names, cannot be part of an approval: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
}
