package explain

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// C76: a script that was told to use a temporary file of other commands is told why it does not see it; what is nowhere is nobody's.
func TestTempOfOthers(t *testing.T) {
	room := t.TempDir()
	tree{"tmp/a": "", "tmp/b": "", "own/b": ""}.Write(t, room)
	if err := os.Symlink("/", filepath.Join(room, "tmp", "root")); err != nil {
		t.Fatal(err)
	}
	at := &Run{Temp: filepath.Join(room, "own"), OtherTemp: filepath.Join(room, "tmp")}
	confined := &runner.Sandbox{Tier: "A"}
	for _, tt := range []struct {
		arg, said, want string
		sandbox         *runner.Sandbox
	}{
		{arg: "/tmp/a", want: "/tmp/a"},
		{arg: "--in=/tmp/a", want: "/tmp/a"},
		{arg: room + "/tmp/a", want: room + "/tmp/a"},
		{said: "cat: /tmp/a: No such file or directory", want: "/tmp/a"},
		{said: "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/a'", want: "/tmp/a"},
		{said: "wrote /tmp/a"},
		{arg: "/tmp/b"}, {arg: "/tmp/c"}, {arg: "a"}, {arg: "/tmpx/a"}, {arg: "/tmp/root/etc"}, {arg: "/tmp/../etc/passwd"},
		{arg: "/tmp/a", sandbox: &runner.Sandbox{Tier: runner.NoSandbox}},
	} {
		out := &runner.Output{Stderr: []byte(tt.said), Sandbox: tt.sandbox}
		if tt.sandbox == nil {
			out.Sandbox = confined
		}
		got := ""
		at.Cmd, at.Out = &runner.Command{Args: []string{"x", tt.arg}}, out
		if o := at.otherTemp(); o != nil {
			got = o.Path
		}
		if got != tt.want {
			t.Errorf("%q, %q: got %q", tt.arg, tt.said, got)
		}
	}
	if (&Run{Temp: at.OtherTemp, Cmd: &runner.Command{Args: []string{"x", "/tmp/a"}}, Out: &runner.Output{Sandbox: confined}}).otherTemp() != nil {
		t.Error("a script that shares the folder does not see it")
	}
}
