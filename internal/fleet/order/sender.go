package order

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// SenderOptions configures a Sender. Host and Send are required.
type SenderOptions struct {
	// Host admits and seals skills on this machine, and says of a script without a help of its own what it is. It runs nothing.
	Host *script.Host

	// Send has an order carried out and returns its result. s is the content that it is about, and is closed after that. out takes the
	// parts of the output, in their order. Send returns an error if it is not known what became of the order. Standard input that is too long
	// for an order is in Input.Whole.
	Send func(ctx context.Context, o *Order, s *skill.Skill, out func(*Part) error) (*Result, error)

	Granted    func(context.Context, *skill.Skill) (script.Grant, error) // as script.Options has it
	AlwaysHelp bool                                                      // likewise
	Trace      trace.Tracer                                              // may be nil
}

// Sender runs what skills bring on another machine: it is a skilltool.Scripts. What a call has of this machine stays here: the decision
// whether the content runs, the rules about files of the user, which a worker does not have, and who reads the output.
type Sender struct{ o SenderOptions }

// NewSender returns a Sender.
func NewSender(o *SenderOptions) *Sender { return &Sender{*o} }

// Seal is that of the host.
func (s *Sender) Seal(ctx context.Context, sk *skill.Skill) (*skill.Skill, error) {
	return s.o.Host.Seal(ctx, sk)
}

// Run is script.Host.Run on another machine. Variables of the caller are not sent, since an order may be stored.
func (s *Sender) Run(ctx context.Context, sk *skill.Skill, sc script.Script, o *script.RunOptions) (*script.Result, error) {
	if o == nil {
		o = &script.RunOptions{}
	}
	ctx, ended := script.Traced(ctx, s.o.Trace, sk, sc, false)
	r, err := s.run(ctx, sk, sc, o)
	ended(err, r.facts()...)
	if err != nil {
		return nil, err
	}
	out := r.Output
	return &script.Result{JSON: out.JSON, Text: out.Text, Warning: out.Warning, Duration: out.Duration, Sandbox: out.Sandbox, Wants: out.Wants}, nil
}

func (s *Sender) run(ctx context.Context, sk *skill.Skill, sc script.Script, o *script.RunOptions) (*Result, error) {
	if err := script.CheckArgs(o.Args); err != nil {
		return nil, err
	}
	if len(o.Env) > 0 {
		return nil, &script.Error{Code: script.PermissionDenied, Message: fmt.Sprintf("Script %s is not run: a call that sets variables is not sent to another machine", sc.Name)}
	}
	stdin, err := input(ctx, o.Stdin)
	if err != nil {
		return nil, err
	}
	return s.send(ctx, sk, o.Admit, &Order{Call: Run, Script: &Script{sc.Name, sc.File}, Args: o.Args, JSON: o.JSON, Timeout: o.Timeout, Stdin: stdin, Watch: o.Out != nil || o.Err != nil},
		func(p *Part) error { return write(p, o.Out, o.Err) })
}

// write gives a part to who reads it.
func write(p *Part, out, err io.Writer) error {
	to := out
	if p.Err {
		to = err
	}
	if to == nil {
		return nil
	}
	_, failed := to.Write(p.Data)
	return failed
}

// Help is script.Host.Help on another machine.
func (s *Sender) Help(ctx context.Context, sk *skill.Skill, sc script.Script, o *script.HelpOptions) (*script.HelpText, error) {
	if o == nil {
		o = &script.HelpOptions{}
	}
	ctx, ended := script.Traced(ctx, s.o.Trace, sk, sc, true)
	var r *Result
	help, err := s.describe(ctx, sk, sc)
	if help == nil && err == nil {
		r, err = s.send(ctx, sk, o.Admit, &Order{Call: Help, Script: &Script{sc.Name, sc.File}}, nil)
		if err == nil {
			help = &script.HelpText{Text: r.Help.Text, Usage: r.Help.Usage, Described: r.Help.Described}
		}
	}
	ended(err, r.facts()...)
	return help, err
}

func (s *Sender) describe(ctx context.Context, sk *skill.Skill, sc script.Script) (*script.HelpText, error) {
	if s.o.AlwaysHelp {
		return nil, nil
	}
	return script.Describe(ctx, sk, sc)
}

// RunHook is script.Host.RunHook on another machine.
func (s *Sender) RunHook(ctx context.Context, sk *skill.Skill, o *script.HookOptions) (*script.HookOutput, error) {
	if err := script.CheckStdin(string(o.Input)); err != nil {
		return nil, err
	}
	begun := time.Now()
	r, err := s.send(ctx, sk, o.Admit, &Order{Call: Hook, Hook: &HookOf{o.Hook.Event, o.Hook.Script, o.Hook.Command}, Timeout: o.Timeout, Stdin: inputOf(o.Input)}, nil)
	if !r.has(trace.HookRun) { // it did not come so far
		name := "hook " + o.Hook.Event
		trace.Emit(ctx, s.o.Trace, trace.Event{Kind: trace.HookRun, Level: slog.LevelDebug, Skill: sk.Canonical(), Script: name, Duration: time.Since(begun), Message: "Ran " + name, Err: err})
	}
	if err != nil {
		return nil, err
	}
	return r.Hook.answer(), nil
}

// send has an order carried out for the skill that admit returns. The result is one of the call, without a failure.
func (s *Sender) send(ctx context.Context, sk *skill.Skill, admit script.Admit, o *Order, out func(*Part) error) (r *Result, err error) {
	if out == nil {
		out = func(*Part) error { return nil }
	}
	err = s.o.Host.Admitted(ctx, sk, admit, func(admitted *skill.Skill) error {
		if err := s.complete(ctx, admitted, o); err != nil {
			return err
		}
		var err error
		sent := time.Now()
		r, err = s.o.Send(ctx, o, admitted, out)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return &script.Error{Code: script.ExecutionFailed, Err: err, Message: fmt.Sprintf("It is not known what became of a call of skill '%s': %v", sk.Name(), err)}
		}
		if err := r.of(o); err != nil {
			r = nil
			return &script.Error{Code: script.ExecutionFailed, Err: err, Message: "Another machine answered what it was not asked: " + err.Error()}
		}
		s.report(ctx, admitted, sent, r)
		return r.Failure.Err()
	})
	return r, err
}

// complete fills in what each order has.
func (s *Sender) complete(ctx context.Context, sk *skill.Skill, o *Order) (err error) {
	o.Version, o.Run, o.For = Version, rand.Text(), Identity(trace.IdentityOf(ctx))
	o.Parent = trace.ParentOf(ctx)
	o.Until, _ = ctx.Deadline()
	if o.Skill, err = sk.ID(ctx); err != nil {
		return err
	}
	grant := script.Grant{Declared: true}
	if s.o.Granted != nil {
		if grant, err = s.o.Granted(ctx, sk); err != nil {
			return err
		}
	}
	if o.Grant, err = grantOf(&grant, sk.Manifest()); err != nil {
		return &script.Error{Code: script.PermissionDenied, Err: err, Message: fmt.Sprintf("Skill '%s' is not run: %v", sk.Name(), err)}
	}
	return o.Check()
}

// input reads standard input whole. It does not wait for a Read when ctx is done.
func input(ctx context.Context, from io.Reader) (*Input, error) {
	if from == nil {
		return nil, nil
	}
	type all struct {
		data []byte
		err  error
	}
	done := make(chan all, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(from, runner.MaxStdin+1))
		done <- all{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case read := <-done:
		if err := script.CheckStdin(string(read.data)); err != nil {
			return nil, err
		}
		return inputOf(read.data), nil // what came before an error is all that there is, as for a script here
	}
}

// inputOf returns standard input for an order.
func inputOf(data []byte) *Input {
	if len(data) <= MaxInline {
		return &Input{Data: data}
	}
	return &Input{Digest: digestOf(data), Size: int64(len(data)), Whole: data}
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// report passes the events of a worker on that are of a run, as those of this skill since it was sent.
func (s *Sender) report(ctx context.Context, sk *skill.Skill, sent time.Time, r *Result) {
	for _, e := range r.Events[:min(len(r.Events), maxEvents)] {
		if !slices.Contains(kept, e.Kind) {
			continue
		}
		if e.Time.Before(sent) || e.Time.After(time.Now()) { // the clocks differ
			e.Time = time.Now()
		}
		trace.Emit(ctx, s.o.Trace, trace.Event{Time: e.Time, Kind: e.Kind, Level: e.Level, Skill: sk.Canonical(), Script: e.Script, Message: e.Message,
			Duration: e.Duration, Err: e.Error.Err(), Attrs: attrs(e.Attrs)})
	}
}
