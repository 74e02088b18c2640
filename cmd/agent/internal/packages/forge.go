package packages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
)

// tokens returns the tokens of forges that the user allowed.
func (p *Packages) tokens() (out []fetch.Token) {
	for _, f := range source.Forges() {
		if _, secret := f.Token(p.Sys.Getenv); secret != "" && slices.Contains(p.Settings.Config().ForgeTokens, f.Name) {
			out = append(out, fetch.Token{Host: f.Hosts[0], User: f.User, Secret: secret})
		}
	}
	return out
}

// tellTokens returns a fetcher that says, where a repository is refused, of the token that would be allowed.
func (p *Packages) tellTokens(f install.Fetcher) install.Fetcher {
	return install.FetcherFunc(func(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
		s, err := f.Fetch(ctx, r)
		if !errors.Is(err, fetch.ErrRefused) {
			return s, err
		}
		forge := r.Source.Forge()
		if forge == nil || slices.Contains(p.Settings.Config().ForgeTokens, forge.Name) {
			return s, err
		}
		variable, secret := forge.Token(p.Sys.Getenv)
		if secret == "" {
			return s, err
		}
		refused := failure.Explain(err)
		refused.Err = err
		refused.Hint = fmt.Sprintf("%s is set and was not sent: AGENT_FORGE_TOKENS=%s, or forgeTokens: [%[2]s] in your settings, sends it to %[3]s", variable, forge.Name, forge.Hosts[0])
		return s, refused
	})
}
