package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// While the user's file, or what it says about which skills to load, cannot be read, only the bundled skills are loaded.
func TestUnreadableChoices(t *testing.T) { // F2
	for _, c := range []struct {
		name, text string
		want       bool // bundled skills only
	}{
		{"intact", "skills:\n  deny: [bad]\n", false},
		{"syntax error", "skills:\n  deny: [bad]\n  x: [\n", true},
		{"too long", "skills:\n  deny: [bad]\n" + strings.Repeat("# more\n", 200_000), true},
		{"not a map", "- skills\n", true},
		{"skills is a list", "skills: [deny]\n", true},
		{"skills twice", "skills:\n  deny: [bad]\nskills:\n  budget: 900\n", true},
		{"deny is a map", "skills:\n  deny: {bad: 1}\n", true},
		{"deny has a map", "skills:\n  deny: [{bad: 1}]\n", true},
		{"deny twice", "skills:\n  deny: [bad]\n  deny: [other]\n", true},
		{"disabled is a map", "skills:\n  disabled: {bad: 1}\n", true},
		{"enabledSkills is a map", "skills:\n  enabledSkills: {none: 1}\n", true},
		{"allow is a map", "skills:\n  allow: {good: 1}\n", true},
		{"an empty list", "skills:\n  deny:\n", false},
		{"another key is a map", "skills:\n  userDir: {a: 1}\n", false},
		{"agent is a list", "agent: [x]\n", false},
		{"agent twice", "agent:\n  maxTurns: 3\nagent:\n  maxTurns: 4\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t).user(c.text)
			got, problems := w.load()
			if got.BundledOnly != c.want {
				t.Errorf("BundledOnly is %v, want %v", got.BundledOnly, c.want)
			}
			if n := len(got.Layers()); (n == 1) != c.want || got.Layers()[n-1].Name != Bundled {
				t.Errorf("layers %v", got.Layers())
			}
			said := strings.Join(w.lines(problems), "\n")
			if strings.Contains(said, "error[config-bundled-only]") != c.want || c.want && len(problems) < 2 {
				t.Errorf("problems:\n%s", said)
			}
			if strings.HasSuffix(c.name, "twice") && !strings.Contains(said, "error[config-duplicate-key]") {
				t.Errorf("nothing says that a key is there twice:\n%s", said)
			}
		})
	}
}

// A link that leads nowhere is not a missing file.
func TestDanglingLinks(t *testing.T) { // F2
	for _, c := range []struct {
		name, at string
		want     bool // bundled skills only
	}{
		{"the user's file", "HOME/.agent/config.yaml", true},
		{"the user's folder", "HOME/.agent", true},
		{"the project's file", "PROJECT/.agent/config.yaml", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			at := strings.NewReplacer("HOME", w.home, "PROJECT", w.project).Replace(c.at)
			w.mkdir(filepath.Dir(at))
			if err := os.Symlink("nowhere", at); err != nil {
				t.Fatal(err)
			}
			got, problems := w.load()
			said := strings.Join(w.lines(problems), "\n")
			if got.BundledOnly != c.want || !strings.Contains(said, "symbolic link that leads nowhere") {
				t.Errorf("BundledOnly is %v, want %v; problems:\n%s", got.BundledOnly, c.want, said)
			}
		})
	}
}

// A file that others may write to is not believed, and the cure is the command that closes it.
func TestOpenToOthers(t *testing.T) { // F5
	for _, name := range []string{".agent", ".agent/config.yaml"} {
		w := newWorld(t).user("skills:\n  coreDir: /theirs\n")
		at := filepath.Join(w.home, name)
		if err := os.Chmod(at, 0o777); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o777 {
			t.Skip("this system has no such modes")
		}
		got, problems := w.load()
		if got.CoreDir != "" || !got.BundledOnly {
			t.Errorf("%s: coreDir %q, BundledOnly %v", name, got.CoreDir, got.BundledOnly)
		}
		checkLines(t, w.lines(problems), []string{
			fmt.Sprintf(`HOME/.agent/config.yaml:1:1: error[config-unreadable] "HOME/%s" is writable by other users (mode 0777) → check what is in it, then run: chmod go-w HOME/%s`, name, name),
			bundled("1:1"),
		})
		if changed, err := Disable(t.Context(), filepath.Join(w.home, ".agent", "config.yaml"), "gh"); changed || CureUnsafe(err) == "" {
			t.Errorf("%s: Disable changes it: %v, %v", name, changed, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{"/home/me/.agent": "/home/me/.agent", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/$(x)": "'/$(x)'"} {
		if got := quote(path); got != want {
			t.Errorf("quote(%q) = %s, want %s", path, got, want)
		}
	}
}

// The project's file is opened beneath the project: a link that leads out is refused, and nothing of its target is shown.
func TestProjectFileStaysInside(t *testing.T) { // F11
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.home, "secret"), []byte("secretword: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mkdir(filepath.Join(w.project, ".agent"))
	if err := os.Symlink("../../../secret", filepath.Join(w.project, ".agent", "config.yaml")); err != nil {
		t.Fatal(err)
	}
	_, problems := w.load()
	said := strings.Join(w.lines(problems), "\n")
	if len(problems) != 1 || problems[0].Code != "config-unreadable" || strings.Contains(said, "secretword") {
		t.Errorf("problems:\n%s", said)
	}
	in := newWorld(t)
	in.mkdir(filepath.Join(in.project, ".agent"))
	if err := os.WriteFile(filepath.Join(in.project, "shared.yaml"), []byte("skills: {nested: false}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../shared.yaml", filepath.Join(in.project, ".agent", "config.yaml")); err != nil {
		t.Fatal(err)
	}
	if c, problems := in.load(); c.Nested || len(problems) > 0 {
		t.Errorf("a link inside the project: nested %v, problems %v", c.Nested, problems)
	}
}

// A relative home is refused, as a relative AGENT_HOME is.
func TestRelativeHome(t *testing.T) { // F19
	w := newWorld(t)
	o := w.options()
	o.Home = "home"
	c, problems := Load(o)
	if c.Paths.Home != "" || c.Paths.Agent != "" || c.Paths.UserConfig() != "" || c.UserDir != "" {
		t.Errorf("paths %+v, userDir %q", c.Paths, c.UserDir)
	}
	checkLines(t, w.lines(problems), []string{`HOME: error[config-value] home directory "home" is not an absolute path: ignored → export HOME with an absolute path`})
}

// A project that is the home has no layers of its own, also where the two paths differ.
func TestProjectIsLinkedHome(t *testing.T) { // P18
	w := newWorld(t)
	home := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.home, home); err != nil {
		t.Fatal(err)
	}
	o := w.options()
	o.Home, o.Dir = home, w.home
	c, problems := Load(o)
	for _, l := range c.Layers() {
		if l.Name == ProjectDir || l.Name == Claude {
			t.Errorf("the project has the layer %v", l)
		}
	}
	if len(problems) > 0 {
		t.Error(problems)
	}
}

// A project's order of layers does not outrank the folders that the user names on the command line.
func TestProjectOrderBelowUserFolders(t *testing.T) { // F20
	w := newWorld(t).inProject("skills: {precedence: [project, claude, extra]}")
	w.flags["roots"] = FlagValue{"--skills-dir", []string{"/mine"}}
	c, problems := w.load()
	if got, want := fmt.Sprint(c.Precedence[:4]), "[enterprise extra project claude]"; got != want || len(problems) > 0 {
		t.Errorf("order %s, want %s; problems %v", got, want, problems)
	}
	w.env["AGENT_PRECEDENCE"] = "project,extra"
	if c, _ := w.load(); fmt.Sprint(c.Precedence[:3]) != "[enterprise project extra]" {
		t.Errorf("the user's own order is %v", c.Precedence)
	}
}
