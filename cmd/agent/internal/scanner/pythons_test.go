package scanner

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// A process reads one input after another. One that ends, or answers too late, is not used again, and what it said is there.
func TestPythonsAreKept(t *testing.T) {
	started := 0
	p := &pythons{run: func(ctx context.Context, program string, in io.ReadCloser, out io.WriteCloser) error {
		started++
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			switch line := lines.Text(); line {
			case "die":
				_, _ = io.WriteString(out, "half")
				return errors.New("it is broken")
			case "cut":
				_, _ = io.WriteString(out, "whole\nhalnull\n")
			case "endless":
				for text := strings.Repeat("x", 1<<20); ; {
					if _, err := io.WriteString(out, text); err != nil {
						return err
					}
				}
			case "hang":
				<-ctx.Done()
				return ctx.Err()
			default:
				_, _ = io.WriteString(out, program+" "+line+"\nnull\n")
			}
		}
		return nil
	}}
	for _, tt := range []struct {
		input, want, err string
		started          int
	}{
		{"one", "P one\n", "", 1}, {"two", "P two\n", "", 1}, {"cut", "whole\n", "", 1}, {"die", "half", "it is broken", 1}, {"three", "P three\n", "", 2},
		{"hang", "", "deadline", 2}, {"four", "P four\n", "", 3},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if tt.input == "hang" {
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		got, err := p.read(ctx, "P", []byte(tt.input+"\n"))
		cancel()
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || started != tt.started {
			t.Errorf("%s: got %q, %v, %d processes", tt.input, got, err, started)
		}
	}
	if got, err := p.read(t.Context(), "P", []byte("endless\n")); len(got) != readOutput || err == nil {
		t.Errorf("endless: got %d bytes, %v", len(got), err)
	}
	for p.lost < maxLost {
		if _, err := p.read(t.Context(), "P", []byte("die\n")); err == nil {
			t.Fatal("a broken process answers")
		}
	}
	before := started
	if _, err := p.read(t.Context(), "P", []byte("one\n")); err == nil || !strings.Contains(err.Error(), "no more Python is started") || started != before {
		t.Errorf("after %d that were lost: %v, %d started", p.lost, err, started-before)
	}
	p.close()
	if len(p.idle) != 0 {
		t.Error("a process is left")
	}
}
