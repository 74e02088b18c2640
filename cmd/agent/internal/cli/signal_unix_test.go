//go:build unix

package cli_test

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// F3: the first Ctrl-C asks the command to end; one that is stuck, here in a write that nobody reads, is ended by the
// third.
func TestThirdSignalEnds(t *testing.T) {
	w := newWorld(t)
	w.skill("big", "Is big.", strings.Repeat("A line of a long text.\n", 20_000))
	cmd := w.process("skill", "read", "big")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _, _ = cmd.Process.Wait(); close(ended) }()
	again, tooLong := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer again.Stop()
	for {
		select {
		case <-ended:
			return
		case <-again.C:
			_ = cmd.Process.Signal(syscall.SIGINT)
		case <-tooLong:
			_ = cmd.Process.Kill()
			t.Fatal("the command outlives every signal")
		}
	}
}

// R148: two signals for one wish, as timeout(1) sends them, leave nothing of an installation behind. Git has said that it
// runs, and that it was ended, when they are sent.
func TestTwoSignalsCleanUp(t *testing.T) {
	w := newWorld(t)
	w.write("bin/said", "")
	bin := filepath.Join(filepath.Dir(w.home), "bin")
	runs, never := filepath.Join(bin, "runs"), filepath.Join(bin, "never")
	for _, pipe := range []string{runs, never} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.write("bin/git", "#!/bin/sh\nexec >'"+runs+"'\necho runs\nread x <'"+never+"'\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := w.process("skill", "add", "file:///nowhere", "--trusted")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tooLong := time.AfterFunc(time.Minute, func() {
		_ = cmd.Process.Kill()
		if f, err := os.OpenFile(runs, os.O_RDWR, 0); err == nil { // else opening it to read waits for ever
			f.Close()
		}
	})
	defer tooLong.Stop()
	git, err := os.Open(runs) // once somebody writes to it
	if err != nil {
		t.Fatal(err)
	}
	defer git.Close()
	if _, err := io.ReadFull(git, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	stages := filepath.Join(w.home, ".agent", "plugins", ".store", ".stage")
	if list, err := os.ReadDir(stages); err != nil || len(list) == 0 {
		t.Fatalf("there is no stage: %v, %v", list, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, git)
	_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit code %d (%s), want 130: %s", got, cmd.ProcessState, errs.String())
	}
	if list, _ := os.ReadDir(stages); len(list) > 0 {
		t.Errorf("these were left: %v", list)
	}
}

// process is the command as a process of its own, which heeds Ctrl-C even where whoever runs the tests does not.
func (w *world) process(args ...string) *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	bin := filepath.Join(w.t.TempDir(), "agent")
	if err := os.Symlink(self, bin); err != nil {
		w.t.Fatal(err)
	}
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	w.t.Cleanup(func() { signal.Stop(caught) })
	return &exec.Cmd{Path: bin, Args: append([]string{bin}, args...), Dir: w.project, Env: append(w.env, "HOME="+w.home)}
}
