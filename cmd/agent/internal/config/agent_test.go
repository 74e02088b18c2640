package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The agent's own settings stand in a map of their own, and a project may narrow them only (issue 4.1, 1.3).
func TestAgentSettings(t *testing.T) {
	user := "agent:\n  model: ollama/qwen3\n  max_turns: 9\n  maxTime: 5m\n  budget: 10\nskills:\n  model: openai/x\n"
	project := "agent:\n  model: gemini/theirs\n  maxTurns: 3\n  maxTokens: 99999999\n  promptBlocks: [Calls, other]\n"
	c, problems := newWorld(t).user(user).inProject(project).load()
	want := Agent{Model: "ollama/qwen3", MaxTurns: 3, MaxTokens: 2_000_000, MaxTime: 5 * time.Minute, RetryTime: time.Minute, Keep: 30 * 24 * time.Hour, Context: true, Notify: true, Reads: "auto", Blocks: []string{"calls"}, Mode: "ask", BashSandbox: "auto",
		BashMemory: 4 << 30, BashProcesses: 1024, BashFileSize: 512 << 20, BashDisk: 8 << 30, BashFiles: 20_000}
	if !reflect.DeepEqual(c.Agent, want) {
		t.Errorf("got %+v, want %+v", c.Agent, want)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Message+" / "+p.Cure)
	}
	for _, part := range []string{
		`"budget" below "agent" has no effect / write it below "skills:", indented`,
		`"model" below "skills" has no effect / write it below "agent:", indented`,
		`a project cannot set model: ignored`,
		`a project cannot change maxTokens`,
		`invalid item "other" of promptBlocks: ignored`,
	} {
		if !strings.Contains(strings.Join(got, "\n"), part) {
			t.Errorf("no problem says %q:\n%s", part, strings.Join(got, "\n"))
		}
	}
}

// A model's name is one word: a space in it is a mistake (issue 4.1).
func TestAgentModelWord(t *testing.T) {
	c, problems := newWorld(t).user("agent:\n  model: two words\n").load()
	if c.Agent.Model != "" || len(problems) != 1 || !strings.Contains(problems[0].Message, `invalid model "two words"`) {
		t.Errorf("got %q and %v", c.Agent.Model, problems)
	}
}

// bashNetwork has hosts, in the form in which they are compared. What is not a host is reported.
func TestBashNetwork(t *testing.T) {
	c, problems := newWorld(t).user("agent:\n  bashNetwork: [PyPI.org, '*.example.com', 'localhost:8080', all, 'https://x', 10.0.0.0/8]\n").load()
	if want := []string{"pypi.org", "*.example.com", "localhost:8080", "all"}; !slices.Equal(c.Agent.BashNetwork, want) {
		t.Errorf("got %q, want %q", c.Agent.BashNetwork, want)
	}
	if len(problems) != 2 || !strings.Contains(problems[0].Message, `invalid host "https://x" in bashNetwork`) || !strings.Contains(problems[1].Message, "10.0.0.0/8") {
		t.Errorf("got %v", problems)
	}
}

// bashVariables has names of variables. What decides what is loaded never passes.
func TestBashVariables(t *testing.T) {
	c, problems := newWorld(t).user("agent:\n  bashVariables: [GOFLAGS, 'GO*', LD_PRELOAD, GOFLAGS, java_home]\n").load()
	if want := []string{"GOFLAGS", "java_home"}; !slices.Equal(c.Agent.BashVariables, want) {
		t.Errorf("got %q, want %q", c.Agent.BashVariables, want)
	}
	if len(problems) != 2 || !strings.Contains(problems[0].Message, `"GO*" in bashVariables is not the name`) || !strings.Contains(problems[1].Message, `"LD_PRELOAD" of bashVariables never passes`) {
		t.Errorf("got %v", problems)
	}
}

// Hooks are the user's. What cannot be read of one that guards refuses, and so does the whole if there are too many.
func TestHooks(t *testing.T) {
	for _, tt := range []struct {
		name, user, project string
		hooks               string
		problems            []string
	}{
		{"all", "{PreToolUse: [{matcher: Bash, hooks: [{command: a, if: 'Bash(x:*)', timeout: 2}, {command: b, sandbox: off}]}], Stop: [{hooks: [{command: c}]}]}", "",
			"[PreToolUse Bash Bash(x:*): a PreToolUse Bash: b (outside the sandbox) Stop: c]", nil},
		{"no map", "x", "", "[PreToolUse: not read: it must be a map of events]", []string{"cannot be read"}},
		{"no list", "{PreToolUse: x}", "", "[PreToolUse: not read: it must be a list of matchers and commands]", []string{"cannot be read"}},
		{"no place", "{PreToolUse: [{hooks: [{command: a, sandbox: odd}]}]}", "", "[PreToolUse: not read: its sandbox must be true or false]", []string{"cannot be read"}},
		{"no tool", "{PreToolUse: [{matcher: Bsah, hooks: [{command: a}]}]}", "", "[PreToolUse Bsah: a]", []string{"sees every call"}},
		{"no event", "{pre: [{hooks: [{command: a}]}]}", "", "[]", []string{"no hook of yours runs for the event pre"}},
		{"too many", "{PreToolUse: [{hooks: [" + strings.Repeat("{command: a},", 65) + "]}]}", "", "[PreToolUse: not read: there are more than 64]", []string{"more than 64"}},
		{"of a project", "{Stop: [{hooks: [{command: c}]}]}", "{PreToolUse: [{hooks: [{command: a}]}]}", "[Stop: c]", []string{"agentHooks"}},
	} {
		w := newWorld(t).user("agent: {hooks: " + tt.user + "}\n")
		if tt.project != "" {
			w.inProject("agent: {hooks: " + tt.project + "}\n")
		}
		c, problems := w.load()
		if got := fmt.Sprint(hookTexts(c.Agent.Hooks)); got != tt.hooks {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.hooks)
		}
		if len(problems) != len(tt.problems) {
			t.Errorf("%s: problems %v", tt.name, problems)
		}
		for i := range min(len(problems), len(tt.problems)) {
			if !strings.Contains(problems[i].Message, tt.problems[i]) {
				t.Errorf("%s: problem %v", tt.name, problems[i])
			}
		}
	}
}
