package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/trace"
)

// Main runs the command that sys.Args names and returns its exit code. It never panics on bad input and changes nothing in
// the process, so it can be called again.
func Main(ctx context.Context, sys *setup.System) failure.Exit {
	ctx, ends := untilSignal(ctx)
	defer ends.release()
	streams := ui.New(sys.In, sys.Out, sys.Err, &ui.Options{Getenv: sys.Getenv})
	out := bufio.NewWriterSize(sys.Out, 64<<10)
	streams.Out = out
	of := *sys
	of.Context, of.Interrupt, of.Stop = ctx, ends.interrupt, stop
	services := app.New(&of, &setup.Flags{}, streams)
	root := newRootCommand(services)
	root.SetArgs(sys.Args)
	root.SetIn(sys.In)
	root.SetOut(out)
	root.SetErr(sys.Err)
	caller := trace.WithParent(ctx, sys.Getenv("TRACEPARENT"))
	err := root.ExecuteContext(trace.WithIdentity(caller, trace.Identity{Agent: "user"})) // until a conversation begins
	services.Served.Close()
	services.Settings.Close()
	if recorded := services.Observe.Close(ctx); err == nil {
		err = recorded
	}
	if flushed := out.Flush(); err == nil && flushed != nil {
		err = flushed
	}
	if err == nil {
		return failure.ExitOK
	}
	if ctx.Err() != nil && !errors.As(err, new(*failure.Error)) {
		err = context.Canceled
	}
	f := failure.Explain(excluding(err))
	report(services, f)
	return f.Exit
}

// ending ends the command when a signal comes.
type ending struct {
	release func()

	mu   sync.Mutex
	work context.CancelFunc // what Ctrl-C ends in place of the command; nil: nothing
}

// untilSignal returns a context that the first signal to end the command cancels, and what releases it. The second
// signal changes nothing: a terminal and npm, or timeout(1), send two for one wish, and the command has to clean up. The third
// ends the process, whatever it is busy with. A Ctrl-C that ends some work alone does not count.
func untilSignal(ctx context.Context) (context.Context, *ending) {
	ctx, cancel := context.WithCancel(ctx)
	got := make(chan os.Signal, 2)
	signal.Notify(got, signalsToEnd()...)
	done := make(chan struct{})
	e := &ending{release: sync.OnceFunc(func() {
		signal.Stop(got)
		close(done)
		cancel()
	})}
	go func() {
		for n := 0; n < 2; {
			select {
			case s := <-got:
				if s != syscall.SIGINT || !e.endWork() {
					n++
					cancel()
				}
			case <-done:
				return
			}
		}
		signal.Stop(got)
	}()
	return ctx, e
}

// interrupt returns a context that the next Ctrl-C ends in place of the command, and a function that releases it. A second Ctrl-C ends
// the command: the work may not listen.
func (e *ending) interrupt(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.work = cancel
	return ctx, func() { e.endWork() }
}

// endWork ends the work that Ctrl-C ends in place of the command. It reports whether there is some.
func (e *ending) endWork() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	work := e.work
	if e.work = nil; work != nil {
		work()
	}
	return work != nil
}

// signalsToEnd returns the signals that end the command. It leaves out those that are ignored, for example because of nohup.
func signalsToEnd() []os.Signal {
	list := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGHUP}, signal.Ignored)
	return append(list, syscall.SIGTERM) // never empty: that would mean all signals
}

// report prints to stderr why the command failed, and what to do.
func report(s *app.Services, f *failure.Error) {
	if f.Silent {
		return
	}
	if wantsJSON(s.Sys.Args) {
		s.Out.JSONError(f)
		return
	}
	s.Out.Error(f.Err)
	s.Out.Hint(f.Hint)
}

// wantsJSON reports whether the arguments have --json. It also works for a command line that cannot be parsed.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// Host returns the System of this process.
func Host() *setup.System {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) { // the settings report it
		home = ""
	}
	dir, _ := os.Getwd()
	return &setup.System{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Environ: os.Environ(), Home: home, Dir: dir, Temp: os.TempDir(),
		LookPath: exec.LookPath, Now: time.Now,
		Policy: policy.Read, Account: account,
	}
}

// account returns the home that the machine's list of users has for this one.
func account() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	return u.HomeDir
}
