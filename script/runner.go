package script

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"time"
)

// Runner executes one command. It returns an error only when the command could not be started;
// what a started command did is in the Output. It must be safe for concurrent use, must end the
// command when ctx ends or its timeout passes, and must not let its output grow without bound.
type Runner interface {
	Run(context.Context, *Command) (*Output, error)
}

// RunnerFunc makes a Runner of a function.
type RunnerFunc func(context.Context, *Command) (*Output, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, c *Command) (*Output, error) { return f(ctx, c) }

// Command is one process to run: no shell, an argument list.
type Command struct {
	Path      string   // absolute
	Args      []string // Args[0] is what the program is told as its name
	Dir       string
	Env       []string // the whole environment
	Timeout   time.Duration
	Grace     time.Duration // between TERM and KILL
	MaxStdout int64         // bytes kept of stdout
	StopAtMax bool          // end the process when stdout passes MaxStdout
	Limits    Limits
}

// Limits are the resource limits of a process and its children. Zero leaves one alone.
type Limits struct {
	FileSize  uint64        // bytes of one file
	OpenFiles uint64        // descriptors
	CPU       time.Duration // processor time
}

// Output is what a command did.
type Output struct {
	Stdout    []byte
	Total     int64  // bytes of stdout, with those that were dropped
	Stderr    []byte // its last 64 KiB
	ExitCode  int    // -1 when a signal ended it
	TimedOut  bool
	Stopped   bool // ended because of StopAtMax
	Truncated bool // stdout passed MaxStdout
	Duration  time.Duration
}

const stderrKept = 64 << 10

// Exec is the plain Runner: a process in a session of its own, which is ended with the call.
type Exec struct{}

// Run executes c.
func (Exec) Run(ctx context.Context, c *Command) (*Output, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
	defer cancel()
	overflow := make(chan struct{})
	stdout := &head{max: c.MaxStdout}
	if c.StopAtMax {
		stdout.full = func() { close(overflow) }
	}
	stderr := &tail{max: stderrKept}
	cmd := exec.Command(c.Path)
	cmd.Args, cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Args, c.Dir, c.Env, stdout, stderr
	cmd.WaitDelay = 2 * time.Second
	separate(cmd)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	limit(cmd.Process.Pid, c.Limits)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	out := &Output{}
	err := await(ctx, cmd, done, overflow, c.Grace, out)
	kill(cmd) // children that are left
	out.Stdout, out.Total, out.Truncated = stdout.buf.Bytes(), stdout.total, stdout.total > c.MaxStdout
	out.Stderr, out.Duration = stderr.bytes(), time.Since(start)
	out.ExitCode = cmd.ProcessState.ExitCode()
	if err != nil && !errors.Is(context.Cause(ctx), errTimeout) && ctx.Err() != nil {
		return out, ctx.Err()
	}
	return out, nil
}

var errTimeout = errors.New("script timed out")

// await waits for the process, and ends it when its time is up.
func await(ctx context.Context, cmd *exec.Cmd, done <-chan error, overflow <-chan struct{}, grace time.Duration, out *Output) error {
	select {
	case err := <-done:
		return err
	case <-overflow:
		out.Stopped = true
	case <-ctx.Done():
		out.TimedOut = errors.Is(context.Cause(ctx), errTimeout)
	}
	terminate(cmd)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	kill(cmd)
	return <-done
}

// head keeps the first max bytes and counts the rest.
type head struct {
	buf   bytes.Buffer
	max   int64
	total int64
	full  func()
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.max - int64(h.buf.Len()); room > 0 {
		h.buf.Write(p[:min(int64(len(p)), room)])
	}
	h.total += int64(len(p))
	if h.total > h.max && h.full != nil {
		h.full()
		h.full = nil
	}
	return len(p), nil
}

// tail keeps the last max bytes.
type tail struct {
	buf []byte
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) >= t.max {
		t.buf = append(t.buf[:0], p[len(p)-t.max:]...)
		return n, nil
	}
	if over := len(t.buf) + len(p) - 2*t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.max:]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tail) bytes() []byte { return t.buf[max(0, len(t.buf)-t.max):] }
