package chat

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// frame is how long steps are gathered before they are shown together. beat is how often an idle turn shows that time
// passes.
const (
	frame = 30 * time.Millisecond
	beat  = time.Second
)

// feed gathers the steps of one turn and sends them on in frames. What happened first is sent first: a question waits
// until all steps before it are sent. It is safe for concurrent use.
type feed struct {
	send func(event)

	out sync.Mutex // held while events are sent; taken before mu

	mu    sync.Mutex
	steps []agent.Step
	text  strings.Builder // pieces of text that follow each other become one step
	depth int
	of    string     // the call whose sub-agent says it
	live  []LiveText // what calls wrote, and how much of it there is
	wrote int
}

// mostLive is how many bytes of what calls write wait for a frame.
const mostLive = 64 << 10

// write takes what a call writes. Of more than a frame can show it keeps the end.
func (f *feed) write(t LiveText) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrote += len(t.Text); f.wrote > mostLive {
		f.live, f.wrote = slices.DeleteFunc(f.live, func(t LiveText) bool { return !t.Need }), len(t.Text)
	}
	f.live = append(f.live, t)
}

func (f *feed) add(step agent.Step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	plain := step.Text != "" && !step.Anew
	if !plain || step.Of != f.of {
		f.close()
		f.depth, f.of = step.Depth, step.Of
	}
	if plain {
		f.text.WriteString(step.Text)
		return
	}
	f.steps = append(f.steps, step)
}

// close makes a step of the text so far.
func (f *feed) close() {
	if f.text.Len() > 0 {
		f.steps = append(f.steps, agent.Step{Depth: f.depth, Of: f.of, Text: f.text.String()})
		f.text.Reset()
	}
}

func (f *feed) take() ([]agent.Step, []LiveText) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
	steps, live := f.steps, f.live
	f.steps, f.live, f.wrote = nil, nil, 0
	return steps, live
}

// flush sends what was gathered, then the events. It reports whether there was anything.
func (f *feed) flush(events ...event) bool {
	f.out.Lock()
	defer f.out.Unlock()
	return f.flushLocked(events...)
}

func (f *feed) flushLocked(events ...event) bool {
	steps, live := f.take()
	if len(steps)+len(live) > 0 {
		f.send(stepsEvent{steps, live})
	}
	for _, e := range events {
		f.send(e)
	}
	return len(steps)+len(live) > 0
}

// ask shows a question in the terminal, below everything that happened before it, and waits for its answer.
func (f *feed) ask(ctx context.Context, asked *ui.Question) (string, error) {
	q := &question{Question: *asked, answer: make(chan string, 1)}
	q.call, _ = tool.Called(ctx)
	f.flush(askEvent{q})
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		f.flush(withdrawEvent{q})
		return "", context.Cause(ctx)
	}
}

// askPlain returns a function that asks with ask, for a conversation without a screen. Nothing is printed while it waits.
func (f *feed) askPlain(ask askFunc) askFunc {
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, q *ui.Question) (string, error) {
		f.out.Lock()
		defer f.out.Unlock()
		f.flushLocked(pauseEvent{})
		defer func() { f.send(goOnEvent{}) }()
		return ask(ctx, q)
	}
}

// follow reads a turn to its end and sends what happens in it, at most once per frame. The last event is a doneEvent.
func follow(ctx context.Context, turn iter.Seq2[agent.Step, error], f *feed) {
	err := f.during(func() error { return read(turn, f) })
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	f.flush(doneEvent{err})
}

// during does some work. Meanwhile it sends the events that were gathered, and beats to show that the work goes on.
func (f *feed) during(work func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	tick := time.NewTicker(frame)
	defer tick.Stop()
	var idle time.Duration
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			if idle += frame; f.flush() {
				idle = 0
			} else if idle >= beat {
				idle = 0
				f.flush(stepsEvent{})
			}
		}
	}
}

func read(turn iter.Seq2[agent.Step, error], f *feed) error {
	for step, err := range turn {
		if err != nil {
			return err
		}
		f.add(step)
	}
	return nil
}

// run runs a command and sends its output.
func run(ctx context.Context, c startCommand, f *feed) {
	text := ""
	err := f.during(func() (err error) {
		text, err = c.command.Run(ctx, c.args)
		return err
	})
	if text != "" {
		f.flush(outputEvent{text, c.command.Diff})
	}
	if c.command.Fill != nil {
		f.flush(fillEvent{c.command.Fill()})
	}
	f.flush(doneEvent{err})
}
