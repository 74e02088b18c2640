package ui_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// terminal opens a pseudo-terminal of 100 columns and returns the end that a program sees, and that of the person.
func terminal(t *testing.T) (end, person *os.File) {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { main.Close() })
	fd := int(main.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	end, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return end, main
}

// theEnd is what a test writes to the terminal when nothing more comes from what it tries.
const theEnd = "the end"

// watch returns what the person sees up to theEnd. It calls seen with the screen so far after each read.
func watch(person *os.File, seen func(screen string)) (screen string) {
	for buf := make([]byte, 4096); !strings.Contains(screen, theEnd); {
		n, err := person.Read(buf)
		if err != nil {
			break
		}
		screen += string(buf[:n])
		seen(screen)
	}
	return screen
}

func TestNewOnTerminal(t *testing.T) {
	tests := []struct {
		name   string
		env    map[string]string
		flag   bool
		colour bool
		cursor bool
	}{
		{"usual", map[string]string{"TERM": "xterm-256color"}, false, true, true},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false, false, true},
		{"NO_COLOR empty", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, false, true, true},
		{"--no-color", map[string]string{"TERM": "xterm"}, true, false, true},
		{"dumb", map[string]string{"TERM": "dumb"}, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tty, _ := terminal(t)
			getenv := func(name string) string { return tt.env[name] }
			s := ui.New(tty, tty, tty, &ui.Options{Getenv: getenv, NoColor: tt.flag})
			if s.Colour != tt.colour || s.Cursor != tt.cursor {
				t.Errorf("colour %v, cursor %v, want %v, %v", s.Colour, s.Cursor, tt.colour, tt.cursor)
			}
			if !s.CanAsk() || !s.OutTerminal || s.Width != 100 {
				t.Errorf("can ask %v, terminal %v, width %d, want true, true, 100", s.CanAsk(), s.OutTerminal, s.Width)
			}
		})
	}
}

// One key answers on a terminal, without Enter, once the question has been there for a moment. A key that sends several characters, such
// as an arrow, is not an answer, and the terminal is afterwards as it was.
func TestOneKey(t *testing.T) {
	tests := []struct {
		name  string
		keys  []string // each is pressed when the question is asked, or asked again
		soon  bool     // the first comes at once
		want  string
		asked int
	}{
		{"y", []string{"y"}, false, "y", 1},
		{"too soon", []string{"y", "n"}, true, "n", 2},
		{"Enter is not an answer", []string{"\r", "y"}, false, "y", 2},
		{"an arrow is not the key of its letter", []string{"\x1b[A", "a"}, false, "a", 2},
		{"Esc", []string{"\x1b"}, false, "", 1},
		{"Ctrl-D", []string{"\x04"}, false, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tty, person := terminal(t)
			before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			s := ui.New(tty, tty, tty, &ui.Options{Getenv: func(string) string { return "" }})
			asked, screen := 0, make(chan string, 1)
			go func() {
				screen <- watch(person, func(screen string) {
					if asked == len(tt.keys) || strings.Count(screen, "or n: ") <= asked {
						return
					}
					if asked > 0 || !tt.soon {
						time.Sleep(2 * ui.Quiet) // a person needs that to read, too
					}
					asked++
					_, _ = person.WriteString(tt.keys[asked-1])
				})
			}()
			q := &ui.Question{Text: "Sure?", Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "a", Label: "always"}, {Key: "n", Label: "no"}}}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			got, err := s.Ask(ctx, q)
			fmt.Fprint(tty, theEnd)
			if text := <-screen; got != tt.want || err != nil || asked != tt.asked {
				t.Errorf("got %q, %v after %d questions, want %q after %d:\n%s", got, err, asked, tt.want, tt.asked, text)
			}
			if after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil || *after != *before {
				t.Errorf("the terminal is %v, %v, want %v", after, err, before)
			}
		})
	}
}

// A program that sends keys without a pause gets no answer, and does not fill the screen.
func TestKeysWithoutPause(t *testing.T) {
	tty, person := terminal(t)
	s := ui.New(tty, tty, tty, &ui.Options{Getenv: func(string) string { return "" }})
	screen, done := make(chan string), make(chan struct{})
	go func() {
		begun, sent := false, make(chan struct{})
		text := watch(person, func(screen string) {
			if begun || !strings.Contains(screen, "or n: ") {
				return
			}
			begun = true
			go func() {
				defer close(sent)
				for range 6 {
					_, _ = person.WriteString("y")
					time.Sleep(ui.Quiet / 10)
				}
				for { // until one is an answer
					time.Sleep(2 * ui.Quiet)
					select {
					case <-done:
						return
					default:
						_, _ = person.WriteString("n")
					}
				}
			}()
		})
		if begun {
			<-sent
		}
		screen <- text
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, err := s.Ask(ctx, &ui.Question{Text: "Sure?"})
	close(done)
	fmt.Fprint(tty, theEnd)
	if text := <-screen; got != "n" || err != nil || strings.Count(text, "too soon") != 1 || strings.Count(text, "or n: ") != 2 {
		t.Errorf("got %q, %v:\n%s", got, err, text)
	}
}

// A question that is withdrawn leaves the terminal as it was.
func TestOneKeyInterrupted(t *testing.T) {
	tty, person := terminal(t)
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	s := ui.New(tty, tty, tty, &ui.Options{Getenv: func(string) string { return "" }})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = person.Read(make([]byte, 1)) // of the question
		cancel()
	}()
	if got, err := s.Ask(ctx, &ui.Question{Text: "Sure?"}); got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v", got, err)
	}
	if after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil || *after != *before {
		t.Errorf("the terminal is %v, %v, want %v", after, err, before)
	}
	_, _ = person.WriteString("\n") // ends the read
}
