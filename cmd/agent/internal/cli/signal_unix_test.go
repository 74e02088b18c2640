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
// next.
func TestSecondSignalEnds(t *testing.T) {
	w := newWorld(t)
	w.skill("big", "Is big.", strings.Repeat("A line of a long text.\n", 20_000))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "agent")
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	caught := make(chan os.Signal, 1) // else the command would ignore it where whoever runs the tests does
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	cmd := &exec.Cmd{Path: bin, Args: []string{bin, "skill", "read", "big"}, Dir: w.project, Env: append(w.env, "HOME="+w.home)}
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
