package toolrule_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/toolrule"
)

// C6: lists are split at spaces and commas outside of parentheses.
func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                            nil,
		" , \n":                       nil,
		"Read":                        {"Read"},
		"Read, Bash(git log:*)\tEdit": {"Read", "Bash(git log:*)", "Edit"},
		"Bash(a, b),Bash(c (d) e)":    {"Bash(a, b)", "Bash(c (d) e)"},
		"Bash(git:*, Read":            {"Bash(git:*, Read"},
		"Bash(git:*)), Read":          {"Bash(git:*))", "Read"},
		"Bash (git:*)":                {"Bash", "(git:*)"},
	} {
		if got := toolrule.Split(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// C7: a rule is a name, or a name and one pattern.
func TestCut(t *testing.T) {
	for rule, want := range map[string]string{
		"Read":                   "Read",
		"mcp__a-b__*":            "mcp__a-b__*",
		"Bash(git log:*)":        "Bash|git log:*",
		"Bash()":                 "Bash|",
		"Bash(a (b) c)":          "Bash|a (b) c",
		"":                       "",
		"*":                      "",
		"-Read":                  "",
		"9a":                     "",
		"(x)":                    "",
		"Bash(":                  "",
		"Bash(a":                 "",
		"Bash(a))":               "",
		"Bash(a)b":               "",
		"Bash(a)(b)":             "",
		"Bash(a\nb)":             "",
		"Bash (a)":               "",
		"B\u0430sh":              "",
		"Bash(a),Bash(b)":        "",
		"Read!":                  "",
		"Bash(a)\x00":            "",
		"Bash(" + "((()))" + ")": "Bash|((()))",
	} {
		name, pattern, patterned, ok := toolrule.Cut(rule)
		got := name
		if patterned {
			got += "|" + pattern
		}
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", rule, got, ok, want)
		}
	}
}

// What Split finds has no separator outside of parentheses, nothing but separators is lost, and the parts of a rule are the
// rule.
func FuzzSplit(f *testing.F) {
	f.Add("Read, Bash(git log:*) Edit")
	f.Add("Bash(a, (b)),c)(")
	f.Fuzz(func(t *testing.T, text string) {
		bare := strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", ",", "").Replace
		rules := toolrule.Split(text)
		if got, want := bare(strings.Join(rules, "")), bare(text); got != want {
			t.Fatalf("%q: kept %q", text, rules)
		}
		for _, rule := range rules {
			name, pattern, patterned, ok := toolrule.Cut(rule)
			if again := toolrule.Split(rule); len(again) != 1 || again[0] != rule {
				t.Fatalf("%q splits into %q", rule, again)
			}
			if whole := name + "(" + pattern + ")"; ok && patterned && whole != rule || ok && !patterned && name != rule {
				t.Fatalf("%q is not %q and %q", rule, name, pattern)
			}
		}
	})
}
