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
	ctx, stop := untilSignal(ctx)
	defer stop()
	streams := ui.New(sys.In, sys.Out, sys.Err, &ui.Options{Getenv: sys.Getenv})
	out := bufio.NewWriterSize(sys.Out, 64<<10)
	streams.Out = out
	of := *sys
	of.Context = ctx
	services := app.New(&of, &setup.Flags{}, streams)
	root := newRootCommand(services)
	root.SetArgs(sys.Args)
	root.SetIn(sys.In)
	root.SetOut(out)
	root.SetErr(sys.Err)
	err := root.ExecuteContext(trace.WithIdentity(ctx, trace.Identity{Agent: "user"})) // until a conversation begins
	services.Served.Close()
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

// untilSignal returns a context that the first signal to end the command cancels, and a function that releases it. The second
// signal changes nothing: a terminal and npm, or timeout(1), send two for one wish, and the command has to clean up. The third
// ends the process, whatever it is busy with.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	got := make(chan os.Signal, 2)
	signal.Notify(got, ends()...)
	done := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case <-got:
				cancel()
			case <-done:
				return
			}
		}
		signal.Stop(got)
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(got)
		close(done)
		cancel()
	})
}

// ends returns the signals that end the command. It leaves out those that are ignored, for example because of nohup.
func ends() []os.Signal {
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
