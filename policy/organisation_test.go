package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/want"
)

// ask asks a policy everything.
func ask(p *policy.Policy) []policy.Decision {
	return []policy.Decision{
		p.Call(bash("git push"), allow.Options{}), p.Mode(permit.All), p.Sandbox("off"), p.Model("a/b", ""), p.Host("example.org"),
		p.Decide(want.Of(want.Socket, want.SSH)), p.Server(&policy.Server{Name: "x", Command: []string{"x"}}),
		p.Source("https://github.com/a/b"), p.Skill(&policy.Skill{Name: "x", Source: "/x"}),
	}
}

func bash(command string) *permit.Call {
	return &permit.Call{Tool: "bash", Kind: permit.Command, Command: command, Confined: true}
}

func organisation(t *testing.T, texts ...string) *policy.Policy {
	t.Helper()
	p := &policy.Policy{Home: "/home/ada", Account: "/home/real"}
	for _, text := range texts {
		d, err := policy.Parse([]byte(text), "p.yaml")
		if err != nil {
			t.Fatal(err)
		}
		p.Organisation = append(p.Organisation, d.With(func(*policy.Include) *policy.Document {
			other, _ := policy.Parse([]byte("contact: other"), "other.yaml")
			return other
		})...)
	}
	return p
}

// A policy that is not there allows everything.
func TestNil(t *testing.T) {
	for _, p := range []*policy.Policy{nil, {}, {Organisation: []*policy.Document{nil}}, organisation(t, "contact: x")} {
		for i, d := range ask(p) {
			if d.Level == policy.Never || d.Layer != "" {
				t.Errorf("%+v: question %d: %+v", p, i, d)
			}
		}
		if p.Err() != nil || len(p.Bounds()) != 0 {
			t.Errorf("%+v: %v, %v", p, p.Err(), p.Bounds())
		}
		if _, limited := p.Network(); limited {
			t.Error("the network is limited")
		}
	}
}

// Each question is answered as the document says. A row is a document, what is asked, and what is allowed.
func TestDecisions(t *testing.T) {
	type p = *policy.Policy
	call := func(c *permit.Call) func(p) policy.Decision {
		return func(p p) policy.Decision {
			return p.Call(c, allow.Options{Roots: []string{"/work"}, Home: "/home/ada"})
		}
	}
	file := func(path string) func(p) policy.Decision {
		return call(&permit.Call{Tool: "read_file", Kind: permit.Read, Path: path})
	}
	decide := func(text string) func(p) policy.Decision {
		w, err := want.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return func(p p) policy.Decision { return p.Decide(w) }
	}
	mode := func(m permit.Mode) func(p) policy.Decision { return func(p p) policy.Decision { return p.Mode(m) } }
	sandbox := func(s string) func(p) policy.Decision { return func(p p) policy.Decision { return p.Sandbox(s) } }
	model := func(name, host string) func(p) policy.Decision {
		return func(p p) policy.Decision { return p.Model(name, host) }
	}
	host := func(h string) func(p) policy.Decision { return func(p p) policy.Decision { return p.Host(h) } }
	server := func(s policy.Server) func(p) policy.Decision {
		return func(p p) policy.Decision { return p.Server(&s) }
	}
	for _, tt := range []struct {
		document string
		ask      func(p) policy.Decision
		level    policy.Level
	}{
		{"permissions: {deny: ['Bash(git push:*)']}", call(bash("cd x && git push origin")), policy.Never},
		{"permissions: {deny: ['Bash(git push:*)']}", call(bash("git pull")), policy.Free},
		{"permissions: {ask: [Bash]}", call(bash("ls")), policy.Asks},
		{"permissions: {ask: [Bash], deny: ['Bash(ls)']}", call(bash("ls")), policy.Never},
		{"permissions: {deny: ['Read(secret/**)']}", file("/work/secret/x"), policy.Never},
		{"permissions: {deny: ['Read(secret/**)']}", file("/work/other/x"), policy.Free},
		{"permissions: {deny: ['Read(~/.aws/**)']}", file("/home/ada/.aws/x"), policy.Never},
		{"permissions: {deny: ['Read(~/.aws/**)']}", file("/home/real/.aws/x"), policy.Never},
		{"permissions: {deny: [script_run]}", call(&permit.Call{Tool: "script_run", Kind: permit.Script, Args: json.RawMessage(`{"skill_name":"a"}`)}), policy.Never},
		{"permissions: {deny: [mcp__github__*]}", call(&permit.Call{Tool: "mcp__github__push", Kind: permit.Server}), policy.Never},
		{"permissions: {deny: [Bash]}", call(&permit.Call{Tool: "web_fetch", Kind: permit.Fetch, URL: "https://x.org/"}), policy.Free},
		{"mode: ask", mode(permit.All), policy.Never},
		{"mode: ask", mode(permit.AcceptEdits), policy.Never},
		{"mode: ask", mode(permit.Ask), policy.Free},
		{"mode: ask", mode(permit.ReadOnly), policy.Free},
		{"mode: ask", mode("other"), policy.Never},
		{"sandbox: required", sandbox("auto"), policy.Never},
		{"sandbox: auto", sandbox("auto"), policy.Free},
		{"sandbox: auto", sandbox("off"), policy.Never},
		{"network: []", sandbox("auto"), policy.Never},
		{"grants: {never: [socket]}", sandbox("off"), policy.Never},
		{"grants: {never: [socket]}", sandbox("required"), policy.Free},
		{"models: [anthropic/*]", model("anthropic/x", ""), policy.Free},
		{"models: [anthropic/*]", model("openai/x", ""), policy.Never},
		{"models: [anthropic/*]", model("anthropic/x", "evil.example"), policy.Never},
		{"models: ['anthropic/*@gw.example']", model("anthropic/x", "gw.example"), policy.Free},
		{"models: ['anthropic/*@gw.example']", model("anthropic/x", ""), policy.Never},
		{"models: ['ollama/*@localhost:11434']", model("ollama/x", "localhost:11434"), policy.Free},
		{"models: ['*']", model("chat/a/b", ""), policy.Free},
		{"models: []", model("a/b", ""), policy.Never},
		{"network: [api.example.com]", host("api.example.com"), policy.Free},
		{"network: [api.example.com]", host("api.example.com:443"), policy.Free},
		{"network: [api.example.com]", host("api.example.com:8443"), policy.Never},
		{"network: ['*.example.com']", host("a.example.com"), policy.Free},
		{"network: ['*.example.com']", host("example.com"), policy.Never},
		{"network: ['*.example.com']", host(want.Any), policy.Never},
		{"network: []", host("example.com"), policy.Never},
		{"grants: {never: ['host:evil.example']}", host("evil.example"), policy.Never},
		{"grants: {never: ['host:evil.example']}", host("good.example"), policy.Free},
		{"grants: {never: ['host:evil.example']}", decide("host:*"), policy.Never},
		{"network: [a.example]", decide("host:b.example"), policy.Never},
		{"grants: {never: [socket]}", decide("socket:gpg"), policy.Never},
		{"grants: {never: ['socket:ssh']}", decide("socket:gpg"), policy.Asks},
		{"grants: {never: [home]}", decide("home"), policy.Never},
		{"grants: {never: [read]}", decide("write:/srv/x"), policy.Never},
		{"grants: {never: ['read:/srv/x']}", decide("write:/srv/x/y"), policy.Never},
		{"grants: {never: ['write:/srv/x']}", decide("read:/srv/x/y"), policy.Free},
		{"grants: {never: ['write:/srv/x/y']}", decide("write:/srv"), policy.Never},
		{"grants: {never: ['read:~/.aws']}", decide("read:/home/real/.aws/y"), policy.Never},
		{"grants: {never: ['read:/home/ada/.aws']}", decide("read:~/.aws"), policy.Never},
		{"grants: {never: ['env:AWS_*']}", decide("env:AWS_SECRET"), policy.Never},
		{"grants: {never: ['env:AWS_*']}", decide("env:A*"), policy.Never},
		{"grants: {never: ['env:AWS_*']}", decide("env:B*"), policy.Free},
		{"mcpServers: []", server(policy.Server{URL: "https://a/"}), policy.Never},
		{"mcpServers: [{url: 'https://a/**'}]", server(policy.Server{URL: "https://a/mcp"}), policy.Free},
		{"mcpServers: [{url: 'https://a/**'}]", server(policy.Server{URL: "https://b/https://a/"}), policy.Never},
		{"mcpServers: [{url: 'https://a/**'}]", server(policy.Server{URL: "https://a/x", Command: []string{"y"}}), policy.Never},
		{"mcpServers: [{command: npx -y files *}]", server(policy.Server{Command: []string{"npx", "-y", "files", "/x"}}), policy.Free},
		{"mcpServers: [{command: npx -y files *}]", server(policy.Server{Command: []string{"npx", "-y", "other"}}), policy.Never},
		{"mcpServers: [{command: npx -y files}]", server(policy.Server{Command: []string{"npx", "-y", "files", "/x"}}), policy.Never},
		{"mcpServers: [{name: f, command: x}]", server(policy.Server{Name: "g", Command: []string{"x"}}), policy.Never},
		{"mcpServers: [{command: ['*']}]", server(policy.Server{Command: []string{"x"}}), policy.Never},
	} {
		d := tt.ask(organisation(t, tt.document))
		if d.Level != tt.level {
			t.Errorf("%s: got %+v", tt.document, d)
		}
		if d.Level == policy.Never && (!strings.Contains(d.Why, "the policy of your organisation, p.yaml:1") || d.Layer == "" || d.At.Line != 1) {
			t.Errorf("%s: the reason does not say who decided: %+v", tt.document, d)
		}
		if d := tt.ask(organisation(t, "contact: sec@x\n"+tt.document)); d.Level == policy.Never && (d.Contact != "sec@x" || !strings.Contains(d.Why, "; ask sec@x)")) {
			t.Errorf("%s: the reason does not say whom to ask: %+v", tt.document, d)
		}
		if d := tt.ask(organisation(t, "contact: x", tt.document, "retention: 3")); d.Level != tt.level {
			t.Errorf("%s among others: got %+v", tt.document, d)
		}
	}
}

func TestBounds(t *testing.T) {
	p := organisation(t, "retention: 30\nnetwork: [a.example]", "retention: 7\naudit: required\ntelemetry: off\nmode: ask")
	got := map[string]string{}
	for _, b := range p.Bounds() {
		got[b.Key] += b.Value + " "
		if !strings.Contains(b.Why, "the policy of your organisation, p.yaml:") {
			t.Errorf("%s: %q", b.Key, b.Why)
		}
	}
	want := map[string]string{"keepConversations": "30 7 ", "sandbox": "required ", "audit": "required ", "telemetry": "off ", "mode": "ask "}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s: %q", key, got[key])
		}
	}
	if hosts, limited := p.Network(); !limited || len(hosts) != 1 {
		t.Errorf("network %q, %t", hosts, limited)
	}
}

// A link leads to no folder that is never given.
func TestNeverLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("keys", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := organisation(t, "grants: {never: ['read:"+dir+"/keys']}")
	if d := p.Decide(want.ReadOf(filepath.Join(dir, "link"))); d.Level != policy.Never {
		t.Errorf("by a link: %+v", d)
	}
}

func TestRefuse(t *testing.T) {
	p := organisation(t, "models: []")
	err := p.Model("a/b", "").Refuse("the model %q is not used", "a/b")
	if err == nil || err.Error() != `the model "a/b" is not used: only the models that it lists are used (the policy of your organisation, p.yaml:1)` {
		t.Error(err)
	}
	if err := organisation(t).Model("a/b", "").Refuse("x"); err != nil {
		t.Error(err)
	}
}
