package serve

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// claimName begins an entry of the table of tenants that is about a claim of a token.
const claimName = "claim:"

// maxOpen is how many tenants have their skills open while they do not call. The system watches the folders of each: Linux has 128 such watches.
const maxOpen = 64

// tenants has the servers of the tenants that have called lately. One is made when somebody of the tenant calls.
type tenants struct {
	of   *Server
	life context.Context // of their watchers
	max  int             // maxOpen, but for tests

	mu     sync.Mutex
	open   map[string]*tenant
	closes sync.WaitGroup
}

// tenant is the server of one tenant.
type tenant struct {
	*Server
	requests int       // under way
	left     time.Time // when the last one ended
}

// tenantOf returns the tenant of a caller by a table; "" if it has none, or its claims are those of several.
func tenantOf(table map[string]string, subject string, claims map[string]any) string {
	if name := table[subject]; name != "" { // no caller is called as a claim is
		return name
	}
	found := ""
	for who, name := range table {
		about, ok := strings.CutPrefix(who, claimName)
		key, value, pair := strings.Cut(about, "=")
		if !ok || !pair || !has(claims[key], value) {
			continue
		}
		if found != "" && found != name {
			return ""
		}
		found = name
	}
	return found
}

// has reports whether a claim is a text, or a list with it.
func has(claim any, text string) bool {
	if list, ok := claim.([]any); ok {
		return slices.Contains(list, any(text))
	}
	return claim == text
}

// enter returns the server of a tenant for a request. The caller leaves it.
func (t *tenants) enter(name string) (*tenant, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.open[name]
	if one == nil {
		s, err := newServer(t.life, t.of.s.For(name), true, t.of.key, t.of.calls)
		if err != nil {
			return nil, err
		}
		if t.open == nil {
			t.open = map[string]*tenant{}
		}
		s.fleet = t.of.fleet
		one = &tenant{Server: s}
		t.open[name] = one
		t.of.calls.tenants.count(1)
	}
	one.requests++
	return one, nil
}

// leave ends a request. If too many tenants are open, it closes one that has no request under way and no result to keep: the one that called
// least lately. Its next call opens it again.
func (t *tenants) leave(one *tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.requests--
	one.left = time.Now()
	if len(t.open) <= cmp.Or(t.max, maxOpen) {
		return
	}
	oldest := ""
	for name, o := range t.open {
		if o.requests == 0 && (oldest == "" || o.left.Before(t.open[oldest].left)) && o.mcp.Forgets() {
			oldest = name
		}
	}
	if o := t.open[oldest]; o != nil {
		delete(t.open, oldest)
		t.of.calls.tenants.count(-1)
		t.closes.Go(o.end)
	}
}

// ready returns why no tenant can be served.
func (t *tenants) ready(ctx context.Context, names []string) (err error) {
	for _, name := range names {
		var one *tenant
		if one, err = t.enter(name); err != nil {
			continue
		}
		_, err = one.catalog(ctx)
		t.leave(one)
		if err == nil {
			return nil
		}
	}
	return err
}

// close ends what runs for clients of all tenants.
func (t *tenants) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.open {
		one.end()
	}
	t.closes.Wait()
}

// end ends what runs for clients of the tenant.
func (t *tenant) end() {
	t.Close()
	if err := t.s.Observe.Close(t.life); err != nil {
		t.s.Out.Warn(err.Error())
	}
}
