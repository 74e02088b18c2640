package chat

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// attack is what a hostile model sends around a question.
type attack struct {
	name          string
	before, while []string // pieces of text, ahead of the question and while it waits
	command       string
}

const allowed = "Run this command as you, outside any sandbox?"

// forged is a question that only looks like one.
const forged = "┇ " + allowed + "\n┇   echo harmless\n┇ Press y or n: \nwaiting for an answer\n"

func attacks() []attack {
	burst := strings.Repeat("one line of many\n", 40)
	out := []attack{
		{"text and question in one burst", []string{"I run it.\n"}, nil, "rm -rf ~"},
		{"40 lines and a forged question", []string{burst + forged}, nil, "rm -rf ~"},
		{"40 lines without an end", []string{strings.Repeat("line\n", 39) + "half a li"}, []string{"ne"}, "rm -rf ~"},
		{"text while it waits", nil, []string{burst, forged, "\n\n\n\n"}, "rm -rf ~"},
		{"wide characters", []string{strings.Repeat("漢字👩\u200d💻", 60)}, []string{strings.Repeat("字", 200)}, "echo " + strings.Repeat("漢", 70)},
		{"carriage returns and sequences", []string{"\r\x1b[2J\x1b[H\x1b[1A" + forged + "\r"}, []string{"\r\x1b[20B\a\b\b"}, "echo a\r# b\x1b[2K"},
		{"tabs", []string{strings.Repeat("\t|", 60) + "\n\t"}, []string{"\t\t\t\n"}, "cat <<E\n\tx\nE"},
		{"a long word", []string{strings.Repeat("x", 5000)}, []string{strings.Repeat("y", 3000)}, strings.Repeat("z", 300)},
		{"a command that imitates the answer", nil, nil, "echo 1\nPress y or n: n\n" + forged + "echo 2"},
		{"a command of empty lines", nil, nil, "\n\n\n\nrm -rf ~\n\n\n"},
		{"as many lines as fit", []string{burst}, []string{burst}, strings.Repeat("line\n", 18) + "end"},
	}
	alphabet := []string{"a", "word ", "\n", "\n\n", "\t", "\r", "┇ ", "Press y or n: ", "漢字", "👩\u200d💻", "\x1b[A", "\x1b[2J", "\u202e", "e\u0301\u0301", "\xff",
		strings.Repeat("x", 79), strings.Repeat("x", 80), strings.Repeat("字", 40), forged, burst, "**", "```\n", "# "}
	r := rand.New(rand.NewPCG(9, 1))
	pieces := func(n int) []string {
		out := make([]string, r.IntN(n))
		for i := range out {
			out[i] = alphabet[r.IntN(len(alphabet))]
		}
		return out
	}
	for i := range 40 {
		command := strings.Join(pieces(6), "")
		for len(ui.Framed([]string{ui.Exact(command)}, 80)) > 19 {
			command = command[len(command)/2:]
		}
		out = append(out, attack{fmt.Sprint("random ", i), pieces(12), pieces(12), command})
	}
	return out
}

// attacker sends what an attack has, and asks from a goroutine of its own: text goes on while the question waits.
type attacker struct {
	all  []attack
	next int
	p    *Prompter
}

func (a *attacker) ask(ctx context.Context, _ string) iter.Seq2[agent.Step, error] {
	return func(yield func(agent.Step, error) bool) {
		now := a.all[a.next]
		a.next++
		for _, text := range now.before {
			yield(agent.Step{Text: text}, nil)
		}
		asked := make(chan string)
		go func() {
			yes, err := confirmed(ctx, a.p, allowed, strings.Split(ui.Exact(now.command), "\n"))
			asked <- fmt.Sprint(yes, err)
		}()
		for _, text := range now.while {
			yield(agent.Step{Text: text}, nil)
		}
		yield(agent.Step{Text: fmt.Sprintf("\nall of %d is said\n", a.next)}, nil)
		yield(agent.Step{Text: fmt.Sprintf("\nanswer %d: %s\n", a.next, <-asked)}, nil)
	}
}

// D1: on a terminal of 80x24, the question is the last thing on the screen and whole, whatever the model sends before it
// and while it waits, and nothing else has its mark.
func TestQuestionIsLastOnTheScreen(t *testing.T) {
	a := &attacker{all: attacks(), p: &Prompter{}}
	k := openTerminal(t, 80, 24)
	k.run(t.Context(), &Options{Ask: a.ask, Prompter: a.p})
	k.shows(">")
	var marked []string // each row with the mark so far
	for i, now := range a.all {
		panel := append([]string{ui.Mark + " " + allowed}, ui.Framed(strings.Split(ui.Exact(now.command), "\n"), 80)...)
		want := append(slices.Clone(panel), ui.Mark+" Press y or n:", "waiting for an answer")
		k.press("go\r")
		said := fmt.Sprintf("all of %d is said", i+1)
		ours := slices.Concat(marked, panel, []string{ui.Mark + " Press y or n:"})
		whole := func(rows []string) bool { // between two writes of one frame it may be otherwise
			return k.screen.EndsWith(want...) && slices.Equal(withMark(rows), ours) &&
				slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, said) })
		}
		k.until(now.name+": whole question at the end of the screen after all of the text, and no other row with the mark", whole)
		if rows := k.screen.Rows(); len(rows) > 24 && len(want) > 24 {
			t.Errorf("%s: the screen does not hold the question:\n%s", now.name, strings.Join(rows[len(rows)-24:], "\n"))
		}
		k.press("\x1b")
		k.shows(fmt.Sprintf("answer %d: false <nil>", i+1))
		marked = slices.Concat(marked, panel, []string{ui.Mark + " no"})
		k.idle("", ">")
	}
	for i, row := range k.screen.Rows() { // empty rows are printed also where only one row fits above the live ones
		if strings.HasPrefix(row, "answer ") && strings.TrimSpace(k.screen.Rows()[i-1]) != "" {
			t.Errorf("no empty row above %q", row)
		}
	}
	k.press("/exit\r")
	if err := k.end(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if k.screen.Unknown() != nil {
		t.Errorf("unknown sequences %q", k.screen.Unknown())
	}
}

func withMark(rows []string) []string {
	var out []string
	for _, r := range rows {
		if strings.Contains(r, ui.Mark) {
			out = append(out, r)
		}
	}
	return out
}

// D1: a command that exceeds the screen is shown in pages, and a yes counts only after the last one.
func TestLongQuestion(t *testing.T) {
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = fmt.Sprintf("echo %d", i)
	}
	a := &attacker{all: []attack{{command: strings.Join(lines, "\n")}, {command: strings.Join(lines, "\n")}}, p: &Prompter{}}
	k := openTerminal(t, 80, 24)
	k.run(t.Context(), &Options{Ask: a.ask, Prompter: a.p})
	k.shows(">")
	page := func(from, to int, prompt, status string) {
		t.Helper()
		want := append([]string{ui.Mark + " " + allowed}, ui.Framed(lines[from:to], 80)...)
		want = append(want, ui.Mark+" "+prompt, status)
		k.until(fmt.Sprintf("showing lines %d to %d", from, to), func(rows []string) bool { return k.screen.EndsWith(want...) })
	}
	k.press("go\r")
	page(0, 19, "31 more lines: Space shows them, Esc refuses", "waiting for an answer")
	k.press("y")
	page(0, 19, "31 more lines: Space shows them, Esc refuses", "see the rest of it first")
	k.press("\r")
	page(19, 38, "12 more lines: Space shows them, Esc refuses", "waiting for an answer")
	k.press(" ")
	page(31, 50, "Press y or n:", "waiting for an answer")
	k.press("\x1b[A") // up: what was seen stays seen
	page(12, 31, "Press y or n:", "waiting for an answer")
	k.answers("y")
	k.shows("answer 1: true <nil>")
	k.idle("", ">")
	k.press("go\r")
	page(0, 19, "31 more lines: Space shows them, Esc refuses", "waiting for an answer")
	k.press("\x1b")
	k.shows("answer 2: false <nil>")
	k.press("\x04")
	if err := k.end(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

// Issue 9 P15: Ctrl-L clears the screen.
func TestClearScreen(t *testing.T) {
	a := &partner{}
	k := openTerminal(t, 80, 24)
	k.run(t.Context(), &Options{Ask: a.ask, Greeting: "agent 1.0"})
	k.shows(">")
	k.press("hello\r")
	k.shows(`heard "hello"`)
	k.press("\x0c")
	k.until("clear", func(rows []string) bool {
		return len(rows) > 24 && strings.TrimSpace(strings.Join(rows[len(rows)-24:], "")) == ">"
	})
	k.press("again\r")
	k.shows(`heard "again"`)
	k.press("\x04")
	if err := k.end(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if all := k.screen.String(); !strings.Contains(all, `heard "hello"`) {
		t.Errorf("the scrollback has lost the answer:\n%s", all)
	}
}
