package script

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
)

// command runs a command that prepares packages, for pyenv or nodeenv. It may write in its own folders only.
func (h *Host) command(ctx context.Context, c *pyenv.Command) (*pyenv.Output, error) {
	for _, dir := range c.Write { // a sandbox lets it write in folders that exist
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	reach := &runner.Reach{Guard: h.guard(), Own: c.Write, Programs: append([]string{c.Path}, c.Programs...), EnvFiles: true,
		Network: preparingNetwork(c.Hosts), Confine: h.confine(""), Limits: runner.Limits{FileSize: c.FileSize}}
	if !paths.Within(c.Write, c.Dir) {
		reach.Read = []string{c.Dir}
	}
	cmd, err := reach.Command(runner.Command{Phase: runner.Prepare, Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Timeout: c.Timeout,
		Grace: grace, MaxStdout: c.MaxStdout})
	if err != nil {
		return nil, err
	}
	out, err := h.o.Runner.Run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	var refused []string
	for _, r := range out.Refused {
		refused = append(refused, strings.TrimSuffix(r.Host, ":443"))
	}
	return &pyenv.Output{Stdout: out.Stdout, Stderr: out.Stderr, ExitCode: out.ExitCode, TimedOut: out.TimedOut, FileTooLarge: out.Signal == runner.FileTooLarge, Refused: refused}, nil
}

// preparingNetwork returns what reaches some hosts. Their addresses may be private: the operator chose them.
func preparingNetwork(hosts []string) runner.Network {
	if slices.Contains(hosts, pyenv.AllHosts) {
		return runner.Network{All: true}
	}
	return runner.Network{Hosts: hosts, Private: hosts, OrAll: true}
}

const askTimeout = 10 * time.Second

// answer runs a program of the operator's that prints a fact about itself. It may read the operator's home: version managers
// keep their choices and programs there.
func (h *Host) answer(ctx context.Context, q *program.Question) (string, error) {
	reach := &runner.Reach{Guard: h.guard(), Own: q.Write, Read: []string{q.Dir}, Programs: []string{q.Path}, Confine: h.confine("")}
	if home := h.operatorHome(); home != "" {
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
