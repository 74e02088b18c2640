package chat

import (
	"errors"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	for _, tt := range []struct{ name, keys, input, row string }{
		{"nothing typed yet", "<ctrl+r>", "", "earlier input with: "},
		{"the newest", "dra<ctrl+r>fix", "fix the second bug", "earlier input with: fix"},
		{"an older one", "<ctrl+r>fix<ctrl+r>", "fix the first bug", "earlier input with: fix"},
		{"no older one", "<ctrl+r>fix<ctrl+r><ctrl+r>", "fix the first bug", "earlier input with: fix"},
		{"capitals do not count", "<ctrl+r>HEL", "hello", "earlier input with: HEL"},
		{"none", "dra<ctrl+r>zzz", "dra", `no earlier input has "zzz"`},
		{"a character less", "<ctrl+r>firsx<backspace>", "fix the first bug", "earlier input with: firs"},
		{"taken", "<ctrl+r>fix<end>!", "fix the second bug!", ""},
		{"given up", "dra<ctrl+r>fix<esc>", "dra", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, 60, nil)
			k.past = newPast([]string{"fix the first bug", "hello", "fix the second bug", "other"})
			k.press(tt.keys)
			if row := strings.Join(k.searchRows(), "|"); k.input.text != tt.input || row != tt.row {
				t.Errorf("input %q, row %q", k.input.text, row)
			}
		})
	}
	k := newTalk(t, 60, nil)
	k.past = newPast([]string{"hello"})
	k.press("<ctrl+r>hel<enter>")
	if !reflect.DeepEqual(k.done, []effect{remember{"hello"}, startTurn{"hello"}}) {
		t.Errorf("effects %v, want what was found sent", k.done)
	}
}

// A long paste is one mark in the input, where it is printed and in the queue; what is sent has all of it.
func TestLongPasteIsFolded(t *testing.T) {
	long := strings.Repeat("a line\n", 200)
	k := newTalk(t, 60, nil)
	k.press("see ")
	k.happen(pasteEvent{long})
	k.press(" and say<enter>")
	if want := []effect{remember{"see " + long + " and say"}, startTurn{"see " + long + " and say"}}; !reflect.DeepEqual(k.done, want) {
		t.Errorf("effects %.200v", k.done)
	}
	k.happen(pasteEvent{strings.Repeat("x", 3000)})
	k.press("<enter>")
	k.check(t, `
> see [paste 1: 201 lines] and say
────

  queued: [paste 2: 3,000 bytes]
> █
0 s, Esc stops
`)
	if k.press("<up>"); k.input.text != "[paste 2: 3,000 bytes]" {
		t.Errorf("input %.100q", k.input.text)
	}
}

// Ctrl-G edits the input in another program.
func TestEdit(t *testing.T) {
	k := newTalk(t, 60, &Options{Editor: func(string) (*exec.Cmd, func() (string, error), error) { return nil, nil, errors.New("none") }})
	k.press("dra<ctrl+g>")
	if !reflect.DeepEqual(k.done, []effect{edit{"dra"}}) {
		t.Errorf("effects %v", k.done)
	}
	if k.happen(editedEvent{"draft\nof two lines\n"}); k.input.text != "draft\nof two lines" {
		t.Errorf("input %q", k.input.text)
	}
}
