package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/proc"
)

// Times of a worker.
const (
	endTime   = 10 * time.Second       // to end when it is asked to
	firstWait = 500 * time.Millisecond // between its end and the first start after it; then twice as long each time
	mostWait  = 30 * time.Second
	settled   = time.Minute // after which firstWait counts again
)

// Drained is the exit code of a worker of a Fleet that was drained.
const Drained = 20

// supervise keeps one worker running until ctx is done, or it was drained.
func (f *Fleet) supervise(ctx context.Context) {
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		begun := time.Now()
		name, err := f.child(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, dispatch.ErrDrained) {
			f.o.Warn(fmt.Sprintf("worker %s was drained and has ended: no other one starts before this server starts again", name))
			return
		}
		if time.Since(begun) > settled {
			wait = firstWait
		}
		f.o.Meter.Restarted()
		f.o.Warn(fmt.Sprintf("worker %s has ended (%v): another one starts in %s", name, err, wait))
		pause(ctx, wait)
	}
}

// child starts a worker and waits for its end. When ctx is done it asks it to end.
func (f *Fleet) child(ctx context.Context) (name string, err error) {
	now, err := f.session(ctx)
	if err != nil {
		return "", err
	}
	a := Admission{Dir: f.o.Node.Dir, Keys: now.keys}
	if a.Name, a.Seed, err = now.node.LetIn(ctx); err != nil {
		return "", err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return a.Name, err
	}
	cmd := f.o.Command()
	cmd.SysProcAttr = proc.Separate() // a Ctrl-C is for this process, which ends its workers last
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return a.Name, err
	}
	f.o.Meter.Worker(1)
	defer f.o.Meter.Worker(-1)
	group, done := &proc.Group{Cmd: cmd}, make(chan struct{})
	go func() { group.Wait(); close(done) }()
	_, err = in.Write(append(text, '\n')) // it fits into the pipe
	select {
	case <-done:
	case <-ctx.Done():
	}
	_ = in.Close() // it ends when this process does, however that is
	select {
	case <-done:
	case <-time.After(endTime):
		group.Kill()
		<-done
	}
	if cmd.ProcessState.ExitCode() == Drained {
		err = dispatch.ErrDrained
	}
	if err == nil {
		err = errors.New(cmd.ProcessState.String())
	}
	return a.Name, err
}
