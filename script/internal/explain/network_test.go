package explain

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// C65: a script that did not fail and was kept from the network says so in its result: by the words of a runtime, and not by a text about
// networks.
func TestMissedNetwork(t *testing.T) {
	s := probe.In(t, t.TempDir(), tree{"scripts/a.sh": ""})
	confined := &runner.Sandbox{Tier: "A"}
	for _, tt := range []struct {
		name           string
		args           []string
		stdout, stderr string
		sandbox        *runner.Sandbox
		net            runner.Network
		reached        []string
		failed         []string
		want           string // in the text; "" for none
	}{
		{name: "Python", stderr: "WARNING: <urlopen error [Errno -3] Temporary failure in name resolution>\n", sandbox: confined, want: "it may not use the network"},
		{name: "requests, in JSON", stdout: `{"error": "HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /x"}`, sandbox: confined, want: "it may not reach api.example.com"},
		{name: "Node.js", stderr: "fetch: Error: getaddrinfo EAI_AGAIN api.example.com\n", sandbox: confined, want: "it may not reach api.example.com"},
		{name: "curl", stderr: "curl: (6) Could not resolve host: api.example.com\n", sandbox: confined, want: "it may not reach api.example.com"},
		{name: "an address in the arguments", args: []string{"--url", "see https://api.example.com/x?y and http://localhost:8000"}, stderr: "<urlopen error [Errno -3] x>\n", sandbox: confined, want: "it may not reach api.example.com"},
		{name: "unreachable", stderr: "OSError: [Errno 101] Network is unreachable\n", sandbox: confined, want: "it may not use the network"},
		{name: "in a long line", stdout: strings.Repeat("x", 10_000) + "curl: (6) Could not resolve host: api.example.com", sandbox: confined, want: "api.example.com"},
		{name: "another host than those granted", stderr: "getaddrinfo ENOTFOUND b.com", sandbox: confined, net: runner.Network{Hosts: []string{"a.com"}}, want: "it may not reach b.com"},
		{name: "a text", stdout: "Fixes: connection refused, ECONNREFUSED, fetch failed, name resolution, 403 from the proxy, ENOTFOUND, dial tcp\n", sandbox: confined},
		{name: "its own server", stderr: "connect ECONNREFUSED 127.0.0.1:3000, trying again\n", sandbox: confined},
		{name: "long ago", stdout: "curl: (6) Could not resolve host: a.com\n" + strings.Repeat("line\n", 5000), sandbox: confined},
		{name: "it used the network", stderr: "curl: (6) Could not resolve host: b.com\n", sandbox: confined, net: runner.Network{Hosts: []string{"a.com"}}, reached: []string{"a.com:443"}},
		{name: "no host answered", stderr: "<urlopen error [Errno 111] Connection refused>\nMax retries exceeded with url: /x\n", sandbox: confined, net: runner.Network{Hosts: []string{"a.com"}}, failed: []string{"a.com:443"}},
		{name: "the whole network", stderr: "curl: (6) Could not resolve host: b.com\n", sandbox: confined, net: runner.Network{All: true}},
		{name: "no sandbox", stderr: "curl: (6) Could not resolve host: b.com\n", sandbox: &runner.Sandbox{Tier: runner.NoSandbox}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ran(s, "scripts/a.sh", "")
			r.Args, r.Cmd.Network = tt.args, tt.net
			r.Out = &runner.Output{Stdout: []byte(tt.stdout), Stderr: []byte(tt.stderr), Sandbox: tt.sandbox, Reached: tt.reached, Failed: tt.failed}
			f := Missed(r)
			if (f == nil) != (tt.want == "") {
				t.Fatalf("got %+v", f)
			}
			if f != nil && (f.Reason != fail.ReasonNetwork || len(f.Wants()) == 0 || !strings.Contains(f.Text(), tt.want)) {
				t.Errorf("got %q, %s", f.Text(), f.Wants())
			}
		})
	}
}

// A failure because of the network names the host, and says how it may be reached. R176
func TestUnreached(t *testing.T) {
	s := probe.In(t, t.TempDir(), tree{"scripts/a.sh": "", "scripts/b.sh": ""})
	tests := []struct {
		name   string
		out    runner.Output
		script string
		tier   string
		net    runner.Network
		hosts  []string
		direct bool
		none   bool
	}{
		{name: "requests without a network", out: runner.Output{Stderr: []byte("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.foo.com', port=443): Max retries exceeded with url: /x (Caused by NameResolutionError)")}, hosts: []string{"api.foo.com"}},
		{name: "another port", out: runner.Output{Stderr: []byte("HTTPSConnectionPool(host='api.foo.com', port=8443): Max retries exceeded")}, hosts: []string{"api.foo.com:8443"}},
		{name: "urllib", out: runner.Output{Stderr: []byte("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>")}, hosts: []string{"api.named.com"}},
		{name: "a name, and no service or variable", script: "b", out: runner.Output{Stderr: []byte("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>")}, hosts: []string{"api.named.com"}},
		{name: "curl", out: runner.Output{Stderr: []byte("curl: (6) Could not resolve host: api.foo.com")}, hosts: []string{"api.foo.com"}},
		{name: "uv", out: runner.Output{Stderr: []byte("error: Request failed after 3 retries in 6.6s\n  cause: Failed to fetch: https://pypi.org/simple/x/\n  cause: dns error")},
			hosts: []string{"pypi.org", "files.pythonhosted.org"}},
		{name: "Node", out: runner.Output{Stderr: []byte("Error: getaddrinfo EAI_AGAIN api.foo.com")}, hosts: []string{"api.foo.com"}},
		{name: "on stdout", out: runner.Output{Stdout: []byte(`{"error": "getaddrinfo ENOTFOUND api.foo.com"}`)}, hosts: []string{"api.foo.com"}},
		{name: "refused by the proxy", out: runner.Output{Stderr: []byte("x"), Refused: []runner.Refusal{{Host: "api.foo.com:443"}, {Host: "b.com:80"}}}, net: runner.Network{Hosts: []string{"a.com"}}, hosts: []string{"api.foo.com", "b.com:80"}},
		{name: "without the proxy", out: runner.Output{Stderr: []byte("Error: getaddrinfo EAI_AGAIN api.named.com")}, net: runner.Network{Hosts: []string{"api.named.com"}}, direct: true},
		{name: "the network itself", out: runner.Output{Stderr: []byte("Error: getaddrinfo EAI_AGAIN api.named.com"), Reached: []string{"api.named.com:443"}}, net: runner.Network{Hosts: []string{"api.named.com"}}, none: true},
		{name: "the network itself, and no host was reached", out: runner.Output{Stderr: []byte("ProxyError('Unable to connect to proxy', OSError('Tunnel connection failed: 502 Cannot reach api.named.com:443')"), Failed: []string{"api.named.com:443"}}, net: runner.Network{Hosts: []string{"api.named.com"}}, none: true},
		{name: "a service of this machine", out: runner.Output{Stderr: []byte("Error: connect ECONNREFUSED 127.0.0.1:8188")}, net: runner.Network{Hosts: []string{"a.com"}}, hosts: []string{"127.0.0.1:8188"}},
		{name: "a service of this machine, in Python", out: runner.Output{Stderr: []byte("HTTPConnectionPool(host='localhost', port=8188): Max retries exceeded, Failed to establish a new connection: [Errno 111] Connection refused http://localhost:8188/x")}, hosts: []string{"localhost:8188"}},
		{name: "a service of its own", out: runner.Output{Stderr: []byte("ConnectionRefusedError: [Errno 111] Connection refused")}, none: true},
		{name: "a socket that is denied", out: runner.Output{Stderr: []byte("urllib.error.URLError: <urlopen error [Errno 1] Operation not permitted>")}, hosts: []string{"api.named.com"}},
		{name: "all is allowed", out: runner.Output{Stderr: []byte("curl: (6) Could not resolve host: api.foo.com")}, net: runner.Network{All: true}, none: true},
		{name: "no sandbox", out: runner.Output{Stderr: []byte("curl: (6) Could not resolve host: api.foo.com")}, tier: runner.NoSandbox, none: true},
		{name: "a file that is missing", out: runner.Output{Stderr: []byte("FileNotFoundError: [Errno 2] No such file or directory: 'x'")}, none: true},
		{name: "a name in a traceback", out: runner.Output{Stderr: []byte("from connections import create_connection\nImportError: x")}, none: true},
		{name: "another failure", out: runner.Output{Stderr: []byte("ValueError: see https://foo.com/x")}, none: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ran(s, "scripts/"+cmp.Or(tt.script, "a")+".sh", "")
			tt.out.ExitCode = 1
			tt.out.Sandbox = &runner.Sandbox{Tier: cmp.Or(tt.tier, "B")}
			r.Out, r.Env, r.Cmd.Network = &tt.out, []string{"SET_TOKEN=x"}, tt.net
			named := want.HostOf("api.named.com")
			r.Seen = func() Seen {
				return Seen{Network: true, Files: map[string]want.Set{"scripts/a.sh": {named}, "scripts/b.sh": want.New(named, want.HostOf("localhost:8188"), want.VariableOf("SET_TOKEN"))}}
			}
			f := Explain(t.Context(), r)
			u, _ := f.Cause.(*refusedHosts)
			if (u == nil) != tt.none {
				t.Fatalf("got %+v", f)
			}
			if tt.none {
				return
			}
			if !slices.Equal(tt.hosts, u.Hosts) || u.Direct != tt.direct || f.Reason != fail.ReasonNetwork || len(f.Wants().Kind(want.Variable)) > 0 {
				t.Errorf("got %+v, %q, lacks %s", u, f.Reason, f.Wants())
			}
		})
	}
}
