package script

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-base/agent-base/script/nodeenv"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// usesNode reports whether a script is run by an interpreter of JavaScript or TypeScript.
func usesNode(s *skill.Skill, sc Script) bool {
	lang := survey.LanguageOf(sc.File)
	if lang == "" {
		if bang, err := survey.ParseShebang(survey.Head(s.FS(), sc.File)); err == nil {
			lang = survey.LanguageNamed(bang.Name())
		}
	}
	return lang == survey.JavaScript || lang == survey.TypeScript
}

// withPackages returns the skill's folder and the script's path for a run. They are those given unless the script needs npm
// packages: then it runs from a copy of its skill below the folder with the packages, because an interpreter looks for
// them in the folders above the script.
func (h *Host) withPackages(ctx context.Context, c *call, dir, file string) (runDir, runFile string, err error) {
	if !usesNode(c.s, c.sc) {
		return dir, file, nil
	}
	p, err := h.nodes.Prepare(ctx, h.project(ctx, c.s, c.sc), nil)
	if err != nil {
		return "", "", ofNode(err)
	}
	if !p.Needed {
		return dir, file, nil
	}
	sealed, err := c.s.Seal(ctx, p.Skills)
	if err != nil {
		return "", "", sealError(ctx, c.s, err)
	}
	defer sealed.Close()
	if dir, err = sealed.Dir(ctx); err != nil {
		return "", "", sealError(ctx, c.s, err)
	}
	nodeenv.CopyUsed(dir)
	c.packages = p.Folder
	return dir, filepath.Join(dir, filepath.FromSlash(c.sc.File)), nil
}

// project describes a script to nodeenv. It traces the making of an environment.
func (h *Host) project(ctx context.Context, s *skill.Skill, sc Script) *nodeenv.Project {
	return &nodeenv.Project{FS: s.FS(), File: sc.File, Script: sc.Name, Making: func() func(error) { return h.preparing(ctx, s, sc) }}
}

// ofNode returns an *Error for an error of nodeenv, and other errors, which are those of ctx, unchanged.
func ofNode(err error) error {
	var e *nodeenv.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Code: ExecutionFailed, Reason: e.Reason, Message: e.Message, Err: e}
}

// npm runs npm for nodeenv.
func (h *Host) npm(ctx context.Context, c *nodeenv.Command) (*nodeenv.Output, error) {
	out, err := h.o.Runner.Run(ctx, &Command{Phase: Prepare, Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Timeout: c.Timeout,
		Grace: grace, MaxStdout: c.MaxStdout, Write: c.Write})
	if err != nil {
		return nil, err
	}
	return &nodeenv.Output{Stdout: out.Stdout, Stderr: out.Stderr, ExitCode: out.ExitCode, TimedOut: out.TimedOut}, nil
}

// prepareNode prepares the packages of a JavaScript or TypeScript script.
func (h *Host) prepareNode(ctx context.Context, s *skill.Skill, sc Script, o *PrepareOptions) (*Prepared, error) {
	var options nodeenv.PrepareOptions
	if o != nil {
		options = nodeenv.PrepareOptions{Upgrade: o.Upgrade, Since: o.Since}
	}
	p, err := h.nodes.Prepare(ctx, h.project(ctx, s, sc), &options)
	if err != nil {
		return &Prepared{Needed: p.Needed}, ofNode(err)
	}
	return &Prepared{Needed: p.Needed, Made: p.Made, Packages: p.Packages, Unbuilt: p.Unbuilt}, nil
}
