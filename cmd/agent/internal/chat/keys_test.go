package chat

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func TestKeys(t *testing.T) {
	tests := []struct {
		name, script string
		input, hint  string
		done         []effect
	}{
		{"typing", "hello", "hello", "", nil},
		{"lines", "a<alt+enter>b<ctrl+j>c", "a\nb\nc", "", nil},
		{"empty line is not sent", "  <enter>", "  ", "", nil},
		{"Ctrl-C on an empty line", "<ctrl+c>", "", "Ctrl-D or /quit leaves", nil},
		{"the hint goes with the next key", "<ctrl+c>x", "x", "", nil},
		{"Ctrl-C empties the line", "abc<ctrl+c>", "", "", nil},
		{"Ctrl-D leaves", "<ctrl+d>", "", "", []effect{leave{}}},
		{"Ctrl-D deletes", "ab<left><ctrl+d>", "a", "", nil},
		{"/quit", "/quit<enter>", "", "", []effect{remember{"/quit"}, leave{}}},
		{"/exit", "/exit<enter>", "", "", []effect{remember{"/exit"}, leave{}}}, // issue 9 P15
		{"older", "dra<up>", "before", "", nil},
		{"newer", "dra<up><down>", "dra", "", nil},
		{"Ctrl-Z", "<ctrl+z>", "", "", []effect{suspend{}}},
		{"a prompt", "hi<enter>", "", "", []effect{remember{"hi"}, startTurn{"hi"}}},
		{"a path is a prompt", "/etc/hosts?<enter>", "", "", []effect{remember{"/etc/hosts?"}, startTurn{"/etc/hosts?"}}},
		{"a key that is none", "a<f5>", "a", "", nil},
		{"tab in a prompt", "he<tab>", "he", "", nil},
		{"tab completes a name", "/w<tab>", "/why ", "", nil},
		{"tab takes the marked one", "/mo<tab>", "/model ", "", nil},
		{"the arrows mark another", "/mo<down><tab>", "/more ", "", nil},
		{"the first again", "/mo<up><up><tab>", "/model ", "", nil},
		{"Enter takes the marked one and sends nothing", "/mo<down><enter>", "/more ", "", nil},
		{"Enter sends what is there already", "/quit<enter>", "", "", []effect{remember{"/quit"}, leave{}}},
		{"Enter takes another that is marked", "/<down><enter>", "/copy ", "", nil},
		{"Esc closes the popup, and Enter sends", "/quit<esc><enter>", "", "", []effect{remember{"/quit"}, leave{}}},
		{"it stays closed for this word", "/mo<esc>d<tab>", "/model ", "", nil},
		{"tab opens it again", "/mo<esc><tab><tab>", "/model ", "", nil},
		{"tab finds nothing", "/x<tab>", "/x", "no completion", nil},
		{"tab completes an argument", "/why g<tab>", "/why gh ", "", nil},
		{"tab completes the common part", "/why h<tab>", "/why hello-", "", nil},
		{"tab shows the choice", "/why h<tab><tab>", "/why hello-", "hello-extended  hello-world", nil},
		{"tab completes a skill", "/Pdf_f<tab>", "/pdf-forms ", "", nil},
		{"commands and skills, but no refused one", "/o<down><down><tab>", "/open ", "", nil},
		{"a skill is a prompt", "/Pdf_Forms a  b<enter>", "", "", []effect{remember{"/Pdf_Forms a  b"}, startTurn{"/Pdf_Forms a  b"}}},
		{"a skill without arguments", "/Pdf_Forms<enter>", "", "", []effect{remember{"/Pdf_Forms"}, startTurn{"/Pdf_Forms"}}},
		{"in several lines", "/pdf-forms<alt+enter>a<enter>", "", "", []effect{remember{"/pdf-forms\na"}, startTurn{"/pdf-forms\na"}}},
		{"a refused skill is Ask's to explain", "/off<enter>", "", "", []effect{remember{"/off"}, startTurn{"/off"}}},
		{"a comment is a prompt", "/* x<enter>", "", "", []effect{remember{"/* x"}, startTurn{"/* x"}}},
		{"tab completes the label of a server", "/hu<tab>", "/hub:", "", nil},
		{"tab completes a prompt of a server", "/hub:r<tab>", "/hub:review ", "", nil},
		{"the prompts of a server", "/hub:<down><tab>", "/hub:summary ", "", nil},
		{"a label, then its prompt", "/hu<tab><down><tab>", "/hub:summary ", "", nil},
		{"tab does not know the prompts of a server", "/lab:<tab>", "/lab:", "no completion", nil},
		{"a prompt of a server", "/hub:review a b<enter>", "", "", []effect{remember{"/hub:review a b"}, startTurn{"/hub:review a b"}}},
		{"a command wins over a skill", "/quit<enter>", "", "", []effect{remember{"/quit"}, leave{}}},
	}
	skills := func() []Skill {
		return []Skill{{Name: "off", Refused: true}, {Name: "orca"}, {Name: "pdf-forms"}, {Name: "quit"}}
	}
	prompts := func(label string) []string {
		if label == "hub" {
			return []string{"review", "summary", "not\x1bshown"}
		}
		return nil
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, &Options{Commands: testCommands(), Skills: skills, Labels: func() []string { return []string{"hub", "lab"} }, Prompts: prompts})
			k.press(tt.script)
			if k.input.text != tt.input || k.hint != tt.hint || !reflect.DeepEqual(k.done, tt.done) {
				t.Errorf("input %q, hint %q, effects %+v, want %q, %q, %+v", k.input.text, k.hint, k.done, tt.input, tt.hint, tt.done)
			}
		})
	}
}

func testCommands() []Command {
	echo := func(_ context.Context, args string) (string, error) { return "got " + args, nil }
	complete := func(prefix string) []string {
		var found []string
		for _, name := range []string{"gh", "hello-extended", "hello-world"} {
			if strings.HasPrefix(name, prefix) {
				found = append(found, name)
			}
		}
		return found
	}
	return []Command{{Name: "why", Run: echo, Complete: complete}, {Name: "model", Run: echo}, {Name: "more", Run: echo},
		{Name: "broken", Run: func(context.Context, string) (string, error) { return "", fmt.Errorf("it is broken") }}}
}

func TestCommandStartsWork(t *testing.T) {
	k := newTalk(t, 60, &Options{Commands: testCommands()})
	k.press("/why  gh <enter>")
	start, ok := k.done[1].(startCommand)
	if !ok || start.command.Name != "why" || start.args != "gh" || !k.busy {
		t.Fatalf("effects %+v, busy %v, want /why with gh", k.done, k.busy)
	}
	k.happen(outputEvent{text: "because\nof that\n"}, doneEvent{})
	k.check(t, `
> /why  gh

because
of that
────

> █

`)
}

func TestUnknownCommand(t *testing.T) {
	skills := func() []Skill { return []Skill{{Name: "off", Refused: true}, {Name: "orca"}} }
	suggest := func(word string, names []string) string {
		if word == "modle" && slices.Contains(names, "orca") && !slices.Contains(names, "off") {
			return "model"
		}
		return ""
	}
	k := newTalk(t, 70, &Options{Commands: testCommands(), Suggest: suggest, Skills: skills})
	k.press("/modle x<enter>/zzz<enter>")
	k.check(t, `
> /modle x

unknown command /modle: did you mean /model? /help lists all

> /zzz

unknown command /zzz: /help lists all
────

> █

`)
}

// Esc stops the turn and not the program.
func TestInterrupt(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("hi<enter>")
	k.say("half an ans")
	k.call("sleep", "{}")
	k.done = nil
	k.press("next<enter><ctrl+c>")
	if !reflect.DeepEqual(k.done, []effect{remember{"next"}, stopWork{}}) || k.leaving {
		t.Errorf("effects %+v, leaving %v, want the work stopped", k.done, k.leaving)
	}
	k.happen(doneEvent{context.Canceled})
	k.check(t, `
> hi

half an ans

● sleep  0.0 s  stopped  #1

stopped
────

> next█
what was queued is in the input: Enter sends it

`)
	k.press("<enter>")
	if !k.busy {
		t.Error("the next prompt is not sent")
	}
}

func TestWhileBusy(t *testing.T) {
	k := newTalk(t, 60, &Options{Commands: testCommands()})
	k.press("hi<enter>")
	k.done = nil
	k.press("/help<enter>")
	if len(k.done) != 1 || !strings.Contains(k.screen(), "Show the commands") {
		t.Errorf("effects %v, want help while at work", k.done)
	}
	k.done = nil
	k.press("<ctrl+d>")
	if !reflect.DeepEqual(k.done, []effect{stopWork{}, leave{}}) {
		t.Errorf("effects %+v, want the work stopped and the program left", k.done)
	}
}

func TestPaste(t *testing.T) {
	k := newTalk(t, 30, nil)
	k.press("see: ")
	k.happen(pasteEvent{"all:\r\n\tgo build\r\tgo test\n\x1b[2J /quit"})
	if want := "see: all:\n\tgo build\n\tgo test\n\x1b[2J /quit"; k.input.text != want {
		t.Errorf("got %q, want %q", k.input.text, want)
	}
	k.check(t, `

────
> see: all:
      go build
      go test
  \x1b[2J /quit█

`)
	k.happen(pasteEvent{strings.Repeat("x", maxInput)})
	if k.hint == "" {
		t.Error("a paste that is too long says nothing")
	}
}

func TestLongInputScrolls(t *testing.T) {
	k := newTalk(t, 30, nil)
	k.height = 6
	k.happen(pasteEvent{"1\n2\n3\n4\n5\n6\n7\n8"})
	k.check(t, `

────
  6
  7
  8█

`)
	k.press("<up><up><up><up><up><up><up>")
	k.check(t, `

────
> 1█
  2
  3

`)
}

func TestQuestion(t *testing.T) {
	tests := []struct {
		name, keys string
		want       bool
	}{
		{"y", "y", true},
		{"in capitals", "Y", true},
		{"Enter, then y", "<enter>y", true},
		{"n", "n", false},
		{"another key, then n", "xn", false},
		{"Esc", "<esc>", false},
		{"Ctrl-C", "<ctrl+c>", false},
		{"Ctrl-D", "<ctrl+d>", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, nil)
			k.press("hi<enter>y")
			q := &question{Question: ui.Question{Text: "Run it?", Details: []string{"rm -rf /"}}, answer: make(chan string, 1)}
			k.happen(askEvent{q})
			k.wait(ui.Quiet)
			k.press(tt.keys)
			if got := <-q.answer == "y"; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if k.input.text != "y" {
				t.Errorf("the input is %q, want what was typed before the question", k.input.text)
			}
		})
	}
}

// C65: a question may have more answers than y and n, and one may ask for a line of text.
func TestOtherAnswers(t *testing.T) {
	edit := ui.Question{Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "e", Label: "change it"}, {Key: "n", Label: "no"}}}
	whole := ui.Question{Details: []string{"short"}, Whole: []string{"long", "text"}}
	tests := []struct {
		name, keys string
		q          ui.Question
		want       string
	}{
		{"one of the letters", "e", edit, "e"},
		{"in capitals", "E", edit, "e"},
		{"not a letter of this question", "ey", ui.Question{}, "y"},
		{"the whole, then yes", "d|y", whole, "y"},
		{"the whole is there once", "d|d|n", whole, "n"},
		{"text", "A_KEY<space>write<enter>", ui.Question{Free: true}, "A_KEY write"},
		{"text in place of no", "n<enter>", ui.Question{Free: true}, "n"},
		{"no text", "<enter>", ui.Question{Free: true}, ""},
		{"no text because of Esc", "A<esc>", ui.Question{Free: true}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, nil)
			k.press("hi<enter>")
			tt.q.Text = "Let it run?"
			q := &question{Question: tt.q, answer: make(chan string, 1)}
			k.happen(askEvent{q})
			for keys := range strings.SplitSeq(tt.keys, "|") {
				k.wait(ui.Quiet)
				k.press(keys)
			}
			if got := <-q.answer; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestQuestionOnTheScreen(t *testing.T) {
	k := newTalk(t, 30, nil)
	k.press("hi<enter>")
	k.out = nil
	first := &question{Question: ui.Question{Text: "Run a command in the folder of the project?", Details: []string{"make all\nmake test"}}, answer: make(chan string, 1)}
	second := &question{Question: ui.Question{Text: "Second?"}, answer: make(chan string, 1)}
	k.happen(askEvent{first}, askEvent{second})
	k.wait(ui.Quiet)
	k.press("e")
	k.happen(pasteEvent{"y"})
	k.check(t, `

────

┇ Run a command in the
┇ » folder of the project?
┇   make all
┇   make test
┇ Press y or n: █
waiting for an answer
`)
	k.press("<enter>")
	if len(first.answer) != 0 {
		t.Error("Enter is an answer")
	}
	k.check(t, `

────

┇ Run a command in the
┇ » folder of the project?
┇   make all
┇   make test
┇ Press y or n: █
Press y or n:
`)
	k.press("n")
	if <-first.answer == "y" {
		t.Error("\"n\" is a yes")
	}
	k.happen(withdrawEvent{second}, withdrawEvent{second})
	if <-second.answer == "y" || len(k.questions) != 0 {
		t.Error("a question that was withdrawn is not answered with no")
	}
	k.check(t, `

┇ Run a command in the
┇ » folder of the project?
┇   make all
┇   make test
┇ no
┇ Second?
┇ withdrawn
────

> █
0 s, Esc stops
`)
}

func TestQuestionOutsideOfATurn(t *testing.T) {
	k := newTalk(t, 30, nil)
	q := &question{Question: ui.Question{Text: "Run it?"}, answer: make(chan string, 1)}
	k.happen(askEvent{q})
	if len(k.questions) != 0 || len(q.answer) == 0 || <-q.answer == "y" {
		t.Error("it is asked, want no")
	}
}

func TestResize(t *testing.T) {
	k := newTalk(t, 80, nil)
	k.press("hi<enter>")
	k.happen(sizeEvent{20, 5})
	k.say("one two three four five six seven eight nine ten\n")
	for _, n := range []int{1, 3, 500} {
		k.happen(sizeEvent{n, n})
		if v := k.view(); len(v.rows) > max(n, 2)+1 {
			t.Errorf("%d rows at height %d", len(v.rows), n)
		}
	}
	k.happen(sizeEvent{0, 0})
	if k.width != 1 || k.height != 1 {
		t.Errorf("size %d x %d, want 1 x 1: 0 stands for no terminal", k.width, k.height)
	}
}
