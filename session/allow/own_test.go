package allow

import "testing"

// Only one plain call of an own script by its whole path is one, and only as the rules say.
func TestRunsOwn(t *testing.T) {
	scripts := []string{"scripts/sum.py", "scripts/other.sh"}
	for _, tt := range []struct {
		rules   []string
		command string
		want    bool
	}{
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/sum.py --all", true},
		{[]string{"Bash(scripts/sum.py:*)"}, "python3 /s/csv/scripts/sum.py a b 2>&1", true},
		{[]string{"Bash(python3 ${CLAUDE_SKILL_DIR}/scripts/sum.py:*)"}, "python3 /s/csv/scripts/sum.py a", true},
		{[]string{"Bash(./scripts/sum.py list)"}, "/s/csv/scripts/sum.py list", true},
		{[]string{"Read", "Bash(scripts/*:*)"}, "/s/csv/scripts/other.sh", true},

		{[]string{"Bash(./scripts/sum.py list)"}, "/s/csv/scripts/sum.py drop", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/other.sh", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/none.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/other/scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/../scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/sum.py && touch x", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/sum.py; /s/csv/scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/sum.py $(touch x)", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "/s/csv/scripts/sum.py >x", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "A=1 /s/csv/scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "python3 -c 'import os' /s/csv/scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "env /s/csv/scripts/sum.py", false},
		{[]string{"Bash(touch:*)"}, "touch x", false},
		{[]string{"Bash"}, "/s/csv/scripts/sum.py", false},
		{[]string{"script_run"}, "/s/csv/scripts/sum.py", false},
		{nil, "/s/csv/scripts/sum.py", false},
		{[]string{"Bash(scripts/sum.py:*)"}, "", false},
	} {
		list, _ := Parse(tt.rules, &Options{Skill: "csv", Dir: "/s/csv"})
		if got := list.RunsOwn(tt.command, scripts); got != tt.want {
			t.Errorf("%q, %q: got %v", tt.rules, tt.command, got)
		}
	}
}

// A rule that names a file below the skill covers a command that names the same file by its whole path.
func TestOwnPaths(t *testing.T) {
	list, _ := Parse([]string{"Bash(scripts/sum.py:*)"}, &Options{Skill: "csv", Dir: "/s/csv"})
	other, _ := Parse([]string{"Bash(scripts/sum.py:*)"}, &Options{Dir: "/s/csv"}) // of no skill
	for command, want := range map[string]bool{
		"/s/csv/scripts/sum.py --all":                true,
		"python3 /s/csv/scripts/sum.py a":            true,
		"/s/csv/scripts/sum.py a | sort":             false,
		"/s/csv/scripts/none.py":                     false,
		"/s/csv/../csv/scripts/sum.py":               false,
		"python3 -c x /s/csv/scripts/sum.py":         false,
		"touch /s/csv/scripts/sum.py":                false,
		"cd /tmp && python3 /s/csv/scripts/sum.py a": false,
	} {
		c := Call{Tool: "bash", Args: []byte(`{"command":"` + command + `"}`)}
		if refusal := list.Check(c); (refusal == nil) != want {
			t.Errorf("%s: got %v", command, refusal)
		}
		if other.Check(c) == nil {
			t.Errorf("%s: a list of no skill covers it", command)
		}
	}
}
