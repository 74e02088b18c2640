package fetch_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// The skills of a repository with more files than are taken from one are found and copied; only where those of the skills are too
// many is a folder needed.
func TestGitManyFiles(t *testing.T) {
	const skillFile = "---\nname: %s\ndescription: Does things. Use it for things.\n---\nBody\n"
	files := map[string]string{
		"skills/one/SKILL.md": fmt.Sprintf(skillFile, "one"), "skills/one/scripts/run.sh": "x", "skills/two/skill.md": fmt.Sprintf(skillFile, "two"),
		"plugin/.claude-plugin/plugin.json": "{}", "plugin/.mcp.json": "{}", "plugin/skills/three/SKILL.md": fmt.Sprintf(skillFile, "three"),
	}
	for i := range 30 {
		files[fmt.Sprintf("src/d%d/f.txt", i)] = fmt.Sprint(i)
	}
	repo, large := gittest.New(t), gittest.New(t)
	repo.Commit(files)
	for i := range 30 {
		files[fmt.Sprintf("skills/two/data/f%d", i)] = "x"
	}
	large.Commit(files)
	home := t.TempDir()
	in, err := install.New(&install.Options{
		Registry: &registry.Store{Path: filepath.Join(home, "registry.json")}, Folder: filepath.Join(home, "plugins"),
		Fetchers: map[source.Kind]install.Fetcher{source.Git: fetch.Git(&fetch.GitOptions{
			Path: []string{filepath.Dir(gittest.Program(t)), "/usr/bin", "/bin"}, Env: []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}, AllowFile: true, MaxFiles: 20})},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		repo   *gittest.Repo
		path   string
		skills int
		err    error
	}{
		{repo, "", 3, nil}, {repo, "skills", 2, nil}, {repo, "skills/one", 1, nil}, {repo, "src", 0, nil},
		{large, "", 0, install.ErrTooMany}, {large, "skills/two", 0, install.ErrTooMany}, {large, "skills/one", 1, nil}, {large, "plugin", 1, nil},
	}
	for _, tt := range tests {
		place, err := in.Open(t.Context(), source.Ref{Kind: source.Git, URL: tt.repo.URL(), Path: tt.path}, "")
		if !errors.Is(err, tt.err) || err != nil && tt.err == nil {
			t.Errorf("%s: got %v, want %v", tt.path, err, tt.err)
		}
		if err != nil {
			continue
		}
		if len(place.Skills) != tt.skills {
			t.Errorf("%s: got %d skills, want %d", tt.path, len(place.Skills), tt.skills)
		}
		for _, c := range place.Skills {
			k, err := place.Unpack(t.Context(), c, "")
			if err != nil {
				t.Error(err)
				continue
			}
			if want := map[string]int{"one": 2}[c.Manifest.Name]; want > 0 && len(content(t, k.Skill.FS())) != want {
				t.Errorf("%s: got %v", c.Path, content(t, k.Skill.FS()))
			}
			if c.Manifest.Name == "three" && len(c.PluginHas) == 0 {
				t.Errorf("%s: nothing is said of the servers of its plugin", c.Path)
			}
			k.Close()
		}
		place.Close()
	}
}
