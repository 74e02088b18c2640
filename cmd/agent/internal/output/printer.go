// Package output is how a command answers: text or JSON, warnings, hints and progress.
package output

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// Flags are the flags that say how is printed, and those that commands in the output repeat.
type Flags struct {
	Quiet     bool
	Verbose   bool
	LogFormat string
	SkillsDir []string
	Project   string
}

// Printer prints what a command answers, as text or JSON, and its warnings and progress. With --quiet it prints no
// warnings and no progress.
type Printer struct {
	*ui.Streams
	flags *Flags

	mu    sync.Mutex
	say   func(string) // shows what is done now; nil unless Busy shows something
	apart chan func()  // work to run while Busy shows nothing; nil without Busy
	chat  bool         // see Chat
}

// NewPrinter returns a Printer over streams.
func NewPrinter(streams *ui.Streams, flags *Flags) *Printer {
	return &Printer{Streams: streams, flags: flags}
}

// Quiet reports whether warnings and progress are off.
func (p *Printer) Quiet() bool { return p.flags.Quiet }

// Flush writes the buffered output.
func (p *Printer) Flush() error {
	if b, ok := p.Out.(interface{ Flush() error }); ok {
		return b.Flush()
	}
	return nil
}

// Hint prints what the user can do next, with commands that can be pasted.
func (p *Printer) Hint(text string) { p.Streams.Hint(p.Typed(text)) }

// Typed is that of the flags of the command.
func (p *Printer) Typed(text string) string { return p.flags.typed(text) }

// Warn prints a warning.
func (p *Printer) Warn(text string) {
	if !p.Quiet() {
		p.Streams.Warn(p.Typed(text))
	}
}

// WarnProblem prints a problem that does not stop the command, with its cure.
func (p *Printer) WarnProblem(problem manifest.Problem) {
	text := problem.Message
	if problem.File != "" {
		text = problem.File + ": " + text
		if problem.Line > 0 {
			text = fmt.Sprintf("%s:%d:%d: %s", problem.File, problem.Line, problem.Col, problem.Message)
		}
	}
	p.Warn(text)
	if !p.Quiet() {
		p.Hint(problem.Cure)
	}
}

// Remark prints a hint that is not about an error.
func (p *Printer) Remark(text string) {
	if !p.Quiet() {
		p.Hint(text)
	}
}

// Details prints lines of foreign text to stderr: stdout stays for the answer.
func (p *Printer) Details(lines []string) {
	out := *p.Streams
	out.Out = p.Err
	for _, line := range lines {
		out.Printf("%s\n", line)
	}
}

// Busy runs work and shows progress if it takes more than a second.
func (p *Printer) Busy(label string, work func() error) error { return p.BusyLive(label, nil, work) }

// BusyLive is Busy that also shows on a terminal what live returns, as ui.Streams.Busy does.
func (p *Printer) BusyLive(label string, live func() string, work func() error) error {
	if p.flags.Quiet || p.flags.Verbose {
		return work()
	}
	done, apart := make(chan error, 1), make(chan func())
	p.busy(nil, apart)
	defer p.busy(nil, nil)
	go func() { done <- work() }()
	for {
		var ended bool
		var question func()
		err := p.Streams.Busy(label, live, func(say func(string)) (err error) {
			p.busy(say, apart)
			defer p.busy(nil, apart)
			select {
			case err = <-done:
				ended = true
			case question = <-apart:
			}
			return err
		})
		if ended {
			return err
		}
		question()
	}
}

// While runs work and shows its label as Busy does, in place of another label if Busy runs already. It shows nothing after Chat.
func (p *Printer) While(label string, work func() error) error {
	p.mu.Lock()
	busy := p.apart != nil || p.chat
	p.mu.Unlock()
	if !busy {
		return p.Busy(label, work)
	}
	p.Progress(label)
	return work()
}

// Chat says that a conversation writes to the terminal from now on.
func (p *Printer) Chat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chat = true
}

// Apart runs something that uses the terminal, while Busy shows nothing there.
func (p *Printer) Apart(work func()) {
	p.mu.Lock()
	apart := p.apart
	p.mu.Unlock()
	if apart == nil {
		work()
		return
	}
	done := make(chan struct{})
	apart <- func() {
		defer close(done)
		work()
	}
	<-done
}

func (p *Printer) busy(say func(string), apart chan func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.say, p.apart = say, apart
}

// Progress shows what is done now, if Busy shows anything. It may be called from any goroutine.
func (p *Printer) Progress(text string) {
	p.mu.Lock()
	say := p.say
	p.mu.Unlock()
	if say != nil {
		say(text)
	}
}

// Mark returns the glyph of a state in its colour.
func (p *Printer) Mark(state string) ui.Safe {
	switch state {
	case skill.StateEnabled.String(), skill.StateHidden.String():
		return p.Paint(ui.Green, "✓")
	case skill.StateDisabled.String():
		return p.Paint(ui.Dim, "○")
	}
	return p.Paint(ui.Red, "✗")
}

// Facts prints lines of a label and its text. It leaves out lines without a text.
func (p *Printer) Facts(lines [][2]string) {
	width := 0
	for _, l := range lines {
		if l[1] != "" {
			width = max(width, len(l[0]))
		}
	}
	for _, l := range lines {
		if l[1] != "" {
			p.Printf("  %s%s  %s\n", p.Paint(ui.Dim, l[0]), ui.Safe(strings.Repeat(" ", width-len(l[0]))), p.Wrapped(l[1], width+4))
		}
	}
}

// Tracer returns the tracer that logs the engine's events to stderr with --verbose, and otherwise nil. The text handler
// quotes control characters; the JSON handler leaves some of them, and writes a whole line at once.
func (p *Printer) Tracer() trace.Tracer {
	if !p.flags.Verbose {
		return nil
	}
	return trace.Log(p.Logger())
}

// Logger returns the log of a server on stderr, in the form of --log-format; with --quiet it has warnings only.
func (p *Printer) Logger() *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelDebug}
	if p.Quiet() && !p.flags.Verbose {
		o.Level = slog.LevelWarn
	}
	if p.flags.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(shown{p.Err}, o))
	}
	return slog.New(slog.NewTextHandler(p.Err, o))
}
