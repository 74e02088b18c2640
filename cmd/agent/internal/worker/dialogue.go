package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// Bounds of a dialogue.
const (
	answerTime  = 10 * time.Minute // for an answer; a question that has none then is answered with no
	mostPrompts = 100              // that wait for their turn
	mostPrompt  = 8 << 20          // bytes of them
)

// The codes of error lines that only a dialogue has.
const (
	badLine    = "bad_line"    // it cannot be read
	badAnswer  = "bad_answer"  // it is none of the choices; the question waits on
	noQuestion = "no_question" // no such question waits
	noTurn     = "no_turn"     // there is nothing to stop
	tooMany    = "too_many"    // prompts wait
)

// dialogue is a conversation with another program: it reads prompts, stops and answers, and writes what happens, with the questions.
// Whoever writes these lines is the user.
type dialogue struct {
	p    *printer
	wait time.Duration // for an answer
	wake chan struct{} // something has come

	mu        sync.Mutex
	prompts   []stream.Input
	size      int  // bytes of their texts
	over      bool // no more lines come
	questions map[string]*openQuestion
	asked     int
	stop      context.CancelFunc // ends the turn; nil between turns
}

// openQuestion waits for its answer. The channel takes one without a reader.
type openQuestion struct {
	*ui.Question
	answer chan string
}

// answerLines runs agent --input-format json.
func answerLines(ctx context.Context, o *Options) error {
	p := newPrinter(o, o.Prompt)
	d := newDialogue(p)
	if o.Prompt != "" {
		d.prompts = []stream.Input{{Type: stream.Prompt, Text: o.Prompt}}
	}
	return p.with(ctx, consent.NewChatApprover(d.ask), func() error {
		go d.read(stream.NewReader(o.Services.Sys.In, stream.MaxLine)) // it ends with stdin, or with the process
		for turn := 1; ; turn++ {
			in, ok := d.next(ctx)
			if !ok {
				return ctx.Err()
			}
			if err := d.turn(ctx, turn, in); err != nil {
				return err
			}
		}
	})
}

func newDialogue(p *printer) *dialogue {
	return &dialogue{p: p, wait: answerTime, wake: make(chan struct{}, 1), questions: map[string]*openQuestion{}}
}

// next waits for a prompt. It returns false at the end.
func (d *dialogue) next(ctx context.Context) (stream.Input, bool) {
	for {
		d.mu.Lock()
		if len(d.prompts) > 0 {
			in := d.prompts[0]
			d.prompts, d.size = d.prompts[1:], d.size-len(in.Text)
			d.mu.Unlock()
			return in, true
		}
		over := d.over
		d.mu.Unlock()
		if over {
			return stream.Input{}, false
		}
		select {
		case <-d.wake:
		case <-ctx.Done():
			return stream.Input{}, false
		}
	}
}

// turn answers a prompt.
func (d *dialogue) turn(ctx context.Context, number int, in stream.Input) error {
	p := d.p
	turn, cancel := context.WithCancel(ctx)
	defer cancel()
	d.stops(cancel)
	defer d.stops(nil)
	if err := p.lines.Write(stream.Line{Type: "turn", Turn: number, ID: in.ID}); err != nil {
		return err
	}
	if err := p.w.refresh(ctx); err != nil {
		return err
	}
	answer, err := p.follow(ctx, p.w.ask(turn, in.Text, in.Text))
	if answer == nil {
		return err
	}
	if err == nil {
		err = ended(answer)
	}
	if err != nil && turn.Err() == nil {
		f := failure.Explain(err)
		if err := p.lines.Write(stream.Line{Type: "error", Turn: number, ID: in.ID, Code: f.Code, Text: f.Err.Error(), Hint: p.out.Typed(f.Hint)}); err != nil {
			return err
		}
	}
	return p.end(answer, stream.Line{Turn: number, ID: in.ID})
}

func (d *dialogue) stops(cancel context.CancelFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop = cancel
}

// read takes what the other program writes, until it writes no more.
func (d *dialogue) read(from *stream.Reader) {
	for {
		in, line, err := from.Next()
		var bad *stream.LineError
		switch {
		case errors.As(err, &bad):
			d.refuse(line, badLine, bad.Err.Error())
		case err != nil:
			if !errors.Is(err, io.EOF) {
				d.refuse(line, badLine, "reading stdin: "+err.Error())
			}
			d.end()
			return
		default:
			d.take(in, line)
		}
	}
}

// refuse says what is wrong with a line.
func (d *dialogue) refuse(line int, code, text string) {
	_ = d.p.lines.Write(stream.Line{Type: "error", Line: line, Code: code, Text: text}) // the turn sees the same error
}

// take does what a line says.
func (d *dialogue) take(in stream.Input, line int) {
	var code, text string
	switch in.Type {
	case stream.Prompt:
		code, text = d.add(in)
	case stream.Stop:
		d.mu.Lock()
		if d.stop != nil {
			d.stop()
		} else {
			code, text = noTurn, "no turn runs that could be stopped"
		}
		d.mu.Unlock()
	case stream.Answer:
		code, text = d.answer(in)
	}
	if code != "" {
		d.refuse(line, code, text)
	}
}

// add puts a prompt after those that wait.
func (d *dialogue) add(in stream.Input) (code, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.prompts) == mostPrompts || d.size+len(in.Text) > mostPrompt {
		return tooMany, fmt.Sprintf("%d prompts wait already: this one is left out", len(d.prompts))
	}
	d.prompts, d.size = append(d.prompts, in), d.size+len(in.Text)
	d.woken()
	return "", ""
}

// woken says that something has come.
func (d *dialogue) woken() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// answer answers a question. An answer to a question that nobody asked, or that was answered, changes nothing.
func (d *dialogue) answer(in stream.Input) (code, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q, ok := d.questions[in.ID]
	if !ok {
		return noQuestion, fmt.Sprintf("no question %q waits for an answer", in.ID)
	}
	answer, ok := q.Judge(in.Answer)
	if !ok && in.Answer != "" {
		return badAnswer, fmt.Sprintf("%.100q is no answer to the question %q", in.Answer, in.ID)
	}
	delete(d.questions, in.ID)
	q.answer <- answer
	return "", ""
}

// end says that no more lines come: nobody answers a question any more.
func (d *dialogue) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for id, q := range d.questions {
		delete(d.questions, id)
		q.answer <- ""
	}
	d.woken()
}

// ask asks the other program a question, and returns "" if it does not answer.
func (d *dialogue) ask(ctx context.Context, q *ui.Question) (string, error) {
	q = q.Shown()
	open := &openQuestion{q, make(chan string, 1)}
	id := d.open(open)
	if id == "" {
		return "", nil
	}
	if err := d.p.lines.Write(questionLine(ctx, id, q)); err != nil {
		d.withdraw(id)
		return "", err
	}
	late := time.NewTimer(d.wait)
	defer late.Stop()
	var err error
	select {
	case answer := <-open.answer:
		return answer, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
	}
	if d.withdraw(id) {
		return "", errors.Join(err, d.p.lines.Write(stream.Line{Type: "withdrawn", ID: id}))
	}
	return <-open.answer, err // it came at the last moment
}

// open gives a question an ID; "" if nobody answers it.
func (d *dialogue) open(q *openQuestion) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return ""
	}
	d.asked++
	id := fmt.Sprintf("q%d", d.asked)
	d.questions[id] = q
	return id
}

// withdraw takes a question back. It returns false if that was answered.
func (d *dialogue) withdraw(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, waits := d.questions[id]
	delete(d.questions, id)
	return waits
}

// questionLine returns the line of a question.
func questionLine(ctx context.Context, id string, q *ui.Question) stream.Line {
	call, name := tool.Called(ctx)
	asked := &stream.Question{Call: call, Details: q.Details, Diff: q.Diff, Free: q.Free}
	for _, c := range q.Answers() {
		asked.Choices = append(asked.Choices, stream.Choice{Answer: c.Key, Means: c.Label})
	}
	return stream.Line{Type: "question", ID: id, Tool: name, Text: q.Text, Question: asked}
}
