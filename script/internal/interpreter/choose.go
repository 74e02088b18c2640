// Package interpreter chooses what runs a script: the programs of its language, with the options that keep them to the skill, and an
// environment with its packages, which it has prepared.
package interpreter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/plan"
)

// New returns a Chooser. It copies o.
func New(o *Options) *Chooser {
	c := &Chooser{o: *o}
	c.programs.Dir, c.programs.Env, c.programs.Run = filepath.Join(o.Cache, "programs"), o.Operator.Env, c.answer
	return c
}

// Script sets what runs a script, and the skill's folder for the run, after preparing what the script depends on. That ends after limit:
// what takes longer is to be prepared before a call. The error is that of ctx or a *fail.Error.
func (c *Chooser) Script(ctx context.Context, of *envs.Of, st *plan.Start, limit time.Duration) error {
	src := &source{of, st}
	return within(ctx, limit, of.Script.Name, func(ctx context.Context) (err error) {
		if err := c.withPackages(ctx, src); err != nil {
			return err
		}
		if st.Argv, err = c.argv(ctx, src); err != nil {
			return err
		}
		st.Python, err = c.o.Envs.PythonOfCalls(ctx, of)
		return err
	})
}

// Shell sets what runs the command of a hook.
func (c *Chooser) Shell(of *envs.Of, st *plan.Start, command string) error {
	for _, name := range language.Shell.Row().Runs() {
		if path, err := c.o.Operator.LookPath(name); err == nil && filepath.IsAbs(path) {
			st.Argv = []string{path, "-c", command}
			return nil
		}
	}
	return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonInterpreter,
		Message: fmt.Sprintf("%s of skill '%s' needs bash, which is not installed", of.Script.Name, of.Skill.Name())}
}

// Program is a program that serves a skill: either Program, which is the engine's own and is run by the interpreter of Files, or
// Command, which is the skill's.
type Program struct {
	Name    string
	Files   []string
	Program string
	Command string
	Dir     string // slash path in the skill where Command starts
}

// Program is Script for a program that serves a skill.
func (c *Chooser) Program(ctx context.Context, of *envs.Of, st *plan.Start, p *Program, limit time.Duration) error {
	src := &source{of, st}
	return within(ctx, limit, p.Name, func(ctx context.Context) error {
		if p.Command != "" {
			return c.command(ctx, src, p)
		}
		return c.engine(ctx, src, p)
	})
}

// within calls a function that prepares something, for at most some time.
func within(ctx context.Context, limit time.Duration, name string, prepare func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := prepare(limited)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err() // an interpreter that could no longer be asked is not missing
	case limited.Err() != nil:
		err = &fail.Error{Code: fail.Timeout, Reason: fail.ReasonDependencies, Err: err,
			Message: fmt.Sprintf("Dependencies of script %s were not ready after %s: prepare them before the call", name, fail.Seconds(limit))}
	}
	return err
}

// withPackages sets the skill's folder and the script's path for a run, which are others if it needs npm packages.
func (c *Chooser) withPackages(ctx context.Context, src *source) (err error) {
	src.Dir, src.Packages, err = c.o.Envs.Node(ctx, src.Of, src.Dir)
	if src.Packages != "" {
		src.File = filepath.Join(src.Dir, filepath.FromSlash(src.Script.File))
	}
	return err
}

// engine sets what runs a program of the engine's.
func (c *Chooser) engine(ctx context.Context, src *source, p *Program) (err error) {
	if len(p.Files) == 0 || !filepath.IsAbs(p.Program) {
		return errors.New("script.ServeOptions: Files and an absolute Program, or a Command, are needed")
	}
	src.Read = append(src.Read, filepath.Dir(p.Program))
	if survey.LanguageOf(src.Script.File) == survey.Python {
		exe, err := c.o.Envs.Python(ctx, src.Of)
		src.Argv = append(src.isolated(exe, "-I"), p.Program)
		return err
	}
	if err := c.withPackages(ctx, src); err != nil {
		return err
	}
	if src.Argv, err = c.argv(ctx, src); err != nil {
		return err
	}
	src.Argv = append(ofEngine(src.Argv[:len(src.Argv)-1]), p.Program)
	return nil
}

// ofEngine returns the arguments of an interpreter for a program of the engine: deno reads the configuration beside that, not
// the skill's, and fetches nothing.
func ofEngine(argv []string) []string {
	if !slices.Contains(argv, "--no-prompt") {
		return argv
	}
	argv = slices.DeleteFunc(argv, func(a string) bool {
		return a == "--no-config" || a == "--no-lock" || strings.HasPrefix(a, "--config=")
	})
	return append(argv, "--no-lock", "--cached-only")
}

// command sets the command that a skill names itself.
func (c *Chooser) command(ctx context.Context, src *source, p *Program) (err error) {
	path := p.Command
	switch survey.LanguageOf(src.Script.File) {
	case survey.Python:
		if path, err = c.o.Envs.Python(ctx, src.Of); err != nil {
			return err
		}
	case survey.JavaScript, survey.TypeScript:
		if err := c.withPackages(ctx, src); err != nil {
			return err
		}
	}
	switch below, inSkill := strings.CutPrefix(path, "./"); {
	case inSkill && filepath.IsLocal(filepath.FromSlash(below)):
		path = filepath.Join(src.Dir, filepath.FromSlash(below))
	case filepath.IsAbs(path):
	case strings.ContainsAny(path, `/\`):
		return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonInterpreter, Message: fmt.Sprintf("%s names the command %q, which is not in the skill", p.Name, path)}
	default:
		found, err := c.o.Operator.LookPath(path)
		if err != nil || !filepath.IsAbs(found) {
			return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonInterpreter, Err: err, Message: fmt.Sprintf("%s needs %s, %s", p.Name, path, program.Lack(err, programCure(path)))}
		}
		path = found
	}
	if !filepath.IsLocal(filepath.FromSlash(cmp.Or(p.Dir, "."))) {
		return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonFolder, Message: fmt.Sprintf("%s starts in %q, which is not in the skill", p.Name, p.Dir)}
	}
	src.Argv, src.Cwd = []string{path}, filepath.Join(src.Dir, filepath.FromSlash(p.Dir))
	return nil
}

// programCure says how to get a program that servers are started with.
func programCure(name string) string {
	return cmp.Or(language.Install(name), "install it, or correct the command")
}
