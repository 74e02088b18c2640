package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// editStep is an answer that changes a file.
func editStep(name, before, after string) fakemodel.Step {
	return callStep("edit_file", `{"file_path":"`+name+`","old_string":"`+before+`","new_string":"`+after+`"}`)
}

// P5, R179: each change is shown as a diff before the question, one key answers it, and a no has a reason for the model.
func TestConversationAsksAboutChanges(t *testing.T) {
	s := fakemodel.New(t, editStep("notes.md", "two", "2"), editStep("notes.md", "two", "zwei"), editStep("notes.md", "one", "1"),
		callStep("write_file", `{"file_path":"AGENTS.md","content":"obey\n"}`), fakemodel.Step{Text: "All done."}, fakemodel.Step{Text: "I see."})
	w := newWorld(t, s.Env()...)
	w.write("work/notes.md", "one\ntwo\nthree\n")
	k := w.sit()
	k.sees("help.")
	k.press("edit\r")
	k.asked(`Change "notes.md"? (+1 -1)`, "@@ -1,3 +1,3 @@", " one", "-two", "+2", " three")
	k.press("y") // too soon: it may belong to a sentence
	k.sees("too soon")
	k.press("\x1b[200~y\x1b[201~") // pasted
	k.answers("n")
	k.sees("┇ Why not?")
	k.press("use words\r")
	k.asked(`Change "notes.md"? (+1 -1)`, "@@ -1,3 +1,3 @@", " one", "-two", "+zwei", " three")
	k.answers("c")
	k.sees("● edit_file notes.md")
	k.sees("+1") // the third change is shown afterwards
	k.asked(`Create "AGENTS.md"? (+1 -0) Agents follow AGENTS.md without asking.`, "@@ -0,0 +1,1 @@", "+obey")
	k.answers("y")
	k.sees("All done.")
	if b, _ := os.ReadFile(filepath.Join(w.project, "notes.md")); string(b) != "1\nzwei\nthree\n" {
		t.Errorf("the file is %q", b)
	}
	k.press("/undo\r")
	k.sees("removed    AGENTS.md")
	k.sees("restored   notes.md")
	k.press("/undo\r")
	k.sees("Nothing of this conversation is left to take back.")
	k.press("/mode\r")
	k.sees("mode accept-edits")
	k.press("and now?\r")
	k.sees("I see.")
	k.leaves()
	if b, _ := os.ReadFile(filepath.Join(w.project, "notes.md")); string(b) != "one\ntwo\nthree\n" {
		t.Errorf("the file is %q after /undo", b)
	}
	q := s.Requests()
	if got := q[1].LastResult(); !strings.Contains(got, "The user did not allow writing 'notes.md', and says: use words") {
		t.Errorf("the model was told %s", got)
	}
	if got := q[5].Prompt(); !strings.Contains(got, "The user took back your last changes of these files: AGENTS.md (removed), notes.md (restored).") {
		t.Errorf("the model was told %s", got)
	}
	for _, r := range q {
		if strings.Contains(string(r.Body), "@@ ") {
			t.Errorf("the model was sent a diff: %s", r.Body)
		}
	}
}

// R179: "always" is one key, for this project first, and the question shows the rule. Another rule can be written in its place.
func TestConversationAlways(t *testing.T) {
	bash := func(text string) fakemodel.Step { return callStep("bash", `{"command":"`+text+`"}`) }
	s := fakemodel.New(t, bash("ls -a"), bash("ls docs"), bash("echo one"), bash("cat x"), bash("cat y"), fakemodel.Step{Text: "All done."})
	w := newWorld(t, append(s.Env(), "AGENT_BASH_SANDBOX=off")...)
	w.write("work/docs/a.md", "a\n")
	w.write("home/.agent/config.yaml", "# mine\nskills:\n  maxSkills: 9\n")
	k := w.sit()
	k.sees("help.")
	k.press("look\r")
	k.asked("Run this command as you, outside any sandbox?", "ls -a")
	k.shows("┇ The rule: Bash(ls:*)")
	k.shows("Press y, c, p, a, e or n:")
	k.answers("p")
	k.asked("Run this command as you, outside any sandbox?", "echo one") // ls docs ran without a question
	k.shows("┇ The rule: Bash(echo:*)")
	k.answers("y")
	k.asked("Run this command as you, outside any sandbox?", "cat x")
	k.shows("┇ The rule: Bash(cat x)")
	k.answers("e")
	k.sees("Which rule")
	k.press("Bash(\r")
	k.sees("is not a rule")
	k.press("Bash(cat *)\r")
	k.shows("┇ The rule: Bash(cat *)")
	if b, _ := os.ReadFile(filepath.Join(w.home, ".agent/config.yaml")); strings.Contains(string(b), "Bash") {
		t.Errorf("the rule is written before it was confirmed: %s", b)
	}
	k.answers("a")
	k.sees("All done.")
	k.leaves()
	b, err := os.ReadFile(filepath.Join(w.home, ".agent/config.yaml"))
	if want := "# mine\nskills:\n  maxSkills: 9\npermissions:\n  allow:\n    - 'Bash(cat *)'\n"; err != nil || string(b) != want {
		t.Errorf("the settings are %q, want %q", b, want)
	}
	if out, _, _ := w.run("", "permissions", "list", "--json"); !strings.Contains(out, "Bash(ls:*)") || !strings.Contains(out, `"this project"`) {
		t.Errorf("the rules are %s", out)
	}
}
