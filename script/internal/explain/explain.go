// Package explain says why a run of a script failed, and what one that did not fail was kept from: by what it wrote, what was
// refused to it, and what the files of its skill show. It runs nothing and changes nothing.
package explain

import (
	"context"
	"slices"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// Wants returns what the script lacked.
func (f *Finding) Wants() want.Set {
	out := want.Each(want.Variable, want.Seen, slices.Concat(f.withheld, f.unset)...)
	if lacks, ok := f.Cause.(interface{ wants() want.Set }); ok {
		out = out.Add(lacks.wants()...)
	}
	return out
}

// ChangesSkill reports whether the script failed because it changes a file of its skill.
func (f *Finding) ChangesSkill() bool {
	b, ok := f.Cause.(*refusedFile)
	return ok && b.Own
}

// MayAgain notes of a script that changes a file of its skill that the next run of it may.
func (f *Finding) MayAgain() {
	if b, ok := f.Cause.(*refusedFile); ok {
		b.Again = true
	}
}

// Explain finds out why a script ended with an exit code. The first cause that its output shows counts.
func Explain(ctx context.Context, r *Run) *Finding {
	if m := r.missing(); m != nil && r.Script.File != "" {
		r.completeModule(ctx, m)
		return &Finding{Reason: fail.ReasonModule, Cause: m}
	}
	if o := r.otherTemp(); o != nil {
		return &Finding{Reason: fail.ReasonBlocked, Cause: o}
	}
	if b := blocked(r.Cmd, r.Out, r.Here); b != nil {
		if slices.ContainsFunc(r.Rules, func(d runner.Denied) bool { return d.Denies(b.Path, b.Write) }) {
			b = &refusedFile{Path: b.Path, Write: b.Write, Rule: true}
		}
		return &Finding{Reason: fail.ReasonBlocked, Cause: b}
	}
	f := &Finding{}
	u := r.unreached()
	f.withheld, f.unset = r.lacking()
	if u != nil {
		f.Reason, f.Cause = fail.ReasonNetwork, u
	} else if r.AddedJSON && refusesJSON(r.Out) {
		f.Reason = fail.ReasonJSON
	} else if a := r.above(ctx); a != nil && len(f.withheld)+len(f.unset) == 0 {
		f.Cause = a
	}
	return f
}

// Missed returns what a script that did not fail was kept from, or a hook, whose exit code is an answer; nil for nothing.
func Missed(r *Run) *Finding {
	f := &Finding{}
	if u := r.missedNetwork(); u != nil {
		f.Reason, f.Cause = fail.ReasonNetwork, u
	} else if r.Hook && r.Out.ExitCode != 0 {
		f.withheld, f.unset = r.lacking()
	}
	if f.Cause == nil && len(f.withheld)+len(f.unset) == 0 {
		return nil
	}
	return f
}

// Undone returns why a command failed that changed what no command may change. Whatever else it did does not matter.
func Undone(cmd *runner.Command, out *runner.Output) *Finding {
	b := undoneAt(cmd, &out.Undone[0])
	b.recorded = true
	return &Finding{Reason: fail.ReasonBlocked, Cause: b}
}

// Text is what the finding adds to the message of a failure.
func (f *Finding) Text() string {
	if f.Reason == fail.ReasonModule {
		return ". " + f.Cause.Error()
	}
	text := ""
	for _, clause := range f.Clauses() {
		text += " (" + clause + ")"
	}
	return text
}

// Clauses says what was found out; nothing if that is nothing.
func (f *Finding) Clauses() []string {
	var out []string
	if f.Cause != nil {
		out = append(out, f.Cause.Error())
	}
	if text := lackingText(f.withheld, f.unset); text != "" {
		out = append(out, text)
	}
	return out
}
