package order

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/agent-base/agent-base/internal/fleet/cause"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// Worker carries orders out.
type Worker struct {
	hosts hosts

	// Key opens the variables of orders. Nil opens none.
	Key *Key

	// Hold keeps the files of a skill where they are until release is called: toolsets need them after their order. Nil: they stay.
	Hold func(context.Context, skill.ID) (release func(), err error)

	// Chosen returns the versions of packages that the sender of an order has chosen, as script.Options has it. Nil: this host chooses alone.
	Chosen func(ctx context.Context, o *Order, key string) ([]byte, error)

	sessions sessions
}

// NewWorker returns a Worker. options returns those of the host of a tenant, of which Granted and Chosen come from the orders. Their Trace gets
// all events; the result of an order has those that its caller asks for.
func NewWorker(options func(tenant string) (*script.Options, error)) *Worker {
	w := &Worker{hosts: hosts{options: options}}
	w.hosts.chosen = func(ctx context.Context, key string) ([]byte, error) {
		if j := jobOf(ctx); j != nil && w.Chosen != nil {
			return w.Chosen(ctx, j.o, key)
		}
		return nil, nil
	}
	return w
}

// job is an order that is carried out.
type job struct {
	o     *Order
	input []byte   // that its digest is about
	env   []string // its variables

	mu     sync.Mutex
	result *Result
	over   bool // the result is complete: toolsets go on

	writing sync.Mutex
	part    Part
	out     func(*Part) error
}

type jobKey struct{}

func jobOf(ctx context.Context) *job {
	j, _ := ctx.Value(jobKey{}).(*job)
	return j
}

// Do carries out an order about the content s and, where the order has the digest of one, the standard input. It checks both, and returns
// the result. out takes the parts of the output, one at a time; while it waits, so does the script. Do closes nothing.
func (w *Worker) Do(ctx context.Context, o *Order, s *skill.Skill, input []byte, out func(*Part) error) *Result {
	r := &Result{Version: Version, Run: o.Run, Attempt: o.Attempt, Worker: o.Worker, Start: o.Start}
	j := &job{o: o, input: input, result: r, part: Part{Run: o.Run}, out: out}
	err := w.do(ctx, j, s)
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	j.writing.Lock()
	r.Parts = j.part.Seq
	j.writing.Unlock()
	if err != nil {
		r.Output, r.Help, r.Hook, r.Answer = nil, nil, nil, nil
		r.Failure = cause.Of(err)
	}
	return r
}

func (w *Worker) do(ctx context.Context, j *job, s *skill.Skill) error {
	o := j.o
	if !o.Until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, o.Until)
		defer cancel()
	}
	ctx = trace.WithParent(trace.WithIdentity(ctx, trace.Identity(o.For)), o.Parent)
	ctx = context.WithValue(ctx, jobKey{}, j)
	if err := ctx.Err(); err != nil {
		return err
	}
	if id, err := s.ID(ctx); err != nil || id.Name != o.Skill.Name || id.Digest != o.Skill.Digest {
		if err == nil {
			err = fmt.Errorf("%q with the digest %s", id.Name, id.Digest)
		}
		return &script.Error{Code: script.PermissionDenied, Reason: script.ReasonChanged, Err: err, Message: fmt.Sprintf("Skill '%s' is not run: what came to the machine that runs it is %v", o.Skill.Name, err)}
	}
	var err error
	if j.env, err = w.Key.open(o); err != nil {
		return &script.Error{Code: script.PermissionDenied, Err: err, Message: fmt.Sprintf("Skill '%s' is not run: its variables cannot be read: %v", o.Skill.Name, err)}
	}
	stdin, err := o.Stdin.data(j.input)
	if err != nil {
		return err
	}
	host, err := w.hosts.of(o.For.Tenant)
	if err != nil {
		return err
	}
	return w.call(ctx, host, j, s, stdin)
}

// call calls what the order is about.
func (w *Worker) call(ctx context.Context, host *host, j *job, s *skill.Skill, stdin []byte) error {
	o, r := j.o, j.result
	switch o.Call {
	case Help:
		help, err := host.Help(ctx, s, script.Script{Name: o.Script.Name, File: o.Script.File}, nil)
		if err == nil {
			r.Help = &HelpText{help.Text, help.Usage, help.Described}
		}
		return err
	case Tools:
		return w.tools(ctx, host, j, s)
	case Tool:
		return w.tool(ctx, host, j, s)
	case Hook:
		h, ok := hookIn(s.Manifest(), o.Hook)
		if !ok {
			return &script.Error{Code: script.PermissionDenied, Message: fmt.Sprintf("Skill '%s' has no such hook for %s", s.Name(), o.Hook.Event)}
		}
		out, err := host.RunHook(ctx, s, &script.HookOptions{Hook: h, Input: stdin, Timeout: o.Timeout})
		if err == nil {
			r.Hook = &HookOutput{ExitCode: out.ExitCode, Stdout: out.Stdout, Cut: out.Cut, Stderr: out.Stderr, Duration: out.Duration, Sandbox: out.Sandbox}
			if out.Missed != nil {
				r.Hook.Missed = cause.Of(out.Missed)
			}
		}
		return err
	}
	run := &script.RunOptions{Args: o.Args, JSON: o.JSON, Timeout: o.Timeout}
	if o.Watch {
		run.Out, run.Err = &stream{j: j}, &stream{j: j, err: true}
	}
	if o.Stdin != nil {
		run.Stdin = bytes.NewReader(stdin)
	}
	out, err := host.Run(ctx, s, script.Script{Name: o.Script.Name, File: o.Script.File}, run)
	if err == nil {
		r.Output = &Output{out.JSON, out.Text, out.Warning, out.Duration, out.Sandbox, out.Wants}
	}
	return err
}

// hookIn returns the hook of a manifest that an order is about, as skilltool starts it.
func hookIn(m *manifest.Manifest, of *HookOf) (manifest.Hook, bool) {
	for _, h := range m.Hooks {
		h.Command = allow.Quoted(h.Command, script.HookFolders()...)
		if h.Event == of.Event && h.Script == of.Script && h.Command == of.Command {
			return h, true
		}
	}
	return manifest.Hook{}, false
}

// data returns standard input; whole is what came for its digest.
func (i *Input) data(whole []byte) ([]byte, error) {
	switch {
	case i == nil:
		return nil, nil
	case i.Digest == "":
		return i.Data, nil
	case int64(len(whole)) != i.Size || digestOf(whole) != i.Digest:
		return nil, &script.Error{Code: script.ExecutionFailed, Message: fmt.Sprintf("Standard input does not come to the machine that runs the script: it is another one: %d bytes", len(whole))}
	}
	return whole, nil
}

// note keeps an event that the caller asks for, and the facts about the command.
func (j *job) note(e *trace.Event) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.over:
	case e.Kind == trace.ScriptRun:
		j.result.Facts = attrsOf(slices.DeleteFunc(slices.Clone(e.Attrs), func(a slog.Attr) bool {
			return slices.Contains([]string{trace.AttrHelp, trace.AttrCode, trace.AttrReason}, a.Key)
		}))
	case slices.Contains(kept, e.Kind) && len(j.result.Events) < maxEvents:
		j.result.Events = append(j.result.Events, Event{e.Time, e.Kind, e.Level, e.Script, e.Message, e.Duration, cause.Of(e.Err), attrsOf(e.Attrs)})
	}
}

// stream makes parts of what is written to it.
type stream struct {
	j   *job
	err bool
}

func (s *stream) Write(p []byte) (int, error) {
	s.j.writing.Lock()
	defer s.j.writing.Unlock()
	for chunk := range slices.Chunk(p, MaxPart) {
		s.j.part.Seq++
		part := s.j.part
		part.Err, part.Data = s.err, chunk
		if err := s.j.out(&part); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
