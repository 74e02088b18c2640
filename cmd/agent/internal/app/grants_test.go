package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

func TestGrantable(t *testing.T) { // C65
	m, _ := manifest.Parse([]byte("---\nname: x\ndescription: d\npermissions:\n  env: [KALSHI_*]\n---\n"), nil)
	s := &Settings{sys: &System{Dir: "/w", Home: "/home/ada"}}
	for _, tt := range []struct {
		given want.Set
		exit  failure.Exit
	}{
		{wants(t, "env:GITHUB_TOKEN, env:OPENAI_API_KEY, host:api.example.com, host:localhost:8080"), failure.ExitOK},
		{wants(t, "env:KALSHI_*"), failure.ExitOK}, // as the manifest has it
		{wants(t, "env:OTHER_*"), failure.ExitUsage},
		{want.New(want.VariableOf("A=b")), failure.ExitUsage},
		{wants(t, "env:PYTHONPATH"), failure.ExitDenied},
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

// What a person types in a question is read as what it says, and what nobody gives is refused there too.
func TestTypedWords(t *testing.T) {
	p := &Proposal{policy: &policy.Policy{Home: "/home/ada", Own: "/home/ada/.agent"}, manifest: &manifest.Manifest{}, set: func(string) bool { return true }}
	for line, expected := range map[string]string{
		"write:/home/ada/notes":      "user write:/home/ada/notes",
		"write:~/notes":              "user write:/home/ada/notes",
		"write:/home/ada":            "",
		"write:/":                    "",
		"read:/home/ada/.agent/x":    "",
		"write net home":             "user home, user host:*, user write:.",
		"api.example.com localhost":  "user host:api.example.com, user host:localhost",
		"host:buildhost TOKEN":       "user env:TOKEN, user host:buildhost",
		"host:buildhost -buildhost":  "",
		"host:a -host:a env:a -a":    "",
		"read:notes":                 "",
		"https://api.example.com/v1": "",
	} {
		p.choice = choice{}
		err := p.choose(line)
		if got := p.choice.gets.String(); got != expected || (err == nil) != (expected != "") && !strings.HasSuffix(line, "-a") {
			t.Errorf("%s: got %s, %v", line, got, err)
		}
	}
}

// The JSON of a grant has a key for each kind that a user can give.
func TestGrantViewJSON(t *testing.T) {
	set, err := want.ParseSet("user env:A, user home, user host:*, user write:., user package:npm:x")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(ViewGrant(&trust.Grant{Name: "x", Digest: "d", Given: set, Withheld: want.Each(want.Host, want.Declared, "a.b")}, false))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"digest":"d","env":["A"],"home":true,"lapsed":false,"name":"x","net":["*"],"read":[],"scripts":false,"socket":[],"with":["npm:x"],"withheld":["a.b"],"write":["."]}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
