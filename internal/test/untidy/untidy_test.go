package untidy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
)

// The machine is what it says, for git too.
func TestMake(t *testing.T) {
	dir := filepath.Join(paths.Real(t.TempDir()), "work")
	for name, text := range map[string]string{"home/a": "a", "project/.git/HEAD": "ref: refs/heads/main\n", "real/.git/config": "[core]\n"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{m.Work, m.Home, m.Bin} {
		if paths.Real(path) == path {
			t.Errorf("no link leads to %s", path)
		}
	}
	if text, err := os.ReadFile(filepath.Join(m.Home, "a")); string(text) != "a" {
		t.Errorf("the home has lost a file: %v", err)
	}
	for _, tt := range [][]string{
		{ToolText, filepath.Join(m.Bin, Tool)},
		{"Untidy", "git", "config", "user.name"},
		{"tree", "git", "-C", filepath.Join(m.Work, "project"), "symbolic-ref", "--short", "HEAD"},
	} {
		cmd := exec.Command(tt[1], tt[2:]...)
		cmd.Env = []string{"HOME=" + m.Home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != tt[0] {
			t.Errorf("%q: got %s, %v", tt[1:], out, err)
		}
	}
	if info, err := os.Lstat(filepath.Join(m.Work, "real", ".git")); err != nil || !info.IsDir() {
		t.Errorf("a repository with settings is another one: %v", err)
	}
}
