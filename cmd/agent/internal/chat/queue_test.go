package chat

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// What is typed while the agent works waits, is shown, can be taken back, and is sent when the work is done, one after the other.
func TestQueue(t *testing.T) {
	k := newTalk(t, 40, &Options{Commands: testCommands()})
	k.press("hi<enter>")
	k.done = nil
	k.press("and a prompt that is longer than a row is<enter>/model x<enter>thrid<enter>")
	k.check(t, `
> hi
────

  queued: and a prompt that is longer …
  queued: /model x
  queued: thrid
> █
0 s, Esc stops
`)
	k.press("<up>")
	if k.input.text != "thrid" || len(k.queue) != 2 {
		t.Errorf("input %q, queue %q, want the last one back", k.input.text, k.queue)
	}
	k.press("<ctrl+u>third<enter>")
	k.done = nil
	k.happen(doneEvent{})
	if !reflect.DeepEqual(k.done, []effect{startTurn{"and a prompt that is longer than a row is"}}) || !k.busy {
		t.Errorf("effects %v, want the first", k.done)
	}
	k.done = nil
	k.happen(doneEvent{})
	if start, ok := k.done[0].(startCommand); !ok || start.command.Name != "model" || start.args != "x" {
		t.Errorf("effects %v, want the command", k.done)
	}
	k.done = nil
	k.happen(outputEvent{text: "x answers"}, doneEvent{})
	if !reflect.DeepEqual(k.done, []effect{startTurn{"third"}}) {
		t.Errorf("effects %v, want the last", k.done)
	}
	k.happen(doneEvent{})
	if k.busy || len(k.queue) > 0 {
		t.Error("something still waits")
	}
}

// After a stop or an error nothing is sent: what waited is in the input, before what was typed there.
func TestQueueIsHeld(t *testing.T) {
	for _, err := range []error{nil, errors.New("no network")} {
		k := newTalk(t, 60, nil)
		k.press("hi<enter>one<enter>two<enter>three")
		if k.done = nil; err == nil {
			k.press("<esc>")
			if !reflect.DeepEqual(k.done, []effect{stopWork{}}) {
				t.Fatalf("effects %v, want the work stopped", k.done)
			}
		}
		k.done = nil
		k.happen(doneEvent{err})
		if k.input.text != "one\n\ntwo\n\nthree" || k.done != nil || len(k.queue) > 0 || k.hint == "" {
			t.Errorf("input %q, effects %v, hint %q", k.input.text, k.done, k.hint)
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("hi<enter>")
	for i := range mostQueued + 1 {
		k.press(fmt.Sprint(i, "\x1b[2J<enter>"))
	}
	if len(k.queue) != mostQueued || !strings.HasPrefix(k.input.text, "20") || k.hint == "" {
		t.Errorf("%d wait, input %q, hint %q", len(k.queue), k.input.text, k.hint)
	}
	if rows := k.queueRows(); len(rows) != mostQueueRows || strings.Contains(strings.Join(rows, ""), "\x1b[2J") || rows[3] != "  and 17 more" {
		t.Errorf("rows %q", rows)
	}
}

// A command that may run while a prompt is answered does, and neither its error nor its text ends the work.
func TestCommandMeanwhile(t *testing.T) {
	k := newTalk(t, 60, &Options{Commands: []Command{{Name: "jobs", Meanwhile: func(args string) bool { return args != "later" }, Run: testCommands()[0].Run}, testCommands()[1]}})
	k.press("hi<enter>/model x<enter>")
	k.done = nil
	k.press("/jobs later<enter>")
	if len(k.done) != 1 || len(k.queue) != 2 {
		t.Errorf("effects %+v, queue %q", k.done, k.queue)
	}
	k.done = nil
	k.press("/jobs stop 1<enter>")
	if start, ok := k.done[1].(runMeanwhile); !ok || start.command.Name != "jobs" || start.args != "stop 1" || !k.busy || len(k.queue) != 2 {
		t.Errorf("effects %+v, busy %v, queue %q", k.done, k.busy, k.queue)
	}
	k.happen(outputEvent{text: "it has ended"}, failEvent{errors.New("no such command")})
	if all := strings.Join(k.out, "\n"); !strings.HasSuffix(all, "\nit has ended\n\nerror: no such command") || !k.busy {
		t.Errorf("busy %v, printed\n%s", k.busy, all)
	}
}

// A command may leave an earlier input in the empty input, to be changed and sent again.
func TestCommandFills(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("a  long<alt+enter>prompt<enter>")
	k.happen(doneEvent{}, fillEvent{"a long pro…"})
	if k.input.text != "a  long\nprompt" {
		t.Errorf("the input has %q", k.input.text)
	}
	k.happen(fillEvent{"before"})
	if k.press("<ctrl+c>"); k.input.text != "" {
		t.Errorf("the input has %q", k.input.text)
	}
	k.happen(fillEvent{"never typed"})
	if k.input.text != "" {
		t.Errorf("the input has %q", k.input.text)
	}
}

// Esc stops the work. Esc Esc with nothing typed goes back to an earlier prompt.
func TestEscape(t *testing.T) {
	back := []Command{{Name: "back", Run: testCommands()[0].Run}}
	for _, tt := range []struct {
		name, keys, hint string
		starts           bool
	}{
		{"once", "<esc>", "Esc again goes back to an earlier prompt", false},
		{"twice", "<esc><esc>", "", true},
		{"with a key in between", "<esc>x<ctrl+u><esc>", "Esc again goes back to an earlier prompt", false},
		{"with something typed", "x<esc><esc>", "Ctrl-C empties the input", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, &Options{Commands: back})
			k.press(tt.keys)
			if starts := len(k.done) == 1; k.hint != tt.hint || starts != tt.starts {
				t.Errorf("hint %q, effects %v", k.hint, k.done)
			}
		})
	}
	k := newTalk(t, 60, nil)
	if k.press("<esc><esc>"); k.hint != "" || k.done != nil {
		t.Errorf("hint %q, effects %v without a command for it", k.hint, k.done)
	}
}

// A user who pressed no key for a while hears that the conversation waits.
func TestAttention(t *testing.T) {
	for _, tt := range []struct {
		name   string
		notify bool
		wait   time.Duration
		want   bool
	}{{"away", true, away, true}, {"there", true, away - 1, false}, {"switched off", false, away, false}} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, &Options{Notify: tt.notify})
			k.press("hi<enter>")
			k.done = nil
			k.wait(tt.wait)
			q := &question{Question: ui.Question{Text: "Run it?"}, answer: make(chan string, 1)}
			k.happen(askEvent{q}, withdrawEvent{q}, doneEvent{})
			var want []effect
			if tt.want {
				want = []effect{notify{"agent waits for an answer"}, notify{"agent is ready for the next prompt"}}
			}
			if !reflect.DeepEqual(k.done, want) {
				t.Errorf("effects %v, want %v", k.done, want)
			}
		})
	}
}

// A question stands below the call that asks, where there is room for both.
func TestQuestionWithItsCall(t *testing.T) {
	k := newTalk(t, 50, nil)
	k.press("hi<enter>")
	k.call("bash", `{"command":"make"}`)
	k.happen(askEvent{&question{Question: ui.Question{Text: "Run it?", Details: []string{"make"}, Choices: []ui.Choice{{Key: "y", Label: "yes"}}}, answer: make(chan string, 1)}})
	k.check(t, `
> hi
────

● bash make  0.0 s  #1

┇ Run it?
┇   make
┇ y  yes
┇ Press y: █
waiting for an answer
`)
	k.happen(sizeEvent{50, 7})
	if strings.Contains(k.screen(), "● bash") {
		t.Errorf("the call takes the room of the question:\n%s", k.screen())
	}
}
