package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// REQUIREMENTS 1.3: flag > environment > project > user > profile > default, for each value alone.
func TestPrecedenceOfOrigins(t *testing.T) {
	w := newWorld(t)
	steps := []struct {
		name, want string
		do         func()
	}{
		{"default", "user from default", func() {}},
		{"profile", "skill from profile harness", func() { w.env["AGENT_PROFILE"] = "harness" }},
		{"user", "workspace from HOME/.agent/config.yaml:2", func() { w.user("skills:\n  cwd: workspace\n") }},
		{"project", "script from PROJECT/.agent/config.yaml:3", func() { w.inProject("# ours\nskills:\n  cwd: script\n") }},
		{"environment", "skill from AGENT_CWD", func() { w.env["AGENT_CWD"] = "skill" }},
		{"flag", "workspace from --cwd", func() { w.flags["cwd"] = FlagValue{"--cwd", []string{"workspace"}} }},
	}
	for _, s := range steps {
		s.do()
		c, problems := w.load()
		if fixed := s.name != "default" && s.name != "profile"; c.FixedCwd != fixed { // C63
			t.Errorf("%s: fixed is %t", s.name, c.FixedCwd)
		}
		if got := w.setting(c, "cwd"); got != s.want || len(problems) > 0 {
			t.Errorf("%s: cwd is %s, want %s; problems %v", s.name, got, s.want, problems)
		}
	}
}

// The profile is chosen by the same order, and its values stay below every other source.
func TestPrecedenceOfProfile(t *testing.T) {
	w := newWorld(t)
	steps := []struct {
		want string
		do   func()
	}{
		{"default from default", func() {}},
		{"wink from HOME/.agent/config.yaml:2", func() { w.user("skills:\n  profile: wink\n") }},
		{"harness-mvp from PROJECT/.agent/config.yaml:2", func() { w.inProject("skills:\n  profile: harness_mvp\n") }},
		{"spec from AGENT_PROFILE", func() { w.env["AGENT_PROFILE"] = "SPEC" }},
		{"omniforge from --profile", func() { w.flags["profile"] = FlagValue{"--profile", []string{"omniforge"}} }},
	}
	for _, s := range steps {
		s.do()
		c, problems := w.load()
		problems = slices.DeleteFunc(problems, func(p manifest.Problem) bool { return p.Code == "config-project" }) // what a project may not set
		if got := w.setting(c, "profile"); got != s.want || len(problems) > 0 {
			t.Errorf("profile is %s, want %s; problems %v", got, s.want, w.lines(problems))
		}
	}
}

// C60, C63 and C13 to C16, C20, C28, C48 to C50: what each profile sets.
func TestProfiles(t *testing.T) {
	type options struct {
		disclosure, activation, duplicates, cwd, style, location, read string
		max                                                            int
		nested, omniforge, strict                                      bool
	}
	base := options{"system-xml", "auto", "override", "user", "harness", "file", "block", 0, true, false, false}
	want := map[string]options{
		"default":     base,
		"spec":        base,
		"agent-base":  {"minimal", "explicit", "error", "script", "harness", "file", "block", 0, false, false, false},
		"wink":        {"system-xml", "auto", "override", "script", "wink", "dir", "block", 0, true, false, false},
		"harness":     {"system-xml", "auto", "override", "skill", "harness", "file", "allow", 0, true, false, false},
		"harness-mvp": {"triggers", "auto", "override", "skill", "harness", "file", "block", 3, true, false, false},
		"omniforge":   {"tool-description", "auto", "override", "script", "harness", "file", "block", 0, false, true, true},
	}
	if got := len(Profiles()); got != len(want) {
		t.Errorf("%d profiles, want %d", got, len(want))
	}
	for _, p := range Profiles() {
		w := newWorld(t)
		w.env["AGENT_PROFILE"] = p.Name
		c, problems := w.load()
		activation := "auto"
		if c.Want.Mode == skill.SelectNone {
			activation = "explicit"
		}
		if letter := p.Name == "agent-base"; (c.ScriptJSON == "yes") != letter || (c.ScriptHelp == "always") != letter || c.FixedCwd { // C64, C70, C63
			t.Errorf("%s: scriptJson %s, scriptHelp %s, fixed cwd %t", p.Name, c.ScriptJSON, c.ScriptHelp, c.FixedCwd)
		}
		got := options{c.Disclosure, activation, c.Duplicates, c.Cwd, c.XMLStyle, c.Location, c.ScriptRead, c.MaxSkills, c.Nested, c.Omniforge, c.StrictStack}
		if got != want[p.Name] || len(problems) > 0 || c.Profile != p.Name || p.About == "" {
			t.Errorf("%s: %+v, want %+v; problems %v", p.Name, got, want[p.Name], problems)
		}
	}
}

// R187 and R160: the settings that the documents name, with their defaults.
func TestDefaults(t *testing.T) {
	w := newWorld(t)
	c, problems := w.load()
	if len(problems) > 0 {
		t.Error(problems)
	}
	got := []any{c.ScriptTimeout, c.MaxScriptOutput, w.tidy(c.UserDir), w.tidy(c.PluginsDir), c.CoreDir, c.Want.Mode, c.Symlinks, c.ActivationText, c.Budget}
	want := []any{time.Minute, int64(1 << 20), "HOME/.agent/skills", "HOME/.agent/plugins", "", skill.SelectAuto, "contained", "short", 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, s := range c.Settings() {
		if len(s.Origins) != 1 || s.Origins[0].String() != "default" {
			t.Errorf("%s is from %v, want the default", s.Key, s.Origins)
		}
	}
}

// R187: flag > SCRIPT_TIMEOUT (seconds) > scriptTimeout (milliseconds) > 60 s.
func TestScriptTimeout(t *testing.T) {
	w := newWorld(t)
	steps := []struct {
		want time.Duration
		do   func()
	}{
		{time.Minute, func() {}},
		{30 * time.Second, func() { w.user("skills: {scriptTimeout: 30000}") }},
		{30 * time.Second, func() { w.user("skills: {script_timeout: 30}") }},
		{90 * time.Second, func() { w.user("skills: {scriptTimeout: 1m30s}") }},
		{1500 * time.Millisecond, func() { w.user("skills: {script_timeout: 1.5}") }},
		{20 * time.Second, func() { w.env["SCRIPT_TIMEOUT"] = "20" }},
		{500 * time.Millisecond, func() { w.env["SCRIPT_TIMEOUT"] = "0.5" }},
		{10 * time.Second, func() { w.flags["scriptTimeout"] = FlagValue{"--timeout", []string{"10"}} }},
		{5 * time.Minute, func() { w.flags["scriptTimeout"] = FlagValue{"--timeout", []string{"5m"}} }},
	}
	for _, s := range steps {
		s.do()
		if c, problems := w.load(); c.ScriptTimeout != s.want || len(problems) > 0 {
			t.Errorf("timeout %s, want %s; problems %v", c.ScriptTimeout, s.want, problems)
		}
	}
}

// R160: a value that is not a time above 0 is refused, and the error shows how to write one.
func TestScriptTimeoutRefused(t *testing.T) {
	for _, text := range []string{"0", "0.0", "0.0001", "-1", "-0.5", ".", "+", "1.2.3", "1e3", "NaN", "86400.5"} {
		w := newWorld(t)
		w.env["SCRIPT_TIMEOUT"] = text
		c, problems := w.load()
		if c.ScriptTimeout != time.Minute || len(problems) != 1 || problems[0].Cure != "write a time from 1ms to 24h0m0s, such as 90s" {
			t.Errorf("%q: timeout %s, problems %v", text, c.ScriptTimeout, problems)
		}
	}
	w := newWorld(t)
	w.user("skills: {scriptTimeout: 1.5}") // milliseconds: who writes that means seconds
	if c, problems := w.load(); c.ScriptTimeout != time.Minute || len(problems) != 1 {
		t.Errorf("timeout %s, problems %v", c.ScriptTimeout, problems)
	}
}

func TestValues(t *testing.T) {
	w := newWorld(t)
	w.env["MAX_SCRIPT_OUTPUT"] = "4096"
	w.env["AGENT_DENY"] = "tmp-*"
	w.env["AGENT_XML_STYLE"] = ""
	w.flags["roots"] = FlagValue{"--skills-dir", []string{"one", "/two"}}
	w.inProject("skills:\n  roots: [team, {path: ./org, mount: skills/org}]\n  deny: [x-*]\n  disabled: [Off_Here]\n")
	w.user(`
skills:
  max_skills: 7          # snake case is read too
  budget: "2000"
  nested: off
  deny: [old-*, tmp-*]
  allow: a-*, b-*
  disabled: [gone]
  disabledBundled: [gh]
  enabledBundled: [hello-world]
  enabled: [extra, gone]
  roots:
    - ~/skills
    - {path: /srv/skills, mount: /org/}
  core_skills_dir: core
  agent_skills_dir: ~/mine
  symlinks: allow-list
  symlinkRoots: [/opt, ~/x]
  python: /usr/bin/python3
  precedence: [user, project]
`)
	c, problems := w.load()
	checkLines(t, w.lines(problems), nil)
	got := map[string]string{
		"deny": fmt.Sprint(c.Deny), "allow": fmt.Sprint(c.Allow), "max": fmt.Sprint(c.MaxSkills, c.Budget, c.Nested, c.MaxScriptOutput),
		"roots": w.tidy(fields(c.Roots)), "dirs": w.tidy(fmt.Sprint(c.CoreDir, " ", c.UserDir, " ", c.Python, " ", c.LinkRoots)),
		"want": fmt.Sprint(c.Want.Mode, c.Want.Enabled, c.Want.Disabled, c.Want.OnlyBundled, c.Want.NotBundled), "order": fmt.Sprint(c.Precedence),
		"deny from": w.setting(c, "deny"), "style": c.XMLStyle,
	}
	want := map[string]string{
		"deny": "[tmp-* x-* old-*]", "allow": "[a-* b-*]", "max": "7 2000 false 4096",
		"roots":     "[{PROJECT/one  false} {/two  false} {PROJECT/team  true} {PROJECT/org skills/org true} {HOME/skills  false} {/srv/skills org false}]",
		"dirs":      "HOME/.agent/core HOME/mine /usr/bin/python3 [/opt HOME/x]",
		"want":      "0 [extra] [off-here gone] [hello-world] [gh]",
		"order":     "[enterprise user project extra plugin claude bundled]",
		"deny from": "[tmp-* x-* old-*] from AGENT_DENY, PROJECT/.agent/config.yaml:3, HOME/.agent/config.yaml:6",
		"style":     "harness",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAgentHome(t *testing.T) {
	w := newWorld(t)
	other := filepath.Join(w.home, "other")
	w.put(other, "skills: {cwd: skill}")
	w.env["AGENT_HOME"] = other
	if c, problems := w.load(); c.Cwd != "skill" || c.Paths.Agent != other || len(problems) > 0 {
		t.Errorf("cwd %s, agent %s, problems %v", c.Cwd, c.Paths.Agent, problems)
	}
	w.env["AGENT_HOME"] = "~/other"
	if c, _ := w.load(); c.Paths.Agent != other {
		t.Errorf("agent is %s, want %s", c.Paths.Agent, other)
	}
	w.env["AGENT_HOME"] = "relative"
	c, problems := w.load()
	if got := w.tidy(c.Paths.Agent); got != "HOME/.agent" {
		t.Errorf("agent is %s", got)
	}
	checkLines(t, w.lines(problems), []string{`AGENT_HOME: error[config-value] "relative" is not an absolute path: using "HOME/.agent" → export AGENT_HOME with an absolute path`})
}

// A home that is the project as well has one file, which is the user's.
func TestProjectIsHome(t *testing.T) {
	w := newWorld(t)
	w.user("skills: {scriptRead: allow, coreDir: /core}")
	o := w.options()
	o.Dir = w.home
	c, problems := Load(o)
	if c.ScriptRead != "allow" || c.CoreDir != "/core" || len(problems) > 0 {
		t.Errorf("scriptRead %s, coreDir %s, problems %v", c.ScriptRead, c.CoreDir, problems)
	}
}

func TestNoWorldAtAll(t *testing.T) {
	c, problems := Load(&Options{})
	if len(problems) > 0 || c.UserDir != "" || c.ScriptTimeout != time.Minute {
		t.Errorf("%+v, %v", c, problems)
	}
	if got := fmt.Sprint(c.Layers()); got != "[{enterprise /etc/agent/skills  0 false} {bundled   0 false}]" {
		t.Errorf("layers %s", got)
	}
}

func TestVariables(t *testing.T) {
	seen := map[string]bool{"AGENT_HOME": true}
	for _, k := range keys {
		v := k.variable()
		if v != "" && seen[v] || strings.ToUpper(v) != v {
			t.Errorf("the variable of %s is %s", k.name, v)
		}
		seen[v] = true
	}
	for name, want := range map[string]string{"enabledSkills": "AGENT_SKILLS", "profile": "AGENT_PROFILE", "xmlStyle": "AGENT_XML_STYLE", "scriptTimeout": "SCRIPT_TIMEOUT", "coreDir": "AGENT_CORE_DIR"} {
		if got := lookupKey(name).variable(); got != want {
			t.Errorf("the variable of %s is %s, want %s", name, got, want)
		}
	}
	for rank, want := range []string{"default", "profile", "user", "project", "environment", "flag"} {
		if got := Rank(rank).String(); got != want {
			t.Errorf("rank %d is %s, want %s", rank, got, want)
		}
	}
}

// A folder that another user made into a repository, such as one above in /tmp, is not the project (CVE-2022-24765).
func TestForeignProject(t *testing.T) {
	w := newWorld(t)
	deep := filepath.Join(w.project, "a", "b")
	w.mkdir(deep)
	for _, row := range []struct{ foreign, dir, root, told string }{
		{"", deep, w.project, ""},
		{".git", deep, deep, w.project},
		{filepath.Base(w.project), deep, deep, w.project},
		{".git", w.project, w.project, ""}, // the working directory it is anyway
		{"a", deep, w.project, ""},
	} {
		l := &loader{Options: Options{Dir: row.dir, Home: w.home, Lookup: func(string) (string, bool) { return "", false }},
			owned: func(info fs.FileInfo) bool { return info.Name() != row.foreign }}
		if got := l.places().Project; got != row.root {
			t.Errorf("%q is another's, in %s: the project is %s, want %s", row.foreign, row.dir, got, row.root)
		}
		told := ""
		for _, p := range l.problems {
			told += p.File
			if p.Code != "config-owner" || p.Cure == "" {
				t.Errorf("problem %+v", p)
			}
		}
		if told != row.told {
			t.Errorf("%q is another's, in %s: reported %q, want %q", row.foreign, row.dir, told, row.told)
		}
	}
	all := func(fs.FileInfo) bool { return true }
	if p := (&loader{owned: all, Options: Options{Dir: deep, Project: w.project, Lookup: func(string) (string, bool) { return "", false }}}).places(); p.Project != w.project {
		t.Errorf("a project that was named is not taken: %s", p.Project)
	}
}

func TestProjectRoot(t *testing.T) {
	w := newWorld(t)
	deep := filepath.Join(w.project, "a", "b")
	w.mkdir(deep)
	if got := ProjectRoot(deep); got != w.project {
		t.Errorf("ProjectRoot = %s, want %s", got, w.project)
	}
	if err := os.WriteFile(filepath.Join(w.project, "a", ".git"), []byte("gitdir: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := ProjectRoot(deep), filepath.Join(w.project, "a"); got != want {
		t.Errorf("ProjectRoot in a worktree = %s, want %s", got, want)
	}
	if got := ProjectRoot(w.home); got != w.home {
		t.Errorf("ProjectRoot without .git = %s, want %s", got, w.home)
	}
}
