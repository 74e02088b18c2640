//go:build unix

package skill

import (
	"errors"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// IX1, security 2.3 #36, #37: pipes, sockets and devices are refused at once, as a manifest and as
// a resource, and hurt no other skill.
func TestSpecialFiles(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"pipe/": "", "good/SKILL.md": "", "good/references/": ""})
	for _, p := range []string{"pipe/SKILL.md", "good/references/a.md"} {
		if err := syscall.Mkfifo(filepath.Join(root, p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "good"))
	l, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	start := time.Now()
	c := onDir(t, root)
	wantLines(t, "skills", states(c), "good project:good enabled", "pipe project:pipe broken: not a regular file but a named pipe")
	wantLines(t, "problems", codes(c, root), "manifest-irregular pipe/SKILL.md")
	s := loaded(t, c, "good")
	for _, name := range []string{"references/a.md", "sock"} {
		var re *ResourceError
		if _, err := s.Read(name); !errors.As(err, &re) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	files, err := s.Files(t.Context())
	if len(files) != 1 || err != nil {
		t.Errorf("files %v %v", files, err)
	}
	if _, err := s.Digest(t.Context()); err == nil {
		t.Error("special files have a digest")
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	refreshed(t, c, false)
}
