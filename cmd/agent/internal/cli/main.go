package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/trust"
)

// Main runs the command that sys.Args names and returns its exit code. It never panics on bad input and leaves the
// process as it was, so that it can be called again.
func Main(ctx context.Context, sys *System) Exit {
	ctx, stop := signal.NotifyContext(ctx, ends()...)
	defer stop()
	streams := ui.New(sys.In, sys.Out, sys.Err, &ui.Options{Getenv: sys.getenv})
	out := bufio.NewWriterSize(sys.Out, 64<<10)
	streams.Out = out
	a := &app{sys: sys, ui: streams, flush: out.Flush, trustSet: &atomic.Pointer[trust.Set]{}}
	root := rootCommand(a)
	root.SetArgs(sys.Args)
	root.SetIn(sys.In)
	root.SetOut(out)
	root.SetErr(sys.Err)
	err := root.ExecuteContext(ctx)
	if flushed := out.Flush(); err == nil && flushed != nil {
		err = flushed
	}
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && !errors.As(err, new(*failure)) {
		err = context.Canceled
	}
	f := explain(err)
	a.tell(f)
	return f.exit
}

// ends are the signals that end the command: without those that whoever started it, such as nohup, wants ignored.
func ends() []os.Signal {
	list := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGHUP}, signal.Ignored)
	return append(list, syscall.SIGTERM) // never empty: that would mean all signals
}

// tell says on stderr why the command failed, and what to do.
func (a *app) tell(f *failure) {
	if f.said {
		return
	}
	if a.wantsJSON() {
		type body struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Hint    string `json:"hint,omitempty"`
		}
		said := map[string]body{"error": {f.code, f.err.Error(), f.hint}}
		_ = document(a.ui.Err, a.ui.ErrTerminal, func(w io.Writer) error { return writeJSON(w, said) })
		return
	}
	a.ui.Error(f.err)
	a.ui.Hint(f.hint)
}

// wantsJSON looks at the arguments themselves, since a command line that cannot be parsed has an error to report too.
func (a *app) wantsJSON() bool {
	args := a.sys.Args
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
