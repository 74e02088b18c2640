package hosttool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/tool"
)

// The tools go into one set, and every call through one executor.
func ExampleTools() {
	workspace, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(workspace)
	if err := os.WriteFile(filepath.Join(workspace, "notes.md"), []byte("first\nsecond\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	tools, err := hosttool.Tools(&hosttool.Options{Workspace: workspace})
	if err != nil {
		fmt.Println(err)
		return
	}
	set := &tool.Set{}
	for _, t := range tools {
		if err := set.Add(t); err != nil {
			fmt.Println(err)
		}
	}
	executor := &tool.Executor{Tools: set}
	for _, call := range [][2]string{
		{"hello", `{"name":"Ada"}`},
		{"grep", `{"pattern":"sec"}`},
		{"bash", `{"command":"ls"}`},
	} {
		r := executor.Call(context.Background(), call[0], json.RawMessage(call[1]))
		fmt.Println(r.Success, r.Message)
	}
	// Output:
	// true Greeted Ada
	// true Found 1 line in 1 file
	// false This command needs the user's approval, because it runs outside a sandbox, and nobody can be asked here
}
