package envs

import (
	"context"
	"errors"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/fail"
)

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
