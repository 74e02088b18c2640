package confine

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// A command in a sandbox of every tier can be talked to while it runs.
func TestConversation(t *testing.T) {
	for _, i := range tiers() {
		t.Run(i.name, func(t *testing.T) {
			r := i.runner(t, Options{})
			inReader, in := io.Pipe()
			outReader, out := io.Pipe()
			c := i.command(t, "/bin/bash", "-c", `while read line; do echo "got $line"; done; exit 3`)
			c.In, c.Out, c.MaxStdout = inReader, out, 0
			done := make(chan struct{})
			go func() {
				defer close(done)
				read := bufio.NewReader(outReader)
				for _, line := range []string{"one", "two"} {
					if _, err := io.WriteString(in, line+"\n"); err != nil {
						t.Error(err)
					}
					if got, err := read.ReadString('\n'); got != "got "+line+"\n" || err != nil {
						t.Errorf("got %q, %v", got, err)
					}
				}
				in.Close()
			}()
			got := run(t, r, c)
			<-done
			if got.ExitCode != 3 || got.Total != 16 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The end of the output is passed on while the command goes on without it, and not if it never ran.
func TestConversationCloses(t *testing.T) {
	for _, i := range tiers() {
		t.Run(i.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := i.command(t, "/bin/bash", "-c", "echo all; exec >&-; sleep 600")
			outReader, out := io.Pipe()
			c.Out, c.MaxStdout = out, 0
			go func() {
				defer cancel()
				if all, err := io.ReadAll(outReader); string(all) != "all\n" || err != nil {
					t.Errorf("got %q, %v", all, err)
				}
			}()
			if _, err := i.runner(t, Options{}).Run(ctx, c); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		t.Run(i.name+" without a program", func(t *testing.T) {
			c := i.command(t, "/nonexistent")
			var out ends
			c.Out = &out
			if _, err := i.runner(t, Options{}).Run(t.Context(), c); err == nil {
				t.Error("it was started")
			}
			if out != 0 && c.Confine != runner.ConfineOff {
				t.Errorf("closed %d times", out)
			}
		})
	}
}

// ends counts how often it is closed.
type ends int

func (e *ends) Write(b []byte) (int, error) { return len(b), nil }
func (e *ends) Close() error                { *e++; return nil }

// A command that is ended, or never starts, leaves nobody waiting. A retry with fewer layers has the whole input.
func TestConversationEnds(t *testing.T) {
	for _, i := range tiers() {
		t.Run(i.name, func(t *testing.T) {
			r := i.runner(t, Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			inReader, in := io.Pipe()
			outReader, out := io.Pipe()
			c := i.command(t, "/bin/bash", "-c", "read line; echo $line; sleep 600")
			c.In, c.Out, c.MaxStdout = inReader, out, 0
			go func() {
				_, _ = io.WriteString(in, "ready\n")
				if line, err := bufio.NewReader(outReader).ReadString('\n'); line != "ready\n" || err != nil {
					t.Errorf("got %q, %v", line, err)
				}
				cancel()
			}()
			if _, err := r.Run(ctx, c); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if _, err := in.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("after the end: %v", err)
			}
		})
		t.Run(i.name+" without a program", func(t *testing.T) {
			inReader, in := io.Pipe()
			c := i.command(t, "/nonexistent")
			c.In = inReader
			if _, err := i.runner(t, Options{}).Run(t.Context(), c); err == nil {
				t.Error("it was started")
			}
			if _, err := in.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("got %v", err)
			}
		})
	}
}
