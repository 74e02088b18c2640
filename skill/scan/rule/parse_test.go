package rule_test

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/scan/rule"
)

// one is a file with one rule, in which a text is replaced by another.
func one(old, replacement string) string {
	return strings.Replace(`lists:
  mine: [a.example]
rules:
  - id: my-rule
    title: something
    class: fetch-run
    message: it does {sink}
    severity: high
    sink: {kind: sends, host: [address], starts: false}
    source: {kind: reads, name: ["$mine", "!b*"]}
    with: [{kind: runs, near: file, least: 2}]
    unless: [{own: true}]
    raise: [{to: critical, flow: {kind: decodes}}]
    match: [text]
    skip: [text]
`, old, replacement, 1)
}

func TestParse(t *testing.T) {
	set, err := rule.Parse([]byte(one("", "")), "mine.yaml")
	if err != nil || len(set.Rules()) != 1 || set.Rule("my-rule").Class != "fetch-run" || set.Rule("other") != nil {
		t.Fatalf("Parse = %v, %v", set, err)
	}
	for _, test := range []struct{ old, replacement, want string }{
		{"title: something", "titel: something", `mine.yaml:5:5: unknown key "titel"`},
		{"title: something", "id: other", `mine.yaml:5:5: the key "id" is there twice`},
		{"    title: something\n", "", "mine.yaml:4:5: the rule has no title"},
		{"id: my-rule", "id: My Rule", "mine.yaml:4:5: the rule has no id, of small letters, digits and hyphens"},
		{"severity: high", "severity: awful", `mine.yaml:8:15: unknown severity "awful"`},
		{"kind: sends", "kind: sents", `mine.yaml:9:18: unknown "sents"`},
		{"[address]", "[adress]", `unknown "adress"`},
		{"starts: false", "starts: maybe", "true or false is wanted"},
		{"$mine", "$yours", `there is no list "yours" above`},
		{"near: file", "near: here", `unknown "here"`},
		{"least: 2", "least: none", "a number from 1 to 1000 is wanted"},
		{"to: critical, ", "", "to is missing"},
		{"[{own: true}]", "{own: true}", "this is a map, and a list is wanted"},
		{"sink: {kind: sends, host: [address], starts: false}", "sink: sends", "this is a text, and a map is wanted"},
		{"match: [text]", "match: {a: b}", "this is a map, and a text or a list of texts is wanted"},
		{"rules:\n", "rules: &a\n", "anchors and aliases are not allowed"},
		{"title: something", "title: [a, b]", "this is a list, and a text is wanted"},
		{one("", ""), "rules: []", "a list is wanted"},
		{one("", ""), strings.Repeat("#", rule.MaxFile+1), "has more than"},
		{one("", ""), one("", "") + strings.SplitAfterN(one("", ""), "rules:\n", 2)[1], `the rule "my-rule" is there twice`},
	} {
		_, err := rule.Parse([]byte(one(test.old, test.replacement)), "mine.yaml")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %.40q in place of %.40q: %v, want %q", test.replacement, test.old, err, test.want)
		}
	}
}

// A file of a user replaces rules of the engine and adds others, and may use the lists of the engine.
func TestWith(t *testing.T) {
	text := one("my-rule", "fetch-run") + strings.SplitAfterN(one("$mine", "$drop"), "rules:\n", 2)[1]
	set, err := rule.Builtin().With([]byte(text), "mine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(set.Rules()), len(rule.Builtin().Rules())+1; got != want {
		t.Errorf("there are %d rules, want %d", got, want)
	}
	if set.Rule("fetch-run").Title != "something" || rule.Builtin().Rule("fetch-run").Title == "something" {
		t.Error("the rule of the user does not take the place of the engine's in the new set alone")
	}
}

// FuzzParse holds that any text gives rules or an error, and that rules can judge.
func FuzzParse(f *testing.F) {
	f.Add(one("", ""))
	f.Add("rules: [{id: a}]")
	f.Fuzz(func(t *testing.T, text string) {
		if set, err := rule.Parse([]byte(text), "mine.yaml"); err == nil {
			for _, r := range set.Rules() {
				if r.ID == "" || len(r.Match) == 0 {
					t.Errorf("a rule without an ID or an example was read: %+v", r)
				}
			}
		}
	})
}
