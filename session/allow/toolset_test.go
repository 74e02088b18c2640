package allow_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session/allow"
)

func ofToolset(source, name string) allow.Call {
	return allow.Call{Tool: name, Source: source, Args: json.RawMessage(`{"command":"ls","path":"x"}`)}
}

// R120: a tool of a toolset is named by itself or with its skill, and never by the name that another tool has.
func TestToolsetRules(t *testing.T) {
	for _, tt := range []struct {
		rule         string
		source, tool string
		allows, bans bool
	}{
		{"greet_in_language", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"Greet_In_Language", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"hello-extended.HelloExtended.greet_in_language", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"Hello_Extended.helloextended.greet_in_language", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"hello-extended.HelloExtended.*", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"hello-extended.Other.*", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"hello.HelloExtended.*", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"hello-extended.Hello.*", "hello-extended.Hello", "extended.greet", true, true},
		{"hello-extended__greet_in_language", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"hello_extended__greet_in_language", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"hello-extended__*", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"hello__*", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"toolset_hello_extended_*", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"toolset_hello_*", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"toolset_call", "hello-extended.HelloExtended", "greet_in_language", true, true},
		{"toolset_list", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"script_run", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"Bash", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"greet_multiple", "hello-extended.HelloExtended", "greet_in_language", false, false},
		{"mcp__github__search", "mine.github", "search", true, true},
		{"mcp__github", "mine.github", "search", true, true},
		{"mcp__github__*", "theirs.github", "search", false, true},
		{"db.Server.db.query", "db.Server", "db.query", true, true},

		// the engine's and other hosts' tools of that name: a rule for them is not one for a tool of a toolset
		{"Read", "evil.Tools", "read", false, true},
		{"Read", "evil.Tools", "read_file", false, true},
		{"read_file", "evil.Tools", "read_file", false, true},
		{"Bash", "evil.Tools", "bash", false, true},
		{"Bash(rm:*)", "evil.Tools", "bash", false, false},
		{"skill", "evil.Tools", "skill", false, true},
		{"list", "evil.Tools", "list", false, true},
		{"evil.Tools.list", "evil.Tools", "list", true, true},
		{"evil__list", "evil.Tools", "list", true, true},
		{"mcp__x__y", "evil.Tools", "mcp__x__y", false, true},
		{"b\u0430sh", "evil.Tools", "bash", false, false},
	} {
		l, problems := allow.Parse([]string{tt.rule}, &allow.Options{Skill: "mine"})
		if len(problems) > 0 {
			if !strings.Contains(tt.rule, "\u0430") {
				t.Errorf("%s: %v", tt.rule, problems)
			}
			continue
		}
		c := ofToolset(tt.source, tt.tool)
		refusal := l.Check(c)
		if (refusal == nil) != tt.allows {
			t.Errorf("%s allows %s: %v, want %v", tt.rule, c.Name(), refusal == nil, tt.allows)
		}
		if refusal != nil && refusal.Tool != tt.source+"."+tt.tool {
			t.Errorf("%s: the refusal names %s", tt.rule, refusal.Tool)
		}
		d, _ := allow.Parse([]string{tt.rule}, &allow.Options{Skill: "mine", Forbids: true})
		if _, named := d.Names(c); named != tt.bans {
			t.Errorf("%s forbids %s: %v, want %v", tt.rule, c.Name(), named, tt.bans)
		}
	}
}

// A rule about a tool of a toolset allows none of the engine's, and lets a model see the list of that skill's tools alone.
func TestToolsetRulesAllowNothingElse(t *testing.T) {
	list := func(skill string) allow.Call {
		return allow.Call{Tool: "toolset_list", Args: json.RawMessage(`{"skill_name":"` + skill + `"}`)}
	}
	for _, tt := range []struct {
		rule        string
		mine, other bool // the list of the skill "mine", of another
	}{
		{"greet", true, true},
		{"mine.Tools.greet", true, false},
		{"mine.Tools.*", true, false},
		{"toolset_mine_*", true, false},
		{"toolset_call", true, true},
		{"toolset_list", true, true},
		{"mcp__github__search", true, false},
		{"Read", false, false},
		{"Bash", false, false},
		{"script_run", false, false},
		{"Bash(git:*)", false, false},
	} {
		l, problems := allow.Parse([]string{tt.rule}, &allow.Options{Skill: "mine"})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if mine, other := l.Check(list("Mine")) == nil, l.Check(list("yours")) == nil; mine != tt.mine || other != tt.other {
			t.Errorf("%s allows the list of the skill itself %v, of another %v", tt.rule, mine, other)
		}
		if strings.HasPrefix(tt.rule, "mine.") || tt.rule == "greet" {
			for _, name := range []string{"bash", "read_file", "skill", "script_run", "tools.greet"} {
				if l.Check(allow.Call{Tool: name, Args: json.RawMessage(`{}`)}) == nil {
					t.Errorf("%s allows %s", tt.rule, name)
				}
			}
		}
	}
	for _, rule := range []string{"a.b", ".a.b", "a..b", "a.b.", "a.b.c*", "a.*.c", "a.b.c:d", "a/b.c.d", "__*", "mcp__*", "*__*"} {
		if l, problems := allow.Parse([]string{rule}, nil); len(problems) != 1 || len(l.Rules()) != 0 {
			t.Errorf("%s is read: %v", rule, l.Rules())
		}
	}
}

// Whatever a rule says: it binds a tool of a toolset by the tool's own name, without a look at arguments; what allows it can
// forbid it; its names with its origin forbid it; and a rule that allows a tool of the engine does not allow one of a toolset.
func FuzzToolsetRule(f *testing.F) {
	for _, seed := range [][4]string{
		{"greet", "hello-extended", "HelloExtended", "greet"}, {"hello_extended__*", "hello-extended", "H", "x"}, {"Read", "evil", "T", "read"},
		{"mcp__github__search", "mine", "github", "search"}, {"toolset_mine_*", "mine", "T", "call"}, {"mine.T.*", "mine", "T", "bash"},
		{"toolset_call", "a", "B", "c"}, {"a__b__c", "a", "b", "b__c"}, {"mine__list", "mine", "T", "list"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	part := map[string]*regexp.Regexp{
		"skill": regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), "class": regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`), "tool": regexp.MustCompile(`^[A-Za-z0-9_-]+$`),
	}
	f.Fuzz(func(t *testing.T, rule, skill, class, tool string) {
		if !part["skill"].MatchString(skill) || !part["class"].MatchString(class) || !part["tool"].MatchString(tool) || len(skill+class+tool) > 100 {
			return
		}
		mine := &allow.Options{Skill: skill}
		c := ofToolset(skill+"."+class, tool)
		other := c
		other.Args = json.RawMessage(`[]`)
		l, _ := allow.Parse([]string{rule}, mine)
		allows := l.Check(c) == nil
		if allows != (l.Check(other) == nil) {
			t.Errorf("%q allows %s by its arguments", rule, c.Name())
		}
		d, _ := allow.Parse([]string{rule}, &allow.Options{Skill: skill, Forbids: true})
		if _, forbids := d.Names(c); allows && !forbids {
			t.Errorf("%q allows %s and does not forbid it", rule, c.Name())
		}
		for _, name := range []string{"bash", "read_file", "write_file", "script_run", "skill"} {
			if l.Check(allow.Call{Tool: name, Args: c.Args}) == nil && l.Check(ofToolset(skill+"."+class, name)) == nil {
				t.Errorf("%q allows the tool %s and that of the toolset %s.%s", rule, name, skill, class)
			}
		}
		for _, name := range []string{c.Name(), skill + "." + class + ".*", skill + "__" + tool, strings.ToUpper(skill) + "__" + tool, "toolset_call"} {
			d, problems := allow.Parse([]string{name}, &allow.Options{Forbids: true})
			if _, forbids := d.Names(c); len(problems) == 0 && !forbids {
				t.Errorf("%q does not forbid %s", name, c.Name())
			}
		}
	})
}
