package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/screentest"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// terminal is a conversation in a pseudo-terminal, with its screen.
type terminal struct {
	t      *testing.T
	near   *os.File
	far    *os.File
	output chan string // what the program sends
	screen *screentest.Screen
	raw    strings.Builder
	ended  chan error
}

func openTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	fd := int(near.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	k := &terminal{t: t, near: near, far: far, output: make(chan string, 1000), screen: screentest.New(width, height), ended: make(chan error, 1)}
	k.resize(width, height)
	return k
}

func (k *terminal) resize(width, height int) {
	size := &unix.Winsize{Row: uint16(height), Col: uint16(width)}
	if err := unix.IoctlSetWinsize(int(k.near.Fd()), unix.TIOCSWINSZ, size); err != nil {
		k.t.Fatal(err)
	}
}

// run starts the conversation; what it starts has ended when the test has.
func (k *terminal) run(ctx context.Context, o *Options) {
	o.In, o.Out, o.Terminal, o.Term = k.far, k.far, true, "xterm-256color"
	done := make(chan struct{})
	go func() {
		defer close(k.output)
		buf := make([]byte, 1<<16)
		for {
			n, err := k.near.Read(buf)
			if err != nil { // EIO: the other end is closed
				return
			}
			k.output <- string(buf[:n])
		}
	}()
	go func() {
		defer close(done)
		k.ended <- Run(ctx, o)
		k.far.Close()
	}()
	k.t.Cleanup(func() {
		<-done
		for range k.output {
		}
	})
}

func (k *terminal) press(keys string) {
	k.t.Helper()
	if _, err := k.near.WriteString(keys); err != nil {
		k.t.Fatal(err)
	}
}

// answers presses the key of an answer, once the question has been there long enough.
func (k *terminal) answers(key string) {
	k.t.Helper()
	time.Sleep(ui.Quiet + 100*time.Millisecond)
	k.press(key)
}

// until waits until the screen is as it should be.
func (k *terminal) until(what string, ok func(rows []string) bool) {
	k.t.Helper()
	for p := screentest.NewPatience(); !ok(k.screen.Rows()); {
		s, err := screentest.Next(p, k.output)
		if err != nil {
			k.t.Fatalf("not %s: %v:\n%s\n%q", what, err, k.screen, k.screen.Unknown())
		}
		k.raw.WriteString(s)
		k.screen.Write(s)
	}
}

// shows waits until a row holds text.
func (k *terminal) shows(text string) {
	k.t.Helper()
	k.until("showing "+text, func(rows []string) bool {
		return slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, text) })
	})
}

// idle waits until a row is the last one but the status, and is this one.
func (k *terminal) idle(input, status string) {
	k.t.Helper()
	k.until("idle with "+input, func(rows []string) bool {
		n := len(rows)
		for n > 0 && rows[n-1] == "" {
			n--
		}
		return n > 1 && rows[n-2] == input && rows[n-1] == status
	})
}

func (k *terminal) end() error {
	k.t.Helper()
	for p := screentest.NewPatience(); ; {
		s, err := screentest.Next(p, k.output)
		switch {
		case errors.Is(err, io.EOF):
			return <-k.ended
		case err != nil:
			k.t.Fatalf("not ended: %v:\n%s", err, k.screen)
		}
		k.raw.WriteString(s)
		k.screen.Write(s)
	}
}

// partner is a model's side that tests steer: it goes on when the test says so.
type partner struct {
	next chan struct{}
	p    *Prompter
}

func (a *partner) ask(ctx context.Context, prompt string) iter.Seq2[agent.Step, error] {
	return func(yield func(agent.Step, error) bool) {
		c := &llm.Call{ID: prompt, Name: "script_run", Args: []byte(greeting)}
		switch prompt {
		case "greet":
			_ = yield(agent.Step{Text: "I look at "}, nil) && a.wait(ctx) && yield(agent.Step{Text: "the skill.\n"}, nil) &&
				yield(agent.Step{Call: c}, nil) && a.wait(ctx) &&
				yield(agent.Step{Result: &agent.Result{Call: c, Result: tool.Result{Success: true, Duration: time.Second}, Text: `{"success":true}`}}, nil) &&
				yield(agent.Step{Text: "漢字 and 👍🏽: done."}, nil)
		case "hang":
			if yield(agent.Step{Text: "begun"}, nil) && yield(agent.Step{Call: c}, nil) {
				<-ctx.Done()
				yield(agent.Step{}, ctx.Err())
			}
		case "flood":
			for i := range 13_000 {
				if !yield(agent.Step{Text: fmt.Sprintf("line %d of an answer that has so very many of them, all like this one\n", i)}, nil) {
					return
				}
			}
		case "allow":
			yes, err := confirmed(ctx, a.p, "Run a command?", []string{"make all"})
			yield(agent.Step{Text: fmt.Sprintf("answer %v %v", yes, err)}, nil)
		default:
			yield(agent.Step{Text: "heard " + fmt.Sprintf("%q", prompt)}, nil)
		}
	}
}

func (a *partner) wait(ctx context.Context) bool {
	select {
	case <-a.next:
		return true
	case <-ctx.Done():
		return false
	}
}

func TestTerminal(t *testing.T) {
	a := &partner{next: make(chan struct{}), p: &Prompter{}}
	k := openTerminal(t, 80, 24)
	before, err := unix.IoctlGetTermios(int(k.far.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	k.run(t.Context(), &Options{Ask: a.ask, Prompter: a.p, Greeting: "agent 1.0", Commands: testCommands(),
		Status: func() Status { return Status{Model: "fake/one"} }})
	k.idle(">", "fake/one")

	k.press("greet\r")
	k.shows("I look at")
	a.next <- struct{}{}
	k.shows("● script_run hello-extended/advanced_greeting --lang es  ")
	a.next <- struct{}{}
	k.idle(">", "fake/one")

	k.press("hang\r")
	k.shows("s, Esc stops")
	k.press("\x03")
	k.shows("stopped  #2")
	k.idle(">", "fake/one")
	k.press("\x03")
	k.shows("Ctrl-D or /quit leaves")

	k.press("allow\r")
	k.shows("Press y or n:")
	k.answers("y")
	k.shows("answer true <nil>")
	k.idle(">", "fake/one")

	k.press("\x1b[200~two\r\n\tlines\x1b[201~\r")
	k.shows(`heard "two\n\tlines"`)
	k.press("/why gh\r")
	k.shows("got gh")
	k.idle(">", "fake/one")
	k.press("/quit\r")
	if err := k.end(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	want := `agent 1.0

> greet

I look at the skill.

● script_run hello-extended/advanced_greeting --lang es  1.0 s  ok  #1

漢字 and 👍🏽: done.

> hang

begun

● script_run hello-extended/advanced_greeting --lang es  0.0 s  stopped  #2

stopped

> allow

┇ Run a command?
┇   make all
┇ yes

answer true <nil>

> two
      lines

heard "two\n\tlines"

> /why gh

got gh

> /quit`
	got := regexp.MustCompile(`\d\.\d s  stopped`).ReplaceAllString(k.screen.String(), "0.0 s  stopped")
	if got != want || k.screen.Unknown() != nil {
		t.Errorf("got\n%s\nwant\n%s\nunknown %q", got, want, k.screen.Unknown())
	}
	if sgr := regexp.MustCompile(`\x1b\[[0-9;]*m`).FindString(k.raw.String()); sgr != "" {
		t.Errorf("%q without Colour: %q", sgr, k.raw.String())
	}
	after, err := unix.IoctlGetTermios(int(k.near.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("terminal mode %+v, %v, want it as it was: %+v", after, err, before)
	}
}

// A long answer comes out whole and in order, and the program still hears its keys.
func TestTerminalFlood(t *testing.T) {
	k := openTerminal(t, 80, 24)
	k.run(t.Context(), &Options{Ask: (&partner{}).ask})
	k.shows(">")
	k.press("flood\r")
	k.shows("line 12999 of")
	k.idle("", ">")
	k.press("\x04")
	if err := k.end(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	next := 0
	for _, r := range k.screen.Rows() {
		if strings.HasPrefix(r, "line ") {
			if want := fmt.Sprintf("line %d of ", next); !strings.HasPrefix(r, want) {
				t.Fatalf("row %q, want %s", r, want)
			}
			next++
		} else if r != "" && r[0] != '>' {
			t.Errorf("row %q", r)
		}
	}
	if next != 13_000 {
		t.Errorf("%d rows, want 13,000", next)
	}
}

// Live rows that become fewer leave none of the former ones on the screen, wherever the cursor was.
func TestTerminalShrinks(t *testing.T) {
	k := openTerminal(t, 80, 24)
	k.run(t.Context(), &Options{Ask: (&partner{p: &Prompter{}}).ask, Greeting: "agent 1.0", Status: func() Status { return Status{Model: "fake/one"} }})
	k.idle(">", "fake/one")
	for _, lines := range []int{2, 9, 4} {
		k.press("\x1b[200~" + strings.Repeat("typed\n", lines) + "end\x1b[201~")
		k.idle("  end", "fake/one")
		k.press("\x03")
		k.idle(">", "fake/one")
		if got := k.screen.String(); strings.Contains(got, "typed") || strings.Count(got, ">") != 1 {
			t.Errorf("after %d lines the screen is\n%s", lines, got)
		}
	}
	k.press("hello\r")
	k.shows(`heard "hello"`)
	k.idle(">", "fake/one")
	k.press("\x04")
	if err := k.end(); err != nil {
		t.Error(err)
	}
	want := "agent 1.0\n\n> hello\n\nheard \"hello\""
	if got := strings.TrimSpace(k.screen.String()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTerminalCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := openTerminal(t, 80, 24)
	k.run(ctx, &Options{Ask: (&partner{}).ask})
	k.shows(">")
	k.press("hang\r")
	k.shows("begun")
	cancel()
	if err := k.end(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestTerminalResize(t *testing.T) {
	k := openTerminal(t, 80, 24)
	k.run(t.Context(), &Options{Ask: (&partner{}).ask})
	k.shows(">")
	k.press("hello\r")
	k.shows(`heard "hello"`)
	k.resize(20, 24)
	k.screen = screentest.New(20, 24)
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	k.press("a text that needs several rows")
	k.shows("  several rows")
	k.press("\x03\x04")
	if err := k.end(); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func TestTerminalNeedsFiles(t *testing.T) {
	err := Run(t.Context(), &Options{In: strings.NewReader(""), Out: writeFunc(func() {}), Terminal: true})
	if err == nil || !strings.Contains(err.Error(), "needs files") {
		t.Errorf("got %v, want that files are needed", err)
	}
}
