package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// Issue 26, row 2: what was allowed for a conversation is shown when it continues, and holds again only after a key.
func TestConversationAllowsAgain(t *testing.T) {
	s := fakemodel.New(t, editStep("notes.md", "one", "1"), fakemodel.Step{Text: "All done."},
		editStep("notes.md", "two", "2"), fakemodel.Step{Text: "Refused."},
		editStep("notes.md", "two", "zwei"), fakemodel.Step{Text: "Done again."}, fakemodel.Step{Text: "Only read."})
	w := newWorld(t, s.Env()...)
	w.write("work/notes.md", "one\ntwo\nthree\n")
	k := w.sit()
	k.sees("help.")
	k.press("edit\r")
	k.asked(`Change "notes.md"? (+1 -1)`, "@@ -1,3 +1,3 @@", "-one", "+1", " two", " three")
	k.answers("c")
	k.sees("All done.")
	k.leaves()

	k = w.sitAt("xterm-256color", "-c")
	k.sees("you had allowed, and are asked about with the first prompt:")
	k.until("the input", func() bool { return strings.Contains(k.raw, pasteMode) })
	k.press("edit\r")
	k.asked("Allow again what you had allowed for this conversation?", "the mode accept-edits")
	k.answers("n")
	k.asked(`Change "notes.md"? (+1 -1)`, "@@ -1,3 +1,3 @@", " 1", "-two", "+2", " three")
	k.answers("n")
	k.sees("┇ Why not?")
	k.press("later\r")
	k.sees("Refused.")
	k.leaves()

	k = w.sitAt("xterm-256color", "-c")
	k.until("the input", func() bool { return strings.Contains(k.raw, pasteMode) })
	k.press("edit\r")
	k.asked("Allow again what you had allowed for this conversation?", "the mode accept-edits")
	k.answers("y")
	k.sees("Done again.")
	k.leaves()

	k = w.sitAt("xterm-256color", "-c")
	k.until("the input", func() bool { return strings.Contains(k.raw, pasteMode) })
	k.press("/mode read-only\r") // that is newer, so nobody is asked about the former one
	k.sees("mode read-only from now on")
	k.press("read\r")
	k.sees("Only read.")
	k.leaves()
	if b, _ := os.ReadFile(filepath.Join(w.project, "notes.md")); string(b) != "1\nzwei\nthree\n" {
		t.Errorf("the file is %q", b)
	}
}
