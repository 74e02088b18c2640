package serve

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/mcpserve"
)

// claimName begins an entry of the table of tenants that is about a claim of a token.
const claimName = "claim:"

// tenants has a server for each tenant. It is made when somebody of the tenant calls.
type tenants struct {
	of   *Server
	life context.Context // of their watchers

	mu   sync.Mutex
	open map[string]*Server
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

// server returns the server of a tenant.
func (t *tenants) server(name string) (*mcpserve.Server, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.open[name]; s != nil {
		return s.mcp, nil
	}
	s, err := newServer(t.life, t.of.s.For(name), true, t.of.calls)
	if err != nil {
		return nil, err
	}
	if t.open == nil {
		t.open = map[string]*Server{}
	}
	t.open[name] = s
	return s.mcp, nil
}

// ready returns why no tenant can be served.
func (t *tenants) ready(ctx context.Context, names []string) (err error) {
	for _, name := range names {
		if _, err = t.server(name); err != nil {
			continue
		}
		t.mu.Lock()
		s := t.open[name]
		t.mu.Unlock()
		if _, err = s.catalog(ctx); err == nil {
			return nil
		}
	}
	return err
}

// close ends what runs for clients of all tenants.
func (t *tenants) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.open {
		s.Close()
		if err := s.s.Observe.Close(s.life); err != nil {
			s.s.Out.Warn(err.Error())
		}
	}
}
