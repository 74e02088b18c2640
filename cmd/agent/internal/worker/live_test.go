package worker

import (
	"testing"

	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/tool"
)

// An editor shows what a call found, and not only how much.
func TestOutcome(t *testing.T) {
	failed := tool.Failure(tool.ExecutionFailed, "It ended with code 3")
	failed.Result = hosttool.Ran{Output: "bad\n", ExitCode: 3}
	for _, tt := range []struct {
		r    tool.Result
		want string
	}{
		{tool.Success(hosttool.Matches{Text: "a.go:1:x", Lines: 1, Files: 1}, "Found 1 line"), "a.go:1:x"},
		{tool.Success(hosttool.Names{Files: []string{"a.go", "b.go"}}, "Found 2 files"), "a.go\nb.go"},
		{tool.Success(hosttool.Page{Content: "package a", Lines: 1}, "Read 1 line"), "package a"},
		{tool.Success(map[string]string{"answer": "It is so."}, "a sub-agent answered"), "It is so."},
		{tool.Success("plain", "It printed that"), "plain"},
		{tool.Success(map[string]int{"files": 3}, "Counted"), "Counted"},
		{failed, "It ended with code 3\nbad"},
	} {
		if got := Outcome(string(tt.r.Encode())); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.r.Encode(), got, tt.want)
		}
	}
	const cut = `{"success":true,"result":{"text":`
	if got := Outcome(cut); got != cut {
		t.Errorf("a result that was cut: got %q", got)
	}
}
