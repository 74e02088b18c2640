package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// ontty runs a command in a terminal of 80 columns, or of $TTY_COLUMNS, and checks its exit code: ontty CODE ANSWER COMMAND ARGS...
// ANSWER is typed when a question is asked ("-" for none, "" for Esc); of several, with | between them, each answers one question and
// the last one all that follow. What the terminal got is then in the file "tty", without the carriage returns.
func ontty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: ontty CODE ANSWER COMMAND ARGS...")
	}
	answers, answer, soon := strings.Split(args[1], "|"), "", 0
	inTerminal(ts, args[0], args[2:], func(near *os.File, screen []byte) {
		if args[1] == "-" || !atQuestion.Match(screen) {
			return
		}
		if n := bytes.Count(screen, []byte("that key came too soon")); n > soon { // on a busy machine: it is the same question
			soon = n
		} else {
			answer, answers = answers[0], answers[min(1, len(answers)-1):]
		}
		reply(near, screen, answer)
	})
}

// atQuestion matches a screen that ends in a question, and atKeys one whose answer is one key.
var (
	atQuestion = regexp.MustCompile(`(or [a-z]:|n refuses|Change:|skips it\):|Which of the \d+ skills\?|no reason\.|Which rule, .*\?) $`)
	atKeys     = regexp.MustCompile(`(or [a-z]:|n refuses) $`)
)

// reply types an answer, once the question has been there long enough.
func reply(near *os.File, screen []byte, answer string) {
	time.Sleep(ui.Quiet * 3 / 2)
	switch {
	case !atKeys.Match(screen):
		answer += "\n"
	case answer == "":
		answer = "\x1b"
	}
	fmt.Fprint(near, answer)
}

// ahead runs a command as ontty does, with a line that is typed before it has started: ahead CODE LINE ANSWER COMMAND
// ARGS...
func ahead(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: ahead CODE LINE ANSWER COMMAND ARGS...")
	}
	inTerminal(ts, args[0], args[3:], func(near *os.File, screen []byte) {
		if screen == nil {
			fmt.Fprintf(near, "%s\n", args[1])
		}
		if atQuestion.Match(screen) {
			reply(near, screen, args[2])
		}
	})
}

// ctrlc runs a command in a terminal as ontty does, and presses Ctrl-C when TEXT has appeared: ctrlc CODE TEXT COMMAND
// ARGS...
func ctrlc(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: ctrlc CODE TEXT COMMAND ARGS...")
	}
	pressed := false
	inTerminal(ts, args[0], args[2:], func(near *os.File, screen []byte) {
		if !pressed && bytes.Contains(screen, []byte(args[1])) {
			pressed = true
			fmt.Fprint(near, "\x03")
		}
	})
	if !pressed {
		ts.Fatalf("%q did not appear", args[1])
	}
}

// inTerminal runs a command and calls look whenever something has come to its screen, and once, with nil, before it
// starts.
func inTerminal(ts *testscript.TestScript, code string, argv []string, look func(near *os.File, screen []byte)) {
	want, err := strconv.Atoi(code)
	ts.Check(err)
	near, far, err := openTerminal()
	ts.Check(err)
	if columns, err := strconv.ParseUint(ts.Getenv("TTY_COLUMNS"), 10, 16); err == nil {
		ts.Check(unix.IoctlSetWinsize(int(near.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
	}
	defer near.Close()
	name, err := lookPath(ts.Getenv("PATH"), argv[0])
	ts.Check(err)
	cmd := &exec.Cmd{Path: name, Args: argv, Dir: ts.MkAbs("."), Env: environ(ts), Stdin: far, Stdout: far, Stderr: far,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true}}
	look(near, nil)
	// Else the command would ignore Ctrl-C where whoever runs the tests does, such as a shell that runs them in the background.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	ts.Check(cmd.Start())
	far.Close()
	late := time.AfterFunc(terminalTimeout, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	screen := talk(near, look)
	got := 0
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	screen = bytes.ReplaceAll(screen, []byte("\r\n"), []byte("\n"))
	ts.Check(os.WriteFile(ts.MkAbs("tty"), screen, 0o600))
	ts.Logf("[terminal]\n%q", screen)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// terminalTimeout ends a command that waits for an answer which the test does not give.
const terminalTimeout = 3 * time.Minute

// talk reads the terminal to its end.
func talk(near *os.File, look func(near *os.File, screen []byte)) []byte {
	var screen []byte
	buf := make([]byte, 4096)
	for {
		n, err := near.Read(buf)
		screen = append(screen, buf[:n]...)
		look(near, screen)
		if err != nil { // EIO: the other end is closed
			return screen
		}
	}
}

func openTerminal() (near, far *os.File, err error) {
	near, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(near.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		return nil, nil, err
	}
	far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, nil, err
	}
	mode.Lflag |= unix.NOFLSH // else Ctrl-C drops output, now and then what the command says of it
	return near, far, unix.IoctlSetTermios(fd, unix.TCSETS, mode)
}

func lookPath(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); isFile(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("no %s in %s", name, path)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// environ is the script's environment, in a terminal with colours.
func environ(ts *testscript.TestScript) []string {
	env := []string{"TERM=xterm-256color"}
	for _, name := range strings.Fields("HOME PATH TMPDIR NO_COLOR AGENT_HOME AGENT_SKILLS AGENT_PROFILE AGENT_MODEL AGENT_BASH_SANDBOX AGENT_BASH_SOCKETS SSH_AUTH_SOCK " +
		"ANTHROPIC_BASE_URL ANTHROPIC_API_KEY OPENROUTER_API_KEY DECLARED_KEY SCRIPT_TOKEN HTTPS_PROXY HTTP_PROXY SSL_CERT_FILE GIT_SSL_CAINFO GIT_CONFIG_NOSYSTEM GOCOVERDIR GORACE") {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
