package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-base/agent-base/internal/proc"
)

// call is one run of git.
type call struct {
	args      []string // without the program
	dir       string   // the repository; "" is none
	room      string   // the folder whose size is limited; "" is dir
	protocols []string // that git may use; none for a run that reaches nobody
	own       bool     // uses the operator's settings, which have been read
	operator  bool     // reads the operator's configuration, and nothing else does
	token     *Token   // of the host that it reaches; nil if there is none
	send      bool     // the token is sent
	trace     bool     // of http, on stderr
	stdin     []byte
	most      int64    // bytes of stdout that are allowed
	file      *os.File // that stdout goes to instead
	progress  func(Progress)

	quiet time.Duration // in which nothing may come from a server, for a run that reaches one
	short bool          // the whole run may not take longer than quiet: it gets little, and git itself waits long for a connection
}

// grace is how long git may take to remove its temporary files when it is asked to end.
const grace = 2 * time.Second

// failure is git ending with an exit code other than 0.
type failure struct {
	code   int
	stderr string
}

func (f *failure) Error() string { return lastWords(f.stderr) }

// run runs git and returns what it writes. No process of it is left when run returns. The error is a *failure if git ended by
// itself, and otherwise says which limit was passed.
func (c *Client) run(ctx context.Context, k *call) (stdout []byte, stderr string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	streams := proc.NewStreams(k.most, true)
	watch := &watcher{tail: &streams.Stderr, report: k.progress, most: c.o.Limits.Objects, stop: stop}
	cmd := c.command(k)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(k.stdin), &streams.Stdout, watch
	if k.file != nil {
		cmd.Stdout = k.file
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	bounds := &proc.Bounds{Timeout: c.o.Limits.Time, Grace: grace, Full: streams.Full}
	unanswered := k.short && k.quiet < bounds.Timeout
	if unanswered {
		bounds.Timeout = k.quiet
	}
	if k.dir != "" {
		bounds.Room = proc.Room{Folders: []string{cmp.Or(k.room, k.dir)}, Bytes: c.o.Limits.Bytes}
	}
	end, err := proc.Supervise(ctx, &proc.Group{Cmd: cmd}, bounds)
	stderr = string(streams.Stderr.Bytes())
	switch {
	case err != nil:
		return nil, stderr, context.Cause(ctx)
	case end.TimedOut && unanswered:
		return nil, stderr, &silence{k.quiet}
	case end.TimedOut:
		return nil, stderr, &tooMuch{"git took longer than " + c.o.Limits.Time.String()}
	case end.Filled:
		return nil, stderr, c.tooBig()
	case end.Stopped:
		return nil, stderr, &tooMuch{"git listed more than " + bytesText(uint64(k.most))}
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		return nil, stderr, &failure{code, stderr}
	}
	if bounds.Room.Exceeded() { // between two measurements
		return nil, stderr, c.tooBig()
	}
	return streams.Stdout.Bytes(), stderr, nil
}

func (c *Client) tooBig() error {
	return &tooMuch{"it needs more than " + bytesText(c.o.Limits.Bytes) + " on disk"}
}

// command returns a command that has not started.
func (c *Client) command(k *call) *exec.Cmd {
	return &exec.Cmd{
		Path: c.o.Program, Args: append([]string{c.o.Program}, k.args...), Dir: filepath.VolumeName(c.o.Program) + string(filepath.Separator),
		Env: c.environment(k), WaitDelay: proc.WaitDelay, SysProcAttr: proc.Separate(),
	}
}

// Attempts of a run that fails for want of the network, and how long to wait before the second. Each wait is twice as long.
// A server that was silent at the first attempt gets a third of the time at the others.
const (
	attempts  = 3
	firstWait = time.Second
	lessQuiet = 3
	mostQuiet = 3600 // seconds that the operator's configuration may allow
)

// tries runs git where it reaches a server, up to three times if the network fails. Errors are those of this package.
func (c *Client) tries(ctx context.Context, address string, k *call) (stdout []byte, stderr string, err error) {
	wait := firstWait
	k.quiet = c.quiet(k)
	for n := 1; ; n++ {
		if n == 2 {
			k.quiet /= lessQuiet
		}
		stdout, stderr, err = c.run(ctx, k)
		if err == nil || ctx.Err() != nil {
			return stdout, stderr, errors.Join(err, ctx.Err())
		}
		err = explain(address, err, n)
		if !errors.Is(err, ErrNetwork) || n == attempts {
			return nil, stderr, err
		}
		if k.progress != nil {
			k.progress(Progress{Step: fmt.Sprintf("the network failed, attempt %d of %d", n+1, attempts)})
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return nil, stderr, err
		}
		wait *= 2
	}
}

// quiet returns how long nothing may come from a server: what the operator's configuration says, or Options.Quiet.
func (c *Client) quiet(k *call) time.Duration {
	quiet := c.o.Quiet
	if !k.own {
		return quiet
	}
	for _, s := range c.own {
		if seconds, err := strconv.Atoi(s.value); err == nil && s.key == quietKey && seconds > 0 && seconds <= mostQuiet {
			quiet = time.Duration(seconds) * time.Second
		}
	}
	return quiet
}
