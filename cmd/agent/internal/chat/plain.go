package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"
)

// runPlain holds the conversation without a terminal: it reads a prompt per line and writes lines.
func runPlain(ctx context.Context, o *Options, s *state) error {
	in, err := cancelreader.NewReader(o.In)
	if err != nil { // a file or the null device: the system does not wait for these, and reading them does not hang
		in, err = cancelreader.NewReader(struct{ io.Reader }{o.In})
	}
	if err != nil {
		return fmt.Errorf("reading prompts: %w", err)
	}
	defer in.Close()
	defer context.AfterFunc(ctx, func() { in.Cancel() })()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxInput)
	out := &printer{w: o.Out}
	s.greet()
	out.print(s)
	if o.First != "" {
		s.now = o.Now()
		runEffects(ctx, o, s, out, s.submit(o.First))
	}
	var asked, again bool // whether the last turn asked a question, and whether the prompt is still the last thing on the screen
	for !s.leaving && out.err == nil {
		if !again {
			out.text(o.Prompt)
		}
		if !lines.Scan() {
			if o.Prompt != "" {
				out.text("\n")
			}
			break
		}
		text := byWord(lines.Text())
		if strings.TrimSpace(text) == "" {
			asked, again = false, asked // the line may be the Enter after the key that answered
			continue
		}
		s.now = o.Now()
		before := s.asked
		runEffects(ctx, o, s, out, s.submit(text))
		asked, again = s.asked != before, false
	}
	switch {
	case out.err != nil:
		return fmt.Errorf("writing the answer: %w", out.err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return fmt.Errorf("a prompt exceeds %d bytes", maxInput)
	case lines.Err() != nil:
		return fmt.Errorf("reading prompts: %w", lines.Err())
	}
	return nil
}

// runEffects does what a line asks for and waits for its end.
func runEffects(outer context.Context, o *Options, s *state, out *printer, effects []effect) {
	out.print(s)
	ctx, release := o.Interrupt(outer)
	defer release()
	send := func(e event) {
		s.now = o.Now()
		s.stopping = ctx.Err() != nil && outer.Err() == nil
		s.update(e)
		out.print(s)
	}
	f := &feed{send: send}
	o.Prompter.attach(f.askPlain(o.Question), f.write)
	defer o.Prompter.attach(nil, nil)
	for _, e := range effects {
		switch e := e.(type) {
		case startTurn:
			follow(ctx, o.Ask(ctx, e.prompt), f)
		case startCommand:
			run(ctx, e, f)
		case copyText:
			out.text(ansi.SetSystemClipboard(e.text))
		}
	}
}

// printer writes finished rows and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) print(s *state) {
	if len(s.out) > 0 {
		p.text(strings.Join(s.out, "\n") + "\n")
		s.out = nil
	}
}

func (p *printer) text(text string) {
	if p.err == nil && text != "" {
		_, p.err = io.WriteString(p.w, text)
	}
}
