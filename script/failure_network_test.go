package script

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// C65: a script that did not fail and was kept from the network says so in its result: by the words of a runtime, and not by a text about
// networks.
func TestMissedNetwork(t *testing.T) {
	confined := &runner.Sandbox{Tier: "A"}
	for _, tt := range []struct {
		name           string
		args           []string
		stdout, stderr string
		sandbox        *runner.Sandbox
		net            runner.Network
		reached        []string
		failed         []string
		want           string // in the warning; "" for none
	}{
		{name: "Python", stderr: "WARNING: <urlopen error [Errno -3] Temporary failure in name resolution>\n", sandbox: confined, want: "kept from the network"},
		{name: "requests, in JSON", stdout: `{"error": "HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /x"}`, sandbox: confined, want: "it may not reach api.example.com"},
		{name: "Node.js", stderr: "fetch: Error: getaddrinfo EAI_AGAIN api.example.com\n", sandbox: confined, want: "it may not reach api.example.com"},
		{name: "curl", stderr: "curl: (6) Could not resolve host: api.example.com\n", sandbox: confined, want: "it may not reach api.example.com"},
		{name: "an address in the arguments", args: []string{"--url", "see https://api.example.com/x?y and http://localhost:8000"}, stderr: "<urlopen error [Errno -3] x>\n", sandbox: confined, want: "it may not reach api.example.com"},
		{name: "a proxy", stderr: "ProxyError: Tunnel connection failed: 403 Forbidden\n", sandbox: confined, want: "kept from the network"},
		{name: "unreachable", stderr: "OSError: [Errno 101] Network is unreachable\n", sandbox: confined, want: "kept from the network"},
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
			r := host(t)
			r.Runner = &canned{out: runner.Output{Stdout: []byte(tt.stdout), Stderr: []byte(tt.stderr), Sandbox: tt.sandbox, Reached: tt.reached, Failed: tt.failed}}
			r.Granted = func(context.Context, *skill.Skill) (Grant, error) { return Grant{Given: networkOf(&tt.net)}, nil }
			res, err := run(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a", &RunOptions{Args: tt.args, JSON: JSONNo})
			if err != nil {
				t.Fatal(err)
			}
			if (tt.want == "") != (res.Warning == "" && len(res.Wants) == 0) || !strings.Contains(res.Warning, tt.want) {
				t.Errorf("got %q, %+v", res.Warning, res.Wants)
			}
		})
	}
}

// networkOf returns the wants for which a run has this network.
func networkOf(n *runner.Network) want.Set {
	out := want.Each(want.Host, want.Seen, n.Hosts...)
	if n.All {
		out = out.Add(want.HostOf(want.Any))
	}
	return out
}
