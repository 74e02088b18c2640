package ui_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// terminal opens a pseudo-terminal of 100 columns and returns the end that a program sees.
func terminal(t *testing.T) *os.File {
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
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return end
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
			tty := terminal(t)
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
