package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// R130, security 2.14 #189: with audit: required nothing that a model asks for is done while it cannot be recorded: no tool of the
// agent, no skill, no script. The control with a log does all of it.
func TestRequiredAuditComesFirst(t *testing.T) {
	for _, writable := range []bool{true, false} {
		s := fakemodel.New(t, fakemodel.Step{Calls: []fakemodel.Call{
			attempt("bash", touch),
			attempt("write_file", `{"file_path":"written","content":"x"}`),
			attempt("script_run", `{"skill_name":"free","script_name":"run"}`),
			attempt("skill", `{"skill_name":"free"}`),
		}}, fakemodel.Step{Text: "Done."})
		w := bypassWorld(t, s)
		w.env = append(w.env, "AGENT_AUDIT=required")
		if !writable {
			w.write("home/.agent/x", "")
			if err := os.Symlink("gone", filepath.Join(w.home, ".agent", "audit")); err != nil {
				t.Fatal(err)
			}
		}
		stdout, stderr, _ := w.run("", "-p", "go", "--allow-bash", "--mode", "all", "--without-sandbox")
		for _, name := range []string{"pwned", "written"} {
			if _, err := os.Stat(filepath.Join(w.project, name)); (err == nil) != writable {
				t.Errorf("writable log %v: %s: %v\n%s%s", writable, name, err, stdout, stderr)
			}
		}
		if strings.Contains(stderr, "cannot be written") == writable {
			t.Errorf("writable log %v: %s", writable, stderr)
		}
	}
}
