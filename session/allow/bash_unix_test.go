//go:build unix

package allow_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/session/allow"
)

// stub records its own name and its arguments, and runs nothing.
const stub = "#!/bin/bash\nprintf '%s\\0' \"$0\" \"$@\" $'\\1' >>\"$STUB_LOG\"\n"

// shell is a bash in which every program is a stub.
type shell struct{ dir string }

func newShell(t testing.TB) *shell {
	t.Helper()
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("no bash")
	}
	s := &shell{t.TempDir()}
	for dir := s.dir; strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"git", "rm", "curl", "sh", "env", "sudo", "xargs", "nohup", "cat", "gitx", "git-evil", "GIT", "Git", "python3", "npm", "main"} {
		s.stub(t, "bin/"+name)
	}
	s.stub(t, "work/scripts/run.sh")
	s.stub(t, "work/evil.sh")
	s.stub(t, "work/git")
	return s
}

func (s *shell) stub(t testing.TB, name string) {
	t.Helper()
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs a command with the real bash, as an unprivileged user, and returns the commands that it started, and the files
// that it left in its folder.
func (s *shell) run(t testing.TB, command string) (ran [][]string, left []string) {
	t.Helper()
	if strings.ContainsRune(command, 0) {
		return nil, nil // no process can get it
	}
	work, log := filepath.Join(s.dir, "work"), filepath.Join(s.dir, "log")
	if err := os.WriteFile(log, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(log, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/bash", "--norc", "--noprofile", "-c", command)
	c.Env = []string{"PATH=" + filepath.Join(s.dir, "bin"), "STUB_LOG=" + log, "HOME=" + work}
	c.Dir, c.WaitDelay = work, time.Second
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := os.Chown(work, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Run() // most commands fail
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range strings.Split(string(data), "\x01\x00") {
		if words := strings.Split(strings.TrimSuffix(record, "\x00"), "\x00"); record != "" {
			if dir, name := filepath.Split(words[0]); dir == filepath.Join(s.dir, "bin")+"/" {
				words[0] = name
			}
			ran = append(ran, words)
		}
	}
	return ran, s.strangers(t, work)
}

// strangers returns and removes the files in the folder that are not stubs.
func (s *shell) strangers(t testing.TB, work string) (left []string) {
	entries, err := os.ReadDir(work)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"scripts", "evil.sh", "git"}, e.Name()) {
			left = append(left, e.Name())
			os.RemoveAll(filepath.Join(work, e.Name()))
		}
	}
	return left
}

// asWords is the call of a shell with words that are taken as they are.
func asWords(command []string) allow.Call {
	raw, err := json.Marshal(map[string][]string{"command": command})
	if err != nil {
		panic(err)
	}
	return allow.Call{Tool: "bash", Args: raw}
}

// agrees fails the test if a list allows a command with which bash starts a program that the list does not allow, or
// writes a file.
func (s *shell) agrees(t *testing.T, l *allow.List, command string) {
	t.Helper()
	if l.Check(bash(command)) != nil {
		return
	}
	ran, left := s.run(t, command)
	for _, words := range ran {
		if r := l.Check(asWords(words)); r != nil {
			t.Errorf("%q is allowed, and bash ran %q: %s", command, words, r.Why)
		}
	}
	if len(left) > 0 {
		t.Errorf("%q is allowed, and bash wrote %q", command, left)
	}
}

// lists are those that the differential tests hold against bash.
func lists(t testing.TB) []*allow.List {
	var out []*allow.List
	for _, rules := range [][]string{
		{"Bash(git:*)"},
		{"Bash(git log:*)", "Bash(git status)"},
		{"Bash(cd:*)", "Bash(git:*)", "Bash(./scripts/*)", "Bash(scripts/run.sh:*)"},
		{"Bash(git * main)", "Bash(printf:*)", "Bash(echo:*)", "Bash(read:*)"},
		{"Bash(alias:*)", "Bash(hash:*)", "Bash(set:*)", "Bash(git:*)"},
	} {
		out = append(out, list(t, nil, rules...))
	}
	return out
}

// C7, security 2.11 #156, #157, #158, #160, #161, #162, #164: no way of writing a command makes bash run anything but git under the rule Bash(git:*).
func TestBypasses(t *testing.T) {
	s, l := newShell(t), list(t, nil, "Bash(git:*)")
	refused, naive := 0, 0
	for _, command := range bypasses() {
		ran, left := s.run(t, command)
		other := len(left) > 0 || slices.ContainsFunc(ran, func(words []string) bool { return words[0] != "git" })
		if strings.HasPrefix(command, "git") && other {
			naive++
		}
		switch r := l.Check(bash(command)); {
		case r != nil:
			refused++
		case other:
			t.Errorf("%q is allowed, and bash ran %q and wrote %q", command, ran, left)
		}
	}
	for _, command := range harmless() {
		if r := l.Check(bash(command)); r != nil {
			t.Errorf("%q is refused: %s", command, r.Why)
		}
		s.agrees(t, l, command)
	}
	if naive < 20 {
		t.Errorf("a rule about the beginning of the text would have let %d of these run something else: the stubs do not work", naive)
	}
	t.Logf("%d of %d refused; a comparison of the beginning would have run something else %d times", refused, len(bypasses()), naive)
}

// C7, security 2.11 #156, #157, #158, #160, #161, #162, #166: whatever a list allows, bash starts no program that the list does not allow.
func FuzzCommand(f *testing.F) {
	for i := range lists(f) {
		for _, command := range append(bypasses(), harmless()...) {
			f.Add(byte(i), command)
		}
		for _, command := range []string{"cd / && git status", "cd scripts && ./run.sh", "cd scripts; scripts/run.sh", "./scripts/../evil.sh",
			"./scripts/run.sh a b", "alias git=rm\ngit x", "export PATH=.", "trap rm EXIT", "hash -p ./evil.sh git && git x", "set -- rm; git",
			"printf -v x y; git push main", "git push origin main", "echo a | read PATH", "git log --oneline; git status"} {
			f.Add(byte(i), command)
		}
	}
	s, all := newShell(f), lists(f)
	wide := regexp.MustCompile(`%[^ ]*[0-9]{4}`) // printf would print for minutes
	f.Fuzz(func(t *testing.T, i byte, command string) {
		if !wide.MatchString(command) {
			s.agrees(t, all[int(i)%len(all)], command)
		}
	})
}
