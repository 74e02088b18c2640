package content

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/skill"
)

func sample(t *testing.T) *skill.Skill {
	t.Helper()
	return probe.In(t, t.TempDir(), probe.Tree{"scripts/run.sh": "#!/bin/sh\necho hi\n", "evals/evals.json": "{}", ".env": "A=b\n", "__pycache__/x.pyc": "x"})
}

func cache(t *testing.T) *Cache { return &Cache{Dir: store.Dir{Root: scratch.Dir(t)}} }

// A content arrives as it is, once for all that want it, and stays while it is open.
func TestCache(t *testing.T) {
	s := sample(t)
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var gets atomic.Int32
	c := cache(t)
	get := func(context.Context) (io.ReadCloser, error) {
		if gets.Add(1) == 1 {
			return nil, errors.New("not the first time")
		}
		time.Sleep(20 * time.Millisecond) // for the others
		f, err := Spool(t.Context(), t.TempDir(), s)
		if err == nil {
			os.Remove(f.Name())
		}
		return f, err
	}
	if _, _, err := c.Open(t.Context(), id, get); err == nil || !strings.Contains(err.Error(), "not the first time") {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, release, err := c.Open(t.Context(), id, get)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			defer got.Close()
			if now, err := got.ID(t.Context()); err != nil || now != id {
				t.Errorf("got %+v, %v", now, err)
			}
		})
	}
	all.Wait()
	got, release, err := c.Open(t.Context(), id, get)
	if err != nil || gets.Load() != 2 {
		t.Fatalf("%v, and %d archives", err, gets.Load())
	}
	dir, err := got.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "scripts", "run.sh"))
	if err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("got %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "__pycache__")); err == nil {
		t.Error("byte code was sent")
	}
	nothing := func(context.Context) (func(string) bool, error) { return func(string) bool { return false }, nil }
	if _, err := c.Dir.Sweep(t.Context(), nothing, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("it is gone while it is open: %v", err)
	}
	got.Close()
	release()
}

// What is not the content of the digest is nowhere, whoever sent it, and neither is half of one.
func TestNotTheContent(t *testing.T) {
	s := sample(t)
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	archive := func(more ...*tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, f := range append([]*tar.Header{{Typeflag: tar.TypeReg, Name: "SKILL.md", Mode: 0o644}}, more...) {
			if err := w.WriteHeader(f); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		return b.Bytes()
	}
	var whole bytes.Buffer
	if err := Pack(t.Context(), &whole, s); err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string][]byte{
		"integrity":              archive(),
		"not a path below":       archive(&tar.Header{Typeflag: tar.TypeReg, Name: "../x"}),
		"link":                   archive(&tar.Header{Typeflag: tar.TypeSymlink, Name: "x", Linkname: "/etc/passwd"}),
		"has the content sha256": whole.Bytes()[:600],
		"it is not there":        nil,
		"not 64 hexadecimal":     whole.Bytes(),
	} {
		c := cache(t)
		get := func(context.Context) (io.ReadCloser, error) {
			if b == nil {
				return nil, errors.New("it is not there")
			}
			return io.NopCloser(bytes.NewReader(b)), nil
		}
		ask := id
		if strings.HasPrefix(want, "not 64") {
			want, ask.Digest = "64 hexadecimal", "sha256:../x"
		}
		if got, _, err := c.Open(t.Context(), ask, get); got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
		if left := c.Dir.Versions(); len(left) > 0 {
			t.Errorf("%s: %v is there", want, left)
		}
	}
}

// A content with a link is not sent, and says what helps.
func TestLink(t *testing.T) {
	s := sample(t)
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("SKILL.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no links here: ", err)
	}
	var link *LinkError
	if err := Pack(t.Context(), io.Discard, s); !errors.As(err, &link) || link.Path != "link.md" || !strings.Contains(err.Error(), "install the skill") {
		t.Errorf("got %v", err)
	}
}

// What was not used for longest goes when there is too much, but nothing that is open. What is damaged is got again.
func TestKept(t *testing.T) {
	c := cache(t)
	c.Most = 3500
	gets := 0
	open := func(body string) (string, func()) {
		t.Helper()
		s := probe.In(t, t.TempDir(), probe.Tree{"data": body + strings.Repeat("x", 999)})
		id, err := s.ID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, release, err := c.Open(t.Context(), id, func(context.Context) (io.ReadCloser, error) {
			gets++
			var b bytes.Buffer
			err := Pack(t.Context(), &b, s)
			return io.NopCloser(&b), err
		})
		if err != nil {
			t.Fatal(err)
		}
		dir, err := got.Dir(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // another time of use
		return dir, func() { got.Close(); release() }
	}
	dirs := map[string]string{}
	held, release := open("a")
	dirs["a"] = held
	for _, name := range []string{"b", "c", "b", "d"} {
		dir, release := open(name)
		dirs[name] = dir
		release()
	}
	there := ""
	for _, name := range []string{"a", "b", "c", "d"} {
		if _, err := os.Stat(dirs[name]); err == nil {
			there += name
		}
	}
	if there != "abd" || gets != 4 {
		t.Errorf("%s are kept, %d were got", there, gets)
	}
	release()
	os.Chmod(filepath.Join(held, "data"), 0o600)
	if err := os.WriteFile(filepath.Join(held, "data"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, release := open("a"); again != held || gets != 5 {
		t.Errorf("%s, %d were got", again, gets)
	} else {
		release()
	}
}
