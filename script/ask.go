package script

import (
	"context"
	"time"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
)

const askTimeout = 10 * time.Second

// answer runs a program of the operator's that prints a fact about itself. It may read the operator's home: version managers
// keep their choices and programs there.
func (h *Host) answer(ctx context.Context, q *program.Question) (string, error) {
	reach := &runner.Reach{Guard: h.guard(), Own: q.Write, Read: []string{q.Dir}, Programs: []string{q.Path}, Confine: h.confine("")}
	if home := plan.UserHome(h.o.Env); home != "" {
		reach.Read = append(reach.Read, home)
	}
	cmd, err := reach.Command(runner.Command{Phase: runner.Prepare, Path: q.Path, Args: q.Args, Dir: q.Dir, Env: q.Env, Timeout: askTimeout, Grace: grace,
		MaxStdout: program.MaxAnswer})
	if err != nil {
		return "", err
	}
	out, err := h.o.Runner.Run(ctx, cmd)
	switch {
	case err != nil:
		return "", err
	case out.ExitCode != 0 || out.TimedOut:
		return "", program.Failed(q, out.ExitCode, output.Tail(out))
	}
	return output.Text(out.Stdout), nil
}
