package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// A manifest cannot make the engine look for thousands of commands: each costs a walk over PATH.
func TestRequiresAreBounded(t *testing.T) {
	var names []string
	for i := range 6000 {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	m, problems := Parse([]byte(added("metadata:", "  requires: "+strings.Join(names, " "))), &Options{Dir: "my-skill"})
	if len(m.Requires) != maxRequires || m.Requires[31] != "c31" {
		t.Errorf("%d commands are required: %q", len(m.Requires), m.Requires)
	}
	if got := strings.Join(problemLines(problems), ", "); !strings.Contains(got, "fields-many 5:13") {
		t.Errorf("got %s", got)
	}
}

// No list of a manifest is longer than anybody reads; what protects is never cut.
func TestListsAreBounded(t *testing.T) {
	m, problems := Parse([]byte(added("tags: ["+strings.Repeat("a, ", 3000)+"b]")), &Options{Dir: "my-skill"})
	if got := strings.Join(problemLines(problems), ", "); len(m.Tags) > maxList || !strings.Contains(got, "fields-many 4:") {
		t.Errorf("%d tags: %s", len(m.Tags), got)
	}
	m, _ = Parse([]byte(added("allowed-tools: ["+strings.Repeat("Read, ", 3000)+"Write]")), nil)
	if n := len(m.AllowedTools.Rules); n == 0 || m.AllowedTools.Rules[n-1] != "Write" {
		t.Errorf("%d rules", n)
	}
}

// C73, R66: what a skill needs, as the authors of several products write it. The open standard knows no such keys.
func TestNeeds(t *testing.T) {
	for _, row := range []struct {
		name, metadata  string
		commands, vars  string
		standing, codes string
	}{
		{"a list", "{requires: [gh, jq]}", "gh jq", "", "enforced", ""},
		{"a text", "{requires: 'gh, jq docker'}", "gh jq docker", "", "enforced", ""},
		{"a number", "{requires: 7}", "7", "", "enforced", ""},
		{"a map", "{requires: {bins: [uv], env: [API_KEY]}}", "uv", "API_KEY", "enforced", ""},
		{"versions alone", "{requires: 'python>=3.9, node@18'}", "", "", "informational", "metadata-requires metadata-requires"},
		{"a version among names", "{requires: 'nope-cmd node >= 18 gh'}", "nope-cmd gh", "", "enforced", "metadata-requires"},
		{"a version in a list", "{requires: [gh, 'node >=18', jq]}", "gh jq", "", "enforced", "metadata-requires"},
		{"maps in a list", "{requires: [{name: gh}]}", "", "", "informational", "metadata-requires"},
		{"a map in a list", "{requires: [{name: gh}, jq]}", "jq", "", "enforced", "metadata-requires"},
		{"another key", "{requires: {bins: [gh], anyBins: [a]}}", "gh", "", "enforced", "metadata-requires"},
		{"openclaw", `{"openclaw":{"emoji":"x","requires":{"bins":["curl","jq"],"env":["TOKEN"]}}}`, "curl jq", "TOKEN", "enforced", ""},
		{"clawdbot, block", "\n  clawdbot:\n    requires:\n      bins:\n        - mo\n      env: A_B", "mo", "A_B", "enforced", ""},
		{"moltbot", "{moltbot: {requires: {bins: [a]}}}", "a", "", "enforced", ""},
		{"JSON in a text", `{openclaw: '{"requires": {"bins": ["gh"]}}'}`, "gh", "", "enforced", ""},
		{"JSON in a block", "\n  openclaw: |\n    {\"requires\":\n      {\"env\": [\"A\"]}}", "", "A", "enforced", ""},
		{"not JSON", "{openclaw: '{requires'}", "", "", "informational", ""},
		{"both, once", "{requires: gh, openclaw: {requires: {bins: [gh, jq]}}}", "gh jq", "", "enforced", ""},
		{"nothing needed", "{openclaw: {emoji: x}}", "", "", "informational", ""},
		{"other forms", "{openclaw: {requires: {bins: {a: b}, env: [1, '*', A-B, [X]], anyBins: {c: d}}}}", "", "", "informational", ""},
		{"another product", "{other: {requires: {bins: [gh]}}}", "", "", "informational", "metadata-nested"},
	} {
		t.Run(row.name, func(t *testing.T) {
			src := []byte(added("metadata: " + row.metadata))
			m, problems := Parse(src, &Options{Dir: "my-skill"})
			var codes []string
			for _, p := range problems {
				codes = append(codes, p.Code)
			}
			standing := m.Fields[len(m.Fields)-1].Standing.String()
			if got := strings.Join(m.Requires, " "); got != row.commands || strings.Join(m.RequiresEnv, " ") != row.vars ||
				standing != row.standing || strings.Join(codes, " ") != row.codes {
				t.Errorf("got %q %q %s %q, want %q %q %s %q", m.Requires, m.RequiresEnv, standing, codes, row.commands, row.vars, row.standing, row.codes)
			}
			m, _ = Parse(src, &Options{Dir: "my-skill", Profile: &Profile{Name: "spec"}})
			if len(m.Requires)+len(m.RequiresEnv) > 0 || m.Fields[len(m.Fields)-1].Standing != StandingInformational {
				t.Errorf("spec reads %q %q", m.Requires, m.RequiresEnv)
			}
		})
	}
}

// C78: one of several commands, and systems, as OpenClaw's skills name them. The open standard knows no such keys.
func TestNeedsOfOneOf(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"openclaw":{"os":["darwin","win32"],"requires":{"anyBins":["a","b"]}}}`: "a b / darwin windows",
		"{clawdbot: {os: macOS}}":                           "/ darwin",
		"{openclaw: {os: [], requires: {anyBins: {a: b}}}}": "/",
		"{requires: {anyBins: [a]}}":                        "/",
		"{openclaw: {os: [darwin, darwin, {a: b}]}}":        "/ darwin",
	} {
		src := []byte(added("metadata: " + metadata))
		m, _ := Parse(src, &Options{Dir: "my-skill"})
		if got := strings.TrimSpace(strings.Join(m.RequiresAny, " ") + " / " + strings.Join(m.Systems, " ")); got != want {
			t.Errorf("%s: got %q", metadata, got)
		}
		if m, _ = Parse(src, &Options{Profile: &Profile{Name: "spec"}}); len(m.RequiresAny)+len(m.Systems) > 0 {
			t.Errorf("spec reads %s", metadata)
		}
	}
}

// C78: permissions in another product's shape are shown, grant nothing and close nothing; a strict profile refuses them.
func TestForeignPermissions(t *testing.T) {
	src := []byte(added("permissions: [network, filesystem]"))
	m, problems := Parse(src, &Options{Dir: "my-skill"})
	if last := m.Fields[len(m.Fields)-1]; last.Standing != StandingInformational || len(m.Permissions.Asked) > 0 || m.AllowedTools.Declared ||
		len(problems) != 1 || problems[0].Severity != SeverityWarning {
		t.Errorf("got %+v, %q", last, problemLines(problems))
	}
	if _, problems = Parse(src, &Options{Dir: "my-skill", Profile: &Profile{Name: "harness"}}); fatalCodes(problems) == "" {
		t.Error("harness accepts them")
	}
}

// A scope in another form is a key of another product.
func TestForeignScope(t *testing.T) {
	for _, value := range []string{"implementation", "[a, b]"} {
		m, problems := Parse([]byte(added("scope: "+value)), &Options{Dir: "my-skill"})
		if len(problems) != 1 || problems[0].Code != "field-unknown" || problems[0].Severity != SeverityWarning {
			t.Errorf("scope: %s gives %v", value, problems)
		}
		if last := m.Fields[len(m.Fields)-1]; last.Standing != StandingRejected {
			t.Errorf("scope: %s is %v", value, last.Standing)
		}
	}
}
