package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/script/runner"
)

// A failure at a file that the sandbox keeps from a script names the folder that a grant would open, or where it can write.
func TestBlocked(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"skill/scripts", "work/.git/hooks", "data"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"data/in.csv", "work/a.txt"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	readOnly := &runner.Command{Dir: at("work"), Read: []string{at("skill"), at("work")}, Write: []string{at("run")}}
	writable := &runner.Command{Dir: at("work"), Read: []string{at("skill")}, Write: []string{at("work")}, Keep: []string{at("work/.git/hooks"), at("work/AGENTS.md")}}
	ownTmp := &runner.Command{Dir: at("work"), Temp: at("run"), Read: readOnly.Read, Write: readOnly.Write}
	tests := []struct {
		name   string
		cmd    *runner.Command
		stderr string
		want   *refusedFile
	}{
		{"Python, beside itself", readOnly, "OSError: [Errno 30] Read-only file system: 'SKILL/scripts/out.txt'", &refusedFile{Path: at("skill/scripts/out.txt"), Write: true, Own: true}},
		{"Python, in a sealed copy", readOnly, "PermissionError: [Errno 13] Permission denied: 'SKILL/out'", &refusedFile{Path: at("skill/out"), Write: true, Own: true}},
		{"Python, where the user stands", readOnly, "Traceback\nOSError: [Errno 30] Read-only file system: 'out.txt'", &refusedFile{Path: at("work/out.txt"), Dir: at("work"), Write: true, Here: true}},
		{"a shell", readOnly, "a.sh: line 3: out.txt: Read-only file system", &refusedFile{Path: at("work/out.txt"), Dir: at("work"), Write: true, Here: true}},
		{"coreutils", readOnly, "mkdir: cannot create directory ‘out’: Permission denied", &refusedFile{Path: at("work/out"), Dir: at("work"), Write: true, Here: true}},
		{"Node.js", readOnly, "Error: EROFS: read-only file system, open 'WORK/a.txt'", &refusedFile{Path: at("work/a.txt"), Dir: at("work"), Write: true, Here: true}},
		{"a file that is not seen", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: 'DATA/in.csv'", &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{"a file that may not be read", readOnly, "cat: DATA/in.csv: Permission denied", &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{"a new file in a folder that is not seen", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: 'DATA/out.csv'", &refusedFile{Path: at("data/out.csv"), Dir: at("data"), Write: true}},
		{"folders made at once, not seen", readOnly, "Error: EACCES: permission denied, mkdir 'DATA/a/b/c'", &refusedFile{Path: at("data/a/b/c"), Dir: at("data"), Write: true}},
		{"folders made at once", readOnly, "Error: EACCES: permission denied, mkdir 'WORK/a/b/c'", &refusedFile{Path: at("work/a/b/c"), Dir: at("work"), Write: true, Here: true}},
		{"kept", writable, "OSError: [Errno 30] Read-only file system: '.git/hooks/pre-commit'", &refusedFile{Path: at("work/.git/hooks/pre-commit"), Write: true, Kept: true}},
		{"instructions for agents", writable, "a.sh: line 1: AGENTS.md: Read-only file system", &refusedFile{Path: at("work/AGENTS.md"), Dir: at("work/AGENTS.md"), Write: true, Kept: true}},
		{"not there at all", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: 'gone.txt'", nil},
		{"not there at all, elsewhere", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/folder/file'", nil},
		{"not there at all, in the root", readOnly, "cp: cannot stat '/no-such-file': No such file or directory", nil},
		{"not there, in a /tmp of its own", ownTmp, "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/no-such-file'", nil},
		{"not there, in no /tmp of its own", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/no-such-file'", &refusedFile{Path: "/tmp/no-such-file", Dir: "/tmp", Write: true}},
		{"its own fault", writable, "PermissionError: [Errno 13] Permission denied: 'a.txt'", nil},
		{"a call", readOnly, "open DATA/in.csv: permission denied", &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{"nothing of files", readOnly, "ValueError: 'x'", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stderr := strings.NewReplacer("SKILL", at("skill"), "WORK", at("work"), "DATA", at("data")).Replace(tt.stderr)
			out := &runner.Output{Stderr: []byte(stderr + "\n"), ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}}
			if diff := cmp.Diff(tt.want, blocked(tt.cmd, out, []string{at("work")}), cmp.AllowUnexported(refusedFile{})); diff != "" {
				t.Error(diff)
			}
			out.Sandbox = nil
			if got := blocked(tt.cmd, out, []string{at("work")}); got != nil && !got.Own {
				t.Errorf("without a sandbox: %+v", got)
			}
		})
	}
	for _, tt := range []struct {
		args []string
		want *refusedFile
	}{
		{[]string{"DATA/in.csv"}, &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{[]string{"-v", "--input=../data"}, &refusedFile{Path: at("data"), Dir: at("data")}},
		{[]string{"WORK/a.txt", "a.txt", "SKILL/scripts", "/usr/bin", "/no/such", "/"}, nil},
	} {
		cmd := *readOnly
		cmd.Args = []string{"/usr/bin/python3"}
		for _, arg := range tt.args {
			cmd.Args = append(cmd.Args, strings.NewReplacer("SKILL", at("skill"), "WORK", at("work"), "DATA", at("data")).Replace(arg))
		}
		out := &runner.Output{Stderr: []byte("not found\n"), ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}}
		if diff := cmp.Diff(tt.want, blocked(&cmd, out, nil), cmp.AllowUnexported(refusedFile{})); diff != "" {
			t.Errorf("%q: %s", tt.args, diff)
		}
	}
	hidden := &refusedFile{Path: at("data"), Dir: at("data"), Write: true}
	out := &runner.Output{Stderr: []byte("OSError: [Errno 30] Read-only file system: '" + at("data") + "'\n"), ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}}
	if diff := cmp.Diff(hidden, blocked(readOnly, out, nil), cmp.AllowUnexported(refusedFile{})); diff != "" {
		t.Errorf("a write in a folder that the script does not see: %s", diff)
	}
	for text, b := range map[string]*refusedFile{
		"AGENT_SKILL_CACHE_DIR": {Path: "/s/x", Write: true, Own: true}, "may not write in /d": {Path: "/d/x", Dir: "/d", Write: true},
		"may not read /d/x": {Path: "/d/x", Dir: "/d"}, "no script may write /d/.git": {Path: "/d/.git", Write: true, Kept: true},
		"granted by its name": {Path: "/d/AGENTS.md", Dir: "/d/AGENTS.md", Write: true, Kept: true},
	} {
		if !strings.Contains(b.Error(), text) {
			t.Errorf("%q has not %q", b.Error(), text)
		}
	}
}
