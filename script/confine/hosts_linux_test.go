package confine

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/egress"
	"github.com/agent-base/agent-base/script/runner"
)

// fetch prints what came of each URL in its arguments; a URL with a + in front is fetched without the proxy.
const fetch = `
import sys, urllib.request
for url in sys.argv[1:]:
    handler = urllib.request.ProxyHandler({}) if url[0] == "+" else urllib.request.ProxyHandler()
    try: print(urllib.request.build_opener(handler).open(url.lstrip("+"), timeout=5).read().decode())
    except urllib.error.HTTPError as e: print(e.code)
    except Exception as e: print(getattr(e, "reason", e))
`

// egressProxy finds all hosts on this machine.
func egressProxy(n *runner.Network, token string) (ProxyRun, error) {
	return egress.Open(n, token, &egress.Options{Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
}

// R176, security 2.5 #73, #76, 2.15 rule 26: a command reaches the hosts that it may reach, through the proxy and in no other way.
func TestHosts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) }))
	defer server.Close()
	host := strings.Replace(server.Listener.Addr().String(), "127.0.0.1", "files.test", 1)
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", fetch, "http://"+host, "http://other.test", "+"+server.URL)
		c.Network = runner.Network{Hosts: []string{host}, Private: []string{host}}
		out := run(t, i.runner(t, Options{Proxy: egressProxy}), c)
		got := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
		if len(got) != 3 || got[0] != "served" || got[1] != "403" || !strings.Contains(got[2], "refused") && !strings.Contains(got[2], "denied") {
			t.Errorf("got %q, %s", got, out.Stderr)
		}
		if !slices.Equal(out.Reached, []string{host}) || len(out.Refused) != 1 {
			t.Errorf("reached %v, refused %v", out.Reached, out.Refused)
		}
		if !slices.Contains(out.Sandbox.Layers, hosts) {
			t.Errorf("got %+v", out.Sandbox)
		}
	})
}

// Without a proxy, and where no layer can confine a command to the proxy, it has no network at all, or one in which nothing else is.
func TestHostsWithoutProxy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		i tier
		o Options
	}{
		{confined()[0], Options{}},
		{confined()[1], Options{}},
		{tier{"C", []string{Namespaces, Landlock}, runner.ConfineAuto}, Options{Proxy: egressProxy}},
	} {
		c := tt.i.command(t, python, "-c", "import socket; socket.create_connection(('192.0.2.1', 443), 2)")
		c.Network = runner.Network{Hosts: []string{"example.org"}}
		out := run(t, tt.i.runner(t, tt.o), c)
		if out.ExitCode == 0 || !strings.HasPrefix(out.Sandbox.Missing[len(out.Sandbox.Missing)-1], hosts) {
			t.Errorf("%s: got %+v, %s", tt.i.name, out.Sandbox, out.Stderr)
		}
	}
}

// In tier B other users of the machine see the port of the proxy: it wants the token of the command.
func TestProxyWantsToken(t *testing.T) {
	i := confined()[1]
	c := i.command(t, python, "-c", `
import os, sys, urllib.request
os.environ["http_proxy"] = "http://" + os.environ["http_proxy"].split("@")[1]
try: urllib.request.urlopen("http://example.org/")
except urllib.error.HTTPError as e: print(e.code)
`)
	c.Network = runner.Network{Hosts: []string{"example.org"}}
	if out := run(t, i.runner(t, Options{Proxy: egressProxy}), c); string(out.Stdout) != "407\n" {
		t.Errorf("got %s%s", out.Stdout, out.Stderr)
	}
}

// With the whole network a command reaches what the machine reaches, in tier A and B; the proxy is not named.
func TestWholeNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	each(t, func(t *testing.T, i tier) {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		c := i.command(t, python, "-c", `
import os, socket, sys
socket.create_connection(("localhost", int(sys.argv[1]))).close()
print([k for k in os.environ if "proxy" in k.lower()])
os.mkdir("a"); os.mkdir("b"); open("a/x", "w").close()
os.rename("a/x", "b/x"); os.rename("b", "a/b")
`, port)
		c.Network = runner.Network{All: true}
		out := run(t, i.runner(t, Options{}), c)
		if string(out.Stdout) != "[]\n" || out.ExitCode != 0 {
			t.Errorf("got %s%s", out.Stdout, out.Stderr)
		}
	})
}

// security 1.3: what prepares packages gets the whole network where hosts cannot be told apart, and the result says so; elsewhere not.
func TestWholeNetworkInPlaceOfHosts(t *testing.T) {
	for _, proxy := range []Proxy{nil, egressProxy} {
		each(t, func(t *testing.T, i tier) {
			c := i.command(t, "/bin/true")
			c.Network = runner.Network{Hosts: []string{"example.org"}, OrAll: true}
			out := run(t, i.runner(t, Options{Proxy: proxy}), c)
			if said := strings.Contains(strings.Join(out.Sandbox.Missing, "\n"), "has the whole network"); said != (proxy == nil) || c.Network.All {
				t.Errorf("got %+v", out.Sandbox)
			}
		})
	}
}

// The duration of a command is without the time in which somebody was asked about a host. A question that a failed
// command left is waited for.
func TestAskedHost(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	open := func(n *runner.Network, token string) (ProxyRun, error) {
		return egress.Open(n, token, &egress.Options{
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			},
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}})
	}
	each(t, func(t *testing.T, i tier) {
		c := i.command(t, python, "-c", strings.ReplaceAll(fetch, "timeout=5", "timeout=90"), "http://asked.example:"+port)
		const waited = 500 * time.Millisecond
		c.Network.Ask = func(_ context.Context, host string) runner.Verdict {
			if host != "asked.example:"+port {
				t.Errorf("asked about %q", host)
			}
			time.Sleep(waited)
			return runner.Yes
		}
		begun := time.Now()
		out := run(t, i.runner(t, Options{Proxy: open}), c)
		if string(out.Stdout) != "served\n" || time.Since(begun)-out.Duration < waited || len(out.Late) > 0 {
			t.Errorf("got %q after %s, late %q; %s", out.Stdout, out.Duration, out.Late, out.Stderr)
		}
	})
	for _, code := range []string{"1", "0"} {
		i, asked := confined()[0], make(chan struct{})
		c := i.command(t, python, "-c", strings.ReplaceAll(fetch, "timeout=5", "timeout=0.2")+"sys.exit("+code+")", "http://asked.example")
		c.Network.Ask = func(ctx context.Context, _ string) runner.Verdict {
			defer close(asked)
			select {
			case <-ctx.Done():
				return runner.Unanswered
			case <-time.After(3 * time.Second):
				return runner.Yes
			}
		}
		out := run(t, i.runner(t, Options{Proxy: open}), c)
		<-asked
		if late := slices.Equal(out.Late, []string{"asked.example"}); late != (code == "1") || len(out.Refused) != map[bool]int{true: 0, false: 1}[late] {
			t.Errorf("exit code %s: late %q, refused %+v", code, out.Late, out.Refused)
		}
	}
}
