package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill"
)

// A damaged file, an unknown key, a value that makes no sense: reported with place and cure, and the rest holds.
func TestProblems(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"only a comment", "# nothing yet\n", nil},
		{"empty section", "skills:\n", nil},
		{"not a map", "- skills\n", []string{"HOME/.agent/config.yaml:1:1: error[config-syntax] the file must be a map with the key skills, not a list → fix this line; until then the whole file is ignored", bundled("1:1")}},
		{"skills is a list", "skills: [a]\n", []string{"HOME/.agent/config.yaml:1:1: error[config-form] \"skills\" must be a map of settings, not a list → write the settings below it, indented", bundled("1:1")}},
		{"a slip", "skills:\n  maxSkill: 3\n", []string{`HOME/.agent/config.yaml:2:3: warning[config-unknown-key] unknown key "maxSkill" → did you mean "maxSkills"?`}},
		{"nothing like it", "skills:\n  frobnicate: 3\n", []string{`HOME/.agent/config.yaml:2:3: warning[config-unknown-key] unknown key "frobnicate" → remove it; "agent doctor" lists all keys`}},
		{"at the top", "maxSkills: 3\nskill: {}\n", []string{
			`HOME/.agent/config.yaml:1:1: warning[config-unknown-key] "maxSkills" at the top level has no effect → write it below "skills:", indented`,
			`HOME/.agent/config.yaml:2:1: warning[config-unknown-key] unknown key "skill" → did you mean "skills"?`,
		}},
		{"a wrong choice", "skills:\n  disclosure: trigers\n", []string{`HOME/.agent/config.yaml:2:15: error[config-value] invalid disclosure "trigers": ignored → did you mean "triggers"?`}},
		{"a wrong profile", "skills:\n  profile: strict\n", []string{`HOME/.agent/config.yaml:2:12: error[config-value] invalid profile "strict": ignored → use one of default, spec, agent-base, wink, harness, harness-mvp, omniforge`}},
		{"a wrong number", "skills:\n  maxSkills: many\n", []string{`HOME/.agent/config.yaml:2:14: error[config-value] invalid maxSkills "many": ignored → write a whole number from 0 to 100000`}},
		{"a number out of range", "skills:\n  maxScriptOutput: -1\n", []string{`HOME/.agent/config.yaml:2:20: error[config-value] invalid maxScriptOutput "-1": ignored → write a whole number from 1 to 1073741824`}},
		{"no time", "skills:\n  scriptTimeout: 0\n", []string{`HOME/.agent/config.yaml:2:18: error[config-value] invalid scriptTimeout "0": ignored → write a time from 1ms to 24h0m0s, such as 90s`}},
		{"an overflowing time", "skills:\n  script_timeout: 9223372036854775807\n", []string{`HOME/.agent/config.yaml:2:19: error[config-value] invalid scriptTimeout "9223372036854775807": ignored → write a time from 1ms to 24h0m0s, such as 90s`}},
		{"no truth", "skills:\n  nested: maybe\n", []string{`HOME/.agent/config.yaml:2:11: error[config-value] invalid nested "maybe": ignored → write true or false`}},
		{"no value", "skills:\n  cwd:\n  deny:\n", []string{`HOME/.agent/config.yaml:2:3: warning[config-value] cwd has no value: ignored → write a value after the colon or remove the line`}},
		{"a map for a value", "skills:\n  cwd: {a: b}\n", []string{`HOME/.agent/config.yaml:2:8: error[config-value] cwd must be one value, not a map: using "script" → write one value after the colon`}},
		{"a map for a list", "skills:\n  deny: {a: b}\n", []string{`HOME/.agent/config.yaml:2:9: error[config-value] deny must be a list, not a map: ignored → write a list: [a, b]`, bundled("2:3")}},
		{"one bad item", "skills:\n  disabled:\n    - ../etc\n    - [a]\n    - ok\n", []string{
			`HOME/.agent/config.yaml:4:7: error[config-value] item of disabled is a list: ignored → write one text for each item`,
			`HOME/.agent/config.yaml:3:7: error[config-value] "../etc" is not the name of a skill: ignored → use letters, digits, - and _`,
			bundled("2:3"),
		}},
		{"twice", "skills:\n  cwd: skill\n  cwd: script\n", []string{`HOME/.agent/config.yaml:3:3: error[config-duplicate-key] duplicate key "cwd" → keep one of them`}},
		{"trust", "skills:\n  trusted: [x]\n  trusted_roots: [/]\n", []string{
			`HOME/.agent/config.yaml:2:3: warning[config-trust] "trusted" has no effect: a settings file cannot grant trust → `,
			`HOME/.agent/config.yaml:3:3: warning[config-trust] "trusted_roots" has no effect: a settings file cannot grant trust → `,
		}},
		{"roots", "skills:\n  roots: [{mount: x}, {path: /a, mont: y}]\n", []string{
			`HOME/.agent/config.yaml:2:11: error[config-value] root without a path: ignored → write the folder's path, or {path: …, mount: …}`,
			`HOME/.agent/config.yaml:2:34: error[config-value] unknown key "mont" → did you mean "mount"?`,
		}},
		{"a glob of 2^24 alternatives", "skills:\n  deny: ['" + strings.Repeat("{a,a}", 24) + "b', c]\n", []string{
			`HOME/.agent/config.yaml:2:10: error[config-value] unusable glob in deny: more than 16 alternatives in braces → write a glob such as "pdf-*"; until then it allows nothing, or denies everything`,
		}},
		{"a long glob", "skills:\n  allow: [" + strings.Repeat("a", 257) + "]\n", []string{
			`HOME/.agent/config.yaml:2:11: error[config-value] unusable glob in allow: 257 bytes, more than 256 → write a glob such as "pdf-*"; until then it allows nothing, or denies everything`,
		}},
		{"an order", "skills:\n  precedence: [user, projekt]\n", []string{`HOME/.agent/config.yaml:2:15: error[config-value] unknown layer "projekt" in precedence: ignored → did you mean "project"?`}},
		{"a preset", "skills:\n  precedence: omniforg\n", []string{`HOME/.agent/config.yaml:2:15: error[config-value] invalid precedence "omniforg": ignored → did you mean "omniforge"?, or a list of layers`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).user(tt.text)
			c, problems := w.load()
			checkLines(t, w.lines(problems), tt.want)
			if c.Profile != "default" || c.ScriptRead != "block" {
				t.Errorf("profile %s, scriptRead %s; want the defaults", c.Profile, c.ScriptRead)
			}
		})
	}
}

// bundled is the problem that only the bundled skills are loaded.
func bundled(at string) string {
	return "HOME/.agent/config.yaml:" + at + ": error[config-bundled-only] only the bundled skills are loaded: which others this file allows cannot be read → fix the file"
}

// A file that YAML cannot read is told with its place, and says nothing.
func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"skills:\n  cwd: [skill\n":           "HOME/.agent/config.yaml:2:8",
		"skills: &a\n  cwd: skill\n":         "HOME/.agent/config.yaml:1:9",
		"skills:\n  cwd: !x skill\n":         "HOME/.agent/config.yaml:2:8",
		"skills:\n  cwd: skill\n---\nx: 1\n": "HOME/.agent/config.yaml:",
	} {
		w := newWorld(t).user(text)
		c, problems := w.load()
		if len(problems) != 2 || problems[0].Code != "config-syntax" || !strings.HasPrefix(w.lines(problems)[0], want) || c.Cwd != "user" {
			t.Errorf("%q: cwd %s, problems %q; want one at %s", text, c.Cwd, w.lines(problems), want)
		}
	}
}

// What stood before and after a mistake holds.
func TestRestOfTheFileHolds(t *testing.T) {
	w := newWorld(t).user("skills:\n  cwd: skill\n  maxSkills: many\n  deny: [a, {b: c}]\n")
	c, _ := w.load()
	if c.Cwd != "skill" || fmt.Sprint(c.Deny) != "[a]" {
		t.Errorf("cwd %s, deny %v", c.Cwd, c.Deny)
	}
}

func TestUnreadableFiles(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.home, ".agent", "config.yaml"))
	w.inProject(strings.Repeat("# much\n", 200_000))
	_, problems := w.load()
	got := w.lines(problems)
	if len(got) != 3 || !strings.Contains(got[0], "not a regular file") || !strings.Contains(got[2], "exceeds 65536 bytes") {
		t.Errorf("problems %q", got)
	}
}

func TestManyProblems(t *testing.T) {
	w := newWorld(t).user("skills:\n" + strings.Repeat("  a:\n", 10_000))
	_, problems := w.load()
	if n := len(problems); n != maxProblems+1 || problems[n-1].Code != "config-more" {
		t.Errorf("%d problems, the last %+v", n, problems[n-1])
	}
}

// A mistake never loosens what protects: the strictest value is taken instead of a wrong one, and a profile does not
// lower a protection that a damaged file may have asked for.
func TestMistakesFailClosed(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"wrong value", "skills: {profile: harness, scriptRead: blok}", "block"},
		{"twice", "skills: {profile: harness, scriptRead: allow, scriptRead: allow}", "block"},
		{"a list", "skills: {profile: harness, scriptRead: [allow]}", "block"},
		{"damaged file", "skills: {scriptRead: allow", "block"},
		{"none of these", "skills: {profile: harness}", "allow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).user(tt.text)
			w.env["AGENT_PROFILE"] = "harness"
			if c, _ := w.load(); c.ScriptRead != tt.want {
				t.Errorf("scriptRead %s, want %s", c.ScriptRead, tt.want)
			}
		})
	}
	w := newWorld(t)
	w.env["AGENT_SYMLINKS"] = "everything"
	if c, problems := w.load(); c.Symlinks != "deny" || len(problems) != 1 {
		t.Errorf("symlinks %s, problems %v", c.Symlinks, problems)
	}
}

// REQUIREMENTS 1.3 and security 2.14 #185: a project's file comes with a clone. It cannot trust, enable, lower a
// protection, name a program or lead outside.
func TestProjectCannotLoosen(t *testing.T) {
	ignored := func(at, key, variable string) string {
		return fmt.Sprintf("PROJECT/.agent/config.yaml:%s: warning[config-project] a project cannot set %s: ignored → set it in your own config.yaml or as %s", at, key, variable)
	}
	kept := func(at, key, from, to string) string {
		return fmt.Sprintf("PROJECT/.agent/config.yaml:%s: warning[config-project] a project cannot change %s from %q to %q: ignored → set it in your own config.yaml, in the environment or with a flag", at, key, from, to)
	}
	tests := []struct {
		name, user, project, key, value string
		want                            []string
	}{
		{"reading scripts", "", "skills: {scriptRead: allow}", "scriptRead", "block from default", []string{kept("1:10", "scriptRead", "block", "allow")}},
		{"stricter", "skills: {symlinks: allow-list}", "skills: {symlinks: contained}", "symlinks", "contained from PROJECT/.agent/config.yaml:1", nil},
		{"by a profile", "", "skills: {profile: harness}", "scriptRead", "block from default", []string{kept("1:10", "enforce", "enforce", "off"), kept("1:10", "hooks", "true", "false"), kept("1:10", "scriptRead", "block", "allow")}},
		{"enforce", "skills: {enforce: warn}", "skills: {enforce: off}", "enforce", "warn from HOME/.agent/config.yaml:1", []string{kept("1:10", "enforce", "warn", "off")}}, // C7
		{"enforce, stricter", "skills: {enforce: warn}", "skills: {enforce: enforce}", "enforce", "enforce from PROJECT/.agent/config.yaml:1", nil},
		{"stackPolicy", "", "skills: {stackPolicy: top}", "stackPolicy", "intersection from default", []string{kept("1:10", "stackPolicy", "intersection", "top")}}, // C9
		{"lock", "", "skills: {lock: off}", "lock", "user from default", []string{kept("1:10", "lock", "user", "off")}},
		{"lock, stricter", "", "skills: {lock: all}", "lock", "all from PROJECT/.agent/config.yaml:1", nil},
		{"back to a laxer profile", "skills: {profile: agent-base}", "skills: {profile: spec}", "activation", "explicit from profile agent-base", []string{kept("1:10", "activation", "explicit", "auto"), kept("1:10", "hooks", "false", "true"), kept("1:10", "brokenToolset", "drop", "keep"), kept("1:10", "scripts", "direct", "any"), kept("1:10", "cwd", "script", "user")}},
		{"activation", "skills: {activation: explicit}", "skills: {activation: auto}", "activation", "explicit from HOME/.agent/config.yaml:1", []string{kept("1:10", "activation", "explicit", "auto")}},
		{"links", "", "skills: {symlinks: allow-list, symlinkRoots: [/]}", "symlinks", "contained from default", []string{ignored("1:32", "symlinkRoots", "AGENT_SYMLINK_ROOTS"), kept("1:10", "symlinks", "contained", "allow-list")}},
		{"a shared work place", "", "skills: {cwd: workspace}", "cwd", "user from default", []string{kept("1:10", "cwd", "user", "workspace")}},
		{"the skill's own place", "", "skills: {cwd: skill}", "cwd", "skill from PROJECT/.agent/config.yaml:1", nil},
		{"more time", "", "skills: {scriptTimeout: 2m}", "scriptTimeout", "60000 from default", []string{kept("1:10", "scriptTimeout", "1m0s", "2m0s")}},
		{"less time", "", "skills: {scriptTimeout: 5s}", "scriptTimeout", "5000 from PROJECT/.agent/config.yaml:1", nil},
		{"more output", "skills: {maxScriptOutput: 1000}", "skills: {maxScriptOutput: 2000}", "maxScriptOutput", "1000 from HOME/.agent/config.yaml:1", []string{kept("1:10", "maxScriptOutput", "1000", "2000")}},
		{"AGENT_SKILLS", "", "skills:\n  AGENT_SKILLS: all\n", "enabledSkills", "<nil> from default", []string{ignored("2:3", "enabledSkills", "AGENT_SKILLS")}},
		{"enabling itself", "skills: {activation: explicit}", "skills: {enabled: [mine]}", "enabled", "<nil> from default", []string{ignored("1:10", "enabled", "AGENT_ENABLED")}},
		{"core", "", "skills: {core_skills_dir: ./evil}", "coreDir", "<nil> from default", []string{ignored("1:10", "coreDir", "AGENT_CORE_DIR")}},
		{"program", "", "skills: {python: ./evil}", "python", "<nil> from default", []string{ignored("1:10", "python", "AGENT_PYTHON")}},
		{"trust", "", "skills: {trusted: true}", "enabled", "<nil> from default", []string{`PROJECT/.agent/config.yaml:1:10: warning[config-trust] "trusted" has no effect: a settings file cannot grant trust → `}},
		{"roots outside", "", "skills: {roots: [../other, /etc, ~/skills, link, link/new, ok, new/one]}", "roots", "[{PROJECT/ok  true} {PROJECT/new/one  true}] from PROJECT/.agent/config.yaml:1", []string{
			outside("18", "../other"), outside("28", "/etc"), outside("34", "~/skills"), outside("44", "link"), outside("50", "link/new"),
		}},
		{"deny is kept", "skills: {deny: [a]}", "skills: {deny: []}", "deny", "[a] from PROJECT/.agent/config.yaml:1, HOME/.agent/config.yaml:1", nil},
		{"allow is kept", "skills: {allow: [a]}", "skills: {allow: ['*']}", "allow", "[a] from HOME/.agent/config.yaml:1", []string{kept("1:10", "allow", "[a]", "[*]")}},
		{"allow is narrowed", "", "skills: {allow: [a]}", "allow", "[a] from PROJECT/.agent/config.yaml:1", nil},
		{"a wrong value", "", "skills: {scriptRead: alow}", "scriptRead", "block from PROJECT/.agent/config.yaml:1", []string{`PROJECT/.agent/config.yaml:1:22: error[config-value] invalid scriptRead "alow": using "block" → did you mean "allow"?`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).user(tt.user).inProject(tt.project)
			w.mkdir(filepath.Join(w.project, "ok"))
			if err := os.Symlink(w.home, filepath.Join(w.project, "link")); err != nil {
				t.Fatal(err)
			}
			c, problems := w.load()
			checkLines(t, w.lines(problems), tt.want)
			if got := w.setting(c, tt.key); got != tt.value {
				t.Errorf("%s is %s, want %s", tt.key, got, tt.value)
			}
		})
	}
}

func outside(col, root string) string {
	return fmt.Sprintf(`PROJECT/.agent/config.yaml:1:%s: error[config-value] root %q is outside the project: ignored → name it in your own config.yaml or with --skills-dir`, col, root)
}

// What the user says in the environment or by a flag is the user's, whatever the project says.
func TestUserMayLoosen(t *testing.T) {
	w := newWorld(t).inProject("skills: {scriptRead: block}")
	w.env["AGENT_SCRIPT_READ"] = "allow"
	if c, problems := w.load(); c.ScriptRead != "allow" || len(problems) > 0 {
		t.Errorf("scriptRead %s, problems %v", c.ScriptRead, problems)
	}
}

// R70: all forms of AGENT_SKILLS.
func TestParseSelection(t *testing.T) {
	tests := []struct {
		text     string
		want     skill.Selection
		problems int
	}{
		{"", skill.Selection{Mode: skill.SelectNone}, 0},
		{"  ", skill.Selection{Mode: skill.SelectNone}, 0},
		{",,", skill.Selection{Mode: skill.SelectNone}, 0},
		{"none", skill.Selection{Mode: skill.SelectNone}, 0},
		{" ALL ", skill.Selection{Mode: skill.SelectAll}, 0},
		{"All_Untrusted", skill.Selection{Mode: skill.SelectAllUntrusted}, 0},
		{"all-untrusted", skill.Selection{Mode: skill.SelectAllUntrusted}, 0},
		{"Kalshi-Markets,Hello_Extended", skill.Selection{Mode: skill.SelectNamed, Names: []string{"kalshi-markets", "hello-extended"}}, 0},
		{" a , a,A ,b,", skill.Selection{Mode: skill.SelectNamed, Names: []string{"a", "b"}}, 0},
		{"a,../etc", skill.Selection{Mode: skill.SelectNamed, Names: []string{"a"}}, 1},
		{"all,a", skill.Selection{Mode: skill.SelectNamed, Names: []string{"a"}}, 1},
		{"none,all", skill.Selection{Mode: skill.SelectNamed}, 2},
	}
	for _, tt := range tests {
		got, problems := ParseSelection(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || len(problems) != tt.problems {
			t.Errorf("ParseSelection(%q): %s problems %v", tt.text, diff, problems)
		}
	}
}

// C20: AGENT_SKILLS set, even empty, decides; unset leaves it to the activation.
func TestActivation(t *testing.T) {
	tests := []struct {
		name, user string
		env        map[string]string
		want       skill.Selection
	}{
		{"unset", "", nil, skill.Selection{Mode: skill.SelectAuto}},
		{"empty", "", map[string]string{"AGENT_SKILLS": ""}, skill.Selection{Mode: skill.SelectNone}},
		{"all", "skills: {activation: explicit}", map[string]string{"AGENT_SKILLS": "all"}, skill.Selection{Mode: skill.SelectAll}},
		{"explicit", "skills: {activation: explicit}", nil, skill.Selection{Mode: skill.SelectNone}},
		{"explicit with names", "skills: {activation: explicit, enabled: [a]}", nil, skill.Selection{Mode: skill.SelectNamed, Names: []string{"a"}, Enabled: []string{"a"}}},
		{"agent-base", "skills: {profile: agent-base}", nil, skill.Selection{Mode: skill.SelectNone}},
		{"names in the file", "skills: {enabled_skills: [A, b_c]}", nil, skill.Selection{Mode: skill.SelectNamed, Names: []string{"a", "b-c"}}},
		{"the file's word is the lower", "skills: {enabled_skills: all}", map[string]string{"AGENT_SKILLS": "none"}, skill.Selection{Mode: skill.SelectNone}},
		{"persisted", "skills: {enabled: [a], disabled: [b]}", nil, skill.Selection{Mode: skill.SelectAuto, Enabled: []string{"a"}, Disabled: []string{"b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).user(tt.user)
			w.env = tt.env
			c, problems := w.load()
			if diff := cmp.Diff(tt.want, c.Want, cmp.Transformer("empty", func(s []string) string { return strings.Join(s, ",") })); diff != "" || len(problems) > 0 {
				t.Errorf("%s problems %v", diff, problems)
			}
		})
	}
}

// R71 and C61: a name in AGENT_SKILLS that no skill has is an error with its source.
func TestUnknownNames(t *testing.T) {
	w := newWorld(t).user("skills:\n  activation: explicit\n  enabled: [gh, lost]\n")
	has := func(name string) bool { return name == "gh" }
	c, _ := w.load()
	checkLines(t, w.lines(c.Unknown(has)), []string{`HOME/.agent/config.yaml:3:3: error[config-unknown-skill] unknown skill "lost" → "agent skill list --all" lists all skills`})
	w.env["AGENT_SKILLS"] = "Nope,GH"
	c, _ = w.load()
	checkLines(t, w.lines(c.Unknown(has)), []string{`AGENT_SKILLS: error[config-unknown-skill] unknown skill "nope" → "agent skill list --all" lists all skills`})
	w.env["AGENT_SKILLS"] = "all"
	c, _ = w.load()
	checkLines(t, w.lines(c.Unknown(has)), nil)
}

func FuzzLoad(f *testing.F) {
	f.Add("skills:\n  roots: [a, {path: b, mount: c}]\n  deny: [x]\n  scriptTimeout: 30000\n", "skills: {profile: harness, scriptRead: allow}", "all")
	f.Add("skills: {precedence: [user], symlinks: deny}", "skills:\n  roots: ~\n", "a,b")
	f.Add("skills: [", "- a", "")
	w := &world{home: f.TempDir(), env: map[string]string{}, flags: nil}
	w.project = filepath.Join(w.home, "p")
	f.Fuzz(func(t *testing.T, user, project, want string) {
		w.t = t
		w.user(user).inProject(project)
		w.env["AGENT_SKILLS"] = want
		c, problems := w.load()
		for _, p := range problems {
			if p.Message == "" || p.Code == "" || p.File == "" || p.Line < 0 {
				t.Errorf("a problem without place or text: %+v", p)
			}
		}
		for _, s := range c.Settings() {
			if len(s.Origins) == 0 {
				t.Errorf("%s has no origin", s.Key)
			}
		}
		for _, r := range c.Roots {
			if r.Project && !lies(w.project, r.Dir) {
				t.Errorf("the project's root %q lies outside", r.Dir)
			}
		}
		o := w.options()
		o.Project = filepath.Join(w.home, "none")
		alone, _ := Load(o)
		for _, k := range keys {
			if k.project == tighten && rank(k, c) < rank(k, alone) {
				t.Errorf("the project loosened %s", k.name)
			}
		}
		if c.CoreDir != alone.CoreDir || c.Python != alone.Python || fmt.Sprint(c.Want.Names, c.Want.Enabled) != fmt.Sprint(alone.Want.Names, alone.Want.Enabled) && len(c.Want.Disabled) == 0 {
			t.Errorf("the project changed what only the user may: %+v", c)
		}
	})
}

func rank(k *key, c *Config) int64 {
	for _, s := range c.Settings() {
		if s.Key == k.name {
			return k.strictness(entry{value: s.Value})
		}
	}
	return -1
}
