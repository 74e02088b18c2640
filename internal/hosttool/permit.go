package hosttool

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// Request is what the user is asked to allow. Its texts come from a model and can contain anything.
type Request struct {
	Call       *permit.Call
	Decision   permit.Decision // why the user is asked
	Path       string          // the file as results show it; "" for a command
	Command    string          // "" for a file
	Background bool            // it goes on when the call has returned
	Existed    bool            // there is a file that is changed or read; otherwise it is new
	Before     []byte          // its content, if it is changed
	After      []byte          // what it becomes
}

// Answer is what the user says to a Request.
type Answer struct {
	Allowed bool
	Why     string // what the user says to the model about a refusal; may be empty
	For     string // how long the answer holds, for the trace: "conversation", "always", or "" for this call
}

// maxApproved is the size in bytes of the longest command, and of the longest change of a special file, that a person is
// asked about.
const maxApproved = 100_000

// decide returns what happens to a call and traces it. A denied call is an error.
func (h *host) decide(ctx context.Context, c *permit.Call, about string) (permit.Decision, error) {
	d := h.o.Decide(ctx, c)
	return d, h.judged(ctx, c, d, about)
}

// judged traces a decision. A denied call is an error.
func (h *host) judged(ctx context.Context, c *permit.Call, d permit.Decision, about string) error {
	h.emit(ctx, trace.Event{Kind: trace.CallDecided, Level: slog.LevelDebug, Tool: c.Tool, Message: string(d.Verdict) + ": " + d.Reason}, c, d)
	if d.Verdict == permit.Denied {
		needs(ctx, c, want.Refused)
		return denied("not_allowed", "%s is not allowed: %s", upper(about), d.Reason)
	}
	return nil
}

// needs tells the watch of the call which file is asked about, or refused.
func needs(ctx context.Context, c *permit.Call, from want.Origin) {
	w := want.Want{Kind: want.Read, Name: c.Path, From: from}
	if c.Kind == permit.Edit {
		w.Kind = want.Write
	}
	if c.Path != "" {
		tool.Notify(ctx, tool.Event{Kind: tool.EventNeeds, Need: w})
	}
}

// approve asks the user about a call if the decision says so.
func (h *host) approve(ctx context.Context, r *Request, about string) error {
	if r.Decision.Verdict != permit.Asked {
		return nil
	}
	if h.o.Approve == nil {
		cure := ""
		if h.o.Cure != nil {
			cure = "; " + h.o.Cure(r.Call)
		}
		return denied(tool.ReasonNotApproved, "%s needs the user's approval, because %s, and nobody can be asked here%s", upper(about), r.Decision.Reason, cure)
	}
	if size := max(len(r.Command), len(r.After)); size > maxApproved && (r.Command != "" || r.Call.Special != "") {
		return &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("%s needs approval, and a text of %d bytes is too long to approve; the limit is %d", upper(about), size, maxApproved)}
	}
	needs(ctx, r.Call, "")
	answer, err := h.o.Approve(ctx, r)
	h.emit(ctx, asked(r.Call.Tool, answer, err), r.Call, r.Decision)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if why := answer.Refusal(about, err); why != "" {
		return denied(tool.ReasonNotApproved, "%s", why)
	}
	return nil
}

// Refusal returns the sentence for the model about an answer that does not allow a call, "" for one that does. about names the call,
// and err says why the user could not be asked.
func (a Answer) Refusal(about string, err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("The user could not be asked about %s: %v", about, err)
	case !a.Allowed && a.Why != "":
		return fmt.Sprintf("The user did not allow %s, and says: %s", about, a.Why)
	case !a.Allowed:
		return "The user did not allow " + about
	}
	return ""
}

// upper begins a sentence.
func upper(about string) string { return strings.ToUpper(about[:1]) + about[1:] }

// asked is the event of an answer.
func asked(name string, a Answer, err error) trace.Event {
	e := trace.Event{Kind: trace.ToolAsked, Tool: name, Err: err, Message: "the user allowed the call"}
	said := "allowed"
	if !a.Allowed {
		said, e.Level, e.Message = "denied", slog.LevelWarn, "the user did not allow the call"
	}
	if a.For != "" {
		said += " for " + a.For
	}
	e.Attrs = []slog.Attr{slog.String(trace.AttrAnswer, said)}
	return e
}

// emit traces an event about a call with the rule that decided.
func (h *host) emit(ctx context.Context, e trace.Event, c *permit.Call, d permit.Decision) {
	if c.Path != "" {
		e.Attrs = append(e.Attrs, slog.String(trace.AttrPath, c.Path))
	}
	if d.Rule.Text != "" {
		e.Attrs = append(e.Attrs, slog.String(trace.AttrRule, d.Rule.String()))
	}
	trace.Emit(ctx, h.o.Trace, e)
}

// permitCommand returns nil if a command may run.
func (h *host) permitCommand(ctx context.Context, c *permit.Call, background bool) (permit.Decision, error) {
	d, err := h.decide(ctx, c, "this command")
	if err == nil {
		err = h.approve(ctx, &Request{Call: c, Decision: d, Command: c.Command, Background: background}, "this command")
	}
	return d, err
}

// permitRead returns nil if a file may be read.
func (h *host) permitRead(ctx context.Context, p *place, keep *secrecy) error {
	about := fmt.Sprintf("reading '%s'", p.shown)
	info, err := p.root.Lstat(p.name())
	if err != nil {
		info = noFile{}
	}
	c, d := h.decideRead(ctx, p, info, keep)
	if err := h.judged(ctx, c, d, about); err != nil {
		return err
	}
	return h.approve(ctx, &Request{Call: c, Decision: d, Path: p.shown, Existed: true}, about)
}

// noFile describes a file that is not there.
type noFile struct{ os.FileInfo }

func (noFile) Sys() any { return nil }

func readOf(p *place) *permit.Call {
	return &permit.Call{Tool: "read_file", Kind: permit.Read, Path: p.abs()}
}
