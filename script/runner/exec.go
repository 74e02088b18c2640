package runner

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/proc"
)

// Exec is a Runner that starts a process in a session of its own without a terminal. Its process group is killed when the
// call ends. The zero value is ready to use.
type Exec struct{}

// Run executes c. It refuses one without an absolute Path and Dir, a list of arguments and a timeout.
func (Exec) Run(ctx context.Context, c *Command) (*Output, error) {
	defer c.CloseIn()
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Layer != nil {
		return nil, ErrNoLayer
	}
	streams := proc.NewStreams(c.MaxStdout, c.StopAtMax)
	env := c.Env
	if env == nil {
		env = []string{} // nil would mean the environment of this process
	}
	begun := time.Now()
	var input *proc.Input
	cmd, err := start(func() *exec.Cmd {
		cmd := &exec.Cmd{
			Path: c.Path, Args: c.Args, Dir: c.Dir, Env: env, Stdin: c.Input(), Stdout: streams.Into(c.Out), Stderr: streams.ErrInto(c.Err),
			WaitDelay: proc.WaitDelay, SysProcAttr: proc.Separate(),
		}
		input = proc.NewInput(cmd, c.In)
		return cmd
	}, c.Limits)
	if err != nil {
		return nil, err
	}
	input.Begin()
	defer input.End()
	end, err := proc.Supervise(ctx, &proc.Group{Cmd: cmd}, &proc.Bounds{
		Timeout: c.Timeout, Clock: c.Clock, Grace: c.Grace, Full: streams.Full,
		Room: proc.Room{Folders: c.Own, Stored: c.Stored, Bytes: c.Limits.Disk, Files: c.Limits.Files},
	})
	out := newOutput(streams, end)
	out.Duration = time.Since(begun) - c.Clock.Stood()
	out.ExitCode, out.Signal = ending(cmd.ProcessState)
	return out, err
}

// Check returns an error for a command without an absolute Path and Dir, a list of arguments and a timeout, or with too much
// standard input. Runners call it
// before they start anything.
func (c *Command) Check() error {
	if !filepath.IsAbs(c.Path) || !filepath.IsAbs(c.Dir) || len(c.Args) == 0 || c.Timeout <= 0 {
		return fmt.Errorf("command %q needs an absolute path, an absolute working directory, an argument list and a timeout", c.Path)
	}
	if c.In != nil && c.Stdin != nil {
		return fmt.Errorf("command %q has both Stdin and In", c.Path)
	}
	if len(c.Stdin) > MaxStdin {
		return fmt.Errorf("command %q has %d bytes of standard input, at most %d are allowed", c.Path, len(c.Stdin), MaxStdin)
	}
	return nil
}

// newOutput returns the Output of a process that has ended, with what it wrote and why it was asked to end.
func newOutput(s *proc.Streams, e proc.Ending) *Output {
	return &Output{
		Stdout: s.Stdout.Bytes(), Total: s.Stdout.Total(), Truncated: s.Stdout.Truncated(), Stderr: s.Stderr.Bytes(),
		TimedOut: e.TimedOut, Stopped: e.Stopped, Filled: e.Filled,
	}
}
