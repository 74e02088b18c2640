package library

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

// One folder is one layer: the user's, or else the first.
func TestDistinct(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", at("link")); err != nil {
		t.Skip("needs links: ", err)
	}
	project := func(dir string) config.Layer { return config.Layer{Name: "project", Dir: at(dir)} }
	user := func(dir string) config.Layer { return config.Layer{Name: config.UserDir, Dir: at(dir)} }
	commands := config.Layer{Name: "project", Dir: at("a"), Commands: true}
	for _, tt := range []struct {
		name     string
		in, want []config.Layer
	}{
		{"others", []config.Layer{project("a"), user("b"), project("none"), project("none")}, []config.Layer{project("a"), user("b"), project("none"), project("none")}},
		{"the user's comes later", []config.Layer{project("a"), user("link")}, []config.Layer{user("link")}},
		{"the user's comes first", []config.Layer{user("a"), project("link")}, []config.Layer{user("a")}},
		{"two of one kind", []config.Layer{project("link"), project("a"), user("b")}, []config.Layer{project("link"), user("b")}},
		{"commands", []config.Layer{project("a"), commands}, []config.Layer{project("a"), commands}},
	} {
		got := distinct(tt.in)
		same := slices.EqualFunc(got, tt.want, func(a, b config.Layer) bool { return a.Name == b.Name && a.Dir == b.Dir && a.Commands == b.Commands })
		if !same {
			t.Errorf("%s: got %+v", tt.name, got)
		}
	}
}
