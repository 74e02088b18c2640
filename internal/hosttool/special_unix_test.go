//go:build unix

package hosttool

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/tool"
)

// security 2.3 #36: a call does not wait for a pipe.
func TestPipes(t *testing.T) {
	k := newKit(t, nil)
	if err := syscall.Mkfifo(filepath.Join(k.ws, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.denied("read_file", `{"file_path":"pipe"}`, "irregular")
	k.denied("write_file", `{"file_path":"pipe","content":"x"}`, "irregular")
	k.denied("edit_file", `{"file_path":"pipe","old_string":"a","new_string":"x"}`, "irregular")
	k.want("grep", `{"pattern":"two"}`, `{"success":true,"result":{"text":"a.txt:2:two\n","lines":1,"files":1},"message":"Found 1 line in 1 file; 1 file not searched (scripts of skills)"`)
}

// What a command said before the turn ended is kept.
func TestBashIsCancelled(t *testing.T) {
	k := newKit(t, allow)
	pipe := filepath.Join(k.ws, "p")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := cancelled(t)
	go func() {
		_, _ = os.ReadFile(pipe) // returns when the command has come so far
		cancel()
	}()
	r := k.exec.Call(ctx, "bash", []byte(`{"command":"echo begun; echo x > p; sleep 600"}`))
	if r.Cause() != tool.CauseStopped || r.Result.(Ran).Output != "begun\n" || r.Message != "The command was stopped by the user" {
		t.Errorf("got %s", text(r))
	}
}

// The mode of a file stays, whatever the umask would take away.
func TestMode(t *testing.T) {
	k := newKit(t, nil)
	if err := os.Chmod(filepath.Join(k.ws, "a.txt"), 0o777); err != nil {
		t.Fatal(err)
	}
	k.want("write_file", `{"file_path":"a.txt","content":"x"}`, `{"success":true`)
	if info, err := os.Stat(filepath.Join(k.ws, "a.txt")); err != nil || info.Mode() != 0o777 {
		t.Errorf("got %v %v", info.Mode(), err)
	}
}

// What a command leaves in the background is killed and not waited for, though it holds the output.
func TestBashLeavesNothing(t *testing.T) {
	k := newKit(t, allow)
	// The second open waits for the first.
	r := k.call("bash", `{"command":"mkfifo p; sleep 600 3<>p & : > p; echo done"}`)
	if !r.Success || r.Result.(Ran).Output != "done\n" || r.Duration > time.Minute {
		t.Errorf("got %s after %s", text(r), r.Duration)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		fd, err := syscall.Open(filepath.Join(k.ws, "p"), syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, syscall.ENXIO) {
			return // nobody has it open
		}
		syscall.Close(fd)
		if time.Now().After(deadline) {
			t.Fatalf("the command's child is still there: %v", err)
		}
	}
}
