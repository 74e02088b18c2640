package fault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-base/agent-base/internal/test/fault"
)

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var log []string
	write := func() (err error) {
		watched := fault.Run(func() { err = os.WriteFile(path, []byte("some text"), 0o600) }, func(c fault.Call) fault.Fault {
			log = append(log, c.String())
			return fault.Fault{Short: true}
		})
		return errors.Join(watched, err)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "some text" {
		t.Errorf("got %q", got)
	}
	all := strings.Join(log, "\n")
	for _, want := range []string{"openat " + path, "write " + path + "  (9 bytes)", "write " + path + "  (5 bytes)", "close " + path} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	var err error
	watched := fault.Run(func() { err = os.WriteFile(path, []byte("other"), 0o600) }, func(c fault.Call) fault.Fault {
		if c.Name == "write" {
			return fault.Fault{Err: syscall.ENOSPC}
		}
		return fault.Fault{}
	})
	if watched != nil || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, %v", watched, err)
	}
	if err := fault.Run(func() { panic("x") }, nil); err == nil || err.Error() != "panic: x" {
		t.Errorf("got %v", err)
	}
}
