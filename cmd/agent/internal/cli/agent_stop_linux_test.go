package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// Ctrl-Z stops the conversation, and the shell's fg brings it back, more than once.
func TestConversationStops(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed, and job control is that of a shell")
	}
	s := fakemodel.New(t, fakemodel.Step{Text: "Hello."}, fakemodel.Step{Text: "Again."})
	w := newWorld(t, s.Env()...)
	p := w.process()
	k := w.runs("xterm-256color", &exec.Cmd{Path: shell, Args: []string{"bash", "--norc", "--noprofile", "-i"}, Dir: p.Dir, Env: append(p.Env, "PS1=shell: ")})
	k.sees("shell: ")
	k.press(p.Path + "\n")
	taken := 0
	takes := func() { // the sequence is of the conversation alone
		taken++
		k.until("the terminal is taken", func() bool { return strings.Count(k.raw, "\x1b[>4;2m") == taken })
	}
	takes()
	for _, answer := range []string{"Hello.", "Again."} {
		k.press("\x1a")
		k.sees("Stopped")
		k.sees("shell: ")
		k.press("fg\n")
		takes()
		k.press("hi\r")
		k.sees(answer)
	}
	k.press("/quit\r")
	k.sees("continues this conversation")
	k.press("exit\n")
	if code := <-k.code; code != 0 {
		t.Errorf("the shell ended with %d", code)
	}
}

// Where no shell could bring it back, Ctrl-Z does not stop it.
func TestConversationStaysWithoutAShell(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "Hello."})
	w := newWorld(t, s.Env()...)
	k, _ := w.sitApart("xterm-256color")
	k.sees("help.")
	k.takes(1)
	k.press("\x1a")
	k.sees("no shell can bring the conversation back: it is not stopped")
	k.press("hi\r")
	k.sees("Hello.")
	k.leaves()
}
