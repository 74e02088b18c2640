package program_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/internal/program"
)

func TestManagers(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, dir := range []string{".pyenv/shims", ".cargo/bin", ".rustup", "opt/cargo/bin", "share/mise/shims", ".volta/bin", "bin", "x/shims"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var dirs []string
	for _, name := range []string{"bin", ".pyenv/shims", ".cargo/bin", "opt/cargo/bin", "share/mise/shims", ".volta/bin", ".rbenv/shims", "x/shims"} {
		dirs = append(dirs, at(name))
	}
	want := []program.Manager{{"PYENV_ROOT", at(".pyenv")}, {"RUSTUP_HOME", at(".rustup")}, {"MISE_DATA_DIR", at("share/mise")}, {"VOLTA_HOME", at(".volta")}}
	if got := program.Managers(dirs); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
