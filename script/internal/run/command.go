package run

import (
	"slices"

	"github.com/agent-base/agent-base/internal/keyagent"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// command returns the command of the attempt, after it has put what goes with that in its folders.
func (a *attempt) command() (*runner.Command, error) {
	o, r := a.e.o.Operator, a.r
	var err error
	if plan.Writes(r.Grant) {
		if r.GitConfig, err = identity(o, r.Root); err != nil {
			return nil, err
		}
	}
	user := &keyagent.User{Home: o.Guard.Home, Getenv: o.Getenv}
	if r.Keys, err = user.Give(r.Grant.Given.Named(want.Socket), r.Work); err != nil {
		return nil, err
	}
	a.done.note(r.Settle(a.o))
	r.In = a.c.Input.input()
	cmd, err := r.Command(a.o)
	if err != nil {
		return nil, err
	}
	a.watch(cmd)
	return cmd, nil
}

// watch has the caller get what the script writes, as it comes and without secrets.
func (a *attempt) watch(cmd *runner.Command) {
	if a.c.Out == nil && a.c.Err == nil {
		return
	}
	secrets := a.secrets()
	if a.c.Out != nil {
		cmd.Out = runner.Watched(secrets.Writer(a.c.Out))
	}
	if a.c.Err != nil {
		cmd.Err = secrets.Writer(a.c.Err)
	}
}

// secrets returns what replaces in texts what the attempt was given and must not be printed.
func (a *attempt) secrets() *redact.Redactor {
	return plan.Secrets(a.r.Passes, slices.Concat(a.e.o.Operator.Env, a.o.Env), a.r.Given)
}
