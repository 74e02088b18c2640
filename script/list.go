package script

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Dir is the folder of a skill that holds its scripts.
const Dir = survey.Dir

// Script is one script of a skill.
type Script = survey.Script

// List returns the skill's scripts by name, as survey.List does, and the problems of its scripts folder and of its
// permissions.env and metadata.agent-base.cwd. It runs nothing. For a closed skill it returns no scripts and a problem.
func List(s *skill.Skill) ([]Script, []manifest.Problem) {
	scripts, problems := survey.List(s.FS(), s.Manifest())
	return scripts, slices.Concat(problems, checkPermissions(s.Manifest()), checkCwd(s.Manifest()))
}

// Find returns the script of that name, in any case, with or without its extension. The
// error is an *Error with code InvalidName or NotFound; the latter has the reason ReasonAmbiguous if several
// scripts differ only in their extensions. For a closed skill it wraps skill.ErrClosed.
func Find(s *skill.Skill, name string) (Script, error) {
	if !survey.ValidName(name) {
		return Script{}, &Error{Code: InvalidName, Message: fmt.Sprintf("Invalid script name: '%s'", name)}
	}
	if err := checkOpen(s); err != nil {
		return Script{}, err
	}
	scripts, _ := survey.List(s.FS(), s.Manifest())
	sc, same, ok := survey.Find(scripts, name)
	if ok {
		return sc, nil
	}
	e := &Error{Code: NotFound, Message: fmt.Sprintf("Script '%s' not found in skill '%s'", name, s.Canonical())}
	if len(same) > 0 {
		e.Reason = ReasonAmbiguous
		e.Message += ": say which, " + strings.Join(same, " or ")
	} else if file := survey.Unknown(s.FS(), name); file != "" {
		e.Message += fmt.Sprintf(": nothing shows what runs %s/%s, so give it %s", Dir, file, survey.Kinds())
	}
	return Script{}, e
}

// checkOpen returns an error for a closed skill, whose files only seem to be missing.
func checkOpen(s *skill.Skill) error {
	if _, err := fs.Stat(s.FS(), "."); errors.Is(err, skill.ErrClosed) {
		return &Error{Code: ExecutionFailed, Err: skill.ErrClosed, Message: fmt.Sprintf("Skill '%s' is closed: load it again", s.Canonical())}
	}
	return nil
}
