package confine

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/script/runner"
)

// proxyPort is the port of the proxy in a network of the command's own.
const proxyPort = 3128

// relay lets a command reach named hosts through a proxy. The zero value is none.
type relay struct {
	run    ProxyRun
	port   uint16 // on 127.0.0.1
	token  string // that the proxy asks for; "" for none
	direct string // names that are reached without the proxy
	served sync.WaitGroup
}

// open opens the proxy of a command. If the command has no network of its own, the proxy listens on the loopback device of the
// machine, where others see it too: then it asks for a token.
func (r *relay) open(proxy Proxy, n *runner.Network, own bool) error {
	if !own {
		r.token = rand.Text()
	}
	run, err := proxy(n, r.token)
	if err != nil {
		return err
	}
	r.run, r.direct = run, strings.Join(direct(n.Private), ",")
	if own {
		r.port = proxyPort
		return nil // the stage makes the listener
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r.port = uint16(l.Addr().(*net.TCPAddr).Port)
	r.serve(l)
	return nil
}

// env returns the environment of a command with the proxy, if there is one.
func (r *relay) env(env []string) []string {
	if r.run == nil {
		return env
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", r.port)
	if r.token != "" {
		url = fmt.Sprintf("http://agent:%s@127.0.0.1:%d", r.token, r.port)
	}
	env = withoutProxies(env)
	set := map[string]string{"NODE_USE_ENV_PROXY": "1", "NO_PROXY": r.direct, "no_proxy": r.direct}
	for _, name := range proxyNames {
		set[name], set[strings.ToLower(name)] = url, url
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env
}

// proxyNames are the variables that name proxies, in upper case.
var proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}

// withoutProxies returns an environment that names no proxy: of a command that reaches none, so that its errors are about the hosts it wanted.
func withoutProxies(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		name = strings.ToUpper(name)
		return name == "NO_PROXY" || name == "NODE_USE_ENV_PROXY" || slices.Contains(proxyNames, name)
	})
}

// direct returns the names of this machine that a command connects to without the proxy, because they are its own network's: not
// those that the operator let it reach.
func direct(private []string) []string {
	return slices.DeleteFunc([]string{"localhost", "127.0.0.1", "::1"}, func(name string) bool {
		return slices.ContainsFunc(private, func(host string) bool {
			return host == name || strings.HasPrefix(strings.Trim(host, "[]"), name+":") || strings.HasPrefix(host, "["+name+"]")
		})
	})
}

// serveFile starts the proxy on a listener that a stage made in the network of the command.
func (r *relay) serveFile(f *os.File) {
	l, err := net.FileListener(f)
	_ = f.Close()
	if err == nil {
		r.serve(l)
	}
}

func (r *relay) serve(l net.Listener) { r.served.Go(func() { _ = r.run.Serve(l) }) }

// close ends the proxy. The stage is gone, or was never started.
func (r *relay) close() {
	if r.run != nil {
		_ = r.run.Close()
		r.served.Wait()
	}
}

// end ends the proxy of a command that has ended, and fills in what it reached. If a command that failed has left a question, its answer is
// waited for: the next command needs it.
func (r *relay) end(ctx context.Context, out *runner.Output) {
	if r.run == nil {
		return
	}
	if out.ExitCode != 0 && !out.Stopped {
		r.run.Settle(ctx)
	}
	r.close()
	out.Reached, out.Failed, out.Refused, out.Late = r.run.Reached(), r.run.Failed(), r.run.Refused(), r.run.Late()
}
