// Package envs says which packages the scripts of a skill need, and makes the environments that have them. It runs nothing of the skill.
package envs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// Options configures a Store.
type Options struct {
	Runner  runner.Runner // executes the commands that prepare
	Guard   runner.Guard  // what these do not see and do not change
	Confine runner.Confinement

	LookPath    func(string) (string, error)
	Env         []string      // the operator's environment, as NAME=value
	Cache       string        // absolute folder
	NPMRC       []byte        // the operator's
	MaxBytes    int64         // of one environment; 0 means the usual
	MaxTime     time.Duration // of one preparation; 0 means the usual
	FetchPython bool          // uv may download a Python
	Hosts       []string      // further hosts that preparing may reach
	Progress    func(string)  // may be nil

	// Making is told that an environment is being made for a script, and the function that it returns how that ended.
	Making func(context.Context, *skill.Skill, survey.Script) func(error)
}

// Store has environments.
type Store struct {
	o       Options
	pythons *pyenv.Store
	nodes   *nodeenv.Store
}

// New returns a Store. It copies o.
func New(o *Options) (*Store, error) {
	st := &Store{o: *o}
	var err error
	st.pythons, err = pyenv.New(&pyenv.Options{Run: st.command, LookPath: o.LookPath, Env: o.Env, Cache: o.Cache,
		MaxBytes: o.MaxBytes, MaxTime: o.MaxTime, FetchPython: o.FetchPython, Hosts: o.Hosts, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	st.nodes, err = nodeenv.New(&nodeenv.Options{Run: st.command, LookPath: o.LookPath, Env: o.Env, NPMRC: o.NPMRC,
		Cache: o.Cache, MaxBytes: o.MaxBytes, MaxTime: o.MaxTime, Hosts: o.Hosts, Progress: o.Progress})
	return st, err
}

// Of is what packages are wanted for: a script, or a program that serves a skill.
type Of struct {
	Skill  *skill.Skill
	Script survey.Script // of a program its name and its first file
	With   []string      // packages that the user added

	Also []string // the other files of a program, in the language of the first
	Else []string // npm packages for a program that no package.json has dependencies for
}

// file is of with another file of the skill in place of the script.
func (of *Of) file(name string) *Of {
	return &Of{Skill: of.Skill, Script: survey.Script{Name: of.Script.Name, File: name}, With: of.With}
}

// needs returns what a script of Python needs, or the files of a program together.
func (of *Of) needs() (all *pyenv.Needs, err error) {
	for _, name := range append([]string{of.Script.File}, of.Also...) {
		one := of.file(name)
		text, err := Text(one.Skill, one.Script)
		if err != nil {
			return nil, err
		}
		needs, err := one.needsOf(text)
		if err != nil {
			return nil, err
		}
		all = all.Join(needs)
	}
	return all, nil
}

// Python returns the interpreter that has the packages of a script of Python, or of a program of it.
func (st *Store) Python(ctx context.Context, of *Of) (string, error) {
	needs, err := of.needs()
	if err != nil {
		return "", err
	}
	exe, err := st.pythons.Python(ctx, st.prepared(ctx, of, needs))
	return exe, ofPython(err)
}

// PythonOfCalls returns the interpreter of the environment that the Python needs which a shell script starts, "" if that needs no
// packages.
func (st *Store) PythonOfCalls(ctx context.Context, of *Of) (string, error) {
	needs, err := of.neededByCalls()
	if err != nil || needs == nil {
		return "", err
	}
	exe, err := st.pythons.Python(ctx, st.prepared(ctx, of, needs))
	return exe, ofPython(err)
}

// Lacks returns what a script imports and its environment has not: modules of Python, or else npm packages.
func (st *Store) Lacks(ctx context.Context, of *Of, python bool) []string {
	if python {
		if needs, err := of.pythonNeeds(); err == nil {
			if p, err := st.pythons.Prepare(ctx, st.prepared(ctx, of, needs), nil); err == nil {
				return p.Lacks(Imports(of.Skill, of.Script))
			}
		}
	} else if sc, ok := nodeScript(of.Skill, of.Script); ok {
		if p, err := st.nodes.Prepare(ctx, st.project(ctx, of, sc), nil); err == nil {
			return p.Lacks
		}
	}
	return nil
}

// Unused returns the environments that nobody used since a time, the folders that no record names, and downloads.
func (st *Store) Unused(since time.Time) []envstore.Leftover {
	return slices.Concat(st.pythons.Unused(since), st.nodes.Unused(since))
}

// Text returns the text of a script.
func Text(s *skill.Skill, sc survey.Script) ([]byte, error) {
	b, err := s.ReadFile(sc.File)
	if errors.Is(err, skill.ErrTooBig) {
		return nil, fail.OfScript(sc.Name, "", err, "cannot be read: %v: move its data into files of their own, which it opens", err)
	}
	if err != nil {
		return nil, fail.OfScript(sc.Name, "", err, "cannot be read: %v", err)
	}
	return b, nil
}

// prepared describes a script to pyenv. It traces the making of an environment.
func (st *Store) prepared(ctx context.Context, of *Of, needs *pyenv.Needs) *pyenv.Script {
	return &pyenv.Script{Name: of.Script.Name, Needs: needs, Making: func() func(error) { return st.o.Making(ctx, of.Skill, of.Script) }}
}

// ofPython returns a *fail.Error for an error of pyenv, and other errors, which are those of ctx, unchanged.
func ofPython(err error) error {
	var e *pyenv.Error
	if !errors.As(err, &e) {
		return err
	}
	return &fail.Error{Code: fail.ExecutionFailed, Reason: e.Reason, Message: e.Message, Err: e}
}

// isPython reports whether a script is run by Python.
func isPython(s *skill.Skill, sc survey.Script) bool {
	return survey.LanguageIn(sc.File, survey.Head(s.FS(), sc.File)) == survey.Python
}
