package script

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/skill"
)

// C67: a home is private, stays, and belongs to one skill in one root.
func TestHomes(t *testing.T) {
	h := host(t)
	h.Homes = filepath.Join(t.TempDir(), "homes")
	files := tree{"scripts/a.sh": "echo $HOME; echo token >> $HOME/.token; wc -l < $HOME/.token\n"}
	a, b := open(t, "", files), open(t, "", files)
	first := strings.Fields(mustText(t, h, a, "a"))
	again := strings.Fields(mustText(t, h, a, "a"))
	other := strings.Fields(mustText(t, h, b, "a"))
	if first[0] != again[0] || first[0] == other[0] || again[1] != "2" || other[1] != "1" {
		t.Errorf("got %q, %q and %q", first, again, other)
	}
	if filepath.Dir(first[0]) != h.Homes || !strings.HasPrefix(filepath.Base(first[0]), "probe-") {
		t.Errorf("the home is %s", first[0])
	}
	if info, err := os.Stat(first[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
	own := h.host()
	if got := own.Homes(); len(got) != 2 || got[0].Skill != "probe" || got[0].Files != 1 || got[0].Bytes == 0 {
		t.Errorf("got %v", got)
	}
	home, err := own.HomeOf(t.Context(), a)
	if err != nil || home.Dir != first[0] || home.Files != 1 {
		t.Errorf("got %v, %v", home, err)
	}
	if err := own.ClearHome(home); err != nil || len(own.Homes()) != 1 {
		t.Errorf("%v, left are %v", err, own.Homes())
	}
	for _, dir := range []string{h.Homes, h.Homes + "/x", h.Homes + "/x-0123456789abcdeg", h.Homes + "/../x-0123456789abcdef", h.Homes + "/-0123456789abcdef"} {
		if err := own.ClearHome(Home{Dir: dir}); err == nil {
			t.Errorf("%s was cleared", dir)
		}
	}
	if found, err := own.Sweep(t.Context(), &SweepOptions{Needed: func(string) bool { return false }}); err != nil || len(own.Homes()) != 1 {
		t.Errorf("Sweep removed %v, %v; left are %v", found, err, own.Homes())
	}
}

// C67: what a skill kept under the name that its home had before is its own, and stays when its content changes place with the version.
func TestFormerHomes(t *testing.T) {
	h := host(t)
	h.Homes, h.Cache = filepath.Join(t.TempDir(), "homes"), t.TempDir()
	plugins := filepath.Join(t.TempDir(), "plugins")
	h.FormerHome = func(at string) string {
		if place.IsVersion(at) {
			return plugins
		}
		return ""
	}
	script := tree{"scripts/a.sh": "cat $HOME/.token $AGENT_SKILL_CACHE_DIR/c; echo; echo $HOME\n"}
	former := func(layer, root, content string) (name string) {
		t.Helper()
		name = fmt.Sprintf("probe-%x", sha256.Sum256([]byte(layer+"\x00"+root)))[:len("probe-")+16]
		tree{".token": content}.Write(t, filepath.Join(h.Homes, name))
		tree{"c": content}.Write(t, filepath.Join(h.Cache, "skill-cache", name))
		return name
	}
	root := t.TempDir()
	s := probe.In(t, root, script)
	was := former("user", root+string(filepath.Separator), "folder")
	if got := mustText(t, h, s, "a"); !strings.HasPrefix(got, "folderfolder\n") || strings.Contains(got, was) {
		t.Errorf("got %s", got)
	}
	former("user", root+string(filepath.Separator), "older")
	if got := mustText(t, h, s, "a"); !strings.HasPrefix(got, "folderfolder\n") {
		t.Errorf("what an older program left took the place: %s", got)
	}
	version := func(digits string) *skill.Skill {
		root := filepath.Join(plugins, ".store", digits)
		tree{"SKILL.md": probe.Start + "---\nBody.\n"}.Write(t, filepath.Join(root, "probe"))
		script.Write(t, filepath.Join(root, "probe"))
		return probe.Of(t, skill.Layer{Name: "plugin", Source: skill.Dir(root, nil), Place: place.Version(digits)})
	}
	former("plugin", plugins, "version")
	first := mustText(t, h, version("0123456789abcdef"), "a")
	if second := mustText(t, h, version("fedcba9876543210"), "a"); first != second || !strings.HasPrefix(first, "versionversion\n") {
		t.Errorf("got %s, and of another version %s", first, second)
	}
	if homes := h.host().Homes(); len(homes) != 3 { // both, and the one of the older program
		t.Errorf("%v", homes)
	}
}

// C67: a script that puts a link in place of its home does not run in what the link leads to.
func TestLinkedHome(t *testing.T) {
	h := host(t)
	h.Homes = filepath.Join(t.TempDir(), "homes")
	s := open(t, "", tree{"scripts/a.sh": "echo $HOME\n"})
	home, elsewhere := strings.TrimSpace(mustText(t, h, s, "a")), t.TempDir()
	if err := os.Remove(home); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, home); err != nil {
		t.Fatal(err)
	}
	if _, err := runAs(t, h, s, "a", &RunOptions{JSON: JSONNo}); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
	if err := h.host().ClearHome(Home{Dir: home}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Errorf("what the link leads to was removed: %v", err)
	}
}

// C67: what the scripts of a skill keep in the cache is removed with their count; what others keep stays.
func TestClearCaches(t *testing.T) {
	h := host(t)
	s := open(t, "", tree{"scripts/a.sh": "echo x > $AGENT_SKILL_CACHE_DIR/one; mkdir $AGENT_SKILL_CACHE_DIR/sub; echo x > $AGENT_SKILL_CACHE_DIR/sub/two; echo $AGENT_SKILL_CACHE_DIR\n"})
	cache := strings.TrimSpace(mustText(t, h, s, "a"))
	other := filepath.Join(filepath.Dir(cache), "probe-too-0123456789abcdef")
	tree{"kept": ""}.Write(t, other)
	if n, err := h.host().ClearCaches("probe"); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := os.Lstat(cache); err == nil {
		t.Error("the cache is still there")
	}
	if _, err := os.Lstat(filepath.Join(other, "kept")); err != nil {
		t.Error(err)
	}
	if n, err := h.host().ClearCaches("probe"); n != 0 || err != nil {
		t.Errorf("the second time: %d, %v", n, err)
	}
}
