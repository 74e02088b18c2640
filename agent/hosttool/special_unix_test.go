//go:build unix

package hosttool

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// security 2.3 #36: a pipe makes nobody wait.
func TestPipes(t *testing.T) {
	k := newKit(t, nil)
	if err := syscall.Mkfifo(filepath.Join(k.ws, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.denied("read_file", `{"file_path":"pipe"}`, "irregular")
	k.denied("write_file", `{"file_path":"pipe","content":"x"}`, "irregular")
	k.denied("edit_file", `{"file_path":"pipe","old_string":"a","new_string":"x"}`, "irregular")
	k.want("grep", `{"pattern":"two"}`, `{"success":true,"result":{"text":"a.txt:2:two\n"`)
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
