package cli_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
)

// A pipe on stdin into which nobody writes can be waited for without end: Ctrl-C ends that.
func TestStdinIsInterrupted(t *testing.T) {
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer writer.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := cli.Main(ctx, &setup.System{Args: []string{"-p", "hello", "--model", "replay/demo"}, In: in, Out: null, Err: null,
		Home: t.TempDir(), Dir: t.TempDir(), Now: time.Now})
	if want := failure.ExitInterrupted; got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}
