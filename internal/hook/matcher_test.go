package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/session/allow"
)

// Matchers are written for the names of other hosts, and for the engine's. What can match nothing sees everything.
func TestParseMatcher(t *testing.T) {
	const push = `{"command":"git add . && git push"}`
	for _, tt := range []struct {
		matcher, tool, args string
		want, wrong         bool
	}{
		{"", "bash", "", true, false},
		{"*", "anything", "", true, false},
		{"Bash", "bash", "", true, false},
		{"Bash", "script_run", "", true, false},
		{"Write|Edit|Bash", "edit_file", "", true, false},
		{"Write | Edit", "write_file", "", true, false},
		{"Write, Edit", "edit_file", "", true, false},
		{"Write,Edit", "bash", "", false, false},
		{"Write|Edit", "read_file", "", false, false},
		{"Write", "edit_file", "", false, false},
		{"MultiEdit", "edit_file", "", true, false},
		{"run_shell_command", "bash", "", true, false},
		{"read_file", "read_file", "", true, false},
		{"Deploy", "deploy", "", true, false},
		{"Deploy", "bash", "", false, false},
		{"mcp__github", "mcp__github__search", "", true, false},
		{"mcp__github__.*", "mcp__github__search", "", true, false},
		{"mcp__github__.*", "mcp__other__search", "", false, false},
		{"mcp__github__*", "mcp__github__search", "", true, false},
		{"mcp__(github|gitlab)__.*", "mcp__gitlab__search", "", true, false},
		{"Notebook.*|Web.*", "web_fetch", "", true, false},
		{"^Web", "web_fetch", "", true, false},
		{"Fetch$", "web_fetch", "", true, false},
		{"^Fetch", "web_fetch", "", false, false},
		{"^(Read|Grep)$", "grep", "", true, false},
		{"Bash(Output)?", "bash", "", true, false},
		// arguments, as in rules
		{"Bash(git push:*)", "bash", push, true, false},
		{"Bash(git push *)", "bash", `{"command":"git push origin"}`, true, false},
		{"Bash(git commit:*)", "bash", push, false, false},
		{"Bash(git commit:*)", "bash", `{"command":7}`, true, false},
		{"Bash(git commit:*)", "read_file", `{"file_path":"git commit"}`, false, false},
		{"Write|Edit|Bash(git push:*)", "bash", push, true, false},
		{"Write|Edit|Bash(git push:*)", "bash", `{"command":"ls"}`, false, false},
		{"Write|Edit|Bash(git push:*)", "write_file", `{"file_path":"x"}`, true, false},
		{"Write(*.py)", "write_file", `{"file_path":"a.py"}`, true, false},
		{"Write(*.py)", "edit_file", `{"file_path":"a.py"}`, false, false},
		// what is not understood, or can match nothing
		{"[", "anything", "", true, true},
		{"Bash(git push:*", "read_file", "", true, true},
		{"Bsah", "read_file", "", true, true},
		{"Bash(a > b)", "read_file", "", true, true},
		{"Write && Edit", "read_file", "", true, true},
		{"Bash git push", "read_file", "", true, true},
		{"tool == 'Bash'", "read_file", "", true, true},
		{"( |,)+Bash", "read_file", "", true, true},
		{strings.Repeat("A|", 10000), "anything", "", true, true},
		{strings.Repeat("a*", 1000), "anything", "", true, true},
	} {
		m, err := hook.ParseMatcher(tt.matcher, &allow.Options{Roots: []string{"/work"}})
		if (err != nil) != tt.wrong {
			t.Errorf("%.30q: %v", tt.matcher, err)
		}
		call := allow.Call{Tool: tt.tool, Args: json.RawMessage(tt.args)}
		if got := m.Sees(call, tt.tool); got != tt.want {
			t.Errorf("%.30q, %s %s: %v", tt.matcher, tt.tool, tt.args, got)
		}
	}
}

// Whatever a matcher says, reading it ends, and a matcher with an error sees every call.
func FuzzParseMatcher(f *testing.F) {
	for _, s := range []string{"Write|Edit", "Bash(git push:*)", "^(Read|Grep)$", "[", "a{1,2}|b", "(?i)bash"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := hook.ParseMatcher(text, &allow.Options{})
		if err != nil && !m.Sees(allow.Call{Tool: "bash"}, "bash") {
			t.Errorf("%q is wrong and does not see a call", text)
		}
	})
}
