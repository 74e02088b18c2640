package chat

import (
	"reflect"
	"strings"
	"testing"
)

// /copy puts a block of code on the clipboard as the model wrote it, not as the screen shows it.
func TestCopy(t *testing.T) {
	k := newTalk(t, 40, nil)
	k.o.Clipboard = true
	k.press("/copy<enter>")
	if k.press("hi<enter>"); !strings.Contains(k.screen(), "no answer yet") {
		t.Errorf("the screen is %s", k.screen())
	}
	k.say("I *look*.")
	k.call("bash", `{"command":"make test"}`)
	k.say("All | is\n")
	k.say("well.")
	k.happen(doneEvent{})
	if k.press("/copy all<enter>"); !reflect.DeepEqual(k.done[len(k.done)-1], copyText{"All | is\nwell."}) {
		t.Errorf("the last answer: effects %v", k.done)
	}
	k.press("/copy<enter>")
	if k.press("once more<enter>"); !strings.Contains(strings.Join(strings.Fields(k.screen()), " "), "/copy all copies the last answer") {
		t.Errorf("the screen is %s", k.screen())
	}
	k.say("```go\n\tx := \"\x1b[m" + strings.Repeat("long ", 20) + "\"\n```\nand\n```\nb\n```\n")
	k.happen(doneEvent{})
	for keys, want := range map[string][]effect{
		"/copy 1<enter>": {copyText{"\tx := \"\x1b[m" + strings.Repeat("long ", 20) + "\"\n"}}, "/copy<enter>": {copyText{"b\n"}}, "/copy 3<enter>": nil, "/copy x<enter>": nil,
	} {
		k.done = nil
		if k.press(keys); !reflect.DeepEqual(k.done[1:], append([]effect{}, want...)) {
			t.Errorf("%s: effects %v", keys, k.done)
		}
	}
	k.say("```\n\u200b\n")
	k.happen(doneEvent{})
	k.press("/copy<enter>")
	if !strings.Contains(strings.Join(strings.Fields(k.screen()), " "), "it has characters that do not show") {
		t.Errorf("the screen is %s", k.screen())
	}
	k.o.Clipboard, k.done = false, nil
	if k.press("/copy<enter>"); len(k.done) != 1 || !strings.Contains(strings.Join(strings.Fields(k.screen()), " "), "copying needs a terminal that has a clipboard") {
		t.Errorf("without a clipboard: effects %v, the screen is %s", k.done, k.screen())
	}
	if !strings.Contains(strings.Join(strings.Fields(k.screen()), " "), `no block "3" is kept: the last one is 2`) {
		t.Errorf("the screen is %s", k.screen())
	}
}
