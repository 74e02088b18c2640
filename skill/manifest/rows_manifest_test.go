package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// parsed reads a manifest for the profile of that name, in a directory called my-skill.
func parsed(t *testing.T, profile, src string) (*Manifest, []Problem) {
	t.Helper()
	p, err := ProfileNamed(profile)
	if err != nil {
		t.Fatal(err)
	}
	return Parse([]byte(src), &Options{File: "skills/my-skill/SKILL.md", Dir: "my-skill", Profile: p})
}

// fatalOf is the message of the first problem that makes the skill unusable, "" when there is none.
func fatalOf(problems []Problem) string {
	for _, p := range problems {
		if p.Fatal {
			return p.Message
		}
	}
	return ""
}

// R5, C39: the file is UTF-8. A byte order mark is taken off with a warning, and is an error for the
// profiles that forbid it; everything after the front matter is the instructions, kept as they are.
func TestRowEncoding(t *testing.T) {
	body := "# Grüße ✓\n\n---\n\nname: not a field\n\n\ttab  and trailing  \nlast"
	src := "---\nname: my-skill\ndescription: Grüßt.\n---\n" + body + "\n"
	for _, profile := range Profiles() {
		m, problems := parsed(t, profile, src)
		if m.Body != body || m.Description != "Grüßt." || m.BodyLine != 5 || fatalOf(problems) != "" {
			t.Errorf("%s: body %q from line %d, description %q, %v", profile, m.Body, m.BodyLine, m.Description, problems)
		}
		if _, problems := parsed(t, profile, src+"\xff"); !strings.Contains(fatalOf(problems), "UTF-8") && profile != "omniforge" {
			t.Errorf("%s: a byte that is no UTF-8: %v", profile, problems)
		}
	}
	for profile, want := range map[string]Severity{"default": SeverityWarning, "spec": SeverityError, "agent-base": SeverityError, "wink": SeverityWarning} {
		m, problems := parsed(t, profile, "\ufeff"+src)
		i := slices.IndexFunc(problems, func(p Problem) bool { return p.Code == "frontmatter-bom" })
		if i < 0 || problems[i].Severity != want || problems[i].Fatal != (want == SeverityError) {
			t.Errorf("%s: a byte order mark: %v", profile, problems)
		}
		if m.Name != "my-skill" || m.Body != body {
			t.Errorf("%s: with a byte order mark: name %q, body %q", profile, m.Name, m.Body)
		}
	}
}

// R7, R8, R9: each profile has the words of its source for what is wrong with the front matter.
func TestRowFrontMatterTexts(t *testing.T) {
	const none = `No valid YAML frontmatter found in skills/my-skill/SKILL.md. Expected format: ---\n<yaml>\n---\n<content>`
	for _, row := range []struct{ name, profile, src, want string }{
		{"R7 none", "agent-base", "# Hello\n", "SKILL.md must start with YAML front matter"},
		{"R7 none, default", "default", "# Hello\n", "SKILL.md must start with YAML front matter"},
		{"R7 empty file", "default", "", "SKILL.md must start with YAML front matter"},
		{"R8 none", "wink", "# Hello\n", "SKILL.md must start with YAML frontmatter"},
		{"R8 not terminated", "wink", "---\nname: my-skill\ndescription: x\n", "SKILL.md frontmatter not terminated"},
		{"R8 the first three dashes do not end it", "wink", "---\n", "SKILL.md frontmatter not terminated"},
		{"R9 none", "omniforge", "# Hello\n", none},
		{"R9 not terminated", "omniforge", "---\nname: my-skill\ndescription: x\n", none},
		{"R9 dashes inside a line end nothing", "omniforge", "---\nname: my-skill\nx --- y\n", none},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, problems := parsed(t, row.profile, row.src); fatalOf(problems) != row.want {
				t.Errorf("got %q, want %q", fatalOf(problems), row.want)
			}
		})
	}
	for _, row := range []struct{ name, src, want string }{
		{"invalid YAML", added("tags: [a"), "Invalid YAML in frontmatter of skills/my-skill/SKILL.md: "},
		{"invalid metadata", withFront("name: my-skill"), "Invalid skill metadata in skills/my-skill/SKILL.md: missing 'description'"},
		{"unreadable", "---\nname: \xff\n---\n", "Failed to read skill file skills/my-skill/SKILL.md: "},
	} {
		if _, problems := parsed(t, "omniforge", row.src); !strings.HasPrefix(fatalOf(problems), row.want) {
			t.Errorf("R9, %s: got %q, want %q", row.name, fatalOf(problems), row.want)
		}
	}
	// R9: blanks may follow the opening line, and the body is stripped.
	m, problems := parsed(t, "omniforge", "---  \t\nname: my-skill\ndescription: x\n---\n\n\n  \n# Do\n\nit\n\n \n")
	if m.Body != "# Do\n\nit" || fatalOf(problems) != "" {
		t.Errorf("R9: body %q, %v", m.Body, problems)
	}
}

// R11-R15, C1: the same names under the rules of every source. A name outside the alphabet never loses
// the skill in the default profile: its directory's name stands in.
func TestRowNames(t *testing.T) {
	long, tooLong := strings.Repeat("a", 64), strings.Repeat("a", 65)
	for _, row := range []struct {
		name, refused string // profiles that refuse it, of agent-base wink harness-mvp omniforge
		found         string // its name in the default profile
	}{
		{"my-skill-123", "", "my-skill-123"},
		{"My_Skill", "wink harness-mvp omniforge", "My_Skill"}, // R11
		{"MySkill", "wink omniforge", "MySkill"},               // R14: alphanumeric and hyphens
		{"my_skill", "wink harness-mvp omniforge", "my_skill"},
		{"1password", "omniforge", "1password"}, // R15: begins with a letter
		{"a-", "wink", "a-"},                    // R15 permits both
		{"a--b", "wink", "a--b"},
		{"my skill", "agent-base wink harness-mvp omniforge", "dir"},
		{"skill.md", "agent-base wink harness-mvp omniforge", "dir"},
		{"größe", "agent-base wink harness-mvp omniforge", "größe"}, // C75
		{long, "", long},
		{tooLong, "agent-base wink harness-mvp omniforge", "dir"},
	} {
		src := withFront(fmt.Sprintf("name: %q", row.name), "description: x")
		var refused []string
		for _, profile := range []string{"agent-base", "wink", "harness-mvp", "omniforge"} {
			p, _ := ProfileNamed(profile)
			if _, problems := Parse([]byte(src), &Options{Dir: row.name, Profile: p}); fatalOf(problems) != "" {
				refused = append(refused, profile)
			}
		}
		if got := strings.Join(refused, " "); got != row.refused {
			t.Errorf("%q is refused by %q, want %q", row.name, got, row.refused)
		}
		m, problems := Parse([]byte(src), &Options{Dir: "dir"})
		if m.Name != row.found || fatalOf(problems) != "" {
			t.Errorf("%q is found as %q, want %q: %v", row.name, m.Name, row.found, problems)
		}
	}
}

// C1: the profiles that allow more than the open standard's names still say which name all hosts accept.
func TestRowSuggestedNames(t *testing.T) {
	strict := map[string]bool{"spec": true, "wink": true, "harness": true}
	for name, codes := range map[string]string{"My_Skill": "name-case name-underscore", "my--skill": "name-double", "my-skill-": "name-edge"} {
		for _, profile := range Profiles() {
			p, _ := ProfileNamed(profile)
			_, problems := Parse([]byte(withFront("name: "+name, "description: x")), &Options{Dir: name, Profile: p})
			found := 0
			for _, pr := range problems {
				if strings.Contains(codes, pr.Code) {
					found++
					if pr.Cure != `call it "my-skill"` || strict[profile] && !pr.Fatal {
						t.Errorf("%s, %s: %+v", profile, name, pr)
					}
				}
			}
			if want := len(strings.Fields(codes)); found != want && profile != "wink" && profile != "omniforge" { // whose texts say it once
				t.Errorf("%s, %s: %v, want %s", profile, name, problems, codes)
			}
		}
	}
}

// R12, R15: the exact texts.
func TestRowNameTexts(t *testing.T) {
	tooLong := strings.Repeat("a", 65)
	const kebab = " must be kebab-case (lowercase letters, numbers, hyphens, starting with letter)"
	for _, row := range []struct{ profile, name, want string }{
		{"wink", tooLong, "Skill name must be 1-64 chars: " + tooLong},
		{"wink", "My-Skill", "Invalid skill name format: My-Skill"},
		{"wink", "-skill", "Invalid skill name format: -skill"},
		{"wink", "my--skill", "Consecutive hyphens not allowed: my--skill"},
		{"wink", "other", "Skill name 'other' must match directory name 'my-skill'"},
		{"omniforge", "My-Skill", "Skill name 'My-Skill'" + kebab},
		{"omniforge", "my_skill", "Skill name 'my_skill'" + kebab},
		{"omniforge", "1skill", "Skill name '1skill'" + kebab},
		{"omniforge", "my skill", "Skill name 'my skill'" + kebab},
	} {
		_, problems := parsed(t, row.profile, withFront(fmt.Sprintf("name: %q", row.name), "description: x"))
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Fatal && p.Message == row.want }) {
			t.Errorf("%s, %q: no %q among %v", row.profile, row.name, row.want, problems)
		}
	}
}

// R16-R20, C3: lengths in characters, not bytes.
func TestRowDescriptions(t *testing.T) {
	for _, row := range []struct {
		n       int
		refused string
		code    string // what the default profile says
	}{
		{0, "default agent-base wink harness harness-mvp omniforge spec", "fields-missing"},
		{1, "", ""},
		{500, "", ""},
		{501, "agent-base harness-mvp", "description-long"},  // R16, R17
		{1024, "agent-base harness-mvp", "description-long"}, // R18, R19
		{1025, "agent-base harness harness-mvp spec wink", "description-length"},
		{5000, "agent-base harness harness-mvp spec wink", "description-length"}, // R20: omniforge has no limit
	} {
		text := strings.Repeat("é", row.n)
		src := withFront("name: my-skill", fmt.Sprintf("description: %q", text))
		refused := map[string]bool{}
		for _, profile := range Profiles() {
			m, problems := parsed(t, profile, src)
			if utf8.RuneCountInString(m.Description) != row.n {
				t.Errorf("%s: %d characters are left of %d", profile, utf8.RuneCountInString(m.Description), row.n)
			}
			if fatalOf(problems) != "" {
				refused[profile] = true
			}
			if got := strings.Join(problemCodes(problems), " "); profile == "default" && got != row.code {
				t.Errorf("%d characters: %s, want %s", row.n, got, row.code)
			}
		}
		want := strings.Fields(row.refused)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(refused)); !slices.Equal(got, want) {
			t.Errorf("%d characters are refused by %v, want %v", row.n, got, want)
		}
	}
	m, problems := parsed(t, "wink", "---\nname: my-skill\ndescription: |\n  One.\n  Two.\n---\n") // R18
	if m.Description != "One.\nTwo." || fatalOf(problems) != "" {
		t.Errorf("a block: %q, %v", m.Description, problems)
	}
}

func problemCodes(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Code)
	}
	return out
}

// R21, R22: version, author, repository and license are kept as written; a version that is not semantic
// is reported in the profiles whose source wants one.
func TestRowVersion(t *testing.T) {
	m, problems := parsed(t, "agent-base", added("version: 1.2.3-rc.1", "author: Ann", "repository: https://example.com/x.git", "license: MIT"))
	if got := strings.Join([]string{m.Version, m.Author, m.Repository, m.License}, " "); got != "1.2.3-rc.1 Ann https://example.com/x.git MIT" || len(problems) > 0 {
		t.Errorf("got %s, %v", got, problems)
	}
	for profile, want := range map[string]string{"agent-base": "version-semver", "harness-mvp": "version-semver", "default": ""} {
		m, problems := parsed(t, profile, added("version: 1.10"))
		if got := strings.Join(problemCodes(problems), " "); got != want || m.Version != "1.10" || fatalOf(problems) != "" {
			t.Errorf("%s: version %q, %q, want %q", profile, m.Version, got, want)
		}
	}
}

// R26, C4: the strict profiles name every key outside the open standard in one message; the default one
// takes the fields that other sources need and only warns of what nobody knows.
func TestRowStrictFields(t *testing.T) {
	src := added("toolsets: [a:B]", "triggers: {keywords: [x]}", "colour: red", "license: MIT", "metadata: {a: b}", "compatibility: any", "allowed-tools: Read")
	for _, profile := range []string{"harness", "spec"} {
		_, problems := parsed(t, profile, src)
		if got := fatalOf(problems); got != `fields outside the standard: "toolsets", "triggers", "colour"` {
			t.Errorf("%s: %q", profile, got)
		}
	}
	m, problems := parsed(t, "default", src)
	if got := strings.Join(problemLines(problems), ", "); got != "field-unknown 6:1" || len(m.Toolsets) != 1 || len(m.Triggers.Keywords) != 1 {
		t.Errorf("default: %s, toolsets %v, triggers %v", got, m.Toolsets, m.Triggers)
	}
	for _, profile := range []string{"agent-base", "wink", "omniforge"} { // silent
		if _, problems := parsed(t, profile, src); fatalOf(problems) != "" {
			t.Errorf("%s: %v", profile, problems)
		}
	}
}

// R28-R30: toolsets of both languages; 002, which plans the key, refuses it until then (R26).
func TestRowToolsets(t *testing.T) {
	src := added("toolsets:", "  - toolsets.hello:HelloExtended", "  - toolsets/index:HelloToolset", "  - time=node server.mjs --utc")
	m, problems := parsed(t, "default", src)
	if got := strings.Join(m.Toolsets, " "); got != "toolsets.hello:HelloExtended toolsets/index:HelloToolset time=node server.mjs --utc" || len(problems) > 0 {
		t.Errorf("got %s, %v", got, problems)
	}
	if i := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Key == "toolsets" }); i < 0 || m.Fields[i].Standing != StandingEnforced {
		t.Error("toolsets are not shown as enforced")
	}
	if _, problems := parsed(t, "harness", src); fatalOf(problems) == "" {
		t.Error("R30: harness takes toolsets")
	}
	for _, bad := range []string{"hello", "hello:", ":Hello", "../x:Hello", "/abs/x:Hello", "a b:Hello", "a:9x", "a:b:c", "=node", "a=", "a==b", "9=node"} {
		m, problems := parsed(t, "default", added(fmt.Sprintf("toolsets: [%q, a:B]", bad)))
		if strings.Join(m.Toolsets, " ") != "a:B" || strings.Join(problemCodes(problems), " ") != "toolsets-value" {
			t.Errorf("%q: toolsets %v, %v", bad, m.Toolsets, problems)
		}
	}
}

// R39: model, context and agent, with the values that context can have, and what the fields then are: a model counts
// with a fork alone.
func TestRowContext(t *testing.T) {
	for _, row := range []struct{ profile, lines, context, agent, problems, standings string }{
		{"default", "model: opus", "", "", "", "model informational"},
		{"default", "context: inherit", "inherit", "", "", "context enforced"},
		{"default", "context: fork\nagent: explorer", "fork", "explorer", "", "context enforced, agent enforced"},
		{"default", "model: opus\ncontext: fork", "fork", "", "", "model enforced, context enforced"},
		{"default", "model: opus\ncontext: inherit", "inherit", "", "", "model informational, context enforced"},
		{"default", "agent: explorer", "", "explorer", "agent-context", "agent informational"},
		{"omniforge", "agent: explorer", "", "explorer", "agent-context", "agent informational"},
		{"omniforge", "context: inherit\nagent: explorer", "inherit", "explorer", "agent-context", "context enforced, agent informational"},
		{"default", "context: thread", "", "", "field-value", "context rejected"},
	} {
		m, problems := parsed(t, row.profile, added(row.lines))
		if got := strings.Join(problemCodes(problems), " "); got != row.problems || m.Context != row.context || m.Agent != row.agent {
			t.Errorf("%s, %q: context %q, agent %q, %s", row.profile, row.lines, m.Context, m.Agent, got)
		}
		var standings []string
		for _, f := range m.Fields {
			if slices.Contains([]string{"model", "context", "agent"}, f.Key) {
				standings = append(standings, f.Key+" "+f.Standing.String())
			}
		}
		if got := strings.Join(standings, ", "); got != row.standings {
			t.Errorf("%s, %q: %s, want %s", row.profile, row.lines, got, row.standings)
		}
	}
}

// R32: harness-mvp, whose source reads the list of scripts and runs nothing yet, reads it as every other profile does.
func TestRowScripts(t *testing.T) {
	for _, profile := range []string{"harness-mvp", "agent-base", "default"} {
		m, problems := parsed(t, profile, added("scripts: [status, run.py]"))
		if !slices.Equal(m.Scripts, []string{"status", "run.py"}) || !m.ScriptsDeclared || fatalOf(problems) != "" {
			t.Errorf("%s: scripts %q, declared %t, %v", profile, m.Scripts, m.ScriptsDeclared, problems)
		}
	}
}

// R40: the hooks pre and post are paths inside the skill.
func TestRowHooks(t *testing.T) {
	m, problems := parsed(t, "omniforge", added("hooks:", "  pre: hooks/pre.sh", "  post: hooks/post.sh"))
	if want := []Hook{{Event: "pre", Script: "hooks/pre.sh"}, {Event: "post", Script: "hooks/post.sh"}}; !slices.Equal(m.Hooks, want) || len(problems) > 0 {
		t.Errorf("got %v, %v", m.Hooks, problems)
	}
	for _, f := range m.Fields {
		if strings.HasPrefix(f.Key, "hooks") && f.Standing != StandingEnforced {
			t.Errorf("%s is %s", f.Key, f.Standing)
		}
	}
	for _, bad := range []string{"../x.sh", "/bin/sh", `C:\x.sh`} {
		if m, problems := parsed(t, "default", added("hooks: {pre: '"+bad+"'}")); len(m.Hooks) > 0 || len(problems) == 0 {
			t.Errorf("%q: %v, %v", bad, m.Hooks, problems)
		}
	}
}
