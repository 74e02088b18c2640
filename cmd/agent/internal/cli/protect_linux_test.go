package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// nobody is the user as whom the test's command runs where the test itself is root, who may read everything.
const nobody = 65534

// Issue 4.4: a command that a model runs reads no key of the agent's: not from its own environment, and not from that
// of the process which started it. The scripts of skills have the same parent.
func TestKeysAreNotReadable(t *testing.T) {
	s := fakemodel.New(t, callStep("bash", `{"command":"tr '\\0' '\\n' </proc/$PPID/environ; cat /proc/$PPID/comm; env; echo end"}`),
		callStep("script_run", `{"skill_name":"odd","script_name":"odd","json":false}`), fakemodel.Step{Text: "Done."})
	w := newWorld(t, append(s.Env(), "OTHER_API_KEY=very-secret")...)
	w.skill("odd", "Runs an odd script.", "Run it.\n")
	w.write("home/.agent/skills/odd/scripts/odd.sh", "tr '\\0' '\\n' </proc/$PPID/environ; echo end\n")
	bin := filepath.Join(filepath.Dir(w.home), "agent")
	cmd := &exec.Cmd{Path: bin, Args: []string{bin, "-p", "go", "--allow-bash"}, Dir: w.project, Env: append(w.env, "HOME="+w.home, "AGENT_SKILLS=all_untrusted")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		hand(t, filepath.Dir(filepath.Dir(w.home)))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, q := range s.Requests()[1:] {
		got := q.LastResult()
		if strings.Contains(got, "very-secret") || strings.Contains(got, "ANTHROPIC_API_KEY") {
			t.Errorf("call %d read a key: %s", i, got)
		}
		if !strings.Contains(got, `end\n`) {
			t.Errorf("call %d did not run: %s", i, got)
		}
	}
}

// hand gives all below dir to nobody.
func hand(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}
