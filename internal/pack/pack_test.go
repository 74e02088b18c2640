package pack

import (
	"archive/zip"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/unpack"
)

const manifest = "---\nname: demo\ndescription: Does things.\n---\n\nText.\n"

func demo() fstest.MapFS {
	return fstest.MapFS{
		"SKILL.md": {Data: []byte(manifest), Mode: 0o600}, "scripts/run.sh": {Data: []byte("#!/bin/sh\necho hi\n")}, "scripts/data.csv": {Data: []byte("a,b\n1,2\n"), Mode: 0o777},
		"references/a b/日本語.md": {Data: []byte(strings.Repeat("text ", 3000))}, strings.Repeat("long/", 30) + "file.txt": {Data: []byte("x")}, "references-b.md": {Data: nil},
	}
}

// The bytes are the same on every machine and with every release of Go. If this test fails with a new release, write what changed
// in this package: do not change the digests.
func TestPackGolden(t *testing.T) {
	for want, o := range map[string]*Options{
		"sha256:5ace12c9a90cb4d54923757a890a7930084eef9f15b376aa2c8dd370fb4d2840": nil,
		"sha256:92e8b426ae34a67e90d467f0badbb14c93181c73d7cbd269e7facfaa9ae6334a": {Format: Zip, Folder: "demo"},
	} {
		p, err := Pack(t.Context(), demo(), o)
		if err != nil || p.Digest != want {
			t.Errorf("%+v: got %s, want %s, %v", o, p.Digest, want, err)
		}
	}
}

func unpackTo(t *testing.T, data []byte) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := unpack.NewWriter(root, nil)
	if err := errors.Join(unpack.Archive(t.Context(), bytes.NewReader(data), int64(len(data)), w), w.Close()); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestPack(t *testing.T) {
	fsys := demo()
	for _, name := range []string{".git/config", "scripts/__pycache__/a.pyc", ".env", "sub/.ssh/id", "sub/node_modules/y", "sub/package-lock.json", ".DS_Store", "sub/.DS_Store", "evals/evals.json", "sub/evals/kept.json", "sub/.git"} {
		fsys[name] = &fstest.MapFile{Data: []byte("x")}
	}
	want, err := dirhash.Dir(t.Context(), func() fs.FS {
		f := demo()
		f["sub/evals/kept.json"], f["sub/package-lock.json"] = fsys["evals/evals.json"], fsys["evals/evals.json"]
		return f
	}(), nil)
	if err != nil {
		t.Fatal(err)
	}
	excluded := []string{".DS_Store", ".env", ".git/", "evals/", "scripts/__pycache__/", "sub/.DS_Store", "sub/.git", "sub/.ssh/", "sub/node_modules/"}
	for _, o := range []*Options{nil, {Format: Zip}, {Format: Zip, Folder: "demo"}, {Folder: "demo"}} {
		p, err := Pack(t.Context(), fsys, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(excluded, p.Excluded); diff != "" {
			t.Error(diff)
		}
		if !slices.IsSorted(p.Files) || len(p.Files) != 8 || p.Digest != digest(p.Data) {
			t.Errorf("%s, files %v", p.Digest, p.Files)
		}
		root := unpackTo(t, p.Data)
		at := "."
		if o != nil && o.Folder != "" {
			at = o.Folder
		}
		sub, err := fs.Sub(root.FS(), at)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := dirhash.Dir(t.Context(), sub, nil); err != nil || got.Digest != want.Digest {
			t.Errorf("%+v: the content has changed: %v, %v", o, got.Files, err)
		}
		for name, want := range map[string]fs.FileMode{"scripts/run.sh": 0o755, "scripts/data.csv": 0o644} {
			if info, err := fs.Stat(sub, name); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
	fsys[signature] = &fstest.MapFile{}
	if p, err := Pack(t.Context(), fsys, nil); err != nil || !slices.Contains(p.Files, "evals/evals.json") {
		t.Errorf("a signed skill: %v, %v", p.Files, err)
	}
	p, _ := Pack(t.Context(), demo(), &Options{Format: Zip})
	z, err := zip.NewReader(bytes.NewReader(p.Data), int64(len(p.Data)))
	if err != nil || len(z.File) != 6 {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != string(demo()[f.Name].Data) || f.NonUTF8 {
			t.Errorf("%s: %d bytes, %v", f.Name, len(got), err)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	many := demo()
	for i := range MaxFiles {
		many["f"+strings.Repeat("x", i%100)+string(rune('a'+i/100))] = &fstest.MapFile{}
	}
	for want, fsys := range map[string]fstest.MapFS{
		"no SKILL.md":        {"skill.md": {}},
		"not a regular file": {"SKILL.md": {}, "ln": {Mode: fs.ModeSymlink, Data: []byte("SKILL.md")}},
		"device on Windows":  {"SKILL.md": {}, "sub/aux.txt": {}},
		"is the same as":     {"SKILL.md": {}, "a": {}, "A": {}},
		"more than the 1000": many,
		"67108864 bytes":     {"SKILL.md": {}, "a": {Data: make([]byte, MaxBytes)}, "b": {Data: []byte("x")}},
	} {
		if _, err := Pack(t.Context(), fsys, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, folder := range []string{"..", "a/b", ".git", "con", `a\b`} {
		if _, err := Pack(t.Context(), demo(), &Options{Folder: folder}); err == nil {
			t.Errorf("folder %q is accepted", folder)
		}
	}
}

// publish writes an index to a folder.
func publish(t *testing.T, dir string, skills ...Skill) *Published {
	t.Helper()
	p, err := change(t, dir, skills)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func change(t *testing.T, dir string, skills []Skill, remove ...string) (*Published, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return Index(t.Context(), root, skills, remove)
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var data []byte
			data, err = os.ReadFile(filepath.Join(dir, name))
			out[name] = string(data)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// What Index writes is installed from by the fetcher for indexes, from a server that knows nothing but files.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	skills := []Skill{{"demo", "Does <things> & \"more\".", demo()}, {"alone", "One file.", fstest.MapFS{"SKILL.md": {Data: []byte(manifest)}, ".DS_Store": {}}}}
	p := publish(t, dir, skills...)
	if len(p.Written) != 5 || len(p.Removed) > 0 || p.Entries[0].Name != "alone" || p.Entries[0].Type != "skill-md" || p.Entries[1].Type != "archive" || !slices.Equal(p.Entries[0].Excluded, []string{".DS_Store"}) {
		t.Errorf("%+v", p)
	}
	first := read(t, dir)
	slices.Reverse(skills)
	if again := publish(t, dir, skills...); len(again.Written)+len(again.Removed) > 0 {
		t.Errorf("the second time: %+v", again)
	}
	if diff := cmp.Diff(first, read(t, dir)); diff != "" {
		t.Error(diff)
	}

	server := httptest.NewTLSServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	f, err := fetch.Index(&fetch.HTTPOptions{RootCAs: roots, Private: []string{server.Listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.Index, URL: server.URL}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Need(t.Context(), func(string) bool { return true }); err != nil || len(s.LeftOut()) > 0 {
		t.Fatal(err, s.LeftOut())
	}
	for name, want := range map[string]fs.FS{"demo": demo(), "alone": fstest.MapFS{"SKILL.md": {Data: []byte(manifest)}}} {
		got, err := fs.Sub(s.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		a, err1 := dirhash.Dir(t.Context(), want, nil)
		b, err2 := dirhash.Dir(t.Context(), got, nil)
		if err := errors.Join(err1, err2); err != nil || a.Digest != b.Digest {
			t.Errorf("%s: %v, %+v", name, err, b.Files)
		}
	}
}

// A skill that changes gets another file and the former one goes. Other skills stay until they are removed by name, and so does what
// Index did not write.
func TestIndexAgain(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, Skill{"demo", "Old.", demo()}, Skill{"other", "Stays.", demo()})
	if err := os.WriteFile(filepath.Join(dir, Folder, "mine.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := read(t, dir)
	changed := demo()
	changed["new.md"] = &fstest.MapFile{}
	p := publish(t, dir, Skill{"demo", "New.", changed})
	if len(p.Removed) != 1 || !strings.Contains(p.Removed[0], "/demo.") || len(p.Written) != 3 || len(p.Kept) != 1 || p.Kept[0].Name != "other" {
		t.Errorf("%+v", p)
	}
	after := read(t, dir)
	for name, text := range before {
		if strings.Contains(name, "other.") && after[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
	if text := after["index.html"]; !strings.Contains(text, "<b>demo</b>") || !strings.Contains(text, "<b>other</b>") {
		t.Errorf("the page has %s", text)
	}
	if p, err := change(t, dir, nil, "other", "demo"); err != nil || len(p.Removed) != 2 || len(p.Kept) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
	var names []string
	for name := range read(t, dir) {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{".nojekyll", path.Join(Folder, "index.json"), path.Join(Folder, "mine.md"), "index.html"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

// What is not on the site cannot be removed, nor what is published, and to an index of others nothing is added: nothing is written.
func TestIndexRefusesToChange(t *testing.T) {
	entry := func(name, url, more string) string {
		return `{"$schema":"` + Schema + `","skills":[{"name":"` + name + `","type":"skill-md","description":"x","url":"` + url + `","digest":""` + more + `}]}`
	}
	for _, row := range []struct{ index, remove, want string }{
		{"", "none", `no skill "none"`},
		{"", "demo", "to be published and to be removed"},
		{entry("x", "../../x.0123456789abcdef.md", ""), "", "another program"},
		{entry("x", "index.json", ""), "", "another program"},
		{entry("x", "y.0123456789abcdef.md", ""), "", "another program"},
		{entry("x", "x.0123456789abcdef.md", `,"signature":"s"`), "", "another program"},
		{`{"$schema":"other","skills":[]}`, "", "another program"},
		{`{"skills":`, "", "another program"},
		{strings.Repeat(" ", maxIndex) + "{}", "", "another program"},
	} {
		dir := t.TempDir()
		publish(t, dir, Skill{"first", "x", demo()})
		if row.index != "" {
			if err := os.WriteFile(filepath.Join(dir, Folder, "index.json"), []byte(row.index), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := read(t, dir)
		var remove []string
		if row.remove != "" {
			remove = []string{row.remove}
		}
		if _, err := change(t, dir, []Skill{{"demo", "x", demo()}}, remove...); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.100s: got %v, want %s", row.index, err, row.want)
		}
		if !maps.Equal(before, read(t, dir)) {
			t.Errorf("%.100s: it wrote", row.index)
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	for want, skills := range map[string][]Skill{
		"only names":        {{"Demo_1", "x", demo()}},
		"1 to 1024":         {{"demo", strings.Repeat("ä", 1025), demo()}},
		"no SKILL.md":       {{"demo", "x", demo()}, {"other", "x", fstest.MapFS{}}},
		"two skills called": {{"demo", "x", demo()}, {"demo", "y", demo()}},
	} {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Index(t.Context(), root, skills, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		root.Close()
		if got := read(t, dir); len(got) > 0 {
			t.Errorf("it wrote %v", got)
		}
	}
}

// R150: a site has a page for people. Foreign text is text on it, and somebody's own page stays.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	hostile := Skill{Name: "a", Description: `</dd><script>alert("1")</script>&amp;`, FS: fstest.MapFS{"SKILL.md": {Data: []byte("x")}}}
	publish(t, dir, hostile)
	name := filepath.Join(dir, "index.html")
	text, err := os.ReadFile(name)
	if err != nil || bytes.Contains(text, []byte("<script")) || !bytes.Contains(text, []byte(`&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&amp;amp;`)) ||
		!bytes.Contains(text, []byte(`href=".well-known/agent-skills/a.`)) || !bytes.Contains(text, []byte("sha256:")) {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(t, dir, hostile)
	if text, err := os.ReadFile(name); err != nil || string(text) != "mine" {
		t.Errorf("%s, %v", text, err)
	}
}
