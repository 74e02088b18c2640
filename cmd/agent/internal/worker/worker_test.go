package worker

import (
	"strings"
	"testing"
)

// A command is asked about as it runs: what only looks like a blank is an escape (security 2.14 #184).
func TestCommandLinesAreExact(t *testing.T) {
	got, want := strings.Join(commandLines("./run\u00a0tests\n\tx\r\n"), "|"), `./run\u{a0}tests|\tx\x0d|`
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A command whose beginning has left the screen says so beside the answer.
func TestCommandLines(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"short", "echo a\necho b", "echo b"},
		{"pushed out of sight", "rm -rf ~" + strings.Repeat("\n", 60) + "ls", "(that was a long command: 61 lines, 70 bytes; look at all of it)"},
		{"one long line", "rm -rf ~" + strings.Repeat(" ", 5000) + "; ls", "(that was a long command: 1 line, 5012 bytes; look at all of it)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := commandLines(c.command)
			if got := lines[len(lines)-1]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !strings.HasPrefix(strings.Join(lines, "\n"), c.command) {
				t.Error("the command is not shown whole")
			}
		})
	}
}
