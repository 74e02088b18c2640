package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/toolset/internal/host"
)

// Each runtime gets the options that keep it from the network and from what lies around a skill.
func TestArgs(t *testing.T) {
	for runtime, want := range map[string]string{
		"python": "-I -B main --skill dir", "node": "main --skill dir", "bun": "--no-install run main --skill dir",
		"deno": "run --quiet --no-lock --cached-only --node-modules-dir=manual -A main --skill dir",
	} {
		if got := strings.Join(host.Args(runtime, "main", "dir", 0, "a:B"), " "); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "a:B") {
			t.Errorf("%s: got %q, want %q", runtime, got, want)
		}
	}
}

// A folder that cannot be made is an error, and leaves nothing.
func TestInstallNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if main, err := host.Install(filepath.Join(file, "below"), "python"); err == nil {
		t.Errorf("installed as %s", main)
	}
}
