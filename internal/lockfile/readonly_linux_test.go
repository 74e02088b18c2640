package lockfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A Secret of Kubernetes is read from a folder that anybody could write to if it were not mounted read-only.
func TestReadOnlySecret(t *testing.T) {
	const in = "LOCKFILE_TEST_READ_ONLY"
	if dir := os.Getenv(in); dir != "" {
		b, err := ReadPrivate(filepath.Join(dir, "creds"), 0)
		if err != nil || string(b) != "secret" {
			t.Errorf("%q, %v", b, err)
		}
		return
	}
	dir := t.TempDir()
	script := `mount -t tmpfs -o mode=1777 none "$0" && mkdir "$0/..1" && printf secret >"$0/..1/creds" && ln -s ..1 "$0/..data" &&
		ln -s ..data/creds "$0/creds" && mount -o remount,ro "$0" && exec "$@"`
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", script, dir, "true").CombinedOutput(); err != nil {
		t.Skipf("this machine lets a user mount nothing: %v: %s", err, out)
	}
	c := exec.Command("unshare", "-rm", "sh", "-c", script, dir, os.Args[0], "-test.run=^TestReadOnlySecret$")
	c.Env = append(os.Environ(), in+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o1777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "creds"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	var unsafe *UnsafeError
	if _, err := ReadPrivate(filepath.Join(dir, "creds"), 0); !errors.As(err, &unsafe) {
		t.Errorf("where anybody writes: %v", err)
	}
}
