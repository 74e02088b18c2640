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

// Issue 4.4, issue 11, security 2.5 #74: a command that a model runs reads no key of the agent's, and neither does the script of a
// skill: not from its own environment, and not from that of any process that it sees. In the sandbox that holds for root too.
func TestKeysAreNotReadable(t *testing.T) {
	for _, user := range []string{"the test's own", "nobody"} {
		for _, sandbox := range []string{"auto", "off"} {
			t.Run(user+", sandbox "+sandbox, func(t *testing.T) {
				asNobody := user == "nobody" && os.Geteuid() == 0
				stolen := sandbox == "off" && !asNobody && os.Geteuid() == 0 // the control: root reads everything
				readKeys(t, sandbox, asNobody, stolen)
			})
		}
	}
}

// stealing prints where it finds the key: in its own environment, or in that of another process.
const stealing = `[ -z "$OTHER_API_KEY" ] || echo stolen from env
for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ | grep -q '^OTHER_API_KEY=' && echo stolen from $p; done 2>/dev/null
echo at $HOME
echo end`

func readKeys(t *testing.T, sandbox string, asNobody, stolen bool) {
	t.Helper()
	command := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(stealing)
	s := fakemodel.New(t, callStep("bash", `{"command":"`+command+`"}`),
		callStep("script_run", `{"skill_name":"odd","script_name":"odd","json":false}`), fakemodel.Step{Text: "Done."})
	w := newWorld(t, append(s.Env(), "OTHER_API_KEY=very-secret")...)
	w.skill("odd", "Runs an odd script.", "Run it.\n")
	w.write("home/.agent/skills/odd/scripts/odd.sh", stealing)
	bin := filepath.Join(filepath.Dir(w.home), "agent")
	cmd := &exec.Cmd{Path: bin, Args: []string{bin, "-p", "go", "--allow-bash", "--sandbox", sandbox}, Dir: w.project, Env: append(w.env, "HOME="+w.home, "AGENT_SKILLS=all_untrusted")}
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
	if asNobody {
		hand(t, filepath.Dir(filepath.Dir(w.home)))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, q := range s.Requests()[1:] {
		got := q.LastResult()
		if strings.Contains(got, "stolen from") != stolen {
			t.Errorf("call %d, want a key read %v: %s", i, stolen, got)
		}
		if !strings.Contains(got, `end\n`) {
			t.Errorf("call %d did not run: %s", i, got)
		}
		if home := strings.Contains(got, `at `+w.home+`\n`); i == 0 && home != (sandbox == "off") || home && sandbox == "auto" {
			t.Errorf("call %d should have a home of its own in a sandbox, and only there: %s", i, got)
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
