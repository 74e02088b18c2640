package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A path of an image that is dropped on the terminal becomes a mark in the input, goes with one key, and the model is shown the image, also one that
// lies outside the project. A path that the user only wrote is none.
func TestConversationShowsDropped(t *testing.T) {
	const gif = "GIF89a\x02\x00\x01\x00\x00\x00\x00"
	s := fakemodel.New(t, fakemodel.Step{Text: "A picture."}, fakemodel.Step{Text: "None."}, fakemodel.Step{Text: "Not that."})
	w := newWorld(t, append(s.Env(), "AGENT_PERMISSIONS_DENY=Read(//**/denied.gif)")...)
	w.write("work/shot.gif", gif)
	w.write("desk/my shot.gif", gif)
	w.write("desk/denied.gif", gif)
	w.write("desk/other.gif", gif)
	w.write("desk/notes.txt", "text\n")
	desk := filepath.Join(filepath.Dir(w.project), "desk")
	k := w.sit()
	k.sees("help.")
	drop := func(path string) { k.press("\x1b[200~" + path + "\x1b[201~") }
	drop("'" + desk + "/my shot.gif' ")
	k.shows("> [image #1 my shot.gif 13 bytes]")
	k.press("\x7f")
	k.until("an empty input", func() bool { return !strings.Contains(k.screen.String(), "image #1") })
	drop("file://" + desk + "/my%20shot.gif " + w.project + "/shot.gif")
	k.shows("> [image #1 my shot.gif 13 bytes] [image #2 shot.gif 13 bytes]")
	k.press("compare\r")
	k.sees("image, 2 x 1, 13 bytes")
	k.sees("attached shot.gif: GIF image, 2 x 1, 13 bytes")
	k.sees("A picture.")
	drop(desk + "/notes.txt")
	k.shows("/desk/notes.txt")
	k.press("\x15@\"" + desk + "/other.gif\" and @../desk/denied.gif\r")
	k.sees("None.")
	drop(desk + "/denied.gif")
	k.shows("> [image #3 denied.gif 13 bytes]")
	k.press("\r")
	k.sees("denies it")
	k.sees("Not that.")
	k.leaves()
	q := s.Requests()
	for i, want := range []int{2, 2, 2} {
		if len(q[i].Shown) != want {
			t.Errorf("request %d shows %d images, want %d", i, len(q[i].Shown), want)
		}
	}
	if got := q[0]; got.Shown[0].Type != "image/gif" || !bytes.Equal(got.Shown[0].Data, []byte(gif)) || !strings.Contains(got.Prompt(), `my shot.gif" @"shot.gif" compare`) {
		t.Errorf("the model saw %+v, asked %q", got.Shown, got.Prompt())
	}
}
