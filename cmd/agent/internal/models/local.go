package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Server is an address where a server may listen on this machine.
type Server struct{ Provider, URL string }

// Servers returns the usual addresses of local servers, the preferred ones first.
func Servers() []Server {
	var out []Server
	for _, p := range providers {
		if len(p.keys) == 0 {
			out = append(out, Server{p.name, p.url})
		}
	}
	return out
}

// Unanswered returns the address of a model's server if the server is on this machine and nothing listens there now, and else "".
func (f *Finder) Unanswered(ctx context.Context, m *Found) string {
	p, ok := find(m.Provider)
	if !ok || len(p.keys) > 0 {
		return ""
	}
	_, err := f.list(ctx, p.url, "", 300*time.Millisecond)
	if fault := (*net.OpError)(nil); !errors.As(err, &fault) || fault.Op != "dial" {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/v1")
}

// maxList bounds a server's list of models, in bytes.
const maxList = 1 << 20

// local returns the first server of this machine, in their order, that has a model, and that model.
func (f *Finder) local(ctx context.Context) (*Server, string) {
	servers, models := f.running(ctx)
	for i, list := range models {
		if len(list) > 0 {
			return &servers[i], list[0]
		}
	}
	return nil, ""
}

// running asks all servers of this machine at once. It returns them, and the models of each.
func (f *Finder) running(ctx context.Context) ([]Server, [][]string) {
	servers := f.Local
	if servers == nil {
		servers = Servers()
	}
	models := make([][]string, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { models[i], _ = f.list(ctx, s.URL, "", 300*time.Millisecond) }) // an error: it does not run
	}
	all.Wait()
	return servers, models
}

// Reachable returns the names, PROVIDER/NAME, of the models that Find would find now: the known ones of each provider that has a key, what
// a server lists whose address is set, and what servers on this machine list. Nothing is sent to a provider's own address.
func (f *Finder) Reachable(ctx context.Context) []string {
	var out []string
	add := func(p provider, base, name string) {
		if full := p.name + "/" + name; f.allowed(full, base) == nil && !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	for _, p := range providers {
		key, base := f.first(p.keys), f.first(p.base)
		switch {
		case base != "" && p.protocol != responses: // its models are listed once
			list, _ := f.list(ctx, base, key, 2*time.Second) // an error: it does not answer
			for _, name := range list {
				add(p, base, name)
			}
		case key != "" && base == "" && p.family != "":
			for _, facts := range table {
				if strings.HasPrefix(facts.Name, p.family) {
					add(p, p.url, facts.Name)
				}
			}
		}
	}
	servers, models := f.running(ctx)
	for i, list := range models {
		for _, name := range list {
			if p, ok := find(servers[i].Provider); ok {
				add(p, servers[i].URL, name)
			}
		}
	}
	return out
}

// list returns the names of the models of a compatible server. It waits for the Finder's patience, or for usual if that
// is 0. It follows no redirect: the key must not go where a server points.
func (f *Finder) list(ctx context.Context, base, key string, usual time.Duration) ([]string, error) {
	if f.Patience > 0 {
		usual = f.Patience
	}
	ctx, cancel := context.WithTimeout(ctx, usual)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := *f.client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/models: HTTP %d", base, res.StatusCode)
	}
	var body struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxList)).Decode(&body); err != nil {
		return nil, err
	}
	var names []string
	for _, m := range body.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}

// client returns the client that sends the requests. It uses the proxies in the environment, but not for requests to this
// machine.
func (f *Finder) client() *http.Client {
	if f.HTTP != nil {
		return f.HTTP
	}
	return &http.Client{Transport: f.transport()}
}

func (f *Finder) transport() *http.Transport { return Transport(f.first) }

// Transport returns a transport that uses the proxies of the environment. first returns the value of the first variable
// that is set.
func Transport(first func(names []string) string) *http.Transport {
	proxy := Proxy(first)
	return &http.Transport{
		Proxy:               func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
	}
}

// Proxy returns a function that returns the proxy of the environment for a URL, nil for none. first is that of Transport.
func Proxy(first func(names []string) string) func(*url.URL) (*url.URL, error) {
	env := httpproxy.Config{
		HTTPProxy:  first([]string{"HTTP_PROXY", "http_proxy"}),
		HTTPSProxy: first([]string{"HTTPS_PROXY", "https_proxy"}),
		NoProxy:    first([]string{"NO_PROXY", "no_proxy"}),
	}
	return env.ProxyFunc()
}
