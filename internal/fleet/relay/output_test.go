package relay_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/ordered"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// All that a script writes comes as it comes, in order and before the result, which has its beginning.
func TestOutput(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"SKILL.md": "---\nname: a\ndescription: d\n---\n", "scripts/run.sh": "seq 300000; echo end >&2\n"} {
		file := filepath.Join(root, "a", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: skill.Dir(root, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	scripts := ordered.Queued(t, &script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
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
