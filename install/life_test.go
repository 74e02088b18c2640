package install_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/oms"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/skill"
)

// must returns an entry, and ends the test if there is none.
func must(t *testing.T) func(registry.Entry, error) registry.Entry {
	return func(e registry.Entry, err error) registry.Entry {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// A copy under another name has that name in its manifest and its folder, the registry has the former one, and updates keep both.
func TestRenamedCopy(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	list, err := install.Choose(p.Skills, []string{"csv"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Unpack(t.Context(), list[0], "team-csv")
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if !k.Renamed() || k.Skill.Name() != "team-csv" || k.Same() {
		t.Errorf("renamed %t, name %q, same %t", k.Renamed(), k.Skill.Name(), k.Same())
	}
	e := must(t)(k.Keep(t.Context(), true, nil))
	if e.OriginalName != "csv" || filepath.Base(e.InstalledPath) != "team-csv" || e.Layer() != k.Layer() {
		t.Errorf("entry %+v", e)
	}
	for name, want := range map[string]bool{"../Big_Name/SKILL.md": true, "../../README.md": true, "scripts/sum.py": false, "../none": false, "../../../outside": false} {
		if got := k.HasBeside(name); got != want {
			t.Errorf("%s is beside the skill: %t", name, got)
		}
	}
	w.place.commit, w.place.files["skills/csv/scripts/sum.py"] = "c2", file("print(2)\n")
	u := w.check(nil)
	if s := u.List[0]; s.State != install.Available || s.Package.Name != "team-csv" {
		t.Fatalf("%+v", s)
	}
	if e := must(t)(u.List[0].Package.Keep(t.Context(), true, nil)); e.OriginalName != "csv" || e.Name != "team-csv" {
		t.Errorf("entry %+v", e)
	}
}

// A link to a folder of the user's own is never updated, restored or removed with its files.
func TestLinkedFolder(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "skills", "csv"), 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "skills", "csv", "SKILL.md")
	if err := os.WriteFile(manifest, skillFile("csv").Data, 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := install.Choose(w.open().Skills, []string{"csv"})
	if err != nil {
		t.Fatal(err)
	}
	e := must(t)(w.Link(t.Context(), list[0], dir))
	if !e.Linked || e.InstalledPath != filepath.Dir(manifest) || e.Digest != "" {
		t.Errorf("entry %+v", e)
	}
	if s := w.check(nil).List[0]; s.State != install.Linked || s.Files != install.Unfixed {
		t.Errorf("state %s, files %s", s.State, s.Files)
	}
	if err := w.Restore(t.Context(), e, filepath.Join(dir, "aside")); err == nil || !strings.Contains(err.Error(), "is a link to a folder") {
		t.Errorf("got %v", err)
	}
	if v, err := w.Verify(t.Context(), []registry.Entry{e}); err != nil || v[0].Condition != install.Unfixed {
		t.Errorf("%+v, %v", v, err)
	}
	if r, err := w.Remove(t.Context(), "csv"); err != nil || len(r.Folders)+len(r.Postponed) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(manifest); err != nil {
		t.Error(err)
	}
}

// security 2.6 #102: a tag that names another commit than when it was installed is told, and the skill stays.
func TestMovedTag(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	e.Pinned, e.Tag, e.Branch = true, "v1", ""
	pin := func(e *registry.Entry) {
		t.Helper()
		if err := w.reg.Update(t.Context(), "csv", func(now *registry.Entry) error { *now = *e; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	pin(&e)
	if s := w.check(nil).List[0]; s.State != install.Pinned || s.Moved != "" {
		t.Errorf("%+v", s)
	}
	w.place.commit = "c9"
	if s := w.check(nil).List[0]; s.State != install.Pinned || s.Moved != "c9" || s.Package != nil {
		t.Errorf("%+v", s)
	}
	e.Kind, e.GitURL, e.Source = "", "", ""
	pin(&e)
	if s := w.check(nil).List[0]; s.State != install.Unknown {
		t.Errorf("%+v", s)
	}
	if err := w.Restore(t.Context(), e, ""); err == nil || !strings.Contains(err.Error(), "not known where") {
		t.Errorf("got %v", err)
	}
}

// Changed files of a former content are moved out of the store, and it is no former content any more.
func TestKeepEdits(t *testing.T) {
	w := newWorld(t)
	first := w.add("csv")
	w.update("print(2)\n")
	damage(t, filepath.Join(first.InstalledPath, "scripts", "sum.py"))
	to := filepath.Join(t.TempDir(), "edits", "csv")
	if err := w.KeepEdits(t.Context(), "csv", first.InstalledPath, to); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(to, "scripts", "sum.py")); err != nil || string(b) != "print('damaged')\n" {
		t.Errorf("%q, %v", b, err)
	}
	if now, err := w.Installed(t.Context(), "csv"); err != nil || len(now[0].Previous) > 0 {
		t.Errorf("%+v, %v", now, err)
	}
	if _, err := w.Rollback(t.Context(), "csv", true, nil); !errors.Is(err, install.ErrNoPrevious) {
		t.Errorf("got %v", err)
	}
}

// What a package would replace is opened only if its files are what was installed.
func TestFormer(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	w.place.commit, w.place.files["skills/csv/scripts/sum.py"] = "c2", file("print(2)\n")
	k := w.check(nil).List[0].Package
	f, err := k.Former(t.Context())
	if err != nil || f.Condition != install.Intact || f.Skill == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	if b, err := f.Skill.ReadFile("scripts/sum.py"); err != nil || string(b) != "print(1)\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	damage(t, filepath.Join(e.InstalledPath, "scripts", "sum.py"))
	f, err = k.Former(t.Context())
	if err != nil || f.Condition != install.Edited || f.Skill != nil || f.Close() != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// An entry of a list that was made anew learns where its content is from, if that has the same content.
func TestAdopt(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	if err := os.WriteFile(w.reg.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	k := w.unpack(w.open(), "csv")
	defer k.Close()
	if !k.Same() || k.Before.GitURL != "" {
		t.Fatalf("before %+v", k.Before)
	}
	got := must(t)(k.Adopt(t.Context()))
	if got.GitURL != e.GitURL || got.CommitSHA != "c1" || got.InstalledPath != e.InstalledPath || got.Digest != e.Digest || got.Trusted {
		t.Errorf("got %+v", got)
	}
	again := w.unpack(w.open(), "csv")
	defer again.Close()
	if e := must(t)(again.Adopt(t.Context())); e.GitURL != got.GitURL {
		t.Errorf("got %+v", e)
	}
	w.update("print(2)\n")
	if _, err := k.Adopt(t.Context()); !errors.Is(err, install.ErrChanged) {
		t.Errorf("got %v", err)
	}
}

// A signature is checked on the files as the place has them, when they are unpacked and when they are verified; a copy under another
// name is not the signed one. One that cannot be checked lets nothing be unpacked.
func TestSignatures(t *testing.T) {
	w := newWorld(t)
	var asked []string
	var broken error
	in, err := install.New(&install.Options{Registry: w.reg, Folder: filepath.Join(filepath.Dir(filepath.Dir(w.reg.Path)), "plugins"),
		Fetchers: map[source.Kind]install.Fetcher{source.Git: w.place},
		Verify: func(_ context.Context, files fs.FS, at time.Time) (*oms.Report, error) {
			text, err := fs.ReadFile(files, "SKILL.md")
			name, _, _ := strings.Cut(string(text), "\ndescription")
			asked = append(asked, strings.TrimPrefix(name, "---\nname: ")+map[bool]string{true: " now"}[at.IsZero()])
			return &oms.Report{Files: 2}, errors.Join(err, broken)
		}})
	if err != nil {
		t.Fatal(err)
	}
	w.Installer = in
	e := w.add("csv")
	p := w.open()
	list, err := install.Choose(p.Skills, []string{"csv"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Unpack(t.Context(), list[0], "other")
	if err != nil || k.Signature.Files != 2 {
		t.Fatalf("%+v, %v", k, err)
	}
	defer k.Close()
	other := must(t)(k.Keep(t.Context(), true, nil))
	v, err := w.Verify(t.Context(), []registry.Entry{e, other})
	if err != nil || v[0].Signature == nil || v[1].Signature != nil {
		t.Errorf("%+v, %v", v, err)
	}
	if want := []string{"csv now", "csv now", "csv"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	broken = errors.New("no clock")
	if _, err := p.Unpack(t.Context(), list[0], ""); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// C25: a present content whose manifest cannot be used is a failure that names it, and the installed one stays.
func TestBreakingUpdate(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	w.place.commit, w.place.files["skills/csv/SKILL.md"] = "c2", file("---\nname: csv\n---\n")
	s := w.check(nil).List[0]
	var breaks *install.BreakingError
	if s.State != install.Failed || !errors.As(s.Err, &breaks) || !strings.Contains(breaks.Error(), `the new version of skill "csv" cannot be used: `) {
		t.Errorf("state %s, %v", s.State, s.Err)
	}
	if now, err := w.Installed(t.Context(), "csv"); err != nil || now[0].Digest != e.Digest {
		t.Errorf("%+v, %v", now, err)
	}
}

// What is installed is a source of skills; one whose folder is gone is a problem, and so is a list that cannot be read.
func TestSource(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	gone := w.add("pdf")
	makeWritable := func(path string, d fs.DirEntry, err error) error { return errors.Join(err, os.Chmod(path, 0o700)) }
	if err := errors.Join(filepath.WalkDir(gone.InstalledPath, makeWritable), os.RemoveAll(gone.InstalledPath)); err != nil {
		t.Fatal(err)
	}
	open := func() *skill.Catalog {
		t.Helper()
		c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "plugin", Source: install.Source(w.reg, &skill.DirOptions{Nested: true})}}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	problems := func(c *skill.Catalog) (out []string) {
		for _, p := range c.Problems() {
			out = append(out, p.Code)
		}
		return out
	}
	c := open()
	found, err := c.Lookup("csv")
	if err != nil || found.Installed() != e.Digest {
		t.Fatalf("%+v, %v", found, err)
	}
	if _, err := c.Lookup("nested"); err == nil {
		t.Error("a skill in the folder of an installed one is a skill of its own")
	}
	if got := problems(c); !slices.Equal(got, []string{"installed-missing"}) {
		t.Errorf("problems %q", got)
	}
	for text, want := range map[string]string{"{": "registry-damaged", `{"version": 99, "skills": []}`: "registry-unreadable"} {
		if err := os.WriteFile(w.reg.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := problems(open()); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: problems %q", text, got)
		}
	}
}

// A version that any list of the home names is not removed, by whatever path its folder is reached.
func TestVersionsNamed(t *testing.T) {
	w := newWorld(t)
	w.add("csv")
	set, err := w.reg.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := set.All()[0]
	at := filepath.Dir(filepath.Dir(filepath.Dir(e.InstalledPath)))
	way := filepath.Join(t.TempDir(), "way")
	if err := os.Symlink(filepath.Dir(at), way); err != nil {
		t.Fatal(err)
	}
	wrong := error(nil)
	other := &registry.Store{Path: filepath.Join(t.TempDir(), "registry.json")}
	named := func(context.Context) ([]*registry.Set, error) { return []*registry.Set{set}, wrong }
	for _, o := range []*install.Options{{Registry: w.reg, Folder: filepath.Join(way, filepath.Base(at))}, {Registry: other, Folder: at, OtherLists: named}} {
		in, err := install.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := in.Sweep(t.Context(), nil); err != nil || len(r.Removed) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if o.OtherLists == nil {
			continue
		}
		if err := other.Register(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if r, err := in.Remove(t.Context(), "csv"); err != nil || len(r.Folders) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		wrong = errors.New("wrong")
		if _, err := in.Sweep(t.Context(), nil); !errors.Is(err, wrong) {
			t.Errorf("a list that cannot be read: %v", err)
		}
	}
	if _, err := os.Stat(e.InstalledPath); err != nil {
		t.Error(err)
	}
}
