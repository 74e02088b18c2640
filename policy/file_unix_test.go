//go:build unix

package policy

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// machine is a root of a file system with a document in etc/agent.
func machine(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, root, "etc/agent/policy.yaml", "mode: ask\n")
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The file, each folder on the way and each place where a link leads must be root's: in a user namespace that of the root folder.
func TestWhoMayChangeIt(t *testing.T) {
	at := func(root string, name string) string { return filepath.Join(root, name) }
	for name, tt := range map[string]struct {
		change func(t *testing.T, root string) error
		wrong  string // "" for a file that is read
	}{
		"as it should be":            {func(*testing.T, string) error { return nil }, ""},
		"file writable by all":       {func(_ *testing.T, r string) error { return os.Chmod(at(r, "etc/agent/policy.yaml"), 0o646) }, "changed by others"},
		"file writable by a group":   {func(_ *testing.T, r string) error { return os.Chmod(at(r, "etc/agent/policy.yaml"), 0o664) }, "changed by others"},
		"folder writable by all":     {func(_ *testing.T, r string) error { return os.Chmod(at(r, "etc/agent"), 0o777) }, "changed by others"},
		"folder above writable":      {func(_ *testing.T, r string) error { return os.Chmod(at(r, "etc"), 0o775) }, "changed by others"},
		"folder with the sticky bit": {func(_ *testing.T, r string) error { return os.Chmod(at(r, "etc"), 0o777|os.ModeSticky) }, "changed by others"},
		"a folder": {func(_ *testing.T, r string) error {
			return first(os.Remove(at(r, "etc/agent/policy.yaml")), os.Mkdir(at(r, "etc/agent/policy.yaml"), 0o755))
		}, "no regular file"},
		"a pipe": {func(_ *testing.T, r string) error {
			return first(os.Remove(at(r, "etc/agent/policy.yaml")), syscall.Mkfifo(at(r, "etc/agent/policy.yaml"), 0o644))
		}, "no regular file"},
		"a link": {func(t *testing.T, r string) error {
			put(t, r, "srv/p.yaml", "mode: ask\n")
			return first(os.Remove(at(r, "etc/agent/policy.yaml")), os.Symlink("../../srv/p.yaml", at(r, "etc/agent/policy.yaml")))
		}, ""},
		"an absolute link, by a folder that is one": {func(t *testing.T, r string) error {
			put(t, r, "opt/conf/policy.yaml", "mode: ask\n")
			return first(os.RemoveAll(at(r, "etc/agent")), os.Symlink("/srv/conf", at(r, "etc/agent")), os.Mkdir(at(r, "srv"), 0o755), os.Symlink("../opt/conf", at(r, "srv/conf")))
		}, ""},
		"a link through a folder of others": {func(t *testing.T, r string) error {
			put(t, r, "srv/p.yaml", "mode: ask\n")
			return first(os.Remove(at(r, "etc/agent/policy.yaml")), os.Symlink("../../srv/p.yaml", at(r, "etc/agent/policy.yaml")), os.Chmod(at(r, "srv"), 0o777))
		}, `srv" can be changed by others`},
		"a link in a circle": {func(_ *testing.T, r string) error {
			return first(os.Remove(at(r, "etc/agent/policy.yaml")), os.Symlink("policy.yaml", at(r, "etc/agent/policy.yaml")))
		}, "links"},
		"a link that leads nowhere": {func(_ *testing.T, r string) error {
			return first(os.Remove(at(r, "etc/agent/policy.yaml")), os.Symlink("gone", at(r, "etc/agent/policy.yaml")))
		}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			root := machine(t)
			if err := tt.change(t, root); err != nil {
				t.Fatal(err)
			}
			f, err := below(root, "/etc/agent/policy.yaml")
			if err == nil {
				defer f.Close()
			}
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Fatalf("got %v, want an error with %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(f); string(text) != "mode: ask\n" || err != nil {
				t.Errorf("read %q, %v", text, err)
			}
		})
	}
}

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// Only root can give a file to another user.
func TestForeign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	root := machine(t)
	if err := os.Chown(filepath.Join(root, "etc/agent/policy.yaml"), 12345, 0); err != nil {
		t.Skip("this machine has one user: ", err)
	}
	if _, err := below(root, "/etc/agent/policy.yaml"); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("got %v", err)
	}
}

// What is not there says nothing. A link that leads nowhere was meant to say something, and a file that cannot be used allows nothing.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent", "policy.yaml")
	if d := read(path); d != nil {
		t.Errorf("without a file: %+v", d)
	}
	if err := os.Symlink("gone", filepath.Join(dir, "agent")); err != nil {
		t.Fatal(err)
	}
	if d := read(path); d.Err() == nil || !strings.Contains(d.Err().Error(), "leads nowhere") {
		t.Errorf("a folder that is a link to nowhere: %v", d.Err())
	}
	other := filepath.Join(dir, "policy.yaml") // below a folder that others can write, or that is not root's
	if err := os.WriteFile(other, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(other, 0o666); err != nil {
		t.Fatal(err)
	}
	if d := read(other); d.Err() == nil || !strings.Contains(d.Err().Error(), "nothing is allowed") {
		t.Errorf("a file that others can write: %v", d.Err())
	}
}

// changing is a file that changes while it is read.
type changing struct {
	*os.File
	change func()
}

func (c changing) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	c.change()
	return n, err
}

// Half of a document could say less than the whole.
func TestChangedWhileRead(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"longer":  func(path string) error { return os.WriteFile(path, []byte("mode: ask\naudit: required\n"), 0o644) },
		"shorter": func(path string) error { return os.Truncate(path, 0) },
		"as long": func(path string) error { return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) },
		"not":     func(string) error { return nil },
	} {
		path := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(path, []byte("mode: all\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = whole(changing{f, func() {
			if err := change(path); err != nil {
				t.Error(err)
			}
		}})
		f.Close()
		if (err != nil) != (name != "not") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A command without a policy pays next to nothing.
func BenchmarkReadNone(b *testing.B) {
	path := filepath.Join(b.TempDir(), "policy.yaml")
	for b.Loop() {
		if read(path) != nil {
			b.Fatal("there is one")
		}
	}
}
