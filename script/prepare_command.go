package script

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/pyenv"
	"github.com/agent-base/agent-base/script/runner"
)

// command runs a command that prepares packages, for pyenv or nodeenv. It may write in its own folders only.
func (h *Host) command(ctx context.Context, c *pyenv.Command) (*pyenv.Output, error) {
	for _, dir := range c.Write { // a sandbox lets it write in folders that exist
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	read := filesNamed(c.Env, c.Write)
	if !paths.Within(c.Write, c.Dir) {
		read = append(read, c.Dir)
	}
	for _, path := range append([]string{c.Path}, c.Programs...) {
		read = append(read, program.Installation(path, h.operatorHome())...)
	}
	out, err := h.o.Runner.Run(ctx, &runner.Command{Phase: runner.Prepare, Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Timeout: c.Timeout,
		Grace: grace, MaxStdout: c.MaxStdout, Limits: runner.Limits{FileSize: c.FileSize},
		Read: paths.Unique(read), Write: slices.Clone(c.Write), Network: preparingNetwork(c.Hosts), Confine: h.confinePrograms()})
	if err != nil {
		return nil, err
	}
	var refused []string
	for _, r := range out.Refused {
		refused = append(refused, strings.TrimSuffix(r.Host, ":443"))
	}
	return &pyenv.Output{Stdout: out.Stdout, Stderr: out.Stderr, ExitCode: out.ExitCode, TimedOut: out.TimedOut, FileTooLarge: out.Signal == fileTooLarge, Refused: refused}, nil
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
	read := append([]string{q.Dir}, program.Installation(q.Path, h.operatorHome())...)
	if home := h.operatorHome(); home != "" {
		read = append(read, home)
	}
	out, err := h.o.Runner.Run(ctx, &runner.Command{Phase: runner.Prepare, Path: q.Path, Args: q.Args, Dir: q.Dir, Read: paths.Unique(read), Write: slices.Clone(q.Write),
		Env: q.Env, Timeout: askTimeout, Grace: grace, MaxStdout: program.MaxAnswer, Confine: h.confinePrograms()})
	switch {
	case err != nil:
		return "", err
	case out.ExitCode != 0 || out.TimedOut:
		return "", program.Failed(q, out.ExitCode, failureTail(out))
	}
	return text(out.Stdout), nil
}

// confinePrograms returns the confinement of the operator's own programs.
func (h *Host) confinePrograms() runner.Confinement { return h.confine("") }

// certificates returns the files and folders of certificates that an environment names.
func certificates(env, except []string) []string {
	return filesNamed(slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !program.NeededByNetwork(name)
	}), except)
}

// filesNamed returns the files and folders that the variables of an environment name, such as SSL_CERT_FILE, except those in
// some folders.
func filesNamed(env, except []string) []string {
	var out []string
	for _, kv := range env {
		_, value, _ := strings.Cut(kv, "=")
		value = strings.TrimPrefix(value, "file://")
		if !filepath.IsAbs(value) || program.OfSystem(value) || value == os.DevNull || paths.Within(except, value) {
			continue
		}
		if _, err := os.Stat(value); err == nil {
			out = append(out, filepath.Clean(value))
		}
	}
	return out
}
