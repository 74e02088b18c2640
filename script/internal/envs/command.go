package envs

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
)

// command runs a command that prepares packages, for pyenv or nodeenv. It may write in its own folders only.
func (st *Store) command(ctx context.Context, c *pyenv.Command) (*pyenv.Output, error) {
	for _, dir := range c.Write { // a sandbox lets it write in folders that exist
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	reach := &runner.Reach{Guard: st.o.Guard, Own: c.Write, Programs: append([]string{c.Path}, c.Programs...), EnvFiles: true,
		Network: preparingNetwork(c.Hosts), Confine: st.o.Confine, Limits: runner.Limits{FileSize: c.FileSize}}
	if !paths.Within(c.Write, c.Dir) {
		reach.Read = []string{c.Dir}
	}
	cmd, err := reach.Command(runner.Command{Phase: runner.Prepare, Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Timeout: c.Timeout,
		Grace: plan.Grace, MaxStdout: c.MaxStdout})
	if err != nil {
		return nil, err
	}
	out, err := st.o.Runner.Run(ctx, cmd)
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
