package chat

import (
	"context"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/agent"
)

// frame is how long steps are gathered before they are shown together; beat is how often an idle turn shows that time
// passes.
const (
	frame = 30 * time.Millisecond
	beat  = time.Second
)

// gather holds the steps that were not shown yet. Pieces of text that follow each other become one.
type gather struct {
	mu    sync.Mutex
	steps []agent.Step
	text  strings.Builder
	depth int
}

func (g *gather) add(step agent.Step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	plain := step.Text != "" && !step.Anew
	if !plain || step.Depth != g.depth {
		g.close()
		g.depth = step.Depth
	}
	if plain {
		g.text.WriteString(step.Text)
		return
	}
	g.steps = append(g.steps, step)
}

// close makes the text so far a step.
func (g *gather) close() {
	if g.text.Len() > 0 {
		g.steps = append(g.steps, agent.Step{Depth: g.depth, Text: g.text.String()})
		g.text.Reset()
	}
}

func (g *gather) take() []agent.Step {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close()
	steps := g.steps
	g.steps = nil
	return steps
}

// follow reads a turn to its end and sends what happens in it, a frame at a time, however fast it comes. The last event
// is a doneEvent.
func follow(ctx context.Context, turn iter.Seq2[agent.Step, error], send func(event)) {
	var g gather
	ended := make(chan error, 1)
	go func() { ended <- read(turn, &g) }()
	tick := time.NewTicker(frame)
	defer tick.Stop()
	var idle time.Duration
	for {
		select {
		case err := <-ended:
			if steps := g.take(); len(steps) > 0 {
				send(stepsEvent{steps})
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			send(doneEvent{err})
			return
		case <-tick.C:
			steps := g.take()
			if idle += frame; len(steps) > 0 || idle >= beat {
				idle = 0
				send(stepsEvent{steps})
			}
		}
	}
}

func read(turn iter.Seq2[agent.Step, error], g *gather) error {
	for step, err := range turn {
		if err != nil {
			return err
		}
		g.add(step)
	}
	return nil
}

// run does a command and sends what it says.
func run(ctx context.Context, c startCommand, send func(event)) {
	text, err := c.command.Run(ctx, c.args)
	if text != "" {
		send(outputEvent{text})
	}
	send(doneEvent{err})
}
