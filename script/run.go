package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// Admit decides, before anything of a skill runs, whether its content may run. It returns the skill to run: s itself, or a
// copy of it (see Host.Seal), which is closed after the run. Sweep removes nothing until then.
type Admit func(ctx context.Context, s *skill.Skill) (*skill.Skill, error)

// RunOptions says how a script is called.
type RunOptions struct {
	Args    []string
	JSON    JSONMode      // "" means the host's
	Timeout time.Duration // 0 means the host's
	Env     []string      // NAME=value to set for this run; each name must pass, by the manifest or a grant, else PermissionDenied
	Admit   Admit         // nil: the skill runs
	Denied  runner.Denied // further rules about files, such as those of active skills
	// Stdin is the standard input of the script; nil for an empty one. It is read while the script runs, and a Read that waits does not
	// hold Run up: it may return after Run.
	Stdin io.Reader
	// Out and Err get what the script writes to its standard output and standard error as it comes, without secrets. A Write that blocks
	// holds the script up. Nil means nobody.
	Out, Err io.Writer
}

// Result is the answer of a script: either JSON or text.
type Result struct {
	JSON     json.RawMessage // one compact document; nil for text
	Text     string          // valid UTF-8, without colours
	Warning  string          // that Text was truncated, and the Note of the grant
	Duration time.Duration
	Sandbox  runner.Sandbox // what confined the script; its Tier is "off" if nothing did

	// Wants has what a script that did not fail was kept from, as its output or the proxy shows. Warning says it.
	Wants want.Set
}

// CheckArgs checks the number and length of arguments and refuses NUL in them. It returns an *Error with code tool.ArgsTooLarge,
// or with ExecutionFailed and fail.ReasonArgument for NUL.
func CheckArgs(args []string) error {
	if len(args) > MaxArgs {
		return &Error{Code: fail.ArgsTooLarge, Message: fmt.Sprintf("Too many arguments: %d (max %d)", len(args), MaxArgs)}
	}
	total := 0
	for i, a := range args {
		total += len(a)
		if strings.ContainsRune(a, 0) {
			return &Error{Code: ExecutionFailed, Reason: fail.ReasonArgument,
				Message: fmt.Sprintf("Argument %d holds a NUL character, which no program can be given: leave it out", i+1)}
		}
	}
	if total > MaxArgBytes {
		return &Error{Code: fail.ArgsTooLarge, Message: fmt.Sprintf("Arguments too large: %d bytes (max %d)", total, MaxArgBytes)}
	}
	return nil
}

// Run executes the script and returns its output. A nil o means no arguments. The error is an *Error, or that of ctx if ctx
// is done. The skill must lie in a real folder; otherwise nothing runs and the error wraps skill.ErrNoFolder.
func (h *Host) Run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	if o == nil {
		o = &RunOptions{}
	}
	ctx, ended := Traced(ctx, h.o.Trace, s, sc, false)
	c := &run.Call{Asked: h.asked(s, sc, o.Timeout), Env: o.Env, Input: run.NewFeed(o.Stdin), Out: o.Out, Err: o.Err}
	c.Args, c.Denied = slices.Clone(o.Args), o.Denied
	defer c.Input.End()
	done := &run.Done{}
	res, err := h.run(ctx, c, o, &done)
	ended(err, done.Facts...)
	return res, err
}

func (h *Host) run(ctx context.Context, c *run.Call, o *RunOptions, done **run.Done) (*Result, error) {
	if err := CheckArgs(o.Args); err != nil {
		return nil, err
	}
	mode := cmp.Or(o.JSON, h.o.JSON, JSONAuto)
	if err := mode.check(); err != nil {
		return nil, &Error{Code: ExecutionFailed, Reason: fail.ReasonArgument, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", c.Script.Name, err)}
	}
	c.StopAtMax = mode == JSONYes
	err := h.engine.Admitted(ctx, c, o.Admit, func() (err error) {
		addJSON(c, mode)
		*done, err = h.engine.Run(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result(c, *done, mode)
}

// Seal copies the files that the skill's Digest covers to a read-only folder in Options.Cache and opens the copy. The copy
// keeps the approved content even if the skill is changed later. The caller must close the copy.
// Sweep may remove it, unless Seal is called by Admit. The error is that of ctx or an *Error, with ReasonChanged if the
// files of the skill have changed since its Digest was computed.
func (h *Host) Seal(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	sealed, err := s.Seal(ctx, h.places.Sealed())
	switch {
	case errors.Is(err, skill.ErrChanged):
		return nil, &Error{Code: PermissionDenied, Reason: ReasonChanged, Err: err,
			Message: fmt.Sprintf("Skill '%s' has changed since it was loaded: its scripts are not run", s.Name())}
	case err != nil:
		return nil, fail.ToCopy(ctx, s.Name(), err)
	}
	return sealed, nil
}

// Admitted calls work with the skill that admit returns, and closes a copy after that. Sweep removes nothing until then.
func (h *Host) Admitted(ctx context.Context, s *skill.Skill, admit Admit, work func(*skill.Skill) error) error {
	c := &run.Call{Asked: h.asked(s, Script{}, 0)}
	return h.engine.Admitted(ctx, c, admit, func() error { return work(c.Skill) })
}

// CheckStdin checks the length of a text that a script is to get on its standard input: at most 1 MiB. It returns an *Error with
// code tool.ArgsTooLarge.
func CheckStdin(text string) error {
	if len(text) > runner.MaxStdin {
		return &Error{Code: fail.ArgsTooLarge, Message: fmt.Sprintf("Standard input too large: %d bytes (max %d)", len(text), runner.MaxStdin)}
	}
	return nil
}

// result returns what a run's output means.
func result(c *run.Call, done *run.Done, mode JSONMode) (res *Result, err error) {
	out := done.Out
	res = &Result{Duration: out.Duration, Warning: done.Note, Sandbox: *out.Sandbox}
	if done.Missed != nil {
		res.Wants = done.Missed.Wants()
		res.Warning = run.Joined(res.Warning, "the script was kept from the network: "+done.Missed.Cause.Error())
	}
	switch mode {
	case JSONYes:
		res.JSON, err = document(out, c.MaxStdout)
		return res, err
	case JSONAuto:
		if res.JSON = collection(out); res.JSON != nil {
			return res, nil
		}
	}
	res.Text = output.Text(out.Stdout)
	if out.Truncated {
		cut := fmt.Sprintf("output truncated at %d bytes, %d were dropped", c.MaxStdout, out.Total-int64(len(out.Stdout)))
		res.Warning = run.Joined(res.Warning, cut)
	}
	return res, nil
}

// collection returns stdout if it is one JSON object or array, else nil.
func collection(out *runner.Output) json.RawMessage {
	if out.Truncated {
		return nil
	}
	doc, err := output.Document(out.Stdout)
	if err != nil || doc[0] != '{' && doc[0] != '[' {
		return nil
	}
	return doc
}

// document returns stdout as one JSON document.
func document(out *runner.Output, limit int64) (json.RawMessage, error) {
	if out.Truncated {
		return nil, &Error{Code: ParseError, Stdout: output.Said(out), Sandbox: out.Sandbox,
			Message: fmt.Sprintf("Expected JSON output, but it was truncated at %d bytes%s", limit, output.StderrTail(out))}
	}
	doc, err := output.Document(out.Stdout)
	if err != nil {
		return nil, &Error{Code: ParseError, Err: err, Stdout: output.Said(out), Sandbox: out.Sandbox,
			Message: fmt.Sprintf("Expected JSON output, got: %s%s", firstRunes(output.Text(out.Stdout), 200), output.StderrTail(out))}
	}
	return doc, nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
