package confine

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// asUser marks the process that runs the tests as a user.
const asUser = "CONFINE_TEST_USER"

// R176: everything holds for a user without rights as for root. This runs the other tests again as such a user.
func TestAsUser(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(asUser) != "" {
		t.Skip("the tests run as a user already")
	}
	if testing.Short() {
		t.Skip("runs all tests again")
	}
	id := 50000 + os.Getpid()%10000                      // of nobody else: the system counts the processes of a user
	dir, err := os.MkdirTemp("/var/tmp", "confine-test") //nolint:usetesting // a user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	temp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, owner := range map[string]int{dir: 0, temp: id} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "confine.test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyTo(t, self, program)
	if err := os.Mkdir(filepath.Join(dir, "testdata"), 0o755); err != nil {
		t.Fatal(err)
	}
	copyTo(t, "testdata/probe.py", filepath.Join(dir, "testdata", "probe.py"))
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.parallel="+flag.Lookup("test.parallel").Value.String())
	cmd.Dir, cmd.Env = dir, []string{asUser + "=1", "TMPDIR=" + temp, "HOME=" + temp, "PATH=/usr/bin:/bin", "GORACE=" + os.Getenv("GORACE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
