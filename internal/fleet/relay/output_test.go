package relay_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/ordered"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
)

// All that a script writes comes as it comes, in order and before the result, which has its beginning.
func TestOutput(t *testing.T) {
	s := probe.In(t, t.TempDir(), probe.Tree{"scripts/run.sh": "seq 300000; echo end >&2\n"})
	scripts := ordered.New(t, &script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	var out, said bytes.Buffer
	r, err := scripts.Run(t.Context(), s, script.Script{Name: "run", File: "scripts/run.sh"}, &script.RunOptions{JSON: script.JSONNo, Out: &out, Err: &said})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 300_000 || !strings.HasSuffix(out.String(), "\n300000\n") || said.String() != "end\n" {
		t.Errorf("%d lines, and %q", n, said.String())
	}
	if !strings.HasPrefix(out.String(), r.Text) || len(r.Text) != script.DefaultOutput {
		t.Errorf("the result has %d bytes", len(r.Text))
	}
}
