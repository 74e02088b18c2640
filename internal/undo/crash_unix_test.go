//go:build unix

package undo_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/undo"
)

// TestMain is also the process that is killed: between the record of a change and the change, or after it.
func TestMain(m *testing.M) {
	if when := os.Getenv("UNDO_CRASH"); when != "" {
		fmt.Fprintln(os.Stderr, crash(when))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// crash changes the files a and new and is killed: at the word before or after.
func crash(when string) error {
	b := &bench{o: &undo.Options{Dir: os.Getenv("UNDO_DIR"), Workspace: os.Getenv("UNDO_WORKSPACE"), Conversation: "killed", Now: time.Now}}
	b.j = undo.New(b.o)
	b.j.Begin("a prompt that is never answered", 1)
	for _, name := range []string{"a", "new"} {
		if err := b.record(name, "changed"); err != nil {
			return err
		}
		if name == "new" && when == "before" {
			break
		}
		if err := os.WriteFile(b.at(name), []byte("changed"), 0o644); err != nil {
			return err
		}
	}
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// P5: after a crash another process takes the changes back, also one that was recorded and not made.
func TestUndoAfterACrash(t *testing.T) {
	for when, want := range map[string]string{"before": "new unchanged, a restored", "after": "new removed, a restored"} {
		t.Run(when, func(t *testing.T) {
			b := newBench(t)
			b.put("a", "one")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "UNDO_CRASH="+when, "UNDO_DIR="+b.o.Dir, "UNDO_WORKSPACE="+b.o.Workspace)
			out, err := cmd.CombinedOutput()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("it was not killed: %v %s", err, out)
			}
			b.disk("a", "changed")
			b.o.Conversation = ""
			if got := strings.Join(b.undo(), ", "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			b.disk("a", "one")
			b.disk("new", "")
		})
	}
}
