package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A prompt that is sent while the agent works waits for its turn. Esc twice goes back to an earlier prompt, with the changes of files; the
// model is told, and does not see what followed.
func TestConversationQueuesAndGoesBack(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "Hello."}, callStep("write_file", `{"file_path":"a.txt","content":"two\n"}`), fakemodel.Step{Text: "Written."},
		fakemodel.Step{Text: "The second one."}, fakemodel.Step{Text: "Back again."})
	w := newWorld(t, s.Env()...)
	w.write("work/a.txt", "one\n")
	k := w.sit()
	k.sees("help.")
	k.press("hi\r")
	k.sees("Hello.")
	k.press("change it\r")
	k.sees("Press y")
	k.answers("y")
	if _, err := k.near.WriteString("and then\r"); err != nil { // it may still work: queued or not, it comes next
		t.Fatal(err)
	}
	k.sees("The second one.")
	k.shows("$") // the price is known
	k.press("\x1b")
	k.shows("Esc again goes back to an earlier prompt")
	k.press("\x1b")
	k.sees("Go back to before which prompt?")
	k.shows("2  ")
	k.answers("2")
	k.sees("Take back the changes of 1 file, too?")
	k.answers("y")
	k.sees(`back to before "change it"; the files, too`)
	if text, err := os.ReadFile(filepath.Join(w.project, "a.txt")); err != nil || string(text) != "one\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	k.press("again\r")
	k.sees("Back again.")
	k.leaves()
	q := s.Requests()
	last := q[len(q)-1]
	if text := string(last.Body); strings.Contains(text, "Written.") || !strings.Contains(text, "The user went back to here.") || !strings.Contains(text, "a.txt (restored)") {
		t.Errorf("the model was sent %.2000s", text)
	}
}
