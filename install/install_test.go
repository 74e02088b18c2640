package install_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/skill"
)

// place is a place with files that a test changes.
type place struct {
	files   fstest.MapFS
	commit  string
	fetched int
	asks    [][]string // if it is not nil: the files that each request asks for
	branch  string     // if it is not "": the only one
}

func (p *place) Fetch(_ context.Context, r *install.Request) (*install.Snapshot, error) {
	if p.fetched++; p.branch != "" && r.Source.Want != p.branch {
		return nil, fmt.Errorf("%w: no branch %q", install.ErrNoVersion, r.Source.Want)
	}
	s := &install.Snapshot{Origin: install.Origin{Source: r.Source, URL: r.Source.URL, Commit: p.commit, Branch: "main"}, Close: func() error { return nil }}
	if r.Known == "" || r.Known != p.commit {
		s.FS = maps.Clone(p.files)
	}
	if p.asks != nil {
		s.Need = func(_ context.Context, want func(string) bool) error {
			p.asks = append(p.asks, slices.DeleteFunc(slices.Sorted(maps.Keys(p.files)), func(name string) bool { return !want(name) }))
			return nil
		}
	}
	return s, nil
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o644} }

func skillFile(name string) *fstest.MapFile {
	return file("---\nname: " + name + "\ndescription: Does " + name + ". Use it for that.\n---\n\nDo it.\n")
}

// world is an installer with one place.
type world struct {
	*install.Installer
	t     *testing.T
	place *place
	reg   *registry.Store
	ref   source.Ref
	free  int64 // on the disk
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := scratch.Dir(t)
	w := &world{t: t, free: -1, place: &place{commit: "c1", files: fstest.MapFS{
		"README.md":                       file("skills\n"),
		"skills/csv/SKILL.md":             skillFile("csv"),
		"skills/csv/scripts/sum.py":       file("print(1)\n"),
		"skills/csv/nested/SKILL.md":      skillFile("nested"),
		"skills/Big_Name/SKILL.md":        skillFile("Big_Name"),
		".claude/skills/csv/SKILL.md":     skillFile("csv"),
		"plugins/pdf/skills/pdf/SKILL.md": skillFile("pdf"),
		"plugins/odd/skills/odd/Skill.MD": skillFile("odd"),
		"node_modules/x/SKILL.md":         skillFile("x"),
		".claude-plugin/marketplace.json": file(`{"plugins":[{"name":"papers","source":"./plugins/pdf"},{"name":"far","source":{"source":"github","repo":"acme/far"}}]}`),
		"other/a/SKILL.md":                skillFile("twin"),
		"other/b/SKILL.md":                skillFile("twin"),
		"broken/SKILL.md":                 file("no front matter"),
	}}}
	w.reg = &registry.Store{Path: filepath.Join(home, "skills", "registry.json")}
	w.ref = source.Ref{Kind: source.Git, URL: "https://example.com/acme/skills.git"}
	var err error
	w.Installer, err = install.NewOver(&install.Options{Registry: w.reg, Fetchers: map[source.Kind]install.Fetcher{source.Git: w.place}},
		&store.Dir{Root: filepath.Join(home, "plugins"), Free: func(string) int64 { return w.free }})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// open opens the place until the test ends.
func (w *world) open() *install.Place {
	w.t.Helper()
	p, err := w.Open(w.t.Context(), w.ref, "")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { p.Close() })
	return p
}

// unpack copies a skill of a place.
func (w *world) unpack(p *install.Place, name string) *install.Package {
	w.t.Helper()
	list, err := install.Choose(p.Skills, []string{name})
	if err != nil {
		w.t.Fatal(err)
	}
	k, err := p.Unpack(w.t.Context(), list[0], "")
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// add installs a skill.
func (w *world) add(name string) registry.Entry {
	w.t.Helper()
	p := w.open()
	defer p.Close()
	k := w.unpack(p, name)
	defer k.Close()
	e, err := k.Keep(w.t.Context(), true, []string{"env: X"})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// C72: skills are found as a catalogue finds them, and what is left out is named.
func TestOpenFindsSkills(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	var got []string
	for _, c := range p.Skills {
		got = append(got, c.Path+"="+c.Manifest.Name+" "+c.Plugin)
	}
	want := []string{".claude/skills/csv=csv ", "broken=broken ", "other/a=twin ", "other/b=twin ", "plugins/pdf/skills/pdf=pdf papers", "skills/Big_Name=Big_Name ", "skills/csv=csv "}
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant %q", got, want)
	}
	left := strings.Join(p.LeftOut, "\n")
	for _, want := range []string{"plugins/odd/skills/odd/Skill.MD: the name must be SKILL.md", `plugin "far" is in another place: acme/far`} {
		if !strings.Contains(left, want) {
			t.Errorf("%q is missing in\n%s", want, left)
		}
	}
	if p.Skills[1].Fatal() == nil {
		t.Error("the broken skill has no fatal problem")
	}
}

// C72: a SKILL.md at the root or in a folder called skills does not hide the skills below it, manifest or not.
func TestOpenBelowSkill(t *testing.T) {
	w := newWorld(t)
	w.place.files["SKILL.md"] = file("# Our skills\n\nThey are below.\n")
	if p := w.open(); len(p.Skills) != 8 || p.Skills[0].Path != "." || p.Skills[0].Fatal() == nil {
		t.Errorf("%d skills", len(p.Skills))
	}
	w.place.files["SKILL.md"] = skillFile("whole")
	w.place.files["references/x/SKILL.md"] = skillFile("none")
	w.place.files["skills/SKILL.md"] = skillFile("guide")
	if p := w.open(); len(p.Skills) != 9 || p.Skills[0].Manifest.Name != "whole" {
		t.Errorf("%d skills", len(p.Skills))
	}
}

// The files of skills that are wanted by name come with the list of skills, and those of others do not.
func TestOpenNames(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		path  string
		names []string
		want  string // the files that are no manifests
	}{
		{"", nil, ""}, {"", []string{"CSV"}, "skills/csv/scripts/sum.py"}, {"", []string{"scripts"}, ""}, {"skills", nil, ""}, {"skills/csv", nil, "skills/csv/scripts/sum.py"},
	} {
		w.place.asks = [][]string{}
		w.ref.Path = tt.path
		p, err := w.Open(t.Context(), w.ref, "", tt.names...)
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		got := slices.DeleteFunc(w.place.asks[0], func(name string) bool {
			return strings.HasSuffix(name, "SKILL.md") || strings.HasSuffix(name, "marketplace.json")
		})
		if len(w.place.asks) != 1 || strings.Join(got, " ") != tt.want {
			t.Errorf("%q %q: asks for %q", tt.path, tt.names, w.place.asks)
		}
	}
}

func TestChoose(t *testing.T) {
	p := newWorld(t).open()
	if list, err := install.Choose(p.Skills, []string{"CSV", "big-name", "csv"}); err != nil || len(list) != 2 || list[0].Path != "skills/csv" {
		t.Errorf("%v, %v", list, err)
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "there are 7 skills, and none was chosen"},
		{[]string{"twin"}, `skill "twin" is there 2 times: other/a, other/b`},
		{[]string{"cvs"}, `none of the 5 skills is called "cvs"`},
	} {
		var e *install.ChoiceError
		if _, err := install.Choose(p.Skills, tt.names); !errors.As(err, &e) || e.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.names, err, tt.want)
		}
	}
	list, others := install.Unique(p.Skills)
	if len(list) != 5 || !slices.Equal(others, []string{".claude/skills/csv", "other/b"}) {
		t.Errorf("unique: %d, others %q", len(list), others)
	}
}

// R139, R141: what was added is there, with its facts, read-only, and no more than the skill.
func TestAdd(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	if e.CommitSHA != "c1" || e.GitURL != w.ref.URL || e.Branch != "main" || e.Path != "skills/csv" || !e.Trusted || e.Permissions[0] != "env: X" {
		t.Errorf("entry %+v", e)
	}
	if filepath.Base(e.InstalledPath) != "csv" {
		t.Errorf("installed in %s", e.InstalledPath)
	}
	if b, err := os.ReadFile(filepath.Join(e.InstalledPath, "scripts", "sum.py")); err != nil || string(b) != "print(1)\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(e.InstalledPath, "README.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("more than the skill was installed: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(filepath.Dir(filepath.Dir(e.InstalledPath)), ".stage")); err != nil || len(left) > 2 { // the stage of the open place
		t.Errorf("left in the stages: %v, %v", left, err)
	}
}

// security 2.9 #138
func TestAddLosesToAnother(t *testing.T) {
	w := newWorld(t)
	k := w.unpack(w.open(), "csv")
	defer k.Close()
	w.add("csv")
	if _, err := k.Keep(t.Context(), true, nil); !errors.Is(err, install.ErrChanged) {
		t.Errorf("got %v", err)
	}
}

func (w *world) check(to *source.Ref) *install.Updates {
	w.t.Helper()
	all, err := w.Installed(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	u, err := w.Check(w.t.Context(), all, to)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { u.Close() })
	return u
}

// R142, R149: an update keeps the former content, and rollback brings it back.
func TestUpdateAndRollback(t *testing.T) {
	w := newWorld(t)
	first := w.add("csv")
	w.add("pdf")
	w.place.fetched = 0
	if u := w.check(nil); u.List[0].State != install.Current || u.List[1].State != install.Current || w.place.fetched != 1 {
		t.Errorf("states %s, %s, fetched %d times", u.List[0].State, u.List[1].State, w.place.fetched)
	}
	w.place.commit = "c2"
	w.place.files["skills/csv/scripts/sum.py"] = file("print(2)\n")
	delete(w.place.files, "plugins/pdf/skills/pdf/SKILL.md")
	u := w.check(nil)
	if u.List[0].State != install.Available || u.List[1].State != install.Gone {
		t.Fatalf("states %s, %s", u.List[0].State, u.List[1].State)
	}
	now, err := u.List[0].Package.Keep(t.Context(), true, nil)
	if err != nil || now.Digest == first.Digest || now.CommitSHA != "c2" || len(now.Previous) != 1 || !now.InstalledAt.Equal(first.InstalledAt) {
		t.Fatalf("%+v, %v", now, err)
	}
	back, err := w.Rollback(t.Context(), "csv", false, nil)
	if err != nil || back.Digest != first.Digest || back.InstalledPath != first.InstalledPath || back.CommitSHA != "c1" || back.Trusted {
		t.Errorf("%+v, %v", back, err)
	}
	if back.Previous[0].Digest != now.Digest {
		t.Errorf("former contents %+v", back.Previous)
	}
	if _, err := w.Rollback(t.Context(), "pdf", false, nil); !errors.Is(err, install.ErrNoPrevious) {
		t.Errorf("got %v", err)
	}
}

// damage changes an installed file.
func damage(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("print('damaged')\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// update installs another content of the skill csv, and returns its entry.
func (w *world) update(text string) registry.Entry {
	w.t.Helper()
	w.place.commit += "+"
	w.place.files["skills/csv/scripts/sum.py"] = file(text)
	u := w.check(nil)
	e, err := u.List[0].Package.Keep(w.t.Context(), true, nil)
	if err = errors.Join(err, u.Close()); err != nil {
		w.t.Fatal(err)
	}
	return e
}

// A damaged former content is no way back: the present one stays the active one.
func TestRollbackToDamagedContent(t *testing.T) {
	w := newWorld(t)
	first := w.add("csv")
	second := w.update("print(2)\n")
	damage(t, filepath.Join(first.InstalledPath, "scripts", "sum.py"))
	var wrong *install.IntegrityError
	if _, err := w.Rollback(t.Context(), "csv", true, nil); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
	if now, err := w.Installed(t.Context(), "csv"); err != nil || now[0].Digest != second.Digest || now[0].InstalledPath != second.InstalledPath {
		t.Errorf("%+v, %v", now, err)
	}
}

// A damaged former content is put aside and forgotten; one that is as it was stays. Afterwards its version can be installed again.
func TestDropDamaged(t *testing.T) {
	w := newWorld(t)
	first := w.add("csv")
	second := w.update("print(2)\n")
	third := w.update("print(3)\n")
	damage(t, filepath.Join(first.InstalledPath, "scripts", "sum.py"))
	aside := filepath.Join(t.TempDir(), "aside")
	dropped, err := w.DropDamaged(t.Context(), third, aside)
	if diff := cmp.Diff([]string{aside + "-2"}, dropped); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	now, err := w.Installed(t.Context(), "csv")
	if err != nil || len(now[0].Previous) != 1 || now[0].Previous[0].Digest != second.Digest || now[0].Digest != third.Digest {
		t.Fatalf("%+v, %v", now, err)
	}
	if again := w.update("print(1)\n"); again.InstalledPath != first.InstalledPath {
		t.Errorf("%s is not %s", again.InstalledPath, first.InstalledPath)
	}
}

// A place that has another content now restores nothing, and the changed files stay where they are.
func TestRestoreFromAChangedPlace(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	script := filepath.Join(e.InstalledPath, "scripts", "sum.py")
	damage(t, script)
	w.place.files["skills/csv/scripts/sum.py"] = file("print('another')\n")
	aside := filepath.Join(t.TempDir(), "aside")
	if err := w.Restore(t.Context(), e, aside); !errors.Is(err, install.ErrElsewhere) {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(script); err != nil || string(b) != "print('damaged')\n" {
		t.Errorf("%q, %v", b, err)
	}
	w.place.files["skills/csv/scripts/sum.py"] = file("print(1)\n")
	if err := w.Restore(t.Context(), e, aside); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(script); err != nil || string(b) != "print(1)\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// Of two processes that update a skill at the same time the slower one installs nothing.
func TestTwoUpdates(t *testing.T) {
	w := newWorld(t)
	w.add("csv")
	w.place.commit, w.place.files["skills/csv/scripts/sum.py"] = "c2", file("print(2)\n")
	slow := w.check(nil).List[0].Package
	fast := w.update("print(3)\n")
	if _, err := slow.Keep(t.Context(), true, nil); !errors.Is(err, install.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if now, err := w.Installed(t.Context(), "csv"); err != nil || now[0].Digest != fast.Digest || now[0].CommitSHA != fast.CommitSHA {
		t.Errorf("%+v, %v", now, err)
	}
}

// A repository that has changed elsewhere is fetched once, and not at each check. What the content was found in is forgotten when
// another content is made the active one.
func TestCheckedOnce(t *testing.T) {
	w := newWorld(t)
	w.add("csv")
	w.add("pdf")
	w.place.commit = "c2"
	w.place.files["README.md"] = file("more skills\n")
	if u := w.check(nil); u.List[0].State != install.Current || u.List[1].State != install.Current {
		t.Fatalf("states %s, %s", u.List[0].State, u.List[1].State)
	}
	w.place.files = nil // a fetch would find the skills gone
	if u := w.check(nil); u.List[0].State != install.Current || u.List[1].State != install.Current || u.List[0].Entry.CommitSHA != "c1" {
		t.Fatalf("states %s, %s, commit %s", u.List[0].State, u.List[1].State, u.List[0].Entry.CommitSHA)
	}

	w.place.commit, w.place.files = "c3", fstest.MapFS{"skills/csv/SKILL.md": skillFile("csv")}
	if _, err := w.check(nil).List[0].Package.Keep(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	w.place.commit = "c4"
	w.check(nil)
	if e, err := w.Rollback(t.Context(), "csv", false, nil); err != nil || e.CheckedCommit != "" {
		t.Errorf("checked at %q, %v", e.CheckedCommit, err)
	}
	if u := w.check(nil); u.List[0].State != install.Available {
		t.Errorf("state %s", u.List[0].State)
	}
}

// A skill that another process removes while its place is asked is not updated.
func TestUpdateOfRemoved(t *testing.T) {
	w := newWorld(t)
	w.add("csv")
	entries, err := w.Installed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Remove(t.Context(), "csv"); err != nil {
		t.Fatal(err)
	}
	w.place.commit = "c2"
	w.place.files["skills/csv/scripts/sum.py"] = file("print(2)\n")
	u, err := w.Check(t.Context(), entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if s := u.List[0]; s.State != install.Failed || !errors.Is(s.Err, install.ErrChanged) {
		t.Errorf("state %s, %v", s.State, s.Err)
	}
}

// The address of a page of a branch with a slash is that of the branch, and where there is none the error is about the first.
func TestBranchWithSlash(t *testing.T) {
	w := newWorld(t)
	w.place.branch = "feature/x"
	ref, err := source.Parse("https://git.example.com/acme/skills/src/branch/feature/x/skills/csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Open(t.Context(), ref, "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Origin.Source; got.Want != "feature/x" || got.Path != "skills/csv" || p.Skills[0].Manifest.Name != "csv" {
		t.Errorf("got %+v, %v", got, p.Skills)
	}
	w.place.branch, w.place.fetched = "other", 0
	if _, err := w.Open(t.Context(), ref, ""); !errors.Is(err, install.ErrNoPlace) || !strings.Contains(err.Error(), `no branch "feature";`) || w.place.fetched != 4 {
		t.Errorf("%d tries: %v", w.place.fetched, err)
	}
	ref.Joined, w.place.fetched = false, 0
	if _, err := w.Open(t.Context(), ref, ""); err == nil || w.place.fetched != 1 {
		t.Errorf("%d tries: %v", w.place.fetched, err)
	}
}

// Several skills leave the registry at once, or none does.
func TestRemoveAll(t *testing.T) {
	w := newWorld(t)
	w.add("csv")
	w.add("pdf")
	called := 0
	out := func(list []registry.Entry) { called += len(list) }
	if list, err := w.RemoveAll(t.Context(), out, "csv", "none", "pdf"); len(list) > 0 || !errors.Is(err, registry.ErrNotInstalled) || called > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if left, err := w.Installed(t.Context()); err != nil || len(left) != 2 {
		t.Fatalf("left %+v, %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	list, err := w.RemoveAll(ctx, func(list []registry.Entry) { out(list); cancel() }, "csv", "pdf")
	if len(list) != 2 || !errors.Is(err, context.Canceled) || called != 2 || len(list[0].Folders) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if left, err := w.Installed(t.Context()); err != nil || len(left) != 0 {
		t.Fatalf("left %+v, %v", left, err)
	}
	if r, err := w.Sweep(t.Context(), nil); err != nil || len(r.Removed) != 2 {
		t.Errorf("swept %+v, %v", r, err)
	}
}

// R143
func TestRemove(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	done, err := w.Remove(t.Context(), "CSV")
	if err != nil || !slices.Equal(done.Folders, []string{e.InstalledPath}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := os.Stat(e.InstalledPath); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	if _, err := w.Remove(t.Context(), "csv"); !errors.Is(err, registry.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}

// R145: on a full disk the files go first, and then the skill can be removed as always.
func TestRemoveFiles(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	first, err := w.RemoveFiles(t.Context(), "CSV")
	if err != nil || !slices.Equal(first.Folders, []string{e.InstalledPath}) {
		t.Fatalf("%+v, %v", first, err)
	}
	if list, err := w.Installed(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("installed %+v, %v", list, err)
	}
	then, err := w.Remove(t.Context(), "csv")
	if err != nil || len(then.Folders)+len(then.Postponed) > 0 {
		t.Errorf("%+v, %v", then, err)
	}
}

// C45: a damaged registry is rebuilt from what is on the disk, as untrusted.
func TestDamagedRegistry(t *testing.T) {
	w := newWorld(t)
	e := w.add("csv")
	if err := os.WriteFile(w.reg.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Installed(t.Context()); !errors.Is(err, registry.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if done, err := w.Repair(t.Context()); err != nil || !done {
		t.Fatalf("%v, %v", done, err)
	}
	w.add("pdf")
	all, err := w.Installed(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "csv" || all[0].Digest != e.Digest || all[0].Trusted || all[0].InstalledPath != e.InstalledPath {
		t.Errorf("%+v, %v", all, err)
	}
}

// R148, C44: several skills are installed in one step. If one cannot be, none is.
func TestKeepAll(t *testing.T) {
	w := newWorld(t)
	both := func() []install.Approved {
		p := w.open()
		csv, pdf := w.unpack(p, "csv"), w.unpack(p, "pdf")
		t.Cleanup(func() { csv.Close(); pdf.Close() })
		return []install.Approved{{Package: csv, Yes: true, Permissions: []string{"env: X"}}, {Package: pdf}}
	}
	list := both()
	w.add("pdf")
	if _, err := install.KeepAll(t.Context(), list...); !errors.Is(err, install.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if all, err := w.Installed(t.Context()); err != nil || len(all) != 1 || all[0].Name != "pdf" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := w.reg.Unregister(t.Context(), "pdf"); err != nil {
		t.Fatal(err)
	}
	got, err := install.KeepAll(t.Context(), both()...)
	if err != nil || len(got) != 2 || got[0].Name != "csv" || !got[0].Trusted || got[0].NameCanonical != "csv" || got[1].Trusted || got[1].InstalledAt.IsZero() {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := install.KeepAll(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
}

// R145: what does not fit on the disk is refused before anything is copied.
func TestNoRoom(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	list, err := install.Choose(p.Skills, []string{"csv"})
	if err != nil {
		t.Fatal(err)
	}
	w.free = 50
	var full *install.SpaceError
	if _, err := p.Unpack(t.Context(), list[0], ""); !errors.As(err, &full) || full.Free != 50 || full.Need < 80 {
		t.Errorf("got %v", err)
	}
	w.free = 1 << 30
	k := w.unpack(p, "csv")
	defer k.Close()
}

// What others recorded about a version is forgotten when the version is gone, the registry does not name it, and nobody
// installs.
func TestSweepForgets(t *testing.T) {
	w := newWorld(t)
	kept := w.add("csv")
	gone := w.add("pdf")
	if _, err := w.Remove(t.Context(), "pdf"); err != nil {
		t.Fatal(err)
	}
	var asked []bool
	forget := func(is func(skill.ID) bool) error {
		asked = nil
		for _, id := range []skill.ID{{Layer: gone.Layer(), Name: "pdf"}, {Layer: kept.Layer(), Name: "csv"}, {Layer: kept.Layer(), Name: "pdf"},
			{Layer: "folder@0123456789abcdef", Name: "pdf"}, {Layer: "bundled", Name: "pdf"}} {
			asked = append(asked, is(id))
		}
		return nil
	}
	p := w.open()
	if _, err := w.Sweep(t.Context(), forget); err != nil || asked != nil {
		t.Errorf("asked while a place is open: %v, %v", asked, err)
	}
	p.Close()
	if _, err := w.Sweep(t.Context(), forget); err != nil || !slices.Equal(asked, []bool{true, false, true, false, false}) {
		t.Errorf("%v, %v", asked, err)
	}
	wrong := errors.New("wrong")
	if _, err := w.Sweep(t.Context(), func(func(skill.ID) bool) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}
