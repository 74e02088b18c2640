package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skills"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// readme is the program of README.md. TestReadmeProgram holds the two against each other. In the README
// errors are left out
func readme(ctx context.Context, cache, name string, arguments json.RawMessage) (*tool.Set, tool.Result, error) {
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{
		{Name: "project", Source: skill.Dir("/srv/skills", nil)},
		{Name: "bundled", Source: skill.FS(skills.Core(), &skill.FSOptions{Cache: cache}), Trust: skill.TrustBundled},
	}})
	if err != nil {
		return nil, tool.Result{}, err
	}
	sandbox, err := confine.New(nil)
	if err != nil {
		return nil, tool.Result{}, err
	}
	host, err := script.New(&script.Options{Runner: sandbox, LookPath: exec.LookPath, Cache: cache})
	if err != nil {
		return nil, tool.Result{}, err
	}
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog },
		Session: session.New(nil),
		Scripts: host,
	})
	var tools tool.Set
	for _, t := range kit.Tools() { // and your own
		err = tools.Add(t)
		if err != nil {
			return nil, tool.Result{}, err
		}
	}
	calls := tool.Executor{Tools: &tools, Check: kit.Check} // enforces allowed-tools
	result := calls.Call(ctx, name, arguments)
	return &tools, result, nil
}

// The program in README.md compiles, and offers the tools that README names.
func TestReadmeProgram(t *testing.T) {
	page := read(t, "README.md")
	_, block, found := strings.Cut(page, "```go\n")
	block, _, _ = strings.Cut(block, "```")
	if !found {
		t.Fatal("README.md has no Go program")
	}
	var source []string
	for line := range strings.Lines(read(t, "cmd/agent/internal/docgen/readme_test.go")) {
		source = append(source, strings.TrimSpace(line))
	}
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); !slices.Contains(source, line) {
			t.Errorf("README.md has the line %q, the function readme has not", line)
		}
	}
	tools, result, err := readme(t.Context(), t.TempDir(), "skill", json.RawMessage(`{"skill_name":"hello-world"}`))
	if err != nil || !result.Success {
		t.Fatalf("got %+v and %v, want an activation", result, err)
	}
	var names []string
	for offered := range tools.All() {
		names = append(names, offered.Name)
	}
	want := []string{"skill", "skill_read", "script_list", "script_help", "script_run"}
	if !slices.Equal(names, want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}
	for _, name := range want {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("README.md does not name the tool %q", name)
		}
	}
}
