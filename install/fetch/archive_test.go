package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/unpack"
)

const skillText = "---\nname: demo\ndescription: Does things.\n---\n\nText.\n"

// tarGz makes an archive of pairs of names and contents.
func tarGz(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(pairs); i += 2 {
		h := &tar.Header{Name: pairs[i], Mode: 0o644, Size: int64(len(pairs[i+1]))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, pairs[i+1])
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, pairs[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// files returns the content of the files of a snapshot.
func files(t testing.TB, s *install.Snapshot) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := fs.WalkDir(s.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(s.FS, name)
		out[name] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func newArchive(t testing.TB, o *HTTPOptions) install.Fetcher {
	t.Helper()
	f, err := Archive(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// security 2.7 #122, security 2.7 #118
func TestArchiveLayouts(t *testing.T) {
	nested := string(zipOf(t, "inner/SKILL.md", skillText))
	layouts := map[string][]string{
		"root":    {"SKILL.md", skillText, "scripts/run.py", "print()"},
		"wrapper": {"demo/SKILL.md", skillText, "demo/nested.zip", nested},
		"several": {"skills/one/SKILL.md", skillText, "skills/two/SKILL.md", skillText, "README.md", "x"},
		"none":    {"README.md", "x"},
	}
	var served []byte
	server, o := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(served) })
	for name, pairs := range layouts {
		want := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			want[pairs[i]] = pairs[i+1]
		}
		for ending, data := range map[string][]byte{".tar.gz": tarGz(t, pairs...), ".skill": zipOf(t, pairs...), ".wrong.zip": tarGz(t, pairs...)} {
			path := filepath.Join(t.TempDir(), "x"+ending)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			served = data
			for _, from := range []string{path, server.URL + "/x" + ending + "?secret=1"} {
				ref := source.Ref{Kind: source.Archive, URL: from}
				s, err := newArchive(t, o).Fetch(t.Context(), &install.Request{Source: ref, Dir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, files(t, s)); diff != "" {
					t.Errorf("%s%s: %s", name, ending, diff)
				}
				url, _, _ := strings.Cut(from, "?")
				if o := (install.Origin{Source: ref, URL: url, Commit: digestOf(data)}); s.Origin != o {
					t.Errorf("got %+v, want %+v", s.Origin, o)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestArchiveKnown(t *testing.T) {
	data := zipOf(t, "SKILL.md", skillText)
	server, o := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(data) })
	fetch := func(known, want string) (*install.Snapshot, string, error) {
		dir := t.TempDir()
		s, err := newArchive(t, o).Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Archive, URL: server.URL, Want: want}, Dir: dir, Known: known})
		if err == nil {
			t.Cleanup(func() { s.Close() })
		}
		return s, dir, err
	}
	s, dir, err := fetch(digestOf(data), "")
	if list, _ := os.ReadDir(dir); err != nil || s.FS != nil || s.Origin.Commit != digestOf(data) || len(list) > 0 {
		t.Errorf("known: %+v, %v, %v", s, list, err)
	}
	if s, _, err := fetch(digestOf(nil), digestOf(data)); err != nil || s.FS == nil || !s.Origin.Pinned {
		t.Errorf("changed: %+v, %v", s, err)
	}
	if _, _, err := fetch("", digestOf(nil)); err == nil || !strings.Contains(err.Error(), "and not "+digestOf(nil)) {
		t.Errorf("another digest: %v", err)
	}
}

// security 2.7 #117, security 2.7 #121
func TestArchiveRefused(t *testing.T) {
	var many []string
	for i := range 1001 {
		many = append(many, fmt.Sprint("f", i), "")
	}
	var served []byte
	server, o := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(served) })
	for want, data := range map[string][]byte{
		"more than the 1000 files": tarGz(t, many...), "has 1001 files": zipOf(t, many...),
		"a page": []byte("<!doctype html>"), "not a path below": tarGz(t, "SKILL.md", skillText, "../x", "x"),
	} {
		served = data
		dir := t.TempDir()
		_, err := newArchive(t, o).Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Archive, URL: server.URL + "/x.zip"}, Dir: dir})
		var refused *unpack.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), server.URL) {
			t.Errorf("got %v, want %s", err, want)
		}
		if list, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "x")); len(list) > 0 {
			t.Errorf("it wrote %v", list)
		}
	}
	local := filepath.Join(t.TempDir(), "a.tgz")
	if err := os.WriteFile(local, tarGz(t, many...), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := newArchive(t, nil).Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Archive, URL: local}, Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("an archive of the user's own: %v", err)
	}
	s.Close()
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing.zip")} {
		if _, err := newArchive(t, nil).Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Archive, URL: path}, Dir: t.TempDir()}); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// The archive of a repository often has a link somewhere: its skills can be installed all the same. security 2.7 #114
func TestArchiveLinks(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{{Name: "repo/CLAUDE.md", Linkname: "AGENTS.md", Typeflag: tar.TypeSymlink}, {Name: "repo/SKILL.md", Size: 1}} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(w, "x")
	path := filepath.Join(t.TempDir(), "x.tgz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z.Write(b.Bytes())
	z.Close()
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := newArchive(t, nil).Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Archive, URL: path}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := files(t, s); len(got) != 1 || got["repo/SKILL.md"] != "x" || fmt.Sprint(s.LeftOut()) != `[repo/CLAUDE.md is a symbolic link to "AGENTS.md", which is not there]` {
		t.Errorf("%v, left out %v", got, s.LeftOut())
	}
}
