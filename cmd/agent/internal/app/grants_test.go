package app

import (
	"testing"

	"github.com/agent-base/agent-base/trust"
)

// C65: the command repeats the grant, whatever it holds, and a shell reads it back.
func TestRepeatGrant(t *testing.T) {
	for _, tt := range []struct {
		grant trust.Grant
		want  string
	}{
		{trust.Grant{Env: []string{"A", "B"}, Home: true}, "agent skill grant x --env A,B --home"},
		{trust.Grant{Read: []string{"/a b"}, Write: []string{".", "/c"}, Net: []string{"h.example:1"}}, "agent skill grant x --read '/a b' --write . --write /c --net h.example:1"},
		{trust.Grant{With: []string{"requests>=2", "yaml"}}, "agent skill prepare x --with 'requests>=2' --with yaml"},
		{trust.Grant{Env: []string{"A"}, With: []string{"yaml"}, Withheld: []string{"KALSHI_*"}}, "agent skill grant x --env A && agent skill prepare x --with yaml && agent skill revoke x --env 'KALSHI_*'"},
	} {
		tt.grant.Name = "x"
		if got := repeatGrant(&tt.grant); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestGivenCheck(t *testing.T) { // C65
	for _, tt := range []struct {
		given Given
		exit  Exit
	}{
		{Given{Env: []string{"GITHUB_TOKEN", "OPENAI_API_KEY"}, Net: []string{"api.example.com", "localhost:8080"}}, ExitOK},
		{Given{Env: []string{"KALSHI_*"}}, ExitOK}, // as the manifest has it
		{Given{Env: []string{"OTHER_*"}}, ExitUsage},
		{Given{Env: []string{"A=b"}}, ExitUsage},
		{Given{Env: []string{"PYTHONPATH"}}, ExitDenied},
		{Given{Net: []string{"*.example.com", "all", "*"}}, ExitOK},
		{Given{Net: []string{"*.com"}}, ExitUsage},
		{Given{Net: []string{"a@example.com"}}, ExitUsage},
		{Given{Net: []string{"10.0.0.0/8"}}, ExitUsage},
		{Given{Net: []string{"https://example.com"}}, ExitUsage},
		{Given{Net: []string{""}}, ExitUsage},
	} {
		got := ExitOK
		if err := tt.given.Check([]string{"KALSHI_*"}); err != nil {
			got = Explain(err).Exit
		}
		if got != tt.exit {
			t.Errorf("%+v: got %d, want %d", tt.given, got, tt.exit)
		}
	}
}
