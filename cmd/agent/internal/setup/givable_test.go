package setup

import (
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

func TestGrantable(t *testing.T) { // C65
	m, _ := manifest.Parse([]byte("---\nname: x\ndescription: d\npermissions:\n  env: [KALSHI_*]\n---\n"), nil)
	s := &Settings{sys: &System{Dir: "/w", Home: "/home/ada"}}
	for _, tt := range []struct {
		given want.Set
		exit  failure.Exit
	}{
		{parsed(t, "env:GITHUB_TOKEN, env:OPENAI_API_KEY, host:api.example.com, host:localhost:8080"), failure.ExitOK},
		{parsed(t, "env:KALSHI_*"), failure.ExitOK}, // as the manifest has it
		{parsed(t, "env:OTHER_*"), failure.ExitUsage},
		{want.New(want.VariableOf("A=b")), failure.ExitUsage},
		{parsed(t, "env:PYTHONPATH"), failure.ExitDenied},
		{want.New(want.HostOf("*.example.com"), want.HostOf("all"), want.HostOf("*")), failure.ExitOK},
		{want.New(want.HostOf("*.com")), failure.ExitUsage},
		{want.New(want.HostOf("a@example.com")), failure.ExitUsage},
		{want.New(want.HostOf("10.0.0.0/8")), failure.ExitUsage},
		{want.New(want.HostOf("https://example.com")), failure.ExitUsage},
		{want.New(want.HostOf("")), failure.ExitUsage},
	} {
		got := failure.ExitOK
		if _, err := s.Grantable(tt.given, m); err != nil {
			got = failure.Explain(err).Exit
		}
		if got != tt.exit {
			t.Errorf("%s: got %d, want %d", tt.given, got, tt.exit)
		}
	}
}

// parsed returns a set from its text.
func parsed(t *testing.T, text string) want.Set {
	t.Helper()
	set, err := want.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
