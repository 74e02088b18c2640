package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
)

// The token of a forge goes with the user's consent alone, which a project cannot give, and a refusal names what allows it.
func TestForgeTokens(t *testing.T) {
	const secret = "t0psecret"
	refusing := install.FetcherFunc(func(context.Context, *install.Request) (*install.Snapshot, error) {
		return nil, fmt.Errorf("no: %w", fetch.ErrRefused)
	})
	tests := []struct {
		name, url  string
		env        []string
		file, hint string
		tokens     int
	}{
		{"nothing set", "https://github.com/o/r", nil, "", "", 0},
		{"set, not allowed", "https://github.com/o/r", []string{"GITHUB_TOKEN=" + secret}, "", "GITHUB_TOKEN is set and was not sent: AGENT_FORGE_TOKENS=github,", 0},
		{"another forge is allowed", "https://github.com/o/r", []string{"GH_TOKEN=" + secret, "AGENT_FORGE_TOKENS=gitlab"}, "", "GH_TOKEN is set", 0},
		{"a project allows it", "https://github.com/o/r", []string{"GITHUB_TOKEN=" + secret}, "skills:\n  forgeTokens: [github]\n", "GITHUB_TOKEN is set", 0},
		{"allowed", "https://github.com/o/r", []string{"GITHUB_TOKEN=" + secret, "AGENT_FORGE_TOKENS=github,gitlab"}, "", "", 1},
		{"the token of another host", "https://gitlab.com/o/r", []string{"GITHUB_TOKEN=" + secret}, "", "", 0},
		{"another port", "https://github.com:8443/o/r", []string{"GITHUB_TOKEN=" + secret}, "", "", 0},
		{"another host", "https://github.com.evil.example/o/r.git", []string{"GITHUB_TOKEN=" + secret}, "", "", 0},
		{"ssh", "git@github.com:o/r", []string{"GITHUB_TOKEN=" + secret}, "", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, project := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(project, ".agent"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(project, ".agent", "config.yaml"), []byte(tt.file), 0o644); err != nil {
				t.Fatal(err)
			}
			streams, _, _, _ := ui.Test()
			sys := &setup.System{Home: home, Dir: project, Environ: tt.env, Now: time.Now}
			p := &Packages{Sys: sys, Settings: setup.NewSettings(sys, &setup.Flags{}), Out: output.NewPrinter(streams, &output.Flags{})}
			ref, err := source.Parse(tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.tokens(); len(got) != tt.tokens || len(got) > 0 && (got[0].Host != "github.com" || got[0].Secret != secret) {
				t.Errorf("got %d tokens", len(got))
			}
			_, err = p.tellTokens(refusing).Fetch(t.Context(), &install.Request{Source: ref})
			f := failure.Explain(err)
			if !errors.Is(err, fetch.ErrRefused) || !strings.HasPrefix(f.Hint, tt.hint) || tt.hint == "" && f.Hint != "" || strings.Contains(f.Hint+f.Error(), secret) {
				t.Errorf("hint %q, error %v, want %q", f.Hint, err, tt.hint)
			}
		})
	}
}
