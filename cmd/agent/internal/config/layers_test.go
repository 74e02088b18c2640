package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// show returns layers as a person would list them.
func (w *world) show(c *Config) []string {
	var out []string
	for _, l := range c.Layers() {
		line := fmt.Sprintf("%s %s", l.Name, w.tidy(l.Dir))
		if l.Mount != "" {
			line += " at " + l.Mount
		}
		out = append(out, line)
	}
	return out
}

// REQUIREMENTS 1.3, R52, R56, R57, R58 and C16: the layers and their order.
func TestLayers(t *testing.T) {
	w := newWorld(t)
	c, _ := w.load()
	checkLines(t, w.show(c), []string{
		"enterprise /etc/agent/skills",
		"plugin HOME/.agent/plugins",
		"project PROJECT/.agent/skills",
		"project PROJECT/.agents/skills",
		"claude PROJECT/.claude/skills",
		"claude PROJECT/.claude/commands",
		"user HOME/.agent/skills",
		"user HOME/.agents/skills",
		"user HOME/.claude/skills",
		"user HOME/.claude/commands",
		"bundled ",
	})
}

// The packages of a repository from the working directory up: the nearest first, in each layer. R52, R56
func TestLayersOfPackages(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.project, "pkgs", "a", ".claude"))
	w.mkdir(filepath.Join(w.project, "pkgs", "b", ".claude")) // not above the working directory
	w.mkdir(filepath.Join(w.project, "pkgs", ".agents"))
	o := w.options()
	o.Dir = filepath.Join(w.project, "pkgs", "a", "src")
	w.mkdir(o.Dir)
	c, _ := Load(o)
	var got []string
	for _, line := range w.show(c) {
		if strings.HasPrefix(line, "project ") || strings.HasPrefix(line, "claude ") {
			got = append(got, line)
		}
	}
	checkLines(t, got, []string{
		"project PROJECT/pkgs/a/.agent/skills",
		"project PROJECT/pkgs/a/.agents/skills",
		"project PROJECT/pkgs/.agent/skills",
		"project PROJECT/pkgs/.agents/skills",
		"project PROJECT/.agent/skills",
		"project PROJECT/.agents/skills",
		"claude PROJECT/pkgs/a/.claude/skills",
		"claude PROJECT/pkgs/.claude/skills",
		"claude PROJECT/.claude/skills",
		"claude PROJECT/pkgs/a/.claude/commands",
		"claude PROJECT/pkgs/.claude/commands",
		"claude PROJECT/.claude/commands",
	})
}

// A folder of another user ends the way up, a working directory that a link leads out of the project has no packages, and a home that
// is a repository has none either.
func TestPackagesOfOthers(t *testing.T) {
	w := newWorld(t)
	deep := filepath.Join(w.project, "mine", "theirs", "a")
	for _, dir := range []string{deep, filepath.Dir(deep), filepath.Join(w.project, "mine")} {
		w.mkdir(filepath.Join(dir, ".agents"))
	}
	mine := func(info fs.FileInfo) bool { return info.Name() != "theirs" }
	if got := packages(deep, w.project, mine); !slices.Equal(got, []string{deep}) {
		t.Errorf("got %q", got)
	}
	if got := packages(deep, w.project, func(fs.FileInfo) bool { return true }); len(got) != 3 {
		t.Errorf("got %q", got)
	}
	out := filepath.Join(w.project, "out")
	w.mkdir(filepath.Join(w.home, "elsewhere", ".agents"))
	if err := os.Symlink(filepath.Join(w.home, "elsewhere"), out); err != nil {
		t.Fatal(err)
	}
	if got := packages(out, w.project, mine); got != nil {
		t.Errorf("through a link: %q", got)
	}
	w.mkdir(filepath.Join(w.home, ".git"))
	w.mkdir(filepath.Join(w.home, "src", "x", ".claude"))
	o := w.options()
	o.Dir = filepath.Join(w.home, "src", "x")
	c, _ := Load(o)
	for _, line := range w.show(c) {
		if strings.HasPrefix(line, "project ") || strings.HasPrefix(line, "claude ") {
			t.Errorf("in a home that is a repository: %s", line)
		}
	}
}

// R58: under harness-mvp three sources are read, and what the operator and the user name.
func TestLayersOfThreeSources(t *testing.T) {
	w := newWorld(t)
	w.env["AGENT_PROFILE"] = "harness-mvp"
	c, _ := w.load()
	checkLines(t, w.show(c), []string{
		"enterprise /etc/agent/skills",
		"project PROJECT/.agent/skills",
		"project PROJECT/.agents/skills",
		"user HOME/.agent/skills",
		"user HOME/.agents/skills",
		"bundled ",
	})
}

// R59 and C16: the other preset, with its own folders, the user above the project and plugins last.
func TestLayersOmniforge(t *testing.T) {
	w := newWorld(t)
	w.env["AGENT_PROFILE"] = "omniforge"
	c, _ := w.load()
	checkLines(t, w.show(c), []string{
		"enterprise HOME/.omniforge/enterprise/skills",
		"enterprise /etc/agent/skills",
		"user HOME/.omniforge/skills",
		"user HOME/.agent/skills",
		"user HOME/.agents/skills",
		"user HOME/.claude/skills",
		"user HOME/.claude/commands",
		"project PROJECT/.omniforge/skills",
		"project PROJECT/.agent/skills",
		"project PROJECT/.agents/skills",
		"claude PROJECT/.claude/skills",
		"claude PROJECT/.claude/commands",
		"plugin HOME/.agent/plugins",
		"bundled ",
	})
}

// R59: the four layers have the values 4 to 1, whatever lies between; only this order counts priorities.
func TestLayerValues(t *testing.T) {
	w := newWorld(t)
	w.flags["roots"] = FlagValue{"--skills-dir", []string{"/extra"}}
	c, _ := w.load()
	for _, l := range c.Layers() {
		if l.Value != 0 {
			t.Errorf("default: %s has the value %d", l.Name, l.Value)
		}
	}
	w.env["AGENT_PRECEDENCE"] = "omniforge"
	c, _ = w.load()
	got := map[string]int{}
	for _, l := range c.Layers() {
		got[l.Name] = l.Value
	}
	if want := "map[bundled:-1 claude:2 enterprise:4 extra:4 plugin:1 project:2 user:3]"; fmt.Sprint(got) != want {
		t.Errorf("values %v, want %s", got, want)
	}
}

// R54: more roots, each with its mount. The user's are above all but the enterprise's, the project's with the project.
func TestLayersOfRoots(t *testing.T) {
	w := newWorld(t).user("skills: {roots: [{path: /srv/org, mount: skills/org}], coreDir: /core, userDir: /mine, pluginsDir: /plugins}")
	w.inProject("skills: {roots: [team]}")
	w.flags["roots"] = FlagValue{"--skills-dir", []string{"/first", "/srv/org"}}
	c, problems := w.load()
	checkLines(t, w.lines(problems), nil)
	checkLines(t, w.show(c), []string{
		"enterprise /etc/agent/skills",
		"extra /first",
		"extra /srv/org",
		"plugin /plugins",
		"project PROJECT/.agent/skills",
		"project PROJECT/.agents/skills",
		"project PROJECT/team",
		"claude PROJECT/.claude/skills",
		"claude PROJECT/.claude/commands",
		"user /mine",
		"user HOME/.agents/skills",
		"user HOME/.claude/skills",
		"user HOME/.claude/commands",
		"bundled /core",
	})
}

// C16: the order can be written as a list; the enterprise's folder stays first.
func TestLayersInAWrittenOrder(t *testing.T) {
	w := newWorld(t)
	w.env["AGENT_PRECEDENCE"] = "bundled, user, enterprise"
	c, problems := w.load()
	if got, want := fmt.Sprint(c.Precedence), "[enterprise bundled user extra plugin project claude]"; got != want || len(problems) > 0 {
		t.Errorf("order %s, want %s; problems %v", got, want, problems)
	}
	if got := w.setting(c, "precedence"); got != "[enterprise bundled user extra plugin project claude] from AGENT_PRECEDENCE" {
		t.Errorf("setting %s", got)
	}
}

// A user's folder that another layer names, too, is the user's alone.
func TestUserFolderNamedTwice(t *testing.T) {
	w := newWorld(t).user("skills: {pluginsDir: /mine, userDir: /mine}")
	w.flags["roots"] = FlagValue{"--skills-dir", []string{"/mine"}}
	c, _ := w.load()
	var got []string
	for _, l := range c.Layers() {
		if w.tidy(l.Dir) == "/mine" {
			got = append(got, l.Name)
		}
	}
	checkLines(t, got, []string{"user"})
}

// In the home itself a folder is the user's, and is there once.
func TestLayersWhereTheProjectIsHome(t *testing.T) {
	w := newWorld(t)
	o := w.options()
	o.Dir = w.home
	c, _ := Load(o)
	checkLines(t, w.show(c), []string{
		"enterprise /etc/agent/skills",
		"plugin HOME/.agent/plugins",
		"user HOME/.agent/skills",
		"user HOME/.agents/skills",
		"user HOME/.claude/skills",
		"user HOME/.claude/commands",
		"bundled ",
	})
}

func TestPaths(t *testing.T) {
	p := Paths{Home: "/h", Agent: "/h/.agent", Project: "/p", System: "/etc/agent"}
	got := []string{p.UserConfig(), p.ProjectConfig(), p.Trust(), p.Skills(), p.Plugins(), p.Enterprise()}
	want := []string{"/h/.agent/config.yaml", "/p/.agent/config.yaml", "/h/.agent/trust.json", "/h/.agent/skills", "/h/.agent/plugins", "/etc/agent/skills"}
	for i := range want {
		if got[i] != filepath.FromSlash(want[i]) {
			t.Errorf("path %s, want %s", got[i], want[i])
		}
	}
	if (Paths{}).Trust() != "" || (Paths{}).UserConfig() != "" {
		t.Error("paths without a home")
	}
}
