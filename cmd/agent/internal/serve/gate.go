package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/mcpserve"
)

// gate says who may call over HTTP, and which server answers.
type gate struct {
	s       *Server
	tokens  tokens            // nil: there are none
	oauth   *issuer           // nil: no authorization server
	table   map[string]string // of tenants; nil: all callers are of one
	tenants tenants
}

// gate reads the settings about callers.
func (s *Server) gate(ctx context.Context) (*gate, error) {
	cfg := s.s.Settings.Config()
	if cfg.Serve.Wrong != nil {
		return nil, cfg.Serve.Wrong
	}
	g := &gate{s: s, table: cfg.Serve.Tenants, tenants: tenants{of: s, life: ctx}}
	if g.table == nil {
		s.calls.tenants.count(1)
	}
	var err error
	if g.tokens, err = readTokens(cfg.Serve.Tokens, s.s.Sys.Getenv(setup.Credentials)); err != nil {
		return nil, err
	}
	if g.oauth, err = newIssuer(&cfg.Serve, s.s.Tools.Transport(), s.s.Sys.Now); err != nil {
		return nil, err
	}
	if g.table != nil && g.open() {
		return nil, errors.New("serve.tenants needs serve.tokens or serve.issuer: without a token nobody is known")
	}
	if cfg.Serve.Secrets == "" {
		return g, nil
	}
	if g.table == nil {
		return nil, errors.New("serve.secrets needs serve.tenants: it has a folder for each tenant")
	}
	if _, err := os.ReadDir(cfg.Serve.Secrets); err != nil {
		return nil, fmt.Errorf("serve.secrets: %w", err)
	}
	return g, nil
}

// open reports whether nobody needs a token.
func (g *gate) open() bool { return g.tokens == nil && g.oauth == nil }

// verify returns who has a token, and the server of its tenant.
func (g *gate) verify(ctx context.Context, token string) (*mcpserve.Caller, error) {
	c, claims, err := g.who(ctx, token)
	if err != nil || g.table == nil {
		return c, err
	}
	name := tenantOf(g.table, c.Subject, claims)
	if name == "" {
		return nil, mcpserve.ErrStranger
	}
	one, err := g.tenants.enter(name)
	if err != nil {
		g.s.s.Out.Warn(err.Error())
		return nil, err
	}
	c.Server, c.Done = one.mcp, func() { g.tenants.leave(one) }
	return c, nil
}

func (g *gate) who(ctx context.Context, token string) (*mcpserve.Caller, map[string]any, error) {
	if c, err := g.tokens.verify(ctx, token); err == nil {
		return c, nil, nil
	}
	if g.oauth == nil || strings.Count(token, ".") != 2 {
		return nil, nil, errUnknown
	}
	return g.oauth.verify(ctx, token)
}

// ready returns why nobody can be served.
func (g *gate) ready(ctx context.Context) error {
	if g.table == nil {
		_, err := g.s.catalog(ctx)
		return err
	}
	return g.tenants.ready(ctx, slices.Compact(slices.Sorted(maps.Values(g.table))))
}

func (g *gate) close() { g.tenants.close() }
