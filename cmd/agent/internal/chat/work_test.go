package chat

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// However many pieces an answer has, the screen is drawn once per frame.
func TestFollowGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []event
		followed(t.Context(), func(yield func(agent.Step, error) bool) {
			for range 100 {
				for range 1000 {
					if !yield(agent.Step{Text: "0123456789"}, nil) {
						return
					}
				}
				time.Sleep(time.Millisecond)
			}
			yield(agent.Step{Depth: 1, Text: "other"}, nil)
			yield(agent.Step{Anew: true, Notice: "again"}, nil)
		}, func(e event) { events = append(events, e) })
		var text strings.Builder
		steps := 0
		for _, e := range events {
			if e, ok := e.(stepsEvent); ok {
				for _, step := range e.steps {
					steps++
					text.WriteString(step.Text)
				}
			}
		}
		if text.Len() != 1_000_000+len("other") || len(events) > 6 || steps > 7 {
			t.Errorf("%d bytes in %d events and %d steps, want a million in at most 6 events", text.Len(), len(events), steps)
		}
		if last, ok := events[len(events)-1].(doneEvent); !ok || last.err != nil {
			t.Errorf("the last event is %+v, want the end without an error", events[len(events)-1])
		}
	})
}

func TestFollowShowsThatTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beats := 0
		f := &feed{send: func(e event) {
			if e, ok := e.(stepsEvent); ok && len(e.steps) == 0 {
				beats++
			}
		}}
		follow(t.Context(), func(func(agent.Step, error) bool) { time.Sleep(5 * time.Second) }, f)
		if beats != 4 {
			t.Errorf("%d beats in five seconds of a turn, want 4", beats)
		}
		beats = 0
		run(t.Context(), startCommand{command: &Command{Run: func(context.Context, string) (string, error) { time.Sleep(5 * time.Second); return "", nil }}}, f)
		if beats != 4 {
			t.Errorf("%d beats in five seconds of a command, want 4", beats)
		}
	})
}

func TestFollowError(t *testing.T) {
	boom := errors.New("boom")
	var turn iter.Seq2[agent.Step, error] = func(yield func(agent.Step, error) bool) {
		if yield(agent.Step{Text: "half"}, nil) {
			yield(agent.Step{}, boom)
		}
	}
	var events []event
	followed(t.Context(), turn, func(e event) { events = append(events, e) })
	if len(events) != 2 || events[1] != (doneEvent{boom}) {
		t.Errorf("events %+v, want the text and the error", events)
	}
}

// followed is follow with a feed of its own.
func followed(ctx context.Context, turn iter.Seq2[agent.Step, error], send func(event)) {
	follow(ctx, turn, &feed{send: send})
}

// D1: a question is sent after everything that happened before it, not when the frame ends.
func TestQuestionComesAfterText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Prompter{}
		var events []event
		f := &feed{send: func(e event) {
			events = append(events, e)
			if ask, ok := e.(askEvent); ok {
				ask.question.answer <- "y"
			}
		}}
		p.attach(f.ask, f.write)
		follow(t.Context(), func(yield func(agent.Step, error) bool) {
			for _, text := range []string{"one", "two"} {
				yield(agent.Step{Text: text}, nil)
				if yes, err := confirmed(t.Context(), p, text, nil); !yes || err != nil {
					t.Errorf("got %v, %v, want yes", yes, err)
				}
			}
		}, f)
		var got []string
		for _, e := range events {
			switch e := e.(type) {
			case stepsEvent:
				for _, step := range e.steps {
					got = append(got, "text "+step.Text)
				}
			case askEvent:
				got = append(got, "question "+e.question.Text)
			}
		}
		if want := []string{"text one", "question one", "text two", "question two"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// D1: nothing is printed while a question without a screen waits.
func TestPlainQuestionHoldsTheOutput(t *testing.T) {
	f := &feed{send: func(event) {}}
	answer, err := f.askPlain(func(context.Context, *ui.Question) (string, error) {
		if f.out.TryLock() {
			return "n", nil
		}
		return "y", nil
	})(t.Context(), &ui.Question{Text: "Run it?"})
	if answer != "y" || err != nil {
		t.Errorf("the output is free, %v", err)
	}
	if !f.out.TryLock() {
		t.Error("the output is still held after the answer")
	}
}

// confirmed asks a question of yes or no.
func confirmed(ctx context.Context, p *Prompter, question string, details []string) (bool, error) {
	answer, err := p.Ask(ctx, &ui.Question{Text: question, Details: details})
	return answer == "y", err
}

func TestConfirm(t *testing.T) {
	p := &Prompter{}
	if yes, err := confirmed(t.Context(), p, "Run it?", nil); yes || err != nil {
		t.Errorf("nobody is there: got %v, %v, want no", yes, err)
	}
	shown := make(chan event, 2)
	f := &feed{send: func(e event) {
		shown <- e
		if ask, ok := e.(askEvent); ok && ask.question.Text == "Yes?" {
			ask.question.answer <- "y"
		}
	}}
	p.attach(f.ask, f.write)
	if yes, err := confirmed(t.Context(), p, "Yes?", []string{"x"}); !yes || err != nil {
		t.Errorf("got %v, %v, want yes", yes, err)
	}
	<-shown
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := confirmed(ctx, p, "Never answered?", nil); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, %v, want no and %v", yes, err, context.Canceled)
	}
	<-shown
	if _, ok := (<-shown).(withdrawEvent); !ok {
		t.Error("the question stays on the screen")
	}
	p.attach(nil, nil)
	if yes, err := confirmed(t.Context(), p, "Yes?", nil); yes || err != nil {
		t.Errorf("after the conversation: got %v, %v, want no", yes, err)
	}
}
