package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// twice is a question with two answers.
func twice(details ...string) ui.Question {
	return ui.Question{Text: "Change it?", Details: details, Choices: []ui.Choice{{Key: "y", Label: "yes, all"}, {Key: "n", Label: "no"}}}
}

// P5: one key answers, but no key that belongs to what was being typed, and no pasted one.
func TestChoices(t *testing.T) {
	const pause = ui.Quiet + time.Millisecond
	tests := []struct {
		name string
		do   func(k *talk)
		want string // "-" for no answer
	}{
		{"y", func(k *talk) { k.wait(pause); k.press("y") }, "y"},
		{"in capitals", func(k *talk) { k.wait(pause); k.press("N") }, "n"},
		{"too soon", func(k *talk) { k.press("y") }, "-"},
		{"too soon, then again", func(k *talk) { k.press("y"); k.wait(pause); k.press("y") }, "y"},
		{"in the middle of a sentence", func(k *talk) {
			for range 20 {
				k.wait(ui.Quiet / 2)
				k.press("tryyy")
			}
		}, "-"},
		{"another key", func(k *talk) { k.wait(pause); k.press("x") }, "-"},
		{"Enter", func(k *talk) { k.wait(pause); k.press("<enter>") }, "-"},
		{"pasted", func(k *talk) { k.wait(pause); k.happen(pasteEvent{"y"}) }, "-"},
		{"Esc", func(k *talk) { k.press("<esc>") }, ""},
		{"Ctrl-C", func(k *talk) { k.press("<ctrl+c>") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, nil)
			k.press("hi<enter>")
			q := &question{Question: twice(), answer: make(chan string, 1)}
			k.happen(askEvent{q})
			tt.do(k)
			got := "-"
			if len(q.answer) > 0 {
				got = <-q.answer
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A yes counts only after all of the details were shown; a no counts at once.
func TestChoicesNeedAllDetails(t *testing.T) {
	long := strings.Split(strings.Repeat("line\n", 60), "\n")
	for _, tt := range []struct{ name, keys, want string }{
		{"yes", "y", "-"}, {"yes, after all pages", "<space><space><space><space><space>y", "y"}, {"no", "n", "n"},
	} {
		k := newTalk(t, 60, nil)
		k.press("hi<enter>")
		q := &question{Question: twice(long...), answer: make(chan string, 1)}
		k.happen(askEvent{q})
		k.wait(time.Second)
		k.press(tt.keys)
		got := "-"
		if len(q.answer) > 0 {
			got = <-q.answer
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A question that the window has no room for cannot be allowed.
func TestQuestionTooLargeForTheWindow(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("hi<enter>")
	q := &question{Question: ui.Question{Text: "Create \"" + strings.Repeat("x", 10_000) + "\"?", Details: []string{"+x"}}, answer: make(chan string, 1)}
	k.happen(askEvent{q})
	k.wait(time.Second)
	k.press("y<space>y")
	if len(q.answer) > 0 {
		t.Errorf("got %q", <-q.answer)
	}
	k.press("n")
	if got := <-q.answer; got != "n" {
		t.Errorf("got %q, want n", got)
	}
}

// P5: a diff is in colour, also the rows that continue a line, and foreign text has no colour of its own.
func TestDiffOnTheScreen(t *testing.T) {
	k := newTalk(t, 20, &Options{Colour: true})
	k.press("hi<enter>")
	k.out = nil
	q := twice("@@ -1 +1 @@", "-old", "+\x1b[31mnew and longer than a row", " same")
	q.Diff = true
	k.happen(askEvent{&question{Question: q, answer: make(chan string, 1)}})
	rows := strings.Join(k.view().rows, "\n")
	for _, want := range []string{"\x1b[2m   @@ -1 +1 @@\x1b[0m", "\x1b[31m   -old\x1b[0m", "\x1b[32m   +\\x1b[31mnew\x1b[0m", "\x1b[32m » and longer than\x1b[0m", "    same", " y  yes, all", "Press y or n:"} {
		if !strings.Contains(rows, want) {
			t.Errorf("%q is not in\n%q", want, rows)
		}
	}
}

// P5: a change that was not asked about is shown below its call.
func TestChangedBelowTheCall(t *testing.T) {
	k := newTalk(t, 30, &Options{Changed: func(r *agent.Result) []string {
		if r.Call.Name != "edit_file" {
			return nil
		}
		return []string{"@@ -1 +1 @@", "-\told", "+new \x1b[2J" + strings.Repeat("x", 40)}
	}})
	k.press("hi<enter>")
	k.out = nil
	k.result(k.call("edit_file", `{"file_path":"a"}`), tool.Success(nil, ""), "")
	k.result(k.call("hello", `{}`), tool.Success(nil, ""), "")
	want := []string{"  @@ -1 +1 @@", "  -        old", "  +new \\x1b[2Jxxxxxxxxxxxxxx…"}
	if got := strings.Join(k.out, "\n"); !strings.Contains(got, strings.Join(want, "\n")) {
		t.Errorf("got\n%s", got)
	}
}
