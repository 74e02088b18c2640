package skilltool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// R133, C11, C12: each error of the engine has the text "[CODE] message (key=value, …)".
func TestCoded(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("odd"), "[SKILL_ERROR] odd"},
		{&skill.NotFoundError{Name: "x"}, "[SKILL_NOT_FOUND] Skill 'x' not found (skill=x)"},
		{fmt.Errorf("list: %w", &skill.NotFoundError{Name: "x"}), "[SKILL_NOT_FOUND] list: Skill 'x' not found (skill=x)"},
		{&skill.BrokenError{Name: "x"}, `[SKILL_PARSE_ERROR] skill "x" cannot be loaded (skill=x)`},
		{&skill.BrokenError{Name: "x", Err: fs.ErrPermission}, `[SKILL_ERROR] skill "x" cannot be loaded (skill=x)`},
		{&session.Error{Op: "activate", Skill: "x", Err: session.ErrActive}, "[SKILL_ACTIVATION_ERROR] Skill 'x' is already active (skill=x)"},
		{&session.Violation{Tool: "LLM", Skill: "x", Allowed: []string{"Read", "Grep"}},
			"[SKILL_TOOL_NOT_ALLOWED] Tool 'LLM' not allowed by skill 'x'. Allowed tools: Read, Grep (not in allowed-tools list) (skill=x, tool=LLM)"},
		{&UntrustedError{Skill: "x"}, "[SKILL_ERROR] Skill 'x' is not trusted: its scripts are not run. (skill=x)"},
		{&skill.ResourceError{Path: "a.md", Err: fs.ErrNotExist}, `[SKILL_NOT_FOUND] resource "a.md": file does not exist (path=a.md)`},
		{&skill.ResourceError{Path: "a.md", Err: fs.ErrPermission}, `[SKILL_ERROR] resource "a.md": permission denied (path=a.md)`},
		{manifest.CheckName("../x"), "[SKILL_ERROR] " + manifest.CheckName("../x").Error()},
		{&script.Error{Code: script.NotFound, Message: "no script"}, "[SKILL_NOT_FOUND] no script"},
		{&script.Error{Code: script.ExecutionFailed, Reason: script.ReasonModule, Message: "no module"}, "[SKILL_ERROR] no module"},
		{context.DeadlineExceeded, "[SKILL_ERROR] context deadline exceeded"},
	} {
		if got := Coded(tt.err); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
