package manifest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/want"
)

// Every known field lands in the manifest, in either spelling (R21-R42, agent-skills-spec 3.1).
func TestEveryField(t *testing.T) {
	src := withFront("name: my-skill", "description: First sentence. Second.", "license: MIT", "compatibility: Linux",
		"version: 1.10", "author: Ann", "repository: https://example.com/x.git",
		"min_agent_base_version: 1.0.0", "max_agent_base_version: 2.0.0",
		"toolsets: [toolsets.hello:Hello, toolsets/index:Hello]", "scripts: [status, scripts/run.py]",
		"scripts_ignore: ['*_test.py', _*.py]", "permissions:", "  env: [KALSHI_*, TOKEN]",
		"triggers:", "  keywords: [prediction market, odds]", "  verbs: [bet]", "  patterns: ['greet\\s+\\w+']",
		"default_enabled: no", "brief_description: Short", "model: opus", "context: fork", "agent: explorer",
		"hooks:", "  pre: hooks/pre.sh", "  post: hooks/post.sh", "priority: 7", "tags: [a, b]",
		"scope:", "  agents: [x]", "  tenants: y, z", "  environments: [prod]",
		"when_to_use: When needed", "argument-hint: '[issue]'", "arguments: issue branch",
		"disable-model-invocation: on", "user-invocable: 0", "disallowed-tools: Bash", "allowed_tools: Bash(git:*), Read",
		"effort: high", "background: false", "paths: src/{a,b}/**, *.go", "shell: bash",
		"requires-skills: pdf >=1.2, csv", "metadata:", "  requires: gh, jq", "  team: core")
	m, problems := Parse([]byte(src), &Options{Dir: "my-skill"})
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	got := *m
	got.Fields = nil
	want := Manifest{
		Name: "my-skill", Description: "First sentence. Second.", Brief: "Short", WhenToUse: "When needed", License: "MIT", Compatibility: "Linux",
		Version: "1.10", Author: "Ann", Repository: "https://example.com/x.git",
		AllowedTools:    Tools{Declared: true, Rules: []string{"Bash(git:*)", "Read"}},
		DisallowedTools: Tools{Declared: true, Rules: []string{"Bash"}},
		Tags:            []string{"a", "b"}, Requires: []string{"gh", "jq"}, RequiresSkills: []string{"pdf >=1.2", "csv"},
		MinVersion: "1.0.0", MaxVersion: "2.0.0",
		Toolsets: []string{"toolsets.hello:Hello", "toolsets/index:Hello"},
		Scripts:  []string{"status", "scripts/run.py"}, ScriptsDeclared: true, ScriptsIgnore: []string{"*_test.py", "_*.py"},
		Permissions: Permissions{Asked: want.Each(want.Variable, want.Declared, "KALSHI_*", "TOKEN")},
		Triggers:    Triggers{Keywords: []string{"prediction market", "odds"}, Verbs: []string{"bet"}, Patterns: []string{`greet\s+\w+`}},
		Model:       "opus", Context: "fork", Agent: "explorer", Effort: "high", Shell: "bash",
		Hooks: []Hook{{Event: "pre", Script: "hooks/pre.sh"}, {Event: "post", Script: "hooks/post.sh"}}, Priority: 7,
		Scope: Scope{Agents: []string{"x"}, Tenants: []string{"y", "z"}, Environments: []string{"prod"}},
		Paths: []string{"src/{a,b}/**", "*.go"}, ArgumentHint: "[issue]", Arguments: []string{"issue", "branch"},
		DisableModelInvocation: true, Metadata: map[string]string{"requires": "gh, jq", "team": "core"},
		Body: "Body", BodyLine: strings.Count(src, "\n"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, f := range fields {
		if !slices.ContainsFunc(m.Fields, func(x Field) bool { return fieldName(x.Key) == f.key && x.Standing == f.standing }) {
			t.Errorf("%q is not among the fields, or stands otherwise", f.key)
		}
	}
}

// A key that asks for something is one row: it takes a sample of its kind, drops what no want can be, and is enforced if its kind is.
func TestFieldsThatAsk(t *testing.T) {
	docs, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findField("permissions").keys {
		key := strings.TrimPrefix(f.key, "permissions.")
		if row := regexp.MustCompile("(?m)^\\| [^|]*`" + key + "`[^|]* \\|"); !row.Match(docs) {
			t.Errorf("docs/permissions.md has no row for %s", key)
		}
		if _, unknown := Parse([]byte(added("permissions: {nothing: x}")), &Options{Dir: "my-skill"}); len(unknown) != 1 || !strings.Contains(unknown[0].Message, key) {
			t.Errorf("the message about an unknown key does not name %s: %v", key, unknown)
		}
		if f.asks == "" {
			continue
		}
		if f.asks.Enforced() != (f.standing == StandingEnforced) {
			t.Errorf("%s stands as %s, and its kind is enforced: %t", f.key, f.standing, f.asks.Enforced())
		}
		m, problems := Parse([]byte(added("permissions: {"+key+": ['"+f.asks.Sample()+"']}")), &Options{Dir: "my-skill"})
		if len(problems) > 0 || !m.Permissions.Asked.Has(want.Of(f.asks, f.asks.Sample())) || len(m.Permissions.Asked) != 1 {
			t.Errorf("%s: got %s and %v", f.key, m.Permissions.Asked, problems)
		}
	}
	bad := &knownField{key: "permissions.x", standing: StandingEnforced, asks: want.Host}
	p := &parser{m: &Manifest{}}
	p.listField(bad, &yamlnode.Node{Kind: yamlnode.Sequence, Items: []*yamlnode.Node{{Kind: yamlnode.Scalar, Value: "a b"}, {Kind: yamlnode.Scalar, Value: "a.example.com"}}})
	if got := p.m.Permissions.Asked.String(); got != "declared host:a.example.com" || len(p.problems) != 1 {
		t.Errorf("got %s and %v", got, p.problems)
	}
}

// docs/SKILLS.md names every key.
func TestFieldsAreDocumented(t *testing.T) {
	docs, err := os.ReadFile("../../docs/SKILLS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		if !regexp.MustCompile("\\b" + f.key + "\\b").Match(docs) {
			t.Errorf("docs/SKILLS.md does not name %s", f.key)
		}
	}
}

// Every field of the table survives a null, and a list or a map where it wants something else
// costs that field alone (R10, 1.4).
func TestFieldForms(t *testing.T) {
	for _, f := range fields {
		if f.key == "name" || f.key == "description" {
			continue
		}
		for _, value := range []string{"", "~", "[[x]]", "{a: {b: c}}", "x", "[]", "{}", "''", "1"} {
			src := added(f.key + ": " + value)
			m, problems := Parse([]byte(src), &Options{Dir: "my-skill"})
			checkSound(t, []byte(src), m, problems)
			if why := fatalCodes(problems); why != "" {
				t.Errorf("%q: %s", f.key+": "+value, why)
			}
		}
	}
}

// controls is what is said of n control characters in a row.
func controls(col, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("frontmatter-control 4:%d", col+i))
	}
	return strings.Join(out, ", ")
}

// Each key says what is done about it: dropped and unknown ones are rejected, and so are all but
// the last of a repeated key.
func TestStanding(t *testing.T) {
	m, _ := Parse([]byte(added("license: [x]", "License: MIT", "compatibility: {a: b}", "extra: 1", "toolsets: [a:B]", "tags: [a", "permissions: {env: [A], sockets: true}",
		"triggers: {keywords: [a], words: [b]}", "hooks: {pre: ../x, post: y}", "metadata: {requires: gh, team: x, tags: a}", "default_enabled: maybe")), &Options{Dir: "my-skill"})
	var got []string
	for _, f := range m.Fields {
		got = append(got, fmt.Sprintf("%d %s %s", f.Line, f.Key, f.Standing))
	}
	want := []string{
		"2 name enforced", "3 description enforced", "4 license rejected", "5 License informational", "6 compatibility rejected", "7 extra rejected",
		"8 toolsets enforced", "9 tags rejected", "10 permissions enforced", "10 permissions.env enforced", "10 permissions.sockets rejected",
		"11 triggers enforced", "11 triggers.keywords enforced", "11 triggers.words rejected", "12 hooks enforced", "12 hooks.pre rejected", "12 hooks.post enforced",
		"13 metadata informational", "13 metadata.requires enforced", "13 metadata.tags enforced", "14 default_enabled rejected",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func hooksOf(m *Manifest) any { return fmt.Sprint(m.Hooks) }

func TestFieldValues(t *testing.T) {
	m := func(line string) (*Manifest, string) {
		m, problems := Parse([]byte(added(line)), &Options{Dir: "my-skill"})
		return m, strings.Join(problemLines(problems), ", ")
	}
	for _, row := range []struct {
		name, line string
		got        func(*Manifest) any
		want       any
		problems   string
	}{
		{"a list where text is wanted", "license: [MIT]", func(m *Manifest) any { return m.License }, "", "field-type 4:10"},
		{"a map where text is wanted", "compatibility: {a: b}", func(m *Manifest) any { return m.Compatibility }, "", "field-type 4:16"},
		{"a version as a map", "version: {major: 1}", func(m *Manifest) any { return m.Version }, "", "field-unknown 4:10"},
		{"authors", "author: [a, b]", func(m *Manifest) any { return m.Author }, "", "field-unknown 4:9"},
		{"tags as a map", "tags: {a: b}", func(m *Manifest) any { return len(m.Tags) }, 0, "field-unknown 4:7"},
		{"triggers as maps", "triggers: [{type: word, value: x}]", func(m *Manifest) any { return m.Fields[len(m.Fields)-1].Standing }, StandingInformational, "field-unknown 4:12"},
		{"triggers as maps and words", "triggers: [{type: word}, x]", func(m *Manifest) any { return strings.Join(m.Triggers.Keywords, " ") }, "x", "triggers-shape 4:11, field-unknown 4:12"},
		{"scripts as maps", "scripts: [{name: a, path: a.py}]", func(m *Manifest) any { return m.ScriptsDeclared }, false, "field-unknown 4:11"},
		{"skills that are needed, as a map", "requires-skills: {a: 1}", func(m *Manifest) any { return len(m.RequiresSkills) }, 0, "field-type 4:18"},
		{"a list as hint is its text", "argument-hint: [issue] # or", func(m *Manifest) any { return m.ArgumentHint }, "[issue]", ""},
		{"a hint after control characters", "argument-hint: " + strings.Repeat("\a", 30) + "[" + strings.Repeat("é", 20) + "]", func(m *Manifest) any { return m.ArgumentHint }, "[" + strings.Repeat("é", 20) + "]", controls(16, 30)},
		{"a hint on several lines", "argument-hint:\n  - a\n  - b", func(m *Manifest) any { return m.ArgumentHint }, `["a","b"]`, ""},
		{"two lists as hint", "argument-hint: [a] [b]", func(m *Manifest) any { return m.ArgumentHint }, "[a] [b]", "yaml-raw 4:16"},
		{"a word for a flag", "default_enabled: maybe", func(m *Manifest) any { return m.DefaultEnabled }, true, "field-value 4:18"},
		{"a word for a flag that protects", "disable-model-invocation: maybe", func(m *Manifest) any { return m.DisableModelInvocation }, true, "field-value 4:27"},
		{"a word for a number", "priority: high", func(m *Manifest) any { return m.Priority }, 0, "field-unknown 4:11"},
		{"a number out of range", "priority: 99999999999", func(m *Manifest) any { return m.Priority }, 0, "field-value 4:11"},
		{"a negative number", "priority: -3", func(m *Manifest) any { return m.Priority }, -3, ""},
		{"a context of one's own", "context: thread", func(m *Manifest) any { return m.Context }, "", "field-value 4:10"},
		{"an agent without fork", "agent: x", func(m *Manifest) any { return m.Agent }, "x", "agent-context 2:1"},
		{"a bad bound", "min_agent_base_version: new", func(m *Manifest) any { return m.MinVersion }, "new", "version-bounds 4:25"},
		{"tags as text", "tags: a, b c", func(m *Manifest) any { return len(m.Tags) }, 3, ""},
		{"nested metadata", "metadata: {a: {b: [1, x, true]}}", func(m *Manifest) any { return m.Metadata["a"] }, `{"b":[1,"x",true]}`, "metadata-nested 4:15"},
		{"metadata as text", "metadata: hello", func(m *Manifest) any { return len(m.Metadata) }, 0, "field-type 4:11"},
		{"a toolset outside", "toolsets: ['../x:Y', a.b:C]", func(m *Manifest) any { return m.Toolsets[0] }, "a.b:C", "toolsets-value 4:12"},
		{"a script outside", "scripts: [../x.py, /etc/x, ok, 'C:\\x']", func(m *Manifest) any { return strings.Join(m.Scripts, " ") }, "ok", "scripts-value 4:11, scripts-value 4:20, scripts-value 4:32"},
		{"no scripts", "scripts: []", func(m *Manifest) any { return m.ScriptsDeclared }, true, ""},
		{"scripts with no value", "scripts:", func(m *Manifest) any { return m.ScriptsDeclared }, false, ""},
		{"scripts that are not YAML", "scripts: [a", func(m *Manifest) any { return m.ScriptsDeclared }, true, "yaml-syntax 4:10"},
		{"a bad glob", "scripts_ignore: ['[a', b]", func(m *Manifest) any { return len(m.ScriptsIgnore) }, 1, "scripts-ignore 4:18"},
		{"a glob of 2^24 alternatives", "scripts_ignore: ['" + strings.Repeat("{a,a}", 24) + "b', b]", func(m *Manifest) any { return strings.Join(m.ScriptsIgnore, " ") }, "b", "scripts-ignore 4:18"},
		{"a glob of 257 bytes", "scripts_ignore: [" + strings.Repeat("a", 257) + ", b]", func(m *Manifest) any { return strings.Join(m.ScriptsIgnore, " ") }, "b", "scripts-ignore 4:18"},
		{"64 globs and one", "scripts_ignore: [" + strings.Repeat("'a*', ", 64) + "b, 'c*']", func(m *Manifest) any { return len(m.ScriptsIgnore) }, 65, "scripts-ignore 4:405"},
		{"a hook outside", "hooks: {pre: ../x.sh, post: x.sh}", hooksOf, "[{post   x.sh  0s false}]", "field-value 4:14"},
		{"a hook of another host", "hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: a b, timeout: 5, once: true}]}]}", hooksOf,
			"[{PreToolUse Bash   a b 5s true}]", ""},
		{"a hook without a list", "hooks: {PreToolUse: [{matcher: Bash}]}", hooksOf, "[]", "field-value 4:22"},
		{"a hook of another type", "hooks: {Stop: [{hooks: [{type: prompt, prompt: x}, {command: y}]}]}", hooksOf,
			"[{Stop    y 0s false}]", "field-value 4:25"},
		{"a hook without a limit", "hooks: {Stop: [{hooks: [{command: y, timeout: 1e9}]}]}", hooksOf, "[]", "field-value 4:25"},
		{"a hook that is a text", "hooks: {Stop: x}", hooksOf, "[]", "field-value 4:15"},
		{"a hook for another event", "hooks: {PreCompact: x}", hooksOf, "[]", ""},
		{"all variables", "permissions: {env: ['*', ABC_*, 'a b', A_*]}", func(m *Manifest) any { return strings.Join(m.Permissions.Asked.Named(want.Variable), " ") }, "ABC_*", "permissions-env 4:21, permissions-env 4:33, permissions-env 4:40"},
		{"an unknown permission", "permissions: {sockets: true}", func(m *Manifest) any { return m.Permissions.Empty() }, true, "permissions-unknown 4:15"},
		{"permissions as a list", "permissions: [HOME]", func(m *Manifest) any { return len(m.Permissions.Asked) }, 0, "field-unknown 4:14"},
		{"triggers as a list", "triggers: [a, b]", func(m *Manifest) any { return len(m.Triggers.Keywords) }, 2, "triggers-shape 4:11"},
		{"triggers as text", "triggers: a, b c", func(m *Manifest) any { return strings.Join(m.Triggers.Keywords, "|") }, "a|b c", "triggers-shape 4:11"},
		{"an unknown trigger", "triggers: {words: [a]}", func(m *Manifest) any { return m.Triggers.Empty() }, true, "field-unknown 4:12"},
		{"a bad pattern, others stay", "triggers: {patterns: ['(', 'a+', '(?<x']}", func(m *Manifest) any { return strings.Join(m.Triggers.Patterns, " ") }, "a+", "triggers-pattern-off 4:23, triggers-pattern-off 4:34"},
		{"a pattern that matches everything", "triggers: {patterns: ['.*', 'a+']}", func(m *Manifest) any { return strings.Join(m.Triggers.Patterns, " ") }, "a+", "triggers-pattern-off 4:23"},
		{"a pattern of 201 characters", "triggers: {patterns: [" + strings.Repeat("a", 201) + "]}", func(m *Manifest) any { return m.Triggers.Empty() }, true, "triggers-pattern-off 4:23"},
		{"a mistyped field", "licence: MIT", func(m *Manifest) any { return m.License }, "", "field-unknown 4:1"},
		{"capitals", "License: MIT", func(m *Manifest) any { return m.License }, "MIT", "field-spelling 4:1"},
		{"a long brief", "brief_description: " + strings.Repeat("word ", 20), func(m *Manifest) any { return m.Brief }, strings.TrimSpace(strings.Repeat("word ", 15)) + "...", "brief-length 4:20"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, problems := m(row.line)
			if problems != row.problems {
				t.Errorf("problems: %s, want %s", problems, row.problems)
			}
			if got := row.got(m); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

// The line break at the end of a block scalar is not counted, blanks around a text are (C3).
func TestDescriptionLength(t *testing.T) {
	for value, want := range map[string]string{
		"|\n  " + strings.Repeat("x", 1024):       "",
		"|\n  " + strings.Repeat("x", 1025):       "description-length",
		"\"  " + strings.Repeat("x", 1024) + "\"": "description-length",
		strings.Repeat("\U0001f600", 1024):        "",
	} {
		_, problems := Parse([]byte(withFront("name: my-skill", "description: "+value)), &Options{Profile: &Profile{Name: "spec"}})
		if got := strings.Join(errorCodes(problems), " "); got != want {
			t.Errorf("%.10q of %d bytes: got %q, want %q", value, len(value), got, want)
		}
	}
}

// One problem names all that is missing, and stands at the key that has no value (R10).
func TestMissing(t *testing.T) {
	for _, row := range []struct{ front, want string }{
		{"license: x", "1:1 missing 'name', 'description'"},
		{"name: x", "1:1 missing 'description'"},
		{"name: x\ndescription:", "3:1 missing 'description'"},
		{"description: '  '\nname: ''", "2:1 missing 'name', 'description'"},
		{"name: x\ndescription: [x]", "3:1 missing 'description'"},
	} {
		_, problems := Parse([]byte(withFront(row.front)), &Options{Dir: "x"})
		var got []string
		for _, p := range problems {
			if p.Code == "fields-missing" {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Col, p.Message))
			}
		}
		if !slices.Equal(got, []string{row.want}) {
			t.Errorf("%q: got %q, want %q", row.front, got, row.want)
		}
	}
}

func TestFlags(t *testing.T) {
	for text, want := range map[string]bool{"yes": true, "On": true, "1": true, "TRUE": true, "no": false, "off": false, "0": false, "'false'": false} {
		m, problems := Parse([]byte(added("user-invocable: "+text)), &Options{Dir: "my-skill"})
		if m.UserInvocable != want || len(problems) > 0 {
			t.Errorf("%s is %v, %v", text, m.UserInvocable, problems)
		}
	}
}

func TestAllowedTools(t *testing.T) { // R23, R38, C6, C8
	for _, row := range []struct {
		name, lines string
		want        []string
		declared    bool
		problems    string
	}{
		{"absent", "license: MIT", nil, false, ""},
		{"no value", "allowed-tools:", nil, true, "tools-empty 4:1"},
		// security 2.11 #170: null is an empty list with a problem.
		{"null", "allowed-tools: ~", nil, true, "tools-empty 4:1"},
		{"the word null", "allowed-tools: null", nil, true, "tools-empty 4:1"},
		{"an empty list", "allowed-tools: []", nil, true, ""},
		{"blanks", "allowed-tools: Bash(git:*) Read", []string{"Bash(git:*)", "Read"}, true, ""},
		{"commas", "allowed-tools: Bash, WebFetch, WebSearch", []string{"Bash", "WebFetch", "WebSearch"}, true, ""},
		{"commas inside", "allowed-tools: Bash(git add, git rm), Read", []string{"Bash(git add, git rm)", "Read"}, true, ""},
		{"a list", "allowed-tools:\n  - Read\n  - Bash(npm run *)", []string{"Read", "Bash(npm run *)"}, true, ""},
		{"a list of several", "allowed-tools: [Read Write]", []string{"Read", "Write"}, true, ""},
		{"the other key", "allowed_tools: mcp__x__y", []string{"mcp__x__y"}, true, ""},
		{"twice", "allowed-tools: Read\nallowed-tools: Bash", nil, true, "field-duplicate 5:1, tools-closed 5:1"},
		{"twice in both spellings", "allowed-tools: Read\nallowed_tools: Bash", nil, true, "field-duplicate 5:1, tools-closed 5:1"},
		{"a map", "allowed-tools: {Read: true}", nil, true, "tools-closed 4:1, field-type 4:16"},
		{"not YAML", "allowed-tools: [Read", nil, true, "tools-closed 4:1, yaml-syntax 4:16"},
		{"an item behind the colon", "allowed-tools: - Read\n  - Write", nil, true, "tools-closed 4:1, yaml-syntax 4:16"},
		{"a colon", "allowed-tools: Read: Bash", nil, true, "tools-closed 4:1, yaml-syntax 4:20"},
		{"indented by mistake", "license: x\n Allowed_Tools: Read", nil, true, "yaml-raw 4:10, tools-closed 5:1"},
		{"inside broken metadata", "metadata: {a\n  allowed-tools: Read", nil, true, "yaml-syntax 4:11, tools-closed 5:1"},
		{"an alias", "allowed-tools: *x", nil, true, "tools-closed 4:1, yaml-anchor 4:16"},
		{"an open parenthesis", "allowed-tools: Read Bash(git", []string{"Read"}, true, "tools-syntax 4:16"},
		{"a pattern by itself", "allowed-tools: Read Bash (git:*)", []string{"Read"}, true, "tools-syntax 4:16"},
		{"a map in a list", "allowed-tools: [Read, {Bash: x}]", []string{"Read"}, true, "field-type 4:23"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, problems := Parse([]byte(added(row.lines)), &Options{Dir: "my-skill"})
			if m.AllowedTools.Declared != row.declared || !slices.Equal(m.AllowedTools.Rules, row.want) {
				t.Errorf("got %+v, want %v", m.AllowedTools, row.want)
			}
			if got := strings.Join(problemLines(problems), ", "); got != row.problems {
				t.Errorf("problems: %s, want %s", got, row.problems)
			}
		})
	}
}

func TestPermissionsTwice(t *testing.T) { // 1.4
	for _, lines := range []string{"permissions: {env: [A]}\npermissions: {env: [B]}", "permissions: {env: [A], env: [B]}", "permissions: {env: [A]}\nPermissions: {env: [B]}"} {
		m, problems := Parse([]byte(added(lines)), &Options{Dir: "my-skill"})
		if len(m.Permissions.Asked) > 0 || !slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == "tools-closed" }) {
			t.Errorf("%q grants %v: %q", lines, m.Permissions.Asked, problemLines(problems))
		}
	}
}

func TestResolvedValues(t *testing.T) { // R25, C5
	meta := "metadata: {version: 2.0, author: Bob, tags: x y}"
	m, _ := Parse([]byte(added(meta)), nil)
	if got := fmt.Sprint(m.Version, m.Author, m.Tags); got != "2.0Bob[x y]" {
		t.Errorf("from metadata: %s", got)
	}
	m, _ = Parse([]byte(added(meta, "version: 1.0", "author: Ann", "tags: [z]")), nil)
	if got := fmt.Sprint(m.Version, m.Author, m.Tags); got != "1.0Ann[z]" {
		t.Errorf("the top wins: %s", got)
	}
}

func TestBrief(t *testing.T) { // R37, C3
	long := "Reads many things from many places and writes them to a table that people can use well"
	for _, row := range [][2]string{
		{"One. Two.", "One."},
		{"Really? Yes.", "Really?"},
		{"Uses e.g. this tool. Then that.", "Uses e.g. this tool."},
		{"Version 1.10 of it", "Version 1.10 of it"},
		{"Over\ntwo lines. More", "Over two lines."},
		{"", ""},
		{long, "Reads many things from many places and writes them to a table that people can..."},
		{strings.Repeat("x", 90), strings.Repeat("x", 77) + "..."},
		{strings.Repeat("é", 80), strings.Repeat("é", 80)},
	} {
		if got := Brief(row[0]); got != row[1] {
			t.Errorf("Brief(%q) is %q, want %q", row[0], got, row[1])
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, s := range []string{"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "a\nb\n", "a\u00a0b ", "é b ", "a b  ", "a\x85b", "a\x1cb"} {
		if got, want := oneLine(s), strings.Join(strings.Fields(s), " "); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

// What stands in disallowed-tools and is not a rule is kept: who enforces the list then forbids everything.
func TestDisallowedToolsKeepsAll(t *testing.T) {
	m, problems := Parse([]byte("---\nname: x\ndescription: Does x.\ndisallowed-tools: Write (git:*) *\n---\nBody\n"), &Options{Dir: "x"})
	if got := strings.Join(m.DisallowedTools.Rules, " | "); got != "Write | (git:*) | *" || len(problems) < 2 || problems[0].Code != "tools-syntax" {
		t.Errorf("got %s, %q", got, problemLines(problems))
	}
}
