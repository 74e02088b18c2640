package chat

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/screentest"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
)

// sizes are those of the window, one after the other.
var sizes = [][2]int{{60, 20}, {200, 60}, {60, 20}, {90, 24}}

// resized is a state of a conversation in which the window gets other sizes.
type resized struct {
	name  string
	keys  string                                                                                  // that lead there
	work  func(ctx context.Context, p *Prompter, yield func(agent.Step) bool, on <-chan struct{}) // what the model does then, up to the end of on
	shown []string                                                                                // texts that are on the screen once, in a row each, whatever its size
	then  string                                                                                  // keys that end it
	after []string                                                                                // texts that are there once in the end
	at    string                                                                                  // what the row of the cursor ends with, up to the cursor
}

func resizes() []resized {
	answer := func(text string) func(context.Context, *Prompter, func(agent.Step) bool, <-chan struct{}) {
		return func(ctx context.Context, _ *Prompter, yield func(agent.Step) bool, on <-chan struct{}) {
			for i := 0; i < len(text); i += 50 {
				if !yield(agent.Step{Text: text[i:min(i+50, len(text))]}) {
					return
				}
			}
			wait(ctx, on)
			yield(agent.Step{Text: "| t9 | 最后 |\n\nafter the table"})
		}
	}
	asking := func(q *ui.Question) func(context.Context, *Prompter, func(agent.Step) bool, <-chan struct{}) {
		return func(ctx context.Context, p *Prompter, yield func(agent.Step) bool, _ <-chan struct{}) {
			yield(agent.Step{Call: &llm.Call{ID: "1", Name: "bash", Args: []byte(`{"command":"w1 and w2, which is quite a long command that a narrow window has no room for"}`)}})
			answer, err := p.Ask(ctx, q)
			yield(agent.Step{Text: fmt.Sprintf("the answer was %s %v", answer, err)})
		}
	}
	table := "| first | second |\n|---|---|\n"
	for i := range 4 {
		table += fmt.Sprintf("| t%d | 一个很长的格子,它在很窄的窗口里要换行,在宽的窗口里不用 |\n", i)
	}
	return []resized{
		{name: "a table arrives", keys: "go\r", work: answer(table), shown: []string{"> go", "t0", "t3", "Esc stops"}, at: ">", after: []string{"t0", "t3", "t9", "after the table"}},
		{name: "a question", keys: "go\r", work: asking(&ui.Question{Text: "Run this? " + strings.Repeat("word ", 20) + "q1", Details: []string{"detail one " + strings.Repeat("很长", 60) + " d1", "detail two"}}),
			shown: []string{"> go", "q1", "detail one", "d1", "detail two", "Press y or n:", "waiting for an answer"}, at: "Press y or n:", then: "y", after: []string{"d1", "the answer was y"}},
		{name: "a diff", keys: "go\r", work: asking(&ui.Question{Text: "Change it?", Diff: true, Details: []string{"@@ -1,2 +1,2 @@", "-old " + strings.Repeat("x", 70) + " o1", "+new " + strings.Repeat("y ", 50) + "n1"}}),
			shown: []string{"> go", "@@ -1,2 +1,2 @@", "o1", "n1", "Press y or n:"}, at: "Press y or n:", then: "n", after: []string{"o1", "n1", "the answer was n"}},
		{name: "a popup", keys: "/h", shown: []string{"/help", "Show", "fake/one"}, at: "> /h", then: "\x03", after: []string{"fake/one"}},
		{name: "a draft", keys: "\x1b[200~first line of a draft, which is rather long for a narrow window, and then goes on i1\r第二行 i2\r" + strings.Repeat("word ", 30) + "i3\x1b[201~",
			shown: []string{"> first line", "i1", "i2", "i3", "fake/one"}, at: "i3", then: "\x03", after: []string{"fake/one"}},
		{name: "a command at work", keys: "go\r", work: func(ctx context.Context, p *Prompter, yield func(agent.Step) bool, on <-chan struct{}) {
			yield(agent.Step{Call: &llm.Call{ID: "1", Name: "bash", Args: []byte(`{"command":"make a very long list of things that a narrow window has no room for"}`)}})
			p.Live(LiveText{Call: "1", Text: "one " + strings.Repeat("x", 100) + "\ntwo\nl3 " + strings.Repeat("长", 40) + "\n"})
			wait(ctx, on)
			yield(agent.Step{Text: "it was made"})
		}, shown: []string{"> go", "● bash make", "one x", "two", "l3", "Esc stops"}, at: ">", after: []string{"● bash make", "it was made"}},
	}
}

func wait(ctx context.Context, on <-chan struct{}) {
	select {
	case <-on:
	case <-ctx.Done():
	}
}

// The window may get another size at any time: no row is doubled, none is lost, and the cursor is where it was. The terminal breaks rows
// that are too long, or cuts them. The test does not look for the part that a terminal has cut.
func TestResizeInTheMiddle(t *testing.T) {
	for _, r := range resizes() {
		for _, flows := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, flows %v", r.name, flows), func(t *testing.T) { resize(t, &r, flows) })
		}
	}
}

func resize(t *testing.T, r *resized, flows bool) {
	on, p := make(chan struct{}), &Prompter{}
	k := openTerminal(t, 90, 24)
	var greeting []string
	for i := range 40 {
		greeting = append(greeting, fmt.Sprintf("[%d] a row of 70 columns %s", i, strings.Repeat("-", 40)))
	}
	k.run(t.Context(), &Options{Prompter: p, Greeting: strings.Join(greeting, "\n"), Crops: !flows, Status: func() Status { return Status{Model: "fake/one", Branch: "main"} },
		Ask: func(ctx context.Context, _ string) iter.Seq2[agent.Step, error] {
			return func(yield func(agent.Step, error) bool) {
				r.work(ctx, p, func(s agent.Step) bool { return yield(s, nil) }, on)
			}
		}})
	k.idle(">", "fake/one  ·  main")
	k.press(r.keys)
	k.once(r.shown, r.at, r.name)
	for _, size := range sizes {
		k.screen.Resize(size[0], size[1], flows)
		k.resize(size[0], size[1])
		if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
			t.Fatal(err)
		}
		k.screen.Write(<-k.output) // it is drawn anew
		k.once(r.shown, r.at, fmt.Sprint(size))
	}
	if r.then != "" {
		k.answers(r.then)
	}
	close(on)
	k.once(r.after, ">", "the end")
	for i := range greeting {
		if n := strings.Count(k.screen.String(), fmt.Sprintf("[%d] ", i)); n != 1 {
			t.Errorf("row %d of the greeting is there %d times", i, n)
		}
	}
	if unknown := k.screen.Unknown(); len(unknown) > 0 || t.Failed() {
		t.Errorf("unknown %q\n%s", unknown, k.screen)
	}
	k.press("\x04")
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// once waits until each of some texts is on the screen or above it once, and the cursor is behind a text.
func (k *terminal) once(texts []string, at, when string) {
	k.t.Helper()
	wrong := func(rows []string) (wrong []string) {
		for _, text := range texts {
			if n := strings.Count(strings.Join(rows, "\n"), text); n != 1 {
				wrong = append(wrong, fmt.Sprintf("%q is there %d times", text, n))
			}
		}
		if y, x := k.screen.Cursor(); !strings.HasSuffix(strings.TrimRight(before(rows[y], x), " "), at) {
			wrong = append(wrong, fmt.Sprintf("the cursor is in row %d, column %d, not behind %q", y, x, at))
		}
		return wrong
	}
	for p := screentest.NewPatience(); len(wrong(k.screen.Rows())) > 0; {
		out, err := screentest.Next(p, k.output)
		if err != nil {
			k.t.Fatalf("%s: %s: %v\n%s", when, strings.Join(wrong(k.screen.Rows()), "\n"), err, k.screen)
		}
		k.screen.Write(out)
	}
}
