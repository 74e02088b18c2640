package order

import (
	"context"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// mostHosts is how many tenants have a host on one worker. The one that was not used for the longest time gives way. What it runs goes on.
const mostHosts = 64

// hosts has a host for each tenant, with the folders of the tenant.
type hosts struct {
	options func(tenant string) (*script.Options, error)
	chosen  func(ctx context.Context, key string) ([]byte, error)

	mu   sync.Mutex
	open map[string]*host
}

// host runs the scripts and the toolsets of a tenant.
type host struct {
	*script.Host
	toolsets toolset.Options
	used     time.Time
}

// of returns the host of a tenant.
func (hs *hosts) of(tenant string) (*host, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.open[tenant]
	if h == nil {
		o, err := hs.options(tenant)
		if err == nil {
			h, err = newHost(*o, hs.chosen)
		}
		if err != nil {
			return nil, err
		}
		if hs.open == nil {
			hs.open = map[string]*host{}
		}
		if len(hs.open) >= mostHosts {
			delete(hs.open, hs.oldest())
		}
		hs.open[tenant] = h
	}
	h.used = time.Now()
	return h, nil
}

// oldest returns the tenant whose host was not used for the longest time.
func (hs *hosts) oldest() (tenant string) {
	for name, h := range hs.open {
		if first := hs.open[tenant]; first == nil || h.used.Before(first.used) {
			tenant = name
		}
	}
	return tenant
}

// newHost returns a host of these options, of which Granted comes from the orders. Variables come with them, too: none is of the worker.
func newHost(o script.Options, chosen func(ctx context.Context, key string) ([]byte, error)) (*host, error) {
	o.Chosen = chosen
	o.Granted = func(ctx context.Context, _ *skill.Skill) (script.Grant, error) {
		j := jobOf(ctx)
		g := j.o.Grant
		hosts, rest := g.Given.Split(func(w want.Want) bool { return w.Kind == want.Host })
		given := rest.Add(hosts.By(want.Declared)...) // at public addresses alone: the network here is not the one that was thought of
		return script.Grant{Given: given, Note: g.Note, Confine: g.Confine, Env: append([]string{}, j.env...)}, nil
	}
	o.Trace = trace.Tee(o.Trace, trace.TracerFunc(func(ctx context.Context, e trace.Event) { jobOf(ctx).note(&e) }))
	if o.MaxOutput <= 0 || o.MaxOutput > MaxOutput {
		o.MaxOutput = MaxOutput
	}
	scripts, err := script.New(&o)
	return &host{Host: scripts, toolsets: toolset.Options{Scripts: scripts, Cache: o.Cache, Call: o.Timeout, MaxResult: o.MaxOutput, Trace: o.Trace}}, err
}
