package config_test

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

// Each setting has a description, and the reference and Settings list the same settings.
func TestKeys(t *testing.T) {
	c, _ := config.Load(&config.Options{})
	keys, settings := config.Keys(), c.Settings()
	if len(keys) != len(settings) {
		t.Fatalf("%d keys, want the %d of Settings", len(keys), len(settings))
	}
	for i, k := range keys {
		if k.Name != settings[i].Key {
			t.Errorf("key %d is %q, want %q", i, k.Name, settings[i].Key)
		}
		if k.Kind == "" || k.Project == "" || !strings.HasSuffix(k.About, ".") {
			t.Errorf("%s lacks a form, a rule for projects or a sentence: %+v", k.Name, k)
		}
		if len(k.Values) > 0 && len(k.Means) != len(k.Values) && k.Name != "profile" {
			t.Errorf("%s has the values %q, and says what %d of them do", k.Name, k.Values, len(k.Means))
		}
		if strings.Contains(k.Variable, "_J_") {
			t.Errorf("%s has the variable %s: write an abbreviation as one word", k.Name, k.Variable)
		}
	}
}

func TestKeysTellTheirForm(t *testing.T) {
	got := map[string]config.KeyInfo{}
	for _, k := range config.Keys() {
		got[k.Name] = k
	}
	for _, c := range []struct{ key, kind, project, variable string }{
		{"scriptTimeout", "time, 1ms to 24h", "stricter", "SCRIPT_TIMEOUT"},
		{"maxSkills", "0 to 100000", "yes", "AGENT_MAX_SKILLS"},
		{"symlinks", "one of", "stricter", "AGENT_SYMLINKS"},
		{"uv", "path", "no", "AGENT_UV"},
		{"allow", "list of globs", "if you did not", "AGENT_ALLOW"},
		{"roots", "list of paths", "may add", "AGENT_ROOTS"},
	} {
		if k := got[c.key]; k.Kind != c.kind || k.Project != c.project || k.Variable != c.variable {
			t.Errorf("%s is %q, %q, %q; want %q, %q, %q", c.key, k.Kind, k.Project, k.Variable, c.kind, c.project, c.variable)
		}
	}
}
