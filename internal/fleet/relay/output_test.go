package relay_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/ordered"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
)

// slow is a reader that pauses now and then, once for longer than a worker waits for one that is gone.
type slow struct {
	bytes.Buffer
	parts int
}

func (s *slow) Write(b []byte) (int, error) {
	switch s.parts++; {
	case s.parts == 20:
		time.Sleep(4 * time.Second)
	case s.parts%100 == 0:
		time.Sleep(20 * time.Millisecond)
	}
	return s.Buffer.Write(b)
}

// All that a script writes comes as it comes, in order and before the result, which has its beginning: 60 MB of it, to a reader that is slow.
// The script waits for it.
func TestOutput(t *testing.T) {
	const lines = 8_000_000
	s := probe.In(t, t.TempDir(), probe.Tree{"scripts/run.sh": "seq 8000000; echo end >&2\n"})
	scripts := ordered.New(t, &script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	var out slow
	var said bytes.Buffer
	r, err := scripts.Run(t.Context(), s, script.Script{Name: "run", File: "scripts/run.sh"}, &script.RunOptions{JSON: script.JSONNo, Out: &out, Err: &said})
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != lines || out.Len() < 62e6 || !bytes.HasSuffix(out.Bytes(), []byte("\n8000000\n")) || said.String() != "end\n" {
		t.Errorf("%d lines, %d bytes, and %q", n, out.Len(), said.String())
	}
	if !strings.HasPrefix(out.String(), r.Text) || len(r.Text) != script.DefaultOutput {
		t.Errorf("the result has %d bytes", len(r.Text))
	}
}
