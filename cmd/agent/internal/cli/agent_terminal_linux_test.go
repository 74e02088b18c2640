package cli_test

import (
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/screentest"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// seat is a conversation in a terminal, and the person before it.
type seat struct {
	t      *testing.T
	near   *os.File
	output chan string
	seen   string // what came to the screen and was not waited for yet
	all    string
	raw    string // all that came, with its sequences
	screen *screentest.Screen
	code   chan failure.Exit
}

// sit starts the conversation of w in a terminal of 80 columns.
func (w *world) sit(args ...string) *seat {
	w.t.Helper()
	k := w.sitAt("xterm-256color", args...)
	k.takes(1)
	return k
}

// sitAt is sit at a terminal of a kind.
func (w *world) sitAt(kind string, args ...string) *seat {
	return w.sitBefore(80, 24, time.Now, kind, args...)
}

// sitBefore is sitAt with a size and a clock.
func (w *world) sitBefore(width, height int, now func() time.Time, kind string, args ...string) *seat {
	w.t.Helper()
	near, far, err := openTerminal()
	if err != nil {
		w.t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(far.Fd()), unix.TCGETS)
	if err != nil {
		w.t.Fatal(err)
	}
	k := seatAt(w.t, near)
	k.resize(width, height)
	done := make(chan struct{})
	go func() {
		defer close(done)
		code := cli.Main(w.t.Context(), &setup.System{Args: append([]string{}, args...), In: far, Out: far, Err: far, Environ: append(w.env, "TERM="+kind),
			Home: w.home, Dir: w.project, Temp: w.t.TempDir(), LookPath: exec.LookPath, Now: now})
		if after, err := unix.IoctlGetTermios(int(far.Fd()), unix.TCGETS); err != nil || *after != *before {
			w.t.Errorf("the terminal's mode was %+v and is %+v, %v", before, after, err)
		}
		far.Close()
		k.code <- code
	}()
	w.t.Cleanup(func() {
		<-done
		_, _ = near.WriteString("\n") // ends a read of the terminal for which nobody waits any more, and which keeps it open
		for range k.output {
		}
		near.Close()
	})
	return k
}

// sitApart is sitAt with the program as a process of its own, which signals reach.
func (w *world) sitApart(kind string, args ...string) (*seat, *exec.Cmd) {
	w.t.Helper()
	cmd := w.process(args...)
	return w.runs(kind, cmd), cmd
}

// runs starts a program in a terminal of a kind.
func (w *world) runs(kind string, cmd *exec.Cmd) *seat {
	w.t.Helper()
	near, far, err := openTerminal()
	if err != nil {
		w.t.Fatal(err)
	}
	defer far.Close()
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = append(cmd.Env, "TERM="+kind), far, far, far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	k := seatAt(w.t, near)
	go func() {
		_ = cmd.Wait()
		k.code <- failure.Exit(cmd.ProcessState.ExitCode())
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range k.output {
		}
		near.Close()
	})
	return k
}

// seatAt returns a seat at a terminal, and reads what comes to it.
func seatAt(t *testing.T, near *os.File) *seat {
	k := &seat{t: t, near: near, output: make(chan string, 1000), screen: screentest.New(80, 24), code: make(chan failure.Exit, 1)}
	go func() {
		defer close(k.output)
		buf := make([]byte, 1<<16)
		for {
			n, err := near.Read(buf)
			if err != nil { // EIO: the other end is closed
				return
			}
			k.output <- string(buf[:n])
		}
	}()
	return k
}

// resize changes the size of the terminal. A program in this process learns of it by the signal alone.
func (k *seat) resize(width, height int) {
	k.t.Helper()
	if err := unix.IoctlSetWinsize(int(k.near.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}); err != nil {
		k.t.Fatal(err)
	}
	k.screen = screentest.New(max(width, 1), max(height, 1))
}

// pasteMode is what the program sends once it has taken the terminal: a key that comes before has another meaning.
const pasteMode = "\x1b[?2004h"

// press types keys. A line waits until nothing is at work any more: what is sent before is queued.
func (k *seat) press(keys string) {
	k.t.Helper()
	if strings.HasSuffix(keys, "\r") {
		k.until("the end of the work", func() bool { return !strings.Contains(k.screen.String(), "Esc stops") })
	}
	if _, err := k.near.WriteString(keys); err != nil {
		k.t.Fatal(err)
	}
}

var sequence = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\a]*\a|[=>M]|[()][0-9A-B])|\r`)

// sees waits until a text comes to the screen, after the one that was waited for before.
func (k *seat) sees(text string) {
	k.t.Helper()
	k.until(text, func() bool {
		_, rest, ok := strings.Cut(sequence.ReplaceAllString(k.seen, ""), text)
		if ok {
			k.seen = rest
		}
		return ok
	})
}

// shows waits until a text is in a row of the screen, wherever it stands and since when.
func (k *seat) shows(text string) {
	k.t.Helper()
	k.until(text, func() bool {
		return slices.ContainsFunc(k.screen.Rows(), func(row string) bool { return strings.Contains(row, text) })
	})
}

// asked waits until a question, whole and with its details, is the last thing on the screen.
func (k *seat) asked(question string, details ...string) {
	k.t.Helper()
	rows := []string{"┇ " + question}
	for _, d := range details {
		rows = append(rows, "┇   "+d)
	}
	k.until(question, func() bool {
		all := k.screen.Rows()
		end := len(all) - 1
		for end > 0 && !strings.Contains(all[end], "waiting for an answer") {
			end--
		}
		if end--; end < 0 || !strings.HasPrefix(all[end], "┇ Press y") {
			return false
		}
		for end > 0 && choice.MatchString(all[end-1]) {
			end--
		}
		return end >= len(rows) && slices.Equal(all[end-len(rows):end], rows)
	})
}

// choice matches a row that offers a key, or says what keys mean.
var choice = regexp.MustCompile(`^┇ ([a-z]  [a-z]|The rule)`)

// answers presses the key that answers a question, after the time in which none does.
func (k *seat) answers(key string) {
	k.t.Helper()
	time.Sleep(400 * time.Millisecond)
	k.press(key)
}

// until reads what comes until it is enough.
func (k *seat) until(what string, enough func() bool) {
	k.t.Helper()
	if err := k.reads(screentest.NewPatience(), enough); err != nil {
		k.t.Fatalf("%q did not come: %v:\n%s\n%q", what, err, k.all, k.seen)
	}
}

// reads is until for a time. Without an error it was enough.
func (k *seat) reads(p *screentest.Patience, enough func() bool) error {
	for !enough() {
		s, err := screentest.Next(p, k.output)
		if err != nil {
			return err
		}
		k.screen.Write(s)
		k.seen, k.raw = k.seen+s, k.raw+s
		k.all += sequence.ReplaceAllString(s, "")
	}
	return nil
}

// rest reads what comes until the end.
func (k *seat) rest() {
	k.t.Helper()
	if err := k.reads(screentest.NewPatience(), func() bool { return false }); !errors.Is(err, io.EOF) {
		k.t.Fatalf("it has not ended: %v:\n%s", err, k.screen)
	}
}

// leaves ends the conversation and returns all that came to the screen.
func (k *seat) leaves() string {
	k.t.Helper()
	k.press("/quit\r")
	k.rest()
	if code := <-k.code; code != failure.ExitOK {
		k.t.Errorf("exit code %d, want 0", code)
	}
	return k.all
}

// Issue 4.4, 4.5, C57: inside a conversation a person is asked before the scripts of a skill that nobody approved run,
// once, and before each command; what was approved stays approved, what was typed is kept for its owner alone.
func TestConversationAsks(t *testing.T) {
	run := callStep("script_run", `{"skill_name":"odd","script_name":"odd"}`)
	bash := func(text string) fakemodel.Step { return callStep("bash", `{"command":"echo `+text+`"}`) }
	s := fakemodel.New(t, run, run, run, bash("first"), bash("second"), fakemodel.Step{Text: "All of it is done."})
	w := newWorld(t, append(s.Env(), "AGENT_BASH_SANDBOX=off")...)
	w.skill("odd", "Runs an odd script.", "Run it.\n")
	w.write("home/.agent/skills/odd/scripts/odd.sh", "echo '{\"ran\":true}'\n")
	k := w.sit()
	k.sees("help.")
	k.press("do the odd thing\r")
	k.sees("scripts/odd.sh")
	k.answers("n")
	k.sees("┇ no")
	k.sees("#1")
	k.until("the question, again", func() bool { return strings.Contains(k.screen.String(), "waiting for an answer") })
	k.answers("y")
	k.sees("┇ yes")
	k.asked("Run this command as you, outside any sandbox?", "echo first")
	k.answers("n")
	k.sees("┇ Why not?")
	k.press("say it\r")
	k.asked("Run this command as you, outside any sandbox?", "echo second")
	k.answers("y")
	k.sees("All of it is done.")
	screen := k.leaves()
	const question = "┇ Let the scripts"
	before, after, _ := strings.Cut(k.screen.String(), "┇ no")
	again, rest, yes := strings.Cut(after, "┇ yes")
	if !strings.Contains(before, question) || !strings.Contains(again, question) || !yes || strings.Contains(rest, question) {
		t.Errorf("want one question about the scripts, a second after a no, and none after a yes:\n%s", screen)
	}
	var got []string
	for _, r := range s.Requests()[5].Results() {
		got = append(got, r.Text)
	}
	for i, want := range []string{`"untrusted"`, `"ran":true`, `"ran":true`, `and says: say it"`, "second"} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("result %d: got %q, want %s in it", i, got, want)
		}
	}
	if out := w.succeeds("", "skill", "why", "odd"); !strings.Contains(out, "approved") {
		t.Errorf("the approval is not remembered: %s", out)
	}
	history := filepath.Join(w.home, ".agent", "history")
	info, err := os.Stat(history)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history has mode %v, %v; want 0600", info, err)
	}
	if b, _ := os.ReadFile(history); strings.Count(string(b), "\n") != 2 || !strings.HasPrefix(string(b), `{"text":"do the odd thing","project":"`) || !strings.Contains(string(b), `{"text":"/quit",`) {
		t.Errorf("the history is %q", b)
	}
}

// Issue 4.5: Ctrl-C stops the turn and not the program, while the model speaks, while a command runs and while a
// question waits, and the conversation goes on from there.
func TestConversationIsStopped(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "I begin, and then I fall silent.", Fault: fakemodel.Fault{Kind: fakemodel.Hang, After: 6}},
		callStep("bash", `{"command":"echo >started; sleep 30"}`), callStep("bash", `{"command":"echo never"}`), fakemodel.Step{Text: "I am alive."})
	w := newWorld(t, append(s.Env(), "AGENT_BASH_SANDBOX=off")...)
	started := filepath.Join(w.project, "started")
	if err := unix.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	k := w.sit()
	k.sees("help.")
	k.press("talk\r")
	k.sees("I begin")
	k.press("\x03")
	k.sees("stopped\n")
	k.press("wait\r")
	k.asked("Run this command as you, outside any sandbox?", "echo >started; sleep 30")
	k.answers("y")
	if _, err := os.ReadFile(started); err != nil { // returns when the command has begun
		t.Fatal(err)
	}
	k.press("\x03")
	k.sees("stopped\n")
	k.press("ask\r")
	k.asked("Run this command as you, outside any sandbox?", "echo never")
	k.press("\x03")
	k.sees("stopped\n")
	k.press("still there?\r")
	k.sees("I am alive.")
	k.leaves()
	q := s.Requests()
	if len(q) != 4 {
		t.Fatalf("%d requests, want 4", len(q))
	}
	var got []string
	for _, r := range q[3].Results() {
		got = append(got, r.Text)
	}
	if len(got) != 2 || strings.Contains(strings.Join(got, ""), `"success":true`) || q[3].Prompt() == "" || !strings.HasSuffix(q[3].Prompt(), "still there?") {
		t.Errorf("the model was told %q and %q", got, q[3].Prompt())
	}
}

// Agent-skills-spec 2 and 3.1: in the conversation the user activates a skill by its name, which Tab completes; the
// status line shows it, and one that is kept from models is activated so too.
func TestConversationSkillByName(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "Three whales."}, fakemodel.Step{Text: "Four."})
	w := newWorld(t, s.Env()...)
	w.write("home/.agent/skills/whale-count/SKILL.md",
		"---\nname: whale-count\ndescription: Counts whales.\ndisable-model-invocation: true\n---\nCount the whales of $ARGUMENTS.\n")
	k := w.sit()
	k.sees("help.")
	k.press("/wha\tBaffin Bay\r")
	k.sees("> /whale-count Baffin Bay")
	k.sees("● skill whale-count Baffin Bay")
	k.sees("Three whales.")
	k.shows("whale-count: all tools")
	k.press("/whalecount\r")
	k.sees("unknown command /whalecount: did you mean /whale-count? /help lists all")
	k.press("/open\r")
	k.sees("Count the whales of Baffin Bay.")
	k.press("and then?\r")
	k.sees("Four.")
	k.leaves()
	first := string(s.Requests()[0].Body)
	if !strings.Contains(first, "Count the whales of Baffin Bay.") || strings.Contains(s.Requests()[0].System, "whale") {
		t.Errorf("the model was sent\n%s", first)
	}
}

// In lines alone nothing is drawn again and nothing has a colour, also on a terminal that could. Ctrl-C ends the turn and not the program; at
// the prompt it ends the program, which says how the conversation continues.
func TestConversationInLines(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "| a | b |\n|---|---|\n| **1** | 2 |\n\nI begin, and then I fall silent.", Fault: fakemodel.Fault{Kind: fakemodel.Hang, After: 6}},
		fakemodel.Step{Text: "I am **alive**."})
	w := newWorld(t, append(s.Env(), "NO_COLOR=")...)
	w.write("home/.agent/config.yaml", "agent:\n  plain: true\n")
	k, _ := w.sitApart("xterm-256color")
	k.sees("help.\n> ")
	k.press("talk\n")
	k.sees("| **1** | 2 |\n")
	k.press("\x03")
	k.sees("stopped\n> ")
	k.press("still there?\n")
	k.sees("I am **alive**.\n> ")
	k.press("/copy all\n")
	k.sees("the last answer is on the clipboard, if the terminal allows that\n")
	k.press("\x03")
	k.sees("continues this conversation")
	for out := range k.output {
		k.raw += out
	}
	if code := <-k.code; code != failure.ExitInterrupted {
		t.Errorf("exit code %d, want %d", code, failure.ExitInterrupted)
	}
	if before, after, ok := strings.Cut(k.raw, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("I am **alive**."))); !ok || strings.Contains(before+after, "\x1b") {
		t.Errorf("another sequence came, or none: %q", k.raw)
	}
}

// A table that a command shows fits the window as it is then.
func TestConversationTableFits(t *testing.T) {
	w := newWorld(t, fakemodel.New(t).Env()...)
	w.skill("whale-count", strings.Repeat("Counts whales ", 10), "x\n")
	k := w.sit()
	k.sees("help.")
	k.sees(">")
	k.resize(50, 24)
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	k.press("/skills\r")
	k.shows("each request begins")
	if !slices.ContainsFunc(k.screen.Rows(), func(row string) bool {
		return strings.HasPrefix(row, "  whale-count ") && strings.HasSuffix(row, "…")
	}) {
		t.Errorf("the screen has\n%s", k.screen)
	}
	k.leaves()
}

// A terminal that does not know its size, as a serial console, gets lines alone.
func TestConversationWithoutSize(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Text: "Hello."})
	w := newWorld(t, append(s.Env(), "NO_COLOR=")...)
	k := w.sitBefore(0, 0, time.Now, "vt220")
	k.sees("help.\n> ")
	k.press("hi\n")
	k.sees("Hello.\n> ")
	k.press("/quit\n")
	k.rest()
	if strings.Contains(k.raw, "\x1b") {
		t.Errorf("a sequence came: %q", k.raw)
	}
}

// Issue 9 P15: on a terminal that cannot move the cursor a person is asked too, below the text that came before. After
// another key than those of the answers it is asked again.
func TestConversationOnDumbTerminal(t *testing.T) {
	bash := callStep("bash", `{"command":"echo plain"}`)
	bash.Text = "I run it now."
	s := fakemodel.New(t, bash, fakemodel.Step{Text: "Done."})
	w := newWorld(t, append(s.Env(), "AGENT_BASH_SANDBOX=off")...)
	k := w.sitAt("dumb")
	k.sees("help.")
	k.sees("> ")
	k.press("go\n")
	k.sees("I run it now.\n")
	k.sees("┇   echo plain\n┇ Run this command as you, outside any sandbox?\n┇ The rule: Bash(echo:*)\n┇ y  yes\n" +
		"┇ c  yes, and the rule in this conversation\n┇ p  yes, and the rule always in this project\n" +
		"┇ a  yes, and the rule always in every project\n┇ e  write another rule\n┇ n  no\n┇ Press y, c, p, a, e or n: ")
	k.answers("w")
	k.sees("\n┇ Press y, c, p, a, e or n: ")
	k.answers("y")
	k.sees("Done.")
	k.press("/exit\n")
	for range k.output {
	}
	if code := <-k.code; code != failure.ExitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	if got := s.Requests()[1].Results(); len(got) != 1 || !strings.Contains(got[0].Text, "plain") {
		t.Errorf("the model was told %v", got)
	}
}
