package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/interpreter"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Call is what is asked for: one execution of a script or a hook, or a program that serves a skill.
type Call struct {
	plan.Asked
	Env      []string             // of the caller, as NAME=value
	Hook     *manifest.Hook       // nil for a script; its exit code is no error
	Serves   *interpreter.Program // nil for a script
	Else     []string             // npm packages for Serves that no package.json has dependencies for
	Input    *Feed                // of a script; nil for an empty one
	Out, Err io.Writer            // also get what it writes; nil for nobody
}

// CheckOpen returns an error for a closed skill, whose files only seem to be missing.
func CheckOpen(s *skill.Skill) error {
	if _, err := fs.Stat(s.FS(), "."); errors.Is(err, skill.ErrClosed) {
		return &fail.Error{Code: fail.ExecutionFailed, Err: skill.ErrClosed, Message: fmt.Sprintf("Skill '%s' is closed: load it again", s.Canonical())}
	}
	return nil
}

// noFolder is the error for a skill whose scripts cannot run where it lies.
func noFolder(s *skill.Skill, err error) error {
	return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonFolder, Err: err,
		Message: fmt.Sprintf("Skill '%s' has no folder to run scripts in: %v", s.Name(), err)}
}

// place returns the skill's folder and the script's path in it. Both must exist: the system's error for a missing folder
// reads as if the interpreter were missing.
func (c *Call) place(ctx context.Context) (dir, file string, err error) {
	if err := CheckOpen(c.Skill); err != nil {
		return "", "", err
	}
	if dir, err = c.Skill.Dir(ctx); err != nil {
		return "", "", noFolder(c.Skill, err)
	}
	if !filepath.IsAbs(dir) {
		return "", "", noFolder(c.Skill, fmt.Errorf("its source says that it lies in %q, which is not an absolute path", dir))
	}
	dir = paths.Real(dir)
	file = filepath.Join(dir, filepath.FromSlash(c.Script.File))
	if _, err := os.Stat(file); err != nil {
		return "", "", &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonFolder, Err: err,
			Message: fmt.Sprintf("Script %s is not in the skill's folder any more: load the skill again (%v)", c.Script.Name, err)}
	}
	return dir, file, nil
}

// leftovers reports whether interpreters are to be kept from byte code: a skill that runs in its own folder, not as a sealed copy, may have
// some there that nobody approved.
func (c *Call) leftovers(ctx context.Context) (bool, error) {
	list, err := content.Leftovers(ctx, c.Skill.Whole())
	if err != nil {
		return false, noFolder(c.Skill, err)
	}
	return slices.ContainsFunc(list, func(l content.Left) bool { return l.Kind == content.ByteCode }), nil
}

// given are the caller's variables, checked against what passes.
func (c *Call) given(passes *plan.Passing) (map[string]string, error) {
	env := map[string]string{}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		if !passes.Allows(name) {
			return nil, &fail.Error{Code: fail.PermissionDenied, Message: fmt.Sprintf("Env var '%s' not in allowlist", name)}
		}
		env[name] = value
	}
	return env, nil
}
