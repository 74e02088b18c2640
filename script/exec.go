package script

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// waitDelay is how long Exec waits for pipes that a process left behind holds open after the command has ended.
const waitDelay = 2 * time.Second

// Exec is a Runner that starts a process in a session of its own without a terminal. Its process group is killed when the
// call ends. The zero value is ready to use.
type Exec struct{}

// Run executes c. It refuses one without an absolute Path and Dir, a list of arguments and a timeout.
func (Exec) Run(ctx context.Context, c *Command) (*Output, error) {
	if !filepath.IsAbs(c.Path) || !filepath.IsAbs(c.Dir) || len(c.Args) == 0 || c.Timeout <= 0 {
		return nil, fmt.Errorf("command %q needs an absolute path, an absolute working directory, an argument list and a timeout", c.Path)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	full := make(chan struct{})
	stdout := &headBuffer{max: c.MaxStdout}
	if c.StopAtMax {
		stdout.full = func() { close(full) }
	}
	stderr := &tailBuffer{max: stderrKept}
	env := c.Env
	if env == nil {
		env = []string{} // nil would mean the environment of this process
	}
	begun := time.Now()
	cmd, err := start(func() *exec.Cmd {
		return &exec.Cmd{
			Path: c.Path, Args: c.Args, Dir: c.Dir, Env: env, Stdout: stdout, Stderr: stderr,
			WaitDelay: waitDelay, SysProcAttr: separate(),
		}
	}, c.Limits)
	if err != nil {
		return nil, err
	}
	out := &Output{}
	err = supervise(ctx, c, &group{cmd: cmd}, full, out)
	out.Stdout, out.Total, out.Truncated = stdout.buf, stdout.total, stdout.total > c.MaxStdout
	out.Stderr, out.Duration = stderr.bytes(), time.Since(begun)
	out.ExitCode, out.Signal = ending(cmd.ProcessState)
	return out, err
}

// supervise waits for the command and ends it when its time is over. It returns the error of ctx.
func supervise(ctx context.Context, c *Command, g *group, full <-chan struct{}, out *Output) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.wait()
	}()
	timer := time.NewTimer(c.Timeout)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-full:
		out.Stopped = true
	case <-timer.C:
		out.TimedOut = true
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.terminate()
	timer.Reset(c.Grace)
	select {
	case <-done:
	case <-timer.C:
		g.kill()
		<-done
	}
	return err
}

const stderrKept = 64 << 10 // bytes of stderr that an Output has at most

// headBuffer keeps the first max bytes and counts the rest.
type headBuffer struct {
	buf   []byte
	max   int64
	total int64
	full  func() // called once when more than max has come; may be nil
}

// Write never fails, so the process that writes is never blocked.
func (h *headBuffer) Write(p []byte) (int, error) {
	if room := h.max - int64(len(h.buf)); room > 0 {
		h.buf = append(h.buf, p[:min(int64(len(p)), room)]...)
	}
	h.total += int64(len(p))
	if h.total > h.max && h.full != nil {
		h.full()
		h.full = nil
	}
	return len(p), nil
}

// tailBuffer keeps the last max bytes; it never holds more than twice as many.
type tailBuffer struct {
	buf []byte
	max int
}

// Write never fails.
func (t *tailBuffer) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-t.max):]
	if len(t.buf)+len(p) > 2*t.max {
		keep := t.bytes()
		t.buf = t.buf[:copy(t.buf, keep)]
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tailBuffer) bytes() []byte { return t.buf[max(0, len(t.buf)-t.max):] }
