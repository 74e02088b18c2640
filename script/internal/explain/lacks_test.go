package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// What a command lacked is known by what the proxy refused it, or else by what it says.
func TestLacks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held := &runner.Sandbox{Tier: "A"}
	for _, test := range []struct {
		out   runner.Output
		wants string
		says  string
	}{
		{runner.Output{Sandbox: held, Refused: []runner.Refusal{{Host: "api.example.com:443"}}}, "refused host:api.example.com", "it may not reach api.example.com"},
		{runner.Output{Sandbox: held, Stderr: []byte("getaddrinfo EAI_AGAIN registry.example.org")}, "seen host:registry.example.org", "may not reach registry.example.org"},
		{runner.Output{Sandbox: held, Stderr: []byte("Error: ENOENT: no such file or directory, open '" + dir + "/notes.db'")}, "seen read:" + dir + "/notes.db", dir + "/notes.db"},
		{runner.Output{Sandbox: held, Stderr: []byte("syntax error")}, "", ""},
		{runner.Output{Stderr: []byte("getaddrinfo EAI_AGAIN registry.example.org")}, "", ""},
	} {
		wants, says := Lacks(&runner.Command{Dir: "/", Args: []string{"x"}}, &test.out)
		if text := strings.Join(says, "; "); wants.String() != test.wants || !strings.Contains(text, test.says) || (test.says == "") != (text == "") {
			t.Errorf("%s: %s, %q", test.out.Stderr, wants, text)
		}
	}
}
