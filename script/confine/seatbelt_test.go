package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// The profile for macOS denies by default, names real paths, quotes them, and lets Keep win over Write.
func TestProfile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, `wo"rk`)
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(work, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	c := &runner.Command{Read: []string{"/skill"}, Write: []string{filepath.Join(dir, "link")}, Keep: []string{filepath.Join(dir, "link", ".git", "hooks")}}
	got := profile(c, nil, 3128)
	quoted := filepath.Join(dir, `wo\"rk`)
	for _, want := range []string{
		"(version 1)\n(deny default)\n", `(allow file-read* file-map-executable (subpath "/skill"))`,
		`file-write* (subpath "` + quoted + `"))`, `(deny file-write* (subpath "` + quoted + `/.git/hooks"))`,
		`(allow network-outbound (remote ip "localhost:3128"))`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if strings.Index(got, "(deny file-write*") < strings.Index(got, "file-write* (subpath") {
		t.Error("the last rule wins: Keep must come after Write")
	}
	if got := profile(&runner.Command{}, nil, 0); strings.Contains(got, "network") {
		t.Errorf("network in\n%s", got)
	}
	if got := profile(&runner.Command{Network: runner.Network{All: true}}, nil, 0); !strings.Contains(got, "(allow network*)") {
		t.Errorf("no network in\n%s", got)
	}
}
