package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill"
)

// answerPrompt runs agent -p: one prompt, its answer on stdout, its steps on stderr.
func answerPrompt(ctx context.Context, o *Options) error {
	s := o.Services
	prompt, err := o.wholePrompt(ctx)
	if err != nil {
		return err
	}
	found, err := s.Models.Find(ctx, o.Model)
	if err != nil {
		return err
	}
	s.Skills.FollowBelow()
	HideExamples(s, found.String(), prompt)
	cat, err := skillsOrNone(ctx, s)
	if err != nil {
		return err
	}
	var approver *app.TerminalApprover
	out := &printer{out: s.Out, o: o}
	if s.Approver.There() {
		approver = app.NewChatApprover(out.ask)
	}
	var now atomic.Pointer[skill.Catalog]
	now.Store(cat)
	w, err := newWorker(ctx, o, found, now.Load, approver)
	if err != nil {
		return err
	}
	w.refresh = func(ctx context.Context) error {
		next, err := now.Load().Refresh(ctx)
		now.Store(next)
		return err
	}
	s.Out.WarnCuts(w.plan.Prefix())
	w.sayContext()
	defer w.close(ctx)
	typed := o.Prompt
	if typed == "-" {
		typed = ""
	}
	sayLocal(s.Out, found)
	for _, text := range w.keep.said {
		s.Out.Remark(text)
	}
	out.w, w.watch = w, out.live.watch
	if o.JSON && o.Stream {
		prefix := w.prefix()
		if err := s.Out.JSONLine(eventJSON{Type: "start", Model: found.String(), Prefix: &prefix}); err != nil {
			return err
		}
	}
	answer, err := out.follow(ctx, w.ask(ctx, prompt, typed))
	if err != nil && !app.ReplayStopped(err) {
		return err
	}
	if err := out.end(answer); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return ended(answer)
}

// HideExamples has skills that are only examples hidden from a model, but not from a replay, which shows them, and not those
// that the prompt names.
func HideExamples(s *app.Services, model, prompt string) {
	if !strings.HasPrefix(model, "replay/") {
		s.Skills.HideExamples(prompt)
	}
}

// sayLocal names the model on stderr if none was chosen and a local server was found: it gets the prompt.
func sayLocal(out *app.Printer, found *models.Found) {
	if found.Local {
		out.Remark(fmt.Sprintf("no model is set: asking %s, %s", found, found.Origin))
	}
}

// ended returns an error for a turn that ended without an answer.
func ended(answer *agent.Answer) error {
	why := func(exit app.Exit, text, hint string) error {
		return &app.Failure{Exit: exit, Code: string(answer.Stop), Hint: hint, Err: fmt.Errorf("%s", text)}
	}
	switch answer.Stop {
	case agent.Empty:
		return why(app.ExitFailure, "the model gave no answer", "ask again, or use another --model")
	case agent.Length:
		text, hint := "the answer was cut off at the model's limit", "ask for less at once, or set answerTokens"
		if answer.Cut > 0 {
			text = fmt.Sprintf("the answer was cut at %d tokens", answer.Cut)
		}
		return why(app.ExitFailure, text, hint)
	case agent.Refused:
		return why(app.ExitDenied, "the model declined to answer", "")
	case agent.Turns:
		return why(app.ExitFailure, "stopped after "+app.Count(answer.Turns, "request"), "raise --max-turns or the setting maxTurns")
	case agent.Tokens:
		return why(app.ExitFailure, fmt.Sprintf("stopped after %d tokens", answer.Usage.Input+answer.Usage.Output), "raise the setting maxTokens")
	case agent.Time:
		return why(app.ExitTimeout, "stopped: the time for one prompt is over", "raise the setting maxTime")
	}
	return nil
}

// printer shows the steps of one prompt.
type printer struct {
	out   *app.Printer
	o     *Options
	w     *worker
	calls []callJSON
	line  bool // the last text that was streamed did not end its line
	live  live
}

// ask asks the user at the terminal, on a new line.
func (p *printer) ask(ctx context.Context, q *ui.Question) (string, error) {
	if err := p.endLine(); err != nil {
		return "", err
	}
	return p.o.Services.Approver.Answer(ctx, q)
}

// callJSON is one call in the output of agent -p --json.
type callJSON struct {
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	Success  bool            `json:"success"`
	Error    string          `json:"error,omitempty"`
	Message  string          `json:"message,omitempty"`
	Millis   int64           `json:"duration_ms"`
	SubAgent bool            `json:"sub_agent,omitempty"`
	User     bool            `json:"user,omitempty"` // no model called: the prompt began with /NAME
}

// follow shows each step as it arrives and returns the answer. If nothing arrives for a second it shows what it waits for, and on a
// terminal the last line of a command that runs.
func (p *printer) follow(ctx context.Context, steps iter.Seq2[agent.Step, error]) (*agent.Answer, error) {
	next, stop := iter.Pull2(steps)
	defer stop()
	waiting := "waiting for " + p.w.found.String()
	for {
		var step agent.Step
		var failed error
		more := false
		wait := func() error { step, failed, more = next(); return nil }
		if p.line || p.o.JSON {
			_ = wait()
		} else {
			_ = p.out.BusyLive(waiting, p.live.last, wait)
		}
		if !more || ctx.Err() != nil { // after Ctrl-C there is no answer
			return nil, ctx.Err()
		}
		if err := p.step(step); err != nil {
			return nil, err
		}
		switch {
		case step.Done != nil:
			return step.Done, failed
		case step.Call != nil:
			waiting = chat.CallText(step.Call)
		default:
			waiting = "waiting for " + p.w.found.String()
		}
	}
}

func (p *printer) step(s agent.Step) error {
	if s.Result != nil {
		p.calls = append(p.calls, p.callOf(s))
	}
	switch {
	case p.o.JSON && p.o.Stream:
		return p.stepJSON(s)
	case p.o.JSON:
		return nil
	}
	switch {
	case s.Text != "" && s.Depth == 0 && p.o.Stream:
		p.line = !strings.HasSuffix(s.Text, "\n")
		if err := p.out.Foreign(s.Text); err != nil {
			return err
		}
		return p.out.Flush()
	case s.Result != nil:
		return errors.Join(p.note(p.callLine(s)), p.diff(s))
	case s.Notice != "":
		return p.note(ui.Safe(ui.Line(s.Notice)))
	}
	return nil
}

// note prints a line to stderr, unless --quiet is given.
func (p *printer) note(text ui.Safe) error {
	if err := p.endLine(); err != nil || p.out.Quiet() {
		return err
	}
	out := *p.out.Streams
	out.Out = p.out.Err
	out.Printf("%s %s\n", p.out.Paint(ui.Dim, "·"), text)
	return nil
}

// diff prints to stderr how a call changed a file, unless --quiet is given.
func (p *printer) diff(s agent.Step) error {
	if p.out.Quiet() {
		return nil
	}
	out := *p.out.Streams
	out.Out = p.out.Err
	for _, line := range changed(s.Result) {
		text := ui.DiffLine(line)
		if p.out.Cursor {
			text = ui.Truncate(text, max(p.out.Width, 40)-3)
		}
		out.Printf("  %s\n", p.out.Paint(ui.DiffStyle(line), text))
	}
	return nil
}

// endLine ends a line of streamed text before something else is printed.
func (p *printer) endLine() error {
	if !p.line {
		return nil
	}
	p.line = false
	if err := p.out.Foreign("\n"); err != nil {
		return err
	}
	return p.out.Flush()
}

// callLine describes a call and its outcome: in one line for a terminal, and otherwise with the lines of a failure below it.
func (p *printer) callLine(s agent.Step) ui.Safe {
	r := s.Result.Result
	outcome, rest := "ok", ""
	if !r.Success {
		outcome = string(r.Error) + ": " + r.Message
	}
	if !p.out.Cursor {
		outcome, rest, _ = strings.Cut(strings.TrimRight(outcome, "\r\n"), "\n")
	}
	indent := strings.Repeat("  ", s.Depth)
	text := ui.Line(fmt.Sprintf("%s%s  %s, %s", indent, chat.CallText(s.Result.Call), outcome, took(r.Duration)))
	if p.out.Cursor {
		return ui.Safe(ui.Truncate(text, max(p.out.Width, 40)-3))
	}
	for line := range strings.Lines(rest) {
		text += "\n    " + indent + ui.Line(strings.TrimRight(line, "\r\n"))
	}
	return ui.Safe(text)
}

// took formats a duration for people.
func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func (p *printer) callOf(s agent.Step) callJSON {
	r := s.Result.Result
	return callJSON{Tool: s.Result.Call.Name, Args: s.Result.Call.Args, Success: r.Success, Error: string(r.Error),
		Message: r.Message, Millis: r.Duration.Milliseconds(), SubAgent: s.Depth > 0, User: s.Result.Call == p.w.byUser}
}

// stepJSON prints one step as a line of JSON; the end of the answer is printed by end.
func (p *printer) stepJSON(s agent.Step) error {
	var line any
	switch {
	case s.Text != "":
		line = eventJSON{Type: "text", Depth: s.Depth, Text: s.Text}
	case s.Call != nil:
		line = eventJSON{Type: "call", Depth: s.Depth, ID: s.Call.ID, Tool: s.Call.Name, Args: s.Call.Args}
	case s.Result != nil:
		call := p.callOf(s)
		line = eventJSON{Type: "result", Depth: s.Depth, ID: s.Result.Call.ID, Call: &call}
	case s.Usage != nil:
		line = eventJSON{Type: "usage", Depth: s.Depth, Usage: s.Usage}
	case s.Notice != "":
		line = eventJSON{Type: "notice", Depth: s.Depth, Text: s.Notice}
	default:
		return nil
	}
	return p.out.JSONLine(line)
}

// eventJSON is one line of agent -p --stream --json. The first is "start", the last "end".
type eventJSON struct {
	Type   string          `json:"type"`            // start, text, call, result, usage, notice, end
	Depth  int             `json:"depth,omitempty"` // 1 and more: a sub-agent's
	Model  string          `json:"model,omitempty"` // of start
	Prefix *prefixJSON     `json:"prefix,omitempty"`
	Text   string          `json:"text,omitempty"`
	ID     string          `json:"id,omitempty"` // joins a call and its result
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Call   *callJSON       `json:"call,omitempty"` // of result
	Usage  *llm.Usage      `json:"usage,omitempty"`
	Run    *runJSON        `json:"run,omitempty"` // of end

	Conversation *string `json:"conversation,omitempty"` // of end: what --resume takes; "" if it was not saved
}

// runJSON is a whole run in the output of agent -p --json.
type runJSON struct {
	Answer string     `json:"answer"`
	Stop   agent.Stop `json:"stop"`
	Model  string     `json:"model"`
	Turns  int        `json:"turns"`
	Usage  llm.Usage  `json:"usage"`
	Skills []string   `json:"skills"` // active at the end
	Calls  []callJSON `json:"calls"`
	Prefix prefixJSON `json:"prefix"`

	Conversation string `json:"conversation"` // what --resume takes; "" if it was not saved
}

// prefixJSON is what every request begins with, in estimated tokens.
type prefixJSON struct {
	System int `json:"system_tokens"`
	Tools  int `json:"tools_tokens"`
}

// end prints the answer.
func (p *printer) end(answer *agent.Answer) error {
	switch {
	case p.o.JSON:
		run := runJSON{Answer: answer.Text, Stop: answer.Stop, Model: p.w.found.String(), Turns: answer.Turns, Usage: answer.Usage,
			Skills: p.w.active(), Calls: p.calls, Prefix: p.w.prefix(), Conversation: p.w.keep.id()}
		if run.Calls == nil {
			run.Calls = []callJSON{}
		}
		if p.o.Stream {
			return p.out.JSONLine(eventJSON{Type: "end", Run: &run, Conversation: &run.Conversation})
		}
		return p.out.JSON(run)
	case p.o.Stream:
		return p.endLine()
	case answer.Text == "":
		return nil
	}
	return p.out.Foreign(strings.TrimRight(answer.Text, "\n") + "\n")
}
