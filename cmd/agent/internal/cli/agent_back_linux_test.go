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
	k.shows("> change it")
	k.press("\x15again\r")
	k.sees("Back again.")
	k.leaves()
	q := s.Requests()
	last := q[len(q)-1]
	if text := string(last.Body); strings.Contains(text, "Written.") || !strings.Contains(text, "The user went back to here.") || !strings.Contains(text, "a.txt (restored)") {
		t.Errorf("the model was sent %.2000s", text)
	}
}

// A prompt that begins with ! is a command of the user: nobody is asked, no model is, and the next turn tells it. Rules that deny hold.
func TestConversationRunsWhatTheUserTypes(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "I see."})
	w := newWorld(t, append(s.Env(), "AGENT_PERMISSIONS_DENY=Bash(git push:*)")...)
	k := w.sit("--mode", "read-only")
	k.sees("help.")
	k.press("!echo one > made; echo it is $((40+2))\r")
	k.sees("ok  #1\n  it is 42\n")
	k.press("!git push\r")
	k.sees("permission_denied")
	k.sees("This command is not allowed: ")
	k.press("what was that?\r")
	k.sees("I see.")
	k.leaves()
	if _, err := os.Stat(filepath.Join(w.project, "made")); err != nil {
		t.Error(err)
	}
	if q := s.Requests(); len(q) != 1 || !strings.Contains(string(q[0].Body), `It ended with exit code 0 and printed:\nit is 42`) || !strings.Contains(string(q[0].Body), "The user ran a command: git push") {
		t.Errorf("%d requests; the first is %.3000s", len(q), q[0].Body)
	}
}

// The hooks of the user's settings see what the user types after one !, and what they say reaches the model. After two it is the user's alone.
func TestConversationHooksSeeWhatTheUserTypes(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "I see."})
	w := newWorld(t, s.Env()...)
	w.write("home/.agent/config.yaml", "agent:\n  hooks:\n    PreToolUse: [{hooks: [{command: 'grep -q made && echo not without me >&2 && exit 2; exit 0'}]}]\n"+
		"    PostToolUse: [{hooks: [{command: 'echo seen by a hook >&2; exit 2'}]}]\n")
	k := w.sit()
	k.sees("help.")
	k.press("!touch made\r")
	k.sees("not allowed by a hook of the user's settings: not without me")
	k.press("!echo it is $((40+2))\r")
	k.sees("it is 42\n")
	k.press("!!touch made; echo it is $((40+4))\r")
	k.sees("it is 44\n")
	k.press("what was that?\r")
	k.sees("I see.")
	k.leaves()
	if _, err := os.Stat(filepath.Join(w.project, "made")); err != nil {
		t.Error(err)
	}
	body := string(s.Requests()[0].Body)
	if strings.Count(body, "A hook of the user's settings says: seen by a hook") != 1 || !strings.Contains(body, "It did not run: Tool 'bash' not allowed by a hook") {
		t.Errorf("the model was sent %.3000s", body)
	}
}

// In the mode plan nothing is changed until the user approves a plan. A no with a reason goes back to the model.
func TestConversationPlans(t *testing.T) {
	write := callStep("write_file", `{"file_path":"a.txt","content":"two\n"}`)
	s := fakemodel.New(t, write, callStep("propose_plan", `{"plan":"1. Write a.txt."}`), callStep("propose_plan", `{"plan":"1. Write a.txt twice."}`), write, fakemodel.Step{Text: "Done."},
		fakemodel.Step{Text: "Bye."})
	w := newWorld(t, s.Env()...)
	k := w.sit()
	k.sees("help.")
	k.press("/plan\r")
	k.sees("nothing is changed until you approve a plan")
	k.press("write it\r")
	k.sees("Carry out this plan?")
	k.shows("1. Write a.txt.")
	k.answers("n")
	k.sees("Why not?")
	k.press("twice, please\r")
	k.sees("Carry out this plan?")
	k.shows("1. Write a.txt twice.")
	k.answers("e")
	k.sees("Done.")
	k.press("thanks\r")
	k.sees("Bye.")
	k.leaves()
	q := s.Requests()
	var told []string
	for _, r := range q[4].Results() {
		told = append(told, r.Text)
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{"the mode is plan", "twice, please", "The user approved the plan", `"success":true`} {
		if !strings.Contains(all, want) {
			t.Errorf("the model was not told %q in %s", want, all)
		}
	}
	offered := func(n int) bool { return strings.Contains(string(q[n].Body), `"name":"propose_plan"`) }
	if !offered(0) || !strings.Contains(q[0].Prompt(), "The user wants a plan first") {
		t.Errorf("the first request does not tell of the plan: %.1000s", q[0].Prompt())
	}
	if text, err := os.ReadFile(filepath.Join(w.project, "a.txt")); err != nil || string(text) != "two\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// takes waits until a conversation has taken the terminal for the nth time: what is typed before is read as lines.
func (k *seat) takes(n int) {
	k.t.Helper()
	k.until("the terminal is taken", func() bool { return strings.Count(k.raw, pasteMode) >= n })
}

// A conversation goes on with a copy of itself, or with another one, without leaving the program.
func TestConversationGoesOnWithAnother(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "First."}, fakemodel.Step{Text: "In the copy."}, fakemodel.Step{Text: "In the first again."})
	w := newWorld(t, s.Env()...)
	k := w.sit()
	k.sees("help.")
	k.press("/resume\r")
	k.sees("no other conversation about this project is saved")
	k.press("one\r")
	k.sees("First.")
	k.press("/fork\r")
	k.sees("this is a copy of ")
	k.takes(2)
	k.press("two\r")
	k.sees("In the copy.")
	k.press("/resume\r")
	k.sees("Which conversation continues?")
	k.answers("1")
	k.sees("continues ")
	k.takes(3)
	k.press("three\r")
	k.sees("In the first again.")
	k.leaves()
	q := s.Requests()
	if text := string(q[1].Body); !strings.Contains(text, "First.") {
		t.Errorf("the copy does not have what was said: %.1000s", text)
	}
	if text := string(q[2].Body); !strings.Contains(text, "First.") || strings.Contains(text, "In the copy.") {
		t.Errorf("the first conversation has what was said in the copy: %.1000s", text)
	}
	if out := w.succeeds("", "conversations", "list"); strings.Count(out, "one") < 2 {
		t.Errorf("want two conversations: %s", out)
	}
	k = w.sit("-c")
	k.sees("> three")
	k.sees("In the first again.")
	k.leaves()
	if out := w.succeeds("", "-c"); !strings.Contains(out, "continues ") || strings.Contains(out, "In the first again.") {
		t.Errorf("what was said is for a person alone: %s", out)
	}
}
