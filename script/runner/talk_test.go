package runner

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"testing"
	"time"
)

// talk runs a shell program with both streams, and a function that has the other ends.
func talk(t *testing.T, ctx context.Context, program string, with func(in io.WriteCloser, out *bufio.Reader)) (*Output, error) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	in, out := pipe(t), pipe(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		with(in.w, bufio.NewReader(out.r))
		out.r.Close()
	}()
	res, err := Exec{}.Run(ctx, &Command{Path: sh, Args: []string{"sh", "-c", program}, Dir: t.TempDir(), Timeout: time.Minute, Grace: time.Second, In: in.r, Out: out.w})
	out.w.Close()
	<-done
	return res, err
}

type ends struct {
	r *io.PipeReader
	w *io.PipeWriter
}

func pipe(t *testing.T) ends {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return ends{r, w}
}

func TestConversation(t *testing.T) {
	res, err := talk(t, t.Context(), `while read line; do echo "got $line"; done; echo bye >&2; exit 3`, func(in io.WriteCloser, out *bufio.Reader) {
		for _, line := range []string{"one", "two"} {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Error(err)
			}
			if got, err := out.ReadString('\n'); got != "got "+line+"\n" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		in.Close()
	})
	if err != nil || res.ExitCode != 3 || string(res.Stderr) != "bye\n" || res.Total != 16 || res.Stdout != nil {
		t.Errorf("got %+v, %v", res, err)
	}
}

// When the process has ended, nobody waits for the other side any more.
func TestConversationEnds(t *testing.T) {
	t.Run("by itself", func(t *testing.T) {
		res, err := talk(t, t.Context(), "exit 4", func(in io.WriteCloser, _ *bufio.Reader) {
			for {
				if _, err := in.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		})
		if err != nil || res.ExitCode != 4 {
			t.Errorf("got %+v, %v", res, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := talk(t, ctx, "echo ready; sleep 600", func(_ io.WriteCloser, out *bufio.Reader) {
			if line, err := out.ReadString('\n'); line != "ready\n" || err != nil {
				t.Errorf("got %q, %v", line, err)
			}
			cancel()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("never started", func(t *testing.T) {
		in := pipe(t)
		if _, err := (Exec{}).Run(t.Context(), &Command{Path: "/nonexistent", Args: []string{"x"}, Dir: t.TempDir(), Timeout: time.Minute, In: in.r}); err == nil {
			t.Error("it was started")
		}
		if _, err := in.w.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nobody reads", func(t *testing.T) {
		res, err := talk(t, t.Context(), "while echo line; do :; done 2>/dev/null; exit 0", func(io.WriteCloser, *bufio.Reader) {})
		if err != nil || res.ExitCode != 0 && res.Signal != "broken pipe" {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}
