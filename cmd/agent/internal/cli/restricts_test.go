package cli

import (
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/skill/manifest"
)

func TestRestricts(t *testing.T) {
	list := func(rules ...string) manifest.Tools { return manifest.Tools{Declared: true, Rules: rules} }
	for _, tt := range []struct {
		allowed, except manifest.Tools
		scripts         int
		enforce, want   string
	}{
		{want: ""},
		{allowed: list(), want: "none while it is active"},
		{allowed: list("Read"), scripts: 1, want: "only Read while it is active; no rule allows to run its scripts (Bash or script_run)"},
		{allowed: list("Script_Run"), scripts: 1, want: "only Script_Run while it is active"},
		{except: list("Write"), scripts: 1, want: "all except Write while it is active"},
		{allowed: list("Read", "Bash(git:*)"), scripts: 1, want: "only Read, Bash(git:*) while it is active"},
		{allowed: list("Read"), except: list("Write"), enforce: "off", want: "only Read except Write while it is active; not enforced (enforce: off)"},
		{except: list("Write"), enforce: "warn", want: "all except Write while it is active; other calls are logged, not refused (enforce: warn)"},
	} {
		m := &manifest.Manifest{AllowedTools: tt.allowed, DisallowedTools: tt.except}
		if got := restricts(m, tt.scripts, &config.Config{Enforce: tt.enforce}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
