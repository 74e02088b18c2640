//go:build unix

package saved

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the process that is killed in the middle of a conversation.
func TestMain(m *testing.M) {
	if at := os.Getenv("SAVED_KILL"); at != "" {
		fmt.Fprintln(os.Stderr, die(at))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// die writes a conversation and is killed before, in the middle of or after the write with a number.
func die(at string) error {
	when, n, _ := strings.Cut(at, " ")
	number, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	o := &Options{Dir: os.Getenv("SAVED_DIR"), Project: "/projects/shop", Now: time.Now}
	l, err := Create(context.Background(), o, &Head{ID: "killed"})
	if err != nil {
		return err
	}
	writes := 0
	l.o.write = func(b []byte) (int, error) {
		if writes++; writes == number {
			_, _ = l.file.Write(b[:map[string]int{"before": 0, "within": len(b) / 2, "after": len(b)}[when]])
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return l.file.Write(b)
	}
	talk(l)
	return fmt.Errorf("%d writes", writes)
}

// A process that is killed at any write loses at most that line, and the conversation goes on.
func TestKilledAtEachWrite(t *testing.T) {
	writes := len(lines(t, func() string { o := bench(t); return file(t, o, written(t, o)) }())) - 1
	if writes < 10 {
		t.Fatalf("%d writes", writes)
	}
	for n := 1; n <= writes; n++ {
		for _, when := range []string{"before", "within", "after"} {
			o := bench(t)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("SAVED_KILL=%s %d", when, n), "SAVED_DIR="+o.Dir)
			out, err := cmd.CombinedOutput()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("it was not killed: %v %s", err, out)
			}
			l, c, err := Open(t.Context(), o, "killed")
			if err != nil {
				t.Fatal(err)
			}
			got, reached := texts(c.Messages), n-1
			if when == "after" {
				reached = n
			}
			if want := upTo(t, reached); got != want || c.Damaged > 0 || c.Torn != (when == "within") {
				t.Errorf("killed %s write %d: torn %t\ngot  %s\nwant %s", when, n, c.Torn, got, want)
			}
			l.Close()
		}
	}
}

// upTo returns what a conversation says after a number of writes.
func upTo(t *testing.T, writes int) string {
	o := bench(t)
	path := file(t, o, written(t, o))
	r := &reader{}
	if err := r.read(strings.NewReader(strings.Join(lines(t, path)[:writes+1], ""))); err != nil {
		t.Fatal(err)
	}
	return texts(r.c.Messages)
}
