package skilltool

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// Coded returns the text of an error of the engine in the form of engines whose exceptions have codes: the upper-case code of
// its cause, its message, and the facts that are known, such as
//
//	[SKILL_NOT_FOUND] Skill 'pdf' not found (skill=pdf)
//
// See docs/errors.md for the codes. It returns "" for nil.
func Coded(err error) string {
	if err == nil {
		return ""
	}
	if v, ok := errors.AsType[*session.Violation](err); ok {
		return v.Error()
	}
	text := fmt.Sprintf("[%s] %s", causeOf(err).SkillCode(), err)
	if f := facts(err); len(f) > 0 {
		text += " (" + strings.Join(f, ", ") + ")"
	}
	return text
}

// causeOf returns the cause of an error of the engine. An error of another kind has the cause tool.CauseUnknown.
func causeOf(err error) tool.Cause {
	switch {
	case isA[*session.Violation](err):
		return tool.CauseToolDenied
	case isA[*UntrustedError](err), isA[*changedError](err):
		return tool.CauseUntrusted
	case isA[*manifest.NameError](err):
		return tool.CauseName
	case isA[*skill.NotFoundError](err):
		return tool.CauseNotFound
	case isA[*skill.BrokenError](err):
		if e, _ := errors.AsType[*skill.BrokenError](err); e.Err != nil {
			return tool.CauseIO
		}
		return tool.CauseManifest
	case isA[*session.Error](err):
		return tool.CauseActivation
	case ended(err):
		return tool.CauseTimeout
	case isA[*script.Error](err):
		return scriptCause(err)
	case isA[*skill.NotAdmittedError](err):
		return tool.CauseSecurity
	case errors.Is(err, fs.ErrNotExist):
		return tool.CauseNotFound
	case isA[*skill.ResourceError](err):
		return tool.CauseIO
	}
	return tool.CauseUnknown
}

// scriptCause returns the cause of the failure of a script.
func scriptCause(err error) tool.Cause {
	e, _ := errors.AsType[*script.Error](err)
	return tool.CauseOf(tool.Code(e.Code), e.Reason)
}

// facts returns what an error is about, each as key=value.
func facts(err error) []string {
	var out []string
	add := func(key, value string) {
		if value != "" {
			out = append(out, key+"="+value)
		}
	}
	if e, ok := errors.AsType[*skill.NotFoundError](err); ok {
		add("skill", e.Name)
	}
	if e, ok := errors.AsType[*skill.BrokenError](err); ok {
		add("skill", e.Name)
	}
	if e, ok := errors.AsType[*skill.NotAdmittedError](err); ok {
		add("skill", e.Name)
	}
	if e, ok := errors.AsType[*session.Error](err); ok {
		add("skill", e.Skill)
	}
	if e, ok := errors.AsType[*UntrustedError](err); ok {
		add("skill", e.Skill)
	}
	if e, ok := errors.AsType[*skill.ResourceError](err); ok {
		add("path", e.Path)
	}
	return out
}

// isA reports whether an error of that type is in err's tree.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
