package worker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/markup"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
)

// answerPrompt runs agent -p: one prompt, its answer on stdout, its steps on stderr.
func answerPrompt(ctx context.Context, o *Options) error {
	prompt, err := o.wholePrompt(ctx)
	if err != nil {
		return err
	}
	p := newPrinter(o, prompt)
	var approver *consent.Approver
	if o.Services.Approver.There() {
		approver, p.asks = consent.NewChatApprover(p.ask), true
	}
	return p.with(ctx, approver, func() error {
		typed := o.Prompt
		if typed == "-" {
			typed = ""
		}
		before := len(p.w.conversation.Messages())
		answer, err := p.follow(ctx, p.w.ask(ctx, prompt, typed))
		if err != nil && !failure.ReplayStopped(err) {
			return p.w.onward(before, err)
		}
		if err := p.end(answer, stream.Line{}); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		return p.w.onward(before, ended(answer))
	})
}

// onward adds to the error of a prompt what goes on with it. Before it there were so many messages: if nothing was answered, there is
// nothing to go on with, and neither if it is not saved.
func (w *worker) onward(before int, err error) error {
	if err == nil || w.keep.id() == "" || len(w.conversation.Messages()) < before+2 || errors.Is(err, context.Canceled) {
		return err
	}
	f := failure.Explain(err)
	if f.Exit != failure.ExitDenied {
		f.Hint = strings.TrimPrefix(f.Hint+`; agent -c -p "go on" continues`, "; ")
	}
	return f
}

// with makes the worker, and calls work with it.
func (p *printer) with(ctx context.Context, approver *consent.Approver, work func() error) (err error) {
	s := p.o.Services
	var now atomic.Pointer[skill.Catalog]
	w, err := openWorker(ctx, p.o, approver, p.prompt, func(cat *skill.Catalog) (func() *skill.Catalog, func(context.Context) error) {
		now.Store(cat)
		return now.Load, func(ctx context.Context) error {
			next, err := now.Load().Refresh(ctx)
			now.Store(next)
			return err
		}
	})
	if err != nil {
		return err
	}
	defer w.close(ctx)
	sayLocal(s.Out, w.found)
	for _, text := range append(w.keep.said, w.before("again")) {
		if text != "" {
			s.Out.Remark(text)
		}
	}
	p.w, w.watch, w.oneByOne = w, p.live.watch, p.asks
	if p.o.JSON {
		w.watch = nil
	}
	if p.o.JSON && p.o.Stream {
		p.lines = stream.NewWriter(func(l stream.Line) error { return p.out.JSONLine(l) })
		defer func() { err = errors.Join(err, p.lines.Close()) }()
		w.watch = p.lines.Event
		prefix := w.prefix()
		id := w.keep.coming(w.id)
		if err := p.lines.Write(stream.Line{Type: "start", Format: stream.Format, Model: w.found.String(), Prefix: &prefix, Conversation: &id}); err != nil {
			return err
		}
		if err := p.begun(); err != nil {
			return err
		}
	}
	return work()
}

// openWorker makes the worker of a conversation ready. open gets the skills that it begins with, and returns what has the present ones, and
// what brings those up to date.
func openWorker(ctx context.Context, o *Options, approver *consent.Approver, prompt string,
	open func(*skill.Catalog) (now func() *skill.Catalog, refresh func(context.Context) error)) (*worker, error) {
	s := o.Services
	s.Skills.FollowBelow()
	found, err := s.Models.Find(ctx, o.Model)
	if err != nil {
		return nil, err
	}
	s.Served.Await(approver != nil && !o.Asked)
	HideExamples(s, found.String(), prompt)
	cat, err := skillsOrNone(ctx, s)
	if err != nil {
		return nil, err
	}
	now, refresh := open(cat)
	w, err := newWorker(ctx, o, found, now, approver)
	if err != nil {
		return nil, err
	}
	w.refresh = refresh
	s.Out.WarnCuts(w.plan.Prefix())
	w.sayContext()
	return w, nil
}

// HideExamples has skills that are only examples hidden from a model, but not from a replay, which shows them, and not those
// that the prompt names.
func HideExamples(s *app.Services, model, prompt string) {
	if !strings.HasPrefix(model, "replay/") {
		s.Skills.HideExamples(prompt)
	}
}

// sayLocal names the model on stderr if none was chosen and a local server was found: it gets the prompt.
func sayLocal(out *output.Printer, found *models.Found) {
	if found.Local {
		out.Remark(fmt.Sprintf("no model is set: asking %s, %s", found, found.Origin))
	}
}

// ended returns an error for a turn that ended without an answer.
func ended(answer *agent.Answer) error {
	why := func(exit failure.Exit, text, hint string) error {
		return &failure.Error{Exit: exit, Code: string(answer.Stop), Hint: hint, Err: fmt.Errorf("%s", text)}
	}
	switch answer.Stop {
	case agent.Empty:
		return why(failure.ExitFailure, "the model gave no answer", "ask again, or use another --model")
	case agent.Length:
		text, hint := "the answer was cut off at the model's limit", "ask for less at once, or set answerTokens"
		if answer.Cut > 0 {
			text = fmt.Sprintf("the answer was cut at %d tokens", answer.Cut)
		}
		return why(failure.ExitFailure, text, hint)
	case agent.Refused:
		return why(failure.ExitDenied, "the model declined to answer", "")
	case agent.Turns:
		return why(failure.ExitFailure, "stopped after "+output.Count(answer.Turns, "request"), "raise --max-turns or the setting maxTurns")
	case agent.Tokens:
		text := fmt.Sprintf("stopped after %d tokens", answer.Usage.Charged())
		if answer.Usage.CacheRead > 0 {
			text += ", with those from the provider's cache counted as a tenth"
		}
		return why(failure.ExitFailure, text, "raise the setting maxTokens")
	case agent.Time:
		return why(failure.ExitTimeout, "stopped: the time for one prompt is over", "raise the setting maxTime")
	}
	return nil
}

// printer shows the steps of one prompt.
type printer struct {
	out    *output.Printer
	o      *Options
	w      *worker
	prompt string         // the first one
	lines  *stream.Writer // with --stream --json
	calls  []stream.Call
	began  time.Time // the turn
	cost   float64   // of the turn, in US dollars
	asks   bool      // questions stand between the lines
	line   bool      // the last text that was streamed did not end its line
	flow   markup.Flow
	live   live
}

func newPrinter(o *Options, prompt string) *printer {
	p := &printer{out: o.Services.Out, o: o, prompt: prompt}
	if p.out.Colour {
		p.flow.Paint = func(sgr, text string) string { return p.out.Styled(ui.Style(sgr), text) }
	}
	return p
}

// ask asks the user at the terminal, on a new line.
func (p *printer) ask(ctx context.Context, q *ui.Question) (string, error) {
	if err := p.endLine(); err != nil {
		return "", err
	}
	return p.o.Services.Approver.Answer(ctx, q)
}

// follow shows each step as it arrives and returns the answer. If nothing arrives for a second it shows what it waits for, and on a
// terminal the last line of a command that runs.
func (p *printer) follow(ctx context.Context, steps iter.Seq2[agent.Step, error]) (*agent.Answer, error) {
	next, stop := iter.Pull2(steps)
	defer stop()
	p.calls, p.began, p.cost = nil, p.o.Services.Sys.Now(), 0
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
		p.calls = append(p.calls, p.callOf(&s))
	}
	if s.Usage != nil {
		p.cost += p.w.prices(&s).Of(*s.Usage)
	}
	switch {
	case p.lines != nil:
		return p.stepJSON(s)
	case p.o.JSON:
		return nil
	}
	switch {
	case s.Text != "" && s.Depth == 0 && p.o.Stream:
		return p.text(s.Text)
	case s.Result != nil:
		return errors.Join(p.note(p.callLine(s)), p.diff(s), p.steps(s))
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

// text prints a piece of the answer: as rows on a terminal, and elsewhere as it is.
func (p *printer) text(s string) error {
	if room := p.room(); room > 0 {
		p.line = true
		return p.rows(p.flow.Add(s, room))
	}
	p.line = !strings.HasSuffix(s, "\n")
	return errors.Join(p.out.Foreign(s), p.out.Flush())
}

// room returns how wide rows of the answer may be, 0 where nothing cuts it into rows.
func (p *printer) room() int {
	if !p.out.OutTerminal || !p.out.Cursor {
		return 0
	}
	return max(p.out.Width-1, 0)
}

func (p *printer) rows(rows []string) error {
	for _, r := range rows {
		p.out.Printf("%s\n", ui.Safe(r))
	}
	return p.out.Flush()
}

// endLine ends the streamed text before something else is printed.
func (p *printer) endLine() error {
	if !p.line {
		return nil
	}
	p.line = false
	if room := p.room(); room > 0 {
		return p.rows(p.flow.End(room))
	}
	return errors.Join(p.out.Foreign("\n"), p.out.Flush())
}

// callLine describes a call and its outcome: in one line for a terminal, and otherwise with the lines of a failure below it.
func (p *printer) callLine(s agent.Step) ui.Safe {
	r := s.Result.Result
	outcome, rest := chat.Success(s.Result), ""
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

// callOf returns a call as the end of the run has it. With --stream its result was on a line of its own.
func (p *printer) callOf(s *agent.Step) stream.Call {
	c := *stream.CallOf(s)
	if c.User = s.Result.Call == p.w.byUser; p.lines != nil {
		c.Result, c.Text = nil, ""
	}
	return c
}

// stepJSON prints one step as a line of JSON; the end of the answer is printed by end.
func (p *printer) stepJSON(s agent.Step) error {
	l, ok := stream.OfStep(&s)
	if !ok {
		return nil
	}
	if l.Call != nil {
		l.Call.User = s.Result.Call == p.w.byUser
	}
	if err := p.lines.Write(l); err != nil {
		return err
	}
	return p.todoJSON(s)
}

// run returns the run that an answer ends.
func (p *printer) run(answer *agent.Answer) *stream.Run {
	run := &stream.Run{Answer: answer.Text, Stop: answer.Stop, Model: p.w.found.String(), Turns: answer.Turns, Usage: answer.Usage,
		Skills: p.w.active(), Calls: p.calls, Prefix: p.w.prefix(), Millis: p.o.Services.Sys.Now().Sub(p.began).Milliseconds(), Cost: p.cost, Conversation: p.w.keep.id()}
	if run.Calls == nil {
		run.Calls = []stream.Call{}
	}
	return run
}

// end prints the answer. With --stream --json that is a line, which has what of has.
func (p *printer) end(answer *agent.Answer, of stream.Line) error {
	switch {
	case p.lines != nil:
		of.Type, of.Run = "end", p.run(answer)
		of.Conversation = &of.Run.Conversation
		return p.lines.Write(of)
	case p.o.JSON:
		return p.out.JSON(p.run(answer))
	case p.o.Stream:
		return p.endLine()
	case answer.Text == "":
		return nil
	}
	return errors.Join(p.text(strings.TrimRight(answer.Text, "\n")), p.endLine())
}
