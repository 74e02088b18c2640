package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
)

// DefaultLife is how long a program that serves a skill may run if Streams.Life is 0.
const DefaultLife = 24 * time.Hour

// serveCPU is the processor time that such a program may use.
const serveCPU = time.Hour

// Streams is what a program that serves a skill is connected with. The fields are those of script.ServeOptions.
type Streams struct {
	Fill    func(dir string, value func(string) (string, bool)) (args []string, env map[string]string, err error)
	In      io.ReadCloser
	Out     io.WriteCloser
	Err     io.Writer
	Life    time.Duration
	Started func(*Serving)
}

// Serving is what is known about a program that is about to start.
type Serving struct {
	Dir    string           // the skill's folder for this run, absolute
	Redact *redact.Redactor // replaces the secrets that the program was given, in what it says
	Limits runner.Limits

	// Lacked says what the program lacked when a call of it failed, by the arguments of the call and its answer: a host, a file, a
	// variable, a package. It returns nil if that is not known. It is safe for concurrent use.
	Lacked func(ctx context.Context, args, answer string) *fail.Error

	// Regranted reports whether the user has changed, since the start, what the skill is granted: only another start has that.
	Regranted func(context.Context) bool
}

// Served is what became of a program that served a skill.
type Served struct {
	ExitCode int
	Signal   string // that ended it; "" for none
	Limit    string // which limit it passed, as a clause in brackets; "" for none
	Stderr   []byte // its last 64 KiB, without secrets
	Stdout   int64  // bytes that it wrote
	Duration time.Duration
	Sandbox  runner.Sandbox
	Reached  []string         // HOST:PORT that it reached, the first 20
	Refused  []runner.Refusal // what it was kept from, the first 20
	Cause    *fail.Error      // what it lacked, if it ended with an exit code; nil if that is not known
}

// Serve runs the program c.Serves until it ends or ctx is done. Served is not nil if it was started.
func (e *Engine) Serve(ctx context.Context, c *Call, s *Streams) (*Served, error) {
	a, err := e.begin(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := e.o.Interpreters.Program(ctx, a.of, &a.r.Start, c.Serves, c.Timeout); err != nil {
		return nil, err
	}
	if err := a.settle(ctx); err != nil {
		return nil, err
	}
	defer a.place.Remove()
	cmd, err := a.serveCommand(s)
	if err != nil {
		return nil, err
	}
	if s.Started != nil {
		s.Started(a.serving(cmd))
	}
	out, err := e.o.Runner.Run(ctx, cmd)
	a.place.Lasting.Settle(cmd, out)
	if out == nil {
		return nil, a.judge(ctx, cmd, out, err)
	}
	clean(out, a.secrets())
	a.traceNetwork(ctx, out)
	out.Sandbox = out.Sandbox.OrNone()
	served := &Served{ExitCode: out.ExitCode, Signal: out.Signal, Limit: strings.TrimSpace(signalHint(out, cmd)), Stderr: out.Stderr, Stdout: out.Total,
		Duration: out.Duration, Sandbox: *out.Sandbox, Reached: out.Reached, Refused: out.Refused}
	if out.ExitCode != 0 {
		served.Cause = a.lacked(ctx, cmd, out)
	}
	if out.TimedOut {
		served.Limit = fmt.Sprintf("(it ran for %s)", fail.Seconds(cmd.Timeout))
	}
	if len(out.Undone) > 0 {
		return served, a.undone(cmd, out)
	}
	return served, err
}

// serveCommand returns the command of the program.
func (a *attempt) serveCommand(s *Streams) (*runner.Command, error) {
	name := a.c.Serves.Name
	if s.Fill != nil {
		env := a.r.Environment(a.o)
		var err error
		a.r.Args, a.r.Given, err = s.Fill(a.r.Dir, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if err != nil {
			failed := &fail.Error{Code: fail.ExecutionFailed, Err: err, Message: fmt.Sprintf("%s is not started: %v", name, err)}
			if own, ok := errors.AsType[*fail.Error](err); ok {
				failed.Wants = own.Wants
			}
			return nil, failed
		}
	}
	for variable := range a.r.Given {
		if err := plan.CheckGrant(variable); err != nil {
			return nil, &fail.Error{Code: fail.PermissionDenied, Err: err, Message: fmt.Sprintf("%s sets a variable that cannot be set: %v", name, err)}
		}
	}
	cmd, err := a.command()
	if err != nil {
		return nil, err
	}
	cmd.In, cmd.Out, cmd.Err, cmd.MaxStdout = s.In, s.Out, s.Err, 0
	cmd.Timeout, cmd.Limits.CPU = cmp.Or(max(s.Life, 0), DefaultLife), serveCPU
	return cmd, nil
}

// serving returns what is known about a program that is about to start. From then on the command says what confines it.
func (a *attempt) serving(cmd *runner.Command) *Serving {
	var held atomic.Pointer[runner.Sandbox]
	cmd.Started = held.Store
	granted := *a.r.Grant
	return &Serving{
		Dir: a.r.Dir, Redact: a.secrets(), Limits: cmd.Limits,
		Lacked: func(ctx context.Context, args, answer string) *fail.Error {
			one, run := *a, *a.r
			one.r, run.Args = &run, []string{args}
			return one.lacked(ctx, cmd, &runner.Output{Stderr: []byte(answer[max(0, len(answer)-output.MaxSaid):]), ExitCode: 1, Sandbox: held.Load().OrNone()})
		},
		Regranted: func(ctx context.Context) bool {
			now, err := a.e.Granted(ctx, a.c.Skill)
			return err == nil && !reflect.DeepEqual(now, granted)
		},
	}
}

// lacked says what a program that serves a skill lacked when it failed, by what it wrote; nil if that is not known.
func (a *attempt) lacked(ctx context.Context, cmd *runner.Command, out *runner.Output) *fail.Error {
	grant, err := a.e.Granted(ctx, a.c.Skill)
	if err != nil {
		return nil
	}
	known := a.known(ctx, cmd, out, plan.Packages(&grant))
	f := explain.Explain(ctx, known)
	clauses := f.Clauses()
	if len(clauses) == 0 {
		return nil
	}
	return &fail.Error{Code: fail.ExecutionFailed, Reason: f.Reason, Err: f.Cause, Wants: f.Wants(), Sandbox: out.Sandbox, Message: strings.Join(clauses, "; ")}
}
