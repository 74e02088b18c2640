package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/test/documenttest"
)

func put(t *testing.T, s *registry.Store, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// R136: the file has exactly these fields, and null for what a repository would say.
func TestFile(t *testing.T) {
	s := newStore(t)
	if err := s.Register(t.Context(), registry.Entry{Name: "Kalshi_Markets", InstalledPath: "/srv/k", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "skills": [
    {
      "name": "Kalshi_Markets",
      "name_canonical": "kalshi-markets",
      "git_url": null,
      "commit_sha": null,
      "branch": null,
      "tag": null,
      "installed_path": "/srv/k",
      "trusted": true,
      "installed_at": "2026-11-22T15:00:00Z"
    }
  ]
}
`
	if got := read(t, s.Path); got != want {
		t.Errorf("got %s", got)
	}
}

// R137: files of older programs are read, and converted by the next change.
func TestOlderForms(t *testing.T) {
	const entry = `{"name": "One_X", "name_canonical": "one-x", "git_url": "https://h/r", "commit_sha": "0a", "branch": "main", "tag": null, "installed_path": "PATH", "trusted": true, "installed_at": "2025-11-13T10:00:00.123456", "more": {"a": 1}}`
	for _, tt := range []struct{ form, path, want string }{
		{"[ENTRY]", "/srv/one", "/srv/one"},
		{`{"One_X": ENTRY}`, "~/.agent/skills/one", "/home/u/.agent/skills/one"},
		{`{"one-x": ENTRY, "version": 1}`, "one", "DIR/one"},
		{`{"skills": {"one-x": ENTRY}}`, "/srv/one/", "/srv/one"},
		{`{"version": 1, "skills": {"one-x": ENTRY}}`, "/srv/one", "/srv/one"},
		{`{"skills": [ENTRY]}`, "/srv/one", "/srv/one"},
		{`{"version": "0.1", "skills": [ENTRY]}`, "/srv/one", "/srv/one"},
	} {
		s := newStore(t)
		s.Home = "/home/u"
		put(t, s, strings.ReplaceAll(strings.ReplaceAll(tt.form, "ENTRY", entry), "PATH", tt.path))
		set, err := s.Load(t.Context())
		if err != nil {
			t.Errorf("%s: %v", tt.form, err)
			continue
		}
		e, ok := set.Get("one_x")
		want := strings.ReplaceAll(tt.want, "DIR", filepath.Dir(s.Path))
		if !ok || set.Len() != 1 || e.Name != "One_X" || e.GitURL != "https://h/r" || e.CommitSHA != "0a" || e.Branch != "main" || e.Kind != "git" || e.Source != "https://h/r" || e.Pinned || e.InstalledPath != want ||
			!e.InstalledAt.Equal(time.Date(2025, 11, 13, 10, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: got %+v", tt.form, e)
		}
		if err := s.Register(t.Context(), registry.Entry{Name: "two", InstalledPath: "/srv/two"}); err != nil {
			t.Errorf("%s: %v", tt.form, err)
		}
		if got := read(t, s.Path); !strings.HasPrefix(got, "{\n  \"version\": 1,\n  \"skills\": [\n") || !strings.Contains(got, `"more": {`) {
			t.Errorf("%s: got %s", tt.form, got)
		}
	}
	s := newStore(t) // a name that is only a key
	put(t, s, `{"skills": {"installed_path": "/srv/skills", "installed_at": 7}}`)
	if set, err := s.Load(t.Context()); err != nil || set.All()[0].Name != "skills" {
		t.Errorf("got %+v, %v", set, err)
	}
}

// Fields that this version does not know stay, in the file and in an entry that changes.
func TestUnknownFieldsStay(t *testing.T) {
	s := newStore(t)
	put(t, s, `{"version": 1, "later": [1], "skills": [{"name": "one", "name_canonical": "one", "installed_path": "/srv/one", "trusted": false, "installed_at": "2026-01-01T00:00:00Z", "score": 7}]}`)
	if err := s.Update(t.Context(), "one", func(e *registry.Entry) error { e.Pinned = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"later": [`, `"score": 7`, `"pinned": true`} {
		if got := read(t, s.Path); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// security 2.9 #144: a newer file is neither used nor written.
func TestNewerFile(t *testing.T) {
	s := newStore(t)
	const text = `{"version": 2, "skills": {"format": "of tomorrow"}}`
	put(t, s, text)
	if _, err := s.Load(t.Context()); !errors.Is(err, registry.ErrNewer) {
		t.Errorf("got %v", err)
	}
	if err := s.Register(t.Context(), entry("one", "/srv/one")); !errors.Is(err, registry.ErrNewer) || read(t, s.Path) != text {
		t.Errorf("got %v and %s", err, read(t, s.Path))
	}
}

// damaged are files that nothing can be learnt from.
var damaged = []string{
	``, `{`, `"x"`, `{"version": 1}`, `{"version": 1, "skills": [{}]}`, `{"version": 1, "skills": [{"name": "a b", "installed_path": "/x"}]}`,
	`{"version": 1, "skills": [{"name": "a", "name_canonical": "b", "installed_path": "/x"}]}`,
	`{"version": 1, "skills": [{"name": "a", "name_canonical": "a", "installed_path": "x"}]}`,
	`{"version": 1, "skills": [{"name": "a", "name_canonical": "a", "installed_path": "/"}]}`,
	`{"version": 1, "skills": [{"name": "a", "name_canonical": "a", "installed_path": "/x/../y"}]}`,
	`{"version": 1, "skills": [{"name": "a", "name_canonical": "a", "installed_path": "/x", "digest": "md5:1"}]}`,
	`{"version": 1, "skills": [{"name": "a", "name_canonical": "a", "installed_path": "/x"}, {"name": "A", "name_canonical": "a", "installed_path": "/y"}]}`,
	`[{"name": "a", "installed_path": ""}]`, `{"a": 1}`, strings.Repeat("[", 20_000),
}

// C45: a damaged file is reported by what reads. The next change moves it aside and records what is there, as untrusted.
func TestDamagedFile(t *testing.T) {
	for _, text := range damaged {
		s := newStore(t)
		s.Rebuild = func(context.Context) ([]registry.Entry, error) {
			return []registry.Entry{{Name: "found", InstalledPath: "/srv/found", Trusted: true}}, nil
		}
		put(t, s, text)
		set, err := s.Load(t.Context())
		if text == `{"version": 1}` && err == nil {
			continue // a list by name with nothing in it
		}
		if !errors.Is(err, registry.ErrCorrupt) || set.Len() != 0 || !strings.Contains(err.Error(), s.Path) {
			t.Errorf("%.60q: got %v", text, err)
		}
		if err := s.Register(t.Context(), entry("one", "/srv/one")); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
		set, err = s.Load(t.Context())
		if e, ok := set.Get("found"); err != nil || !ok || e.Trusted || set.Len() != 2 {
			t.Errorf("%.60q: got %+v, %v", text, set.All(), err)
		}
		if got := read(t, s.Path+".corrupt-20261122T150000.000Z"); got != text {
			t.Errorf("%.60q: aside is %q", text, got)
		}
	}
}

// A failure to find what is there changes nothing.
func TestRebuildFails(t *testing.T) {
	s := newStore(t)
	boom := errors.New("boom")
	s.Rebuild = func(context.Context) ([]registry.Entry, error) { return nil, boom }
	put(t, s, "{")
	err := s.Edit(t.Context(), func(*registry.Draft) error { return nil })
	if !errors.Is(err, boom) || !errors.Is(err, registry.ErrCorrupt) || read(t, s.Path) != "{" {
		t.Errorf("got %v", err)
	}
}

// security 2.9 #134 and #142: a folder that another user may write to, a path that is not absolute and a lock that is held are
// errors, and nothing is written.
func TestUnusableFile(t *testing.T) {
	const unsafe = "is writable by other users"
	s := newStore(t)
	put(t, s, "[]")
	if err := os.Chmod(filepath.Dir(s.Path), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context()); !strings.Contains(fmt.Sprint(err), unsafe) {
		t.Errorf("got %v", err)
	}
	if err := s.Register(t.Context(), entry("one", "/srv/one")); !strings.Contains(fmt.Sprint(err), unsafe) || read(t, s.Path) != "[]" {
		t.Errorf("got %v", err)
	}
	relative := &registry.Store{Path: "registry.json"}
	if _, err := relative.Load(t.Context()); err == nil {
		t.Error("a relative path was used")
	}
	locked := newStore(t)
	locked.Wait = 5 * time.Millisecond
	err := newFrom(locked).Edit(t.Context(), func(*registry.Draft) error {
		return locked.Register(t.Context(), entry("one", "/srv/one"))
	})
	if !errors.Is(err, registry.ErrLocked) {
		t.Errorf("got %v", err)
	}
}

func newFrom(s *registry.Store) *registry.Store { return &registry.Store{Path: s.Path} }

// R137: a change that does not change anything, or that fails, writes nothing; several changes are one.
func TestEdit(t *testing.T) {
	s := newStore(t)
	boom := errors.New("boom")
	err := s.Edit(t.Context(), func(d *registry.Draft) error {
		if err := d.Register(entry("one", "/srv/one")); err != nil {
			return err
		}
		return boom
	})
	if _, there := os.Stat(s.Path); err != boom || there == nil {
		t.Errorf("got %v, %v", err, there)
	}
	if err := s.Edit(t.Context(), func(d *registry.Draft) error {
		return errors.Join(d.Register(entry("one", "/srv/one")), d.Register(entry("two", "/srv/two")))
	}); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(s.Path)
	if err := s.Edit(t.Context(), func(d *registry.Draft) error { d.Set().Get("one"); return nil }); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(s.Path); !os.SameFile(before, after) {
		t.Error("written without a change")
	}
	for name, e := range map[string]func(*registry.Entry){
		"renamed":      func(e *registry.Entry) { e.Name = "other" },
		"no folder":    func(e *registry.Entry) { e.InstalledPath = "" },
		"wrong digest": func(e *registry.Entry) { e.Digest = "x" },
	} {
		if err := s.Update(t.Context(), "one", func(got *registry.Entry) error { e(got); return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Where an edit runs twice, because another writer came first, the list is that of a file.
func TestEditsRunTwice(t *testing.T) {
	run := func(s *registry.Store) (got []string) {
		say := func(v any, err error) { got = append(got, fmt.Sprint(v, " ", err)) }
		ctx := t.Context()
		say(nil, s.Register(ctx, registry.Entry{Name: "a", InstalledPath: "/srv/a", Digest: "1"}))
		say(nil, s.Register(ctx, registry.Entry{Name: "A", InstalledPath: "/srv/b"}))
		say(nil, s.Update(ctx, "a", func(e *registry.Entry) error { e.Digest += "2"; return nil }))
		say(nil, s.Register(ctx, registry.Entry{Name: "b", InstalledPath: "/srv/b"}))
		e, err := s.Unregister(ctx, "b")
		say(e.Name, err)
		_, err = s.Unregister(ctx, "b")
		say(nil, err)
		set, err := s.Load(ctx)
		say(set.All(), err)
		return got
	}
	twice := newStore(t)
	twice.Kept = &documenttest.Memory{}
	if file, got := run(newStore(t)), run(twice); !slices.Equal(got, file) || len(got) != 7 {
		t.Errorf("got  %q\nwant %q", got, file)
	}
}

// A list that several machines share names no folder of one of them: each machine has its own, by the content.
func TestFolder(t *testing.T) {
	shared := &documenttest.Memory{}
	on := func(root string) *registry.Store {
		return &registry.Store{Kept: shared, Folder: func(name, digest string) (string, error) {
			if digest == "" {
				return "", errors.New("it has no digest")
			}
			return filepath.Join(root, digest[7:9], name), nil
		}}
	}
	a, b := on("/srv/a"), on("/srv/b")
	first, second := "/srv/a/11/one", "/srv/a/22/one"
	if err := a.Register(t.Context(), registry.Entry{Name: "one", Digest: digest("1"), InstalledPath: first}); err != nil {
		t.Fatal(err)
	}
	if err := a.Update(t.Context(), "one", func(e *registry.Entry) error { e.Digest, e.InstalledPath = digest("2"), second; return nil }); err != nil {
		t.Fatal(err)
	}
	for root, s := range map[string]*registry.Store{"/srv/a": a, "/srv/b": b} {
		set, err := s.Load(t.Context())
		if e, _ := set.Get("one"); err != nil || e.InstalledPath != root+"/22/one" || len(e.Previous) != 1 || e.Previous[0].InstalledPath != root+"/11/one" {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if content, err := shared.Load(t.Context()); err != nil || strings.Contains(string(content), "/srv") {
		t.Errorf("%s, %v", content, err)
	}
	for what, e := range map[string]registry.Entry{
		"one of this machine alone": {Name: "two", Digest: digest("1"), InstalledPath: "/home/me/two"}, "has no digest": {Name: "two", InstalledPath: first},
		`"/srv/a/11/two" is one of this machine`: {Name: "two", Digest: digest("1"), InstalledPath: "/srv/a/11/two", Linked: true},
	} {
		if err := a.Register(t.Context(), e); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The former contents are kept, the newest first, and going back to one takes it from the list.
func TestPrevious(t *testing.T) {
	s := newStore(t)
	if err := s.Register(t.Context(), entry("one", "/srv/0")); err != nil {
		t.Fatal(err)
	}
	move := func(c string) {
		t.Helper()
		if err := s.Update(t.Context(), "one", func(e *registry.Entry) error {
			e.Digest, e.InstalledPath = digest(c), "/srv/"+c
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []string{"1", "2", "3", "4", "5", "6", "4"} {
		move(c)
	}
	set, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, _ := set.Get("one")
	var got []string
	for _, p := range e.Previous {
		got = append(got, filepath.Base(p.InstalledPath))
	}
	if want := []string{"6", "5", "3", "2", "1"}; !reflect.DeepEqual(got, want) || e.InstalledPath != "/srv/4" {
		t.Errorf("got %q", got)
	}
}

// What is read can be written, and is then the same.
func FuzzFile(f *testing.F) {
	for _, text := range damaged {
		f.Add(text)
	}
	f.Add(`{"version": 1, "skills": [{"name": "a", "name_canonical": "a", "installed_path": "/x", "Digest": "", "x": 1}], "y": null}`)
	f.Add(`{"skills": {"installed_path": "/srv/skills", "installed_at": "2026-01-01 10:00:00"}}`)
	f.Add(`{"b": {"installed_path": "/srv/b"}, "A_": {"installed_path": "~/x", "previous": [{"digest": "", "installed_path": "/y"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := newStore(t)
		put(t, s, text)
		before, err := s.Load(t.Context())
		if err != nil {
			return
		}
		if _, used := before.Get("new"); used {
			return
		}
		if err := s.Register(t.Context(), entry("new", "/srv/new")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Unregister(t.Context(), "new"); err != nil {
			t.Fatal(err)
		}
		after, err := s.Load(t.Context())
		if err != nil {
			t.Fatalf("%v in %s", err, read(t, s.Path))
		}
		was, _ := json.Marshal(before.All())
		now, _ := json.Marshal(after.All())
		if before.Len()+after.Len() > 0 && string(was) != string(now) {
			t.Errorf("got %s, want %s", now, was)
		}
	})
}
