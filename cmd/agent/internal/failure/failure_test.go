package failure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// REQUIREMENTS 1.3: one mapping from errors to exit codes and wire codes.
func TestExplain(t *testing.T) {
	tests := []struct {
		name string
		err  error
		exit Exit
		code string
	}{
		{"plain", errors.New("x"), ExitFailure, "failed"},
		{"usage", Usage(errors.New("x"), ""), ExitUsage, "usage"},
		{"wrapped", fmt.Errorf("outer: %w", Denied(errors.New("x"), "")), ExitDenied, "permission_denied"},
		{"not found", &skill.NotFoundError{Name: "x"}, ExitNotFound, "not_found"},
		{"bad name", &manifest.NameError{Kind: "skill", Name: "../x"}, ExitUsage, "invalid_name"},
		{"broken", &skill.BrokenError{Name: "x"}, ExitInvalid, "invalid_skill"},
		{"conflict", Conflict(errors.New("x"), ""), ExitConflict, "conflict"},
		{"locked", fmt.Errorf("/x: %w", lockfile.ErrLocked), ExitConflict, "locked"},
		{"file of a skill", &skill.ResourceError{Path: "x", Err: fs.ErrNotExist}, ExitNotFound, "not_found"},
		{"path out of a skill", &skill.ResourceError{Path: "../x", Err: errors.New("escapes")}, ExitUsage, "invalid_name"},
		{"script", &script.Error{Code: script.Timeout}, ExitTimeout, "timeout"},
		{"interrupted", fmt.Errorf("running: %w", context.Canceled), ExitInterrupted, "interrupted"},
		{"deadline", context.DeadlineExceeded, ExitTimeout, "timeout"},
		{"no such file", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, ExitNotFound, "not_found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Explain(tt.err); got.Exit != tt.exit || got.Code != tt.code || got.Silent {
				t.Errorf("exit %d, code %q, said %v, want %d, %q, false", got.Exit, got.Code, got.Silent, tt.exit, tt.code)
			}
		})
	}
	if got := Explain(fmt.Errorf("x: %w", install.ErrTooMany)); !strings.Contains(got.Hint, "--path ") {
		t.Errorf("hint %q does not name --path", got.Hint)
	}
	if got := Explain(fmt.Errorf("write: %w", syscall.EPIPE)); !got.Silent {
		t.Error("a reader that went away is told about")
	}
}

// Exit codes of scripts, REQUIREMENTS 1.3.
func TestScriptExit(t *testing.T) {
	tests := map[tool.Code]Exit{
		tool.NotFound: 3, tool.PermissionDenied: 5, tool.Timeout: 124, tool.ArgsTooLarge: 2, tool.InvalidName: 2,
		tool.ParseError: 1, tool.ExecutionFailed: 1,
	}
	for code, want := range tests {
		if got := ScriptExit(tool.Failure(code, "")); got != want {
			t.Errorf("%s: exit %d, want %d", code, got, want)
		}
	}
	if got := ScriptExit(tool.Success(nil, "")); got != ExitOK {
		t.Errorf("success: exit %d", got)
	}
}

// Without a model the agent says in four lines how to get one (issue 4.1).
func TestNoModel(t *testing.T) {
	f := Explain(models.ErrNone)
	if f.Exit != ExitNotFound || strings.Count(f.Hint, "\n") != 3 {
		t.Errorf("got exit %d and %q", f.Exit, f.Hint)
	}
}
