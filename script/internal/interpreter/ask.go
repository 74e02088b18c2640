package interpreter

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
)

// Options configures a Chooser.
type Options struct {
	Operator *plan.Operator
	Runner   runner.Runner // executes the programs that are asked
	Envs     *envs.Store   // has the packages of scripts
	Cache    string        // absolute folder
}

// Chooser chooses what runs a script. New makes one.
type Chooser struct {
	o        Options
	programs program.Asker
}

const askTimeout = 10 * time.Second

// answer runs a program of the operator's that prints a fact about itself. It may read the operator's home: version managers
// keep their choices and programs there.
func (c *Chooser) answer(ctx context.Context, q *program.Question) (string, error) {
	reach := &runner.Reach{Guard: c.o.Operator.Guard, Own: q.Write, Read: []string{q.Dir}, Programs: []string{q.Path}, Confine: c.o.Operator.Confine}
	if home := c.o.Operator.Guard.Home; home != "" {
		reach.Read = append(reach.Read, home)
	}
	cmd, err := reach.Command(runner.Command{Phase: runner.Prepare, Path: q.Path, Args: q.Args, Dir: q.Dir, Env: q.Env, Timeout: askTimeout, Grace: plan.Grace,
		MaxStdout: program.MaxAnswer})
	if err != nil {
		return "", err
	}
	out, err := c.o.Runner.Run(ctx, cmd)
	switch {
	case err != nil:
		return "", err
	case out.ExitCode != 0 || out.TimedOut:
		return "", program.Failed(q, out.ExitCode, output.Tail(out))
	}
	return output.Text(out.Stdout), nil
}

// Version returns the first line that a program prints for --version. path is absolute. The answer is kept as long as the program
// stays unchanged.
func (c *Chooser) Version(ctx context.Context, path string) (string, error) {
	said, err := c.programs.Ask(ctx, path, "--version")
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return strings.TrimSpace(line), err
}

// stripTypes returns the arguments that node needs to run TypeScript: none since 22.18 and 23.6.
func (c *Chooser) stripTypes(ctx context.Context, path string) ([]string, error) {
	out, err := c.programs.Ask(ctx, path, "--version")
	if err != nil {
		return nil, fmt.Errorf("%s does not say its version: %w", path, err)
	}
	v := strings.TrimPrefix(out, "v")
	is := func(condition string) bool {
		ok, err := pyenv.Satisfies(v, condition)
		return err == nil && ok
	}
	switch {
	case is(">=23.6"), is(">=22.18,<23"):
		return nil, nil
	case is(">=22.6"):
		return []string{"--experimental-strip-types", "--no-warnings=ExperimentalWarning"}, nil
	}
	return nil, fmt.Errorf("%s is node %.40s, which is too old for TypeScript", path, v)
}
