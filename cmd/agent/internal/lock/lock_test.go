package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/install/source"
)

// written is a file that version 1.7.4 of the npm program "skills" wrote, with a field of a later version.
const written = `{
  "version": 1,
  "skills": {
    "one": {
      "source": "https://git.example/team/skills.git",
      "sourceUrl": "https://git.example/team/skills.git",
      "ref": "v1",
      "sourceType": "git",
      "skillPath": "skills/one/SKILL.md",
      "computedHash": "14027623a269233e41b8205f781fc285e78ef9c53df7a8d369664e1019b3fac2",
      "subagents": [
        "a<b>&c"
      ]
    },
    "three": {
      "source": "owner/repo",
      "sourceType": "github",
      "skillPath": "SKILL.md",
      "computedHash": "aa"
    },
    "two": {
      "source": "./mine",
      "sourceType": "local",
      "computedHash": "03311543237fba19a183df1062e54397bbeebe854d349bc19b8ab0b7ab92b93e"
    }
  }
}
`

func project(t *testing.T, content string) *lock.Project {
	t.Helper()
	p := &lock.Project{Dir: t.TempDir()}
	p.Lock = filepath.Join(t.TempDir(), "project.lock")
	if content != "" {
		if err := os.WriteFile(filepath.Join(p.Dir, lock.FileName), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func read(t *testing.T, p *lock.Project) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.Dir, lock.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The hash is the one that the npm program "skills" computes for these files (version 1.7.4).
func TestHashIsThatOfTheOtherProgram(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"SKILL.md": "manifest\n", "a_b.txt": "1", "a-b.txt": "2", "A.md": "3", "a.md": "4", "scripts/x.py": "5",
		"node_modules/x/y": "no", ".git/config": "no", ".hidden": "6", "résumé.md": "7", "sub/node_modules/z": "no", "Docs/10.md": "8", "Docs/9.md": "9", "scripts/X y.py": "x"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("SKILL.md", filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	got, err := lock.Hash(t.Context(), os.DirFS(dir))
	if want := "7373344eb68f48d5f796472993d7d40de4919e598a00d04314cac7e06165abf4"; got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// A folder has the hash that the other program computes where git writes CR LF.
func TestHashWindows(t *testing.T) {
	unix := fstest.MapFS{"SKILL.md": {Data: []byte("a\nb\n")}, "crlf.md": {Data: []byte("a\r\n")}, "mixed.md": {Data: []byte("a\nb\r")}, "logo.png": {Data: []byte("\x00\n")},
		"odd.bin": {Data: []byte("\x01\x02\x03\n")}, "dos.txt": {Data: []byte("a\n\x1a")}, "ü.md": {Data: []byte("ü\n")}}
	windows := fstest.MapFS{"SKILL.md": {Data: []byte("a\r\nb\r\n")}, "crlf.md": {Data: []byte("a\r\n")}, "mixed.md": {Data: []byte("a\nb\r")}, "logo.png": {Data: []byte("\x00\n")},
		"odd.bin": {Data: []byte("\x01\x02\x03\n")}, "dos.txt": {Data: []byte("a\r\n\x1a")}, "ü.md": {Data: []byte("ü\r\n")}}
	want, err := lock.Hash(t.Context(), windows)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := lock.HashWindows(t.Context(), unix); got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if got, _ := lock.Hash(t.Context(), unix); got == want {
		t.Error("both have one hash")
	}
}

// A file of the other program is written back with the same bytes, except for what changes.
func TestEditKeepsEverythingElse(t *testing.T) {
	p := project(t, written)
	if err := p.Edit(t.Context(), func(s *lock.Set) error {
		s.Put("1", lock.Entry{Source: "o/r", SourceType: "github", SkillPath: "SKILL.md", ComputedHash: "bb"})
		s.Put("Zed", lock.Entry{Source: filepath.Join(p.Dir, "..", "x"), SourceType: "local", ComputedHash: "cc"})
		e, _ := s.Get("one")
		e.Ref, e.ComputedHash = "v2", "dd"
		s.Put("one", e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"v1"`, `"v2"`, "14027623a269233e41b8205f781fc285e78ef9c53df7a8d369664e1019b3fac2", "dd", `"skills": {`, `"skills": {
    "1": {
      "source": "o/r",
      "sourceType": "github",
      "skillPath": "SKILL.md",
      "computedHash": "bb"
    },
    "Zed": {
      "source": "../x",
      "sourceType": "local",
      "computedHash": "cc"
    },`).Replace(written)
	if got := read(t, p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := p.Edit(t.Context(), func(s *lock.Set) error { s.Delete("1"); s.Delete("Zed"); return nil }); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(p.Dir); len(list) != 1 {
		t.Errorf("the project has %d files, want only %s", len(list), lock.FileName)
	}
}

func TestSkillsOfAProject(t *testing.T) {
	p := project(t, written)
	s, err := p.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []lock.Skill{
		{Name: "one", Type: "git", Source: "https://git.example/team/skills.git", Ref: "v1", Path: "skills/one", Hash: "14027623a269233e41b8205f781fc285e78ef9c53df7a8d369664e1019b3fac2"},
		{Name: "three", Type: "github", Source: "owner/repo", Hash: "aa"},
		{Name: "two", Type: "local", Source: filepath.Join(p.Dir, "mine"), Hash: "03311543237fba19a183df1062e54397bbeebe854d349bc19b8ab0b7ab92b93e"},
	}
	if got := s.Skills(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// security 2.9 #144: a newer or damaged file is never written.
func TestUnreadableFiles(t *testing.T) {
	for text, want := range map[string]error{
		`{"version": 2, "skills": {}}`:             lock.ErrNewer,
		`{"version": 1, "skills": {"a": 1}}`:       lock.ErrCorrupt,
		`{"skills": {}}`:                           lock.ErrCorrupt,
		"<<<<<<< HEAD\n{}":                         lock.ErrCorrupt,
		`{"version": 1, "skills": {"a": {"sourc`:   lock.ErrCorrupt,
		`[]`:                                       lock.ErrCorrupt,
		`{"version": "1", "skills": {}}`:           lock.ErrCorrupt,
		strings.Repeat("[", 100_000) + `{"a": 1}}`: lock.ErrCorrupt,
	} {
		p := project(t, text)
		if _, err := p.Load(t.Context()); !errors.Is(err, want) {
			t.Errorf("%.40q: got %v", text, err)
		}
		err := p.Edit(t.Context(), func(s *lock.Set) error { s.Put("x", lock.Entry{Source: "a/b"}); return nil })
		if !errors.Is(err, want) || read(t, p) != text {
			t.Errorf("%.40q: got %v and %.40q", text, err, read(t, p))
		}
	}
}

func TestNoFile(t *testing.T) {
	p := project(t, "")
	if s, err := p.Load(t.Context()); err != nil || len(s.Skills()) != 0 {
		t.Errorf("got %v, %v", s, err)
	}
	if err := p.Edit(t.Context(), func(s *lock.Set) error { s.Delete("x"); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, lock.FileName)); err == nil {
		t.Error("an empty file was written")
	}
	if err := p.Edit(t.Context(), func(s *lock.Set) error {
		s.Put("x", lock.NewEntry(&source.Ref{Kind: source.Git, URL: "https://github.com/o/r.git", Want: "main"}, "skills/x", "ee"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "skills": {
    "x": {
      "source": "o/r",
      "ref": "main",
      "sourceType": "github",
      "skillPath": "skills/x/SKILL.md",
      "computedHash": "ee"
    }
  }
}
`
	if got := read(t, p); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNewEntry(t *testing.T) {
	for _, tt := range []struct {
		ref                source.Ref
		kind, source, url  string
		hasPath            bool
		wantRef, wantWhere string
	}{
		{source.Ref{Kind: source.Git, URL: "https://gitlab.com/g/s/r.git"}, "gitlab", "https://gitlab.com/g/s/r.git", "https://gitlab.com/g/s/r.git", true, "", "d/SKILL.md"},
		{source.Ref{Kind: source.Git, URL: "ssh://git@host/x.git", Want: "v1"}, "git", "ssh://git@host/x.git", "ssh://git@host/x.git", true, "v1", "d/SKILL.md"},
		{source.Ref{Kind: source.Folder, URL: "/srv/x"}, "local", "/srv/x", "", false, "", ""},
		{source.Ref{Kind: source.Index, URL: "https://site.example"}, "well-known", "https://site.example", "https://site.example", false, "", ""},
		{source.Ref{Kind: source.OCI, URL: "r.example/x", Want: "1"}, "oci", "r.example/x", "", true, "1", "d/SKILL.md"},
	} {
		e := lock.NewEntry(&tt.ref, "d", "h")
		if e.SourceType != tt.kind || e.Source != tt.source || e.SourceURL != tt.url || e.SkillPath != tt.wantWhere || e.Ref != tt.wantRef || e.ComputedHash != "h" {
			t.Errorf("%+v: got %+v", tt.ref, e)
		}
	}
}

// C75: a name is found in every spelling that is the same, and has one entry.
func TestSpellings(t *testing.T) {
	s := &lock.Set{}
	s.Put("Cafe\u0301", lock.Entry{Source: "a"})
	s.Put("café", lock.Entry{Source: "b"})
	if e, ok := s.Get("CAFÉ"); !ok || e.Source != "b" || len(s.Skills()) != 1 {
		t.Errorf("got %+v, %v of %+v", e, ok, s.Skills())
	}
	if !s.Delete("CAFÉ") || len(s.Skills()) != 0 {
		t.Errorf("left: %+v", s.Skills())
	}
}

// The list of a user, which the npm program and the GitHub command line write.
func TestReadUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".skill-lock.json")
	if list, err := lock.ReadUser(path); err != nil || list != nil {
		t.Errorf("got %v, %v", list, err)
	}
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"version": 3, "skills": {
		"b": {"source": "o/r", "sourceType": "github", "sourceUrl": "https://github.com/o/r.git", "skillPath": "skills/b/SKILL.md", "skillFolderHash": "7a8633b2cf8d7f4a0ee055cfc53e9821a26be2dd", "installedAt": "2026-11-22T15:37:48.045Z", "pinnedRef": "refs/tags/v2"},
		"a": {"source": "/srv/a", "sourceType": "local", "skillFolderHash": "14027623a269233e41b8205f781fc285e78ef9c53df7a8d369664e1019b3fac2"}
	}, "dismissed": {"x": true}, "lastSelectedAgents": ["codex"]}`)
	want := []lock.Skill{
		{Name: "a", Type: "local", Source: "/srv/a", Hash: "14027623a269233e41b8205f781fc285e78ef9c53df7a8d369664e1019b3fac2"},
		{Name: "b", Type: "github", Source: "https://github.com/o/r.git", Ref: "v2", Path: "skills/b", Tree: "7a8633b2cf8d7f4a0ee055cfc53e9821a26be2dd", Pinned: true},
	}
	if got, err := lock.ReadUser(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	put(`{"version": 2, "skills": {"a": {}}}`)
	if list, err := lock.ReadUser(path); err != nil || list != nil {
		t.Errorf("got %v, %v", list, err)
	}
	put(`{"version": 3, "skills": []}`)
	if _, err := lock.ReadUser(path); !errors.Is(err, lock.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// The keys of the GitHub command line.
func TestFromManifest(t *testing.T) {
	for _, tt := range []struct {
		metadata map[string]string
		want     lock.Skill
		ok       bool
	}{
		{map[string]string{"version": "1"}, lock.Skill{}, false},
		{map[string]string{"github-repo": "https://github.com/o/r", "github-path": "plugins/p/skills/x", "github-ref": "refs/tags/v1.0.0", "github-pinned": "v1.0.0", "github-tree-sha": "85"},
			lock.Skill{Name: "x", Type: "github", Source: "https://github.com/o/r", Ref: "v1.0.0", Path: "plugins/p/skills/x", Tree: "85", Pinned: true}, true},
		{map[string]string{"github-repo": "https://github.com/o/r", "github-path": "skills/x/SKILL.md", "github-ref": "refs/heads/main"},
			lock.Skill{Name: "x", Type: "github", Source: "https://github.com/o/r", Ref: "main", Path: "skills/x"}, true},
		{map[string]string{"local-path": "/srv/x"}, lock.Skill{Name: "x", Type: "local", Source: "/srv/x"}, true},
	} {
		if got, ok := lock.FromManifest("x", tt.metadata); got != tt.want || ok != tt.ok {
			t.Errorf("%v: got %+v, %v", tt.metadata, got, ok)
		}
	}
}

// What is read can be written and read again.
func FuzzProject(f *testing.F) {
	f.Add(written)
	f.Add(`{"version":1,"skills":{}}`)
	f.Add(`{"version":1,"skills":{"\ud800":{"source":"` + "\u2028" + `"},"a":null}}`)
	f.Add(`{"version":1,"skills":{"2":{"Source":"x","source":"y"},"10":{}},"more":[1,{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := project(t, text)
		before, err := p.Load(t.Context())
		if err != nil || text == "" {
			return
		}
		if err := p.Edit(t.Context(), func(s *lock.Set) error { s.Put("new", lock.Entry{Source: "a/b"}); return nil }); err != nil {
			t.Fatal(err)
		}
		after, err := p.Load(t.Context())
		if err != nil {
			t.Fatalf("%v in %s", err, read(t, p))
		}
		before.Put("new", lock.Entry{Source: "a/b"})
		if got, want := after.Skills(), before.Skills(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}
