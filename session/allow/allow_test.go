package allow_test

import (
	"encoding/json"
	"testing"

	"github.com/agent-base/agent-base/session/allow"
)

// list parses rules that must all be understood.
func list(t testing.TB, o *allow.Options, rules ...string) *allow.List {
	t.Helper()
	l, problems := allow.Parse(rules, o)
	for _, p := range problems {
		t.Fatal(p)
	}
	return l
}

// call is a call of a tool with one argument.
func call(tool, key, value string) allow.Call {
	raw, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		panic(err)
	}
	return allow.Call{Tool: tool, Args: raw}
}

func bash(command string) allow.Call { return call("bash", "command", command) }

// R120 C7 C8: the names of tools are those of any host, folded; a list without rules allows nothing, no list everything.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		rule string
		tool string
		want bool
	}{
		{"Read", "read_file", true},
		{"read", "read_file", true},
		{"read_file", "Read", true},
		{"Bash", "bash", true},
		{"Bash(*)", "bash", true},
		{"Bash", "BASH", true},
		{"Bash", "shell", true},
		{"run_shell_command", "bash", true},
		{"LS", "glob", true},
		{"Write", "edit_file", false},
		{"Edit", "write_file", false},
		{"MultiEdit", "edit_file", true},
		{"Read", "grep", false},
		{"Bash", "B\u0430sh", false}, // a Cyrillic letter
		{"Bash", "mcp__x__Bash", false},
		{"Bash", "bash ", false},
		{"TasK", "tas\u212a", false}, // the sign of Kelvin
		{"Get_Weather", "get_weather", true},
		{"mcp__github", "mcp__github__search", true},
		{"mcp__github", "mcp__github", false},
		{"mcp__github", "mcp__github2__search", false},
		{"mcp__github__*", "mcp__github__search", true},
		{"mcp__github__get_*", "mcp__github__get_issue", true},
		{"mcp__github__get_*", "mcp__github__delete", false},
		{"mcp__github__search", "mcp__github__search", true},
		{"stitch*:*", "mcp__stitch-design__get", true},
		{"stitch*:*", "mcp__other__stitch", false},
		{"github:*", "mcp__github__get", true},
		{"github:*", "mcp__github2__get", false},
		{"github:get", "mcp__github__get", true},
		{"github:get", "mcp__github__get2", false},
		{"toolset_hello_*", "toolset_hello_greet", true},
		{"toolset_hello_*", "toolset_other_greet", false},
		{"Read", "skill_read", true},
		{"Read(src/**)", "skill_read", false},
		{"Bash(git:*)", "skill_read", false},
		{"skill_read", "skill_read", true},
		{"Read", "script_list", false},
		{"Read", "script_run", false},
		{"script_run", "script_run", true},
		{"Bash", "script_run", true},
	} {
		if got := list(t, nil, tt.rule).Check(allow.Call{Tool: tt.tool, Args: json.RawMessage("{}")}) == nil; got != tt.want {
			t.Errorf("%s: %s is allowed: %v", tt.rule, tt.tool, got)
		}
	}
	empty, _ := allow.Parse(nil, nil)
	for _, tool := range []string{"bash", "read_file", "skill_read", "script_list"} {
		if empty.Check(allow.Call{Tool: tool}) == nil {
			t.Errorf("a list without rules allows %s", tool)
		}
	}
	if r := (*allow.List)(nil).Check(bash("rm -rf x")); r != nil {
		t.Errorf("no list refuses: %v", r)
	}
}
