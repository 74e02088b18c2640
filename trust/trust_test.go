package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

func digest(c string) string { return digestPrefix + strings.Repeat(c, 64) }

// at returns the place of a folder, or of what is in none.
func at(dir string) string {
	if dir == "" {
		return "l"
	}
	return place.Folder(dir)
}

func id(name, dir, digest string) skill.ID {
	return skill.ID{Layer: at(dir), Name: name, Digest: digest}
}

// trusted is what a set says about a content in a real folder.
func trusted(s *Set, name, dir, digest string) skill.Trust {
	if s.underRoot(dir) {
		return skill.TrustRoot
	}
	return s.approved(new(id(name, dir, digest)))
}

func newStore(t *testing.T) *Store {
	return &Store{
		Path: filepath.Join(t.TempDir(), "agent", "trust.json"),
		Now:  func() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 5, time.UTC) },
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func loaded(t *testing.T, s *Store) *Set {
	t.Helper()
	set, err := s.Load(t.Context())
	must(t, err)
	return set
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}

// C26, C57, R73: what is approved is this content under this name.
func TestTrusted(t *testing.T) {
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: at("/p/my-skill"), Name: "My_Skill", Digest: digest("a"), Dir: "/p/my-skill"}))
	must(t, s.AddRoot(t.Context(), "/a/b"))
	set := loaded(t, s)
	tests := []struct {
		name, skill, dir, digest string
		want                     skill.Trust
	}{
		{"nobody approved it", "other", "/p/other", digest("a"), skill.TrustNone},
		{"this content", "my-skill", "/p/my-skill", digest("a"), skill.TrustApproved},
		{"the name in another spelling", "MY-skill", "/p/my-skill", digest("a"), skill.TrustApproved},
		{"the same content elsewhere", "my-skill", "/q/my-skill", digest("a"), skill.TrustApproved},
		{"changed content", "my-skill", "/p/my-skill", digest("b"), skill.TrustChanged},
		{"another skill of the same name", "my-skill", "/evil/my-skill", digest("b"), skill.TrustChanged}, // security 2.14 #185
		{"no digest", "my-skill", "/p/my-skill", "", skill.TrustChanged},
		{"under a root", "new", "/a/b/new", digest("c"), skill.TrustRoot},
		{"the root itself", "new", "/a/b", digest("c"), skill.TrustRoot},
		{"deeper", "new", "/a/b/c/d/new", digest("c"), skill.TrustRoot},
		{"only the letters begin like a root", "new", "/a/bc", digest("c"), skill.TrustNone},
		{"above a root", "new", "/a", digest("c"), skill.TrustNone},
		{"out of a root again", "new", "/a/b/../c", digest("c"), skill.TrustNone},
		{"relative", "new", "a/b/new", digest("c"), skill.TrustNone},
		{"nowhere on disk", "new", "", digest("c"), skill.TrustNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := trusted(set, tt.skill, tt.dir, tt.digest); got != tt.want {
				t.Errorf("Trusted(%q, %q, %.12q) = %v, want %v", tt.skill, tt.dir, tt.digest, got, tt.want)
			}
		})
	}
}

// The digest reads every file of a skill, so it is asked for only where it can matter.
func TestFunc(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	outside, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(root, "inside"), 0o755))
	must(t, os.Symlink(outside, filepath.Join(root, "linked")))
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: "l", Name: "known", Digest: digest("a")}))
	must(t, s.AddRoot(t.Context(), root))
	unreadable := errors.New("unreadable")
	tests := []struct {
		name, skill, dir string
		digest           string
		want             skill.Trust
		asked            bool
		wantErr          error
	}{
		{"under a root", "known", filepath.Join(root, "inside"), digest("b"), skill.TrustRoot, false, nil},
		{"a link out of a root", "other", filepath.Join(root, "linked"), digest("b"), skill.TrustNone, false, nil},
		{"unknown", "other", outside, digest("a"), skill.TrustNone, false, nil},
		{"approved", "Known", outside, digest("a"), skill.TrustApproved, true, nil},
		{"approved, embedded", "known", "", digest("a"), skill.TrustApproved, true, nil},
		{"changed", "known", outside, digest("b"), skill.TrustChanged, true, nil},
		{"gone", "known", filepath.Join(root, "gone"), digest("a"), skill.TrustApproved, true, nil},
		{"unreadable", "known", outside, "", skill.TrustNone, true, unreadable},
	}
	ask := loaded(t, s).Trust
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			got, err := ask(t.Context(), skill.Subject{Name: tt.skill, Dir: tt.dir, Digest: func(context.Context) (string, error) {
				asked = true
				return tt.digest, tt.wantErr
			}})
			if got != tt.want || asked != tt.asked || !errors.Is(err, tt.wantErr) {
				t.Errorf("trust %v, %v, digest asked for: %v; want %v, %v, %v", got, err, asked, tt.want, tt.wantErr, tt.asked)
			}
		})
	}
	if got, err := ask(t.Context(), skill.Subject{Name: "known"}); got != skill.TrustNone || err == nil {
		t.Errorf("without a digest: %v, %v; want untrusted and an error", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := ask(ctx, skill.Subject{Name: "known"}); got != skill.TrustNone || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, %v", got, err)
	}
}

// C57: another skill of a name is not a changed one. One that was moved, and the versions of an installed skill, are the same.
func TestAnother(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	under := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"mine", "theirs", "plugins/a/v1", "plugins/a/v2"} {
		must(t, os.MkdirAll(under(name), 0o700))
	}
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: at(under("mine")), Name: "x", Digest: digest("a"), Dir: under("mine")}, Approval{Layer: at(under("gone")), Name: "moved", Digest: digest("a"), Dir: under("gone")},
		Approval{Layer: place.Version(digest("a")), Name: "a", Digest: digest("a")}))
	for _, tt := range []struct {
		name, dir string
		want      skill.Trust
		another   string
	}{
		{"x", under("mine"), skill.TrustChanged, ""},
		{"x", under("theirs"), skill.TrustNone, under("mine")},
		{"x", "", skill.TrustChanged, ""},
		{"moved", under("theirs"), skill.TrustChanged, ""},
		{"a", under("plugins/a/v2"), skill.TrustChanged, ""},
		{"x", under("plugins/a/v2"), skill.TrustNone, under("mine")},
		{"a", under("theirs"), skill.TrustChanged, ""},
		{"none", under("theirs"), skill.TrustNone, ""},
	} {
		layer := at(tt.dir)
		if strings.Contains(tt.dir, "plugins") {
			layer = place.Version(digest("b"))
		}
		got, err := s.Trust(t.Context(), skill.Subject{Name: tt.name, Dir: tt.dir, Place: func(context.Context) (string, error) { return layer, nil },
			Digest: func(context.Context) (string, error) { return digest("b"), nil }})
		if another := loaded(t, s).Another(tt.name, layer); err != nil || got != tt.want || another != tt.another {
			t.Errorf("%s in %s: %v, %v, another %q; want %v, %q", tt.name, tt.dir, got, err, another, tt.want, tt.another)
		}
	}
}

func TestApprovalsAreReplacedAndRevoked(t *testing.T) {
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: at("/p/x"), Name: "x", Digest: digest("a"), Dir: "/p/x"}))
	must(t, s.Approve(t.Context(), Approval{Layer: at("/q/x"), Name: "x", Digest: digest("b"), Dir: "/q/x", ApprovedAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}))
	must(t, s.Approve(t.Context(), Approval{
		Layer: at("/p/x"), Name: "x", Digest: digest("c"), Dir: "/p/x", Wants: want.New(want.VariableOf("KALSHI_*")),
		Files: []File{{Path: "SKILL.md", SHA256: strings.Repeat("1", 64)}, {Path: "run", SHA256: strings.Repeat("2", 64), Link: true}},
	}))
	set := loaded(t, s)
	for d, want := range map[string]skill.Trust{"a": skill.TrustChanged, "b": skill.TrustApproved, "c": skill.TrustApproved} {
		if got := trusted(set, "x", "/p/x", digest(d)); got != want {
			t.Errorf("content %s is %v, want %v", d, got, want)
		}
	}
	got, ok := set.Approval("X", at("/p/x"))
	wanted := Approval{
		Layer: at("/p/x"), Name: "x", Digest: digest("c"), Dir: "/p/x", Wants: want.New(want.VariableOf("KALSHI_*")), ApprovedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		Files: []File{{Path: "SKILL.md", SHA256: strings.Repeat("1", 64)}, {Path: "run", SHA256: strings.Repeat("2", 64), Link: true}},
	}
	if diff := cmp.Diff(wanted, got); diff != "" || !ok {
		t.Error(diff)
	}
	if got, ok := set.Approval("x", at("/elsewhere")); got.Digest != digest("b") || !ok {
		t.Errorf("the last approval of another directory is %+v", got)
	}
	if _, ok := set.Approval("y", at("")); ok {
		t.Error("an approval of a name that has none")
	}
	if n := len(set.Approvals()); n != 2 {
		t.Errorf("%d approvals, want 2", n)
	}
	if found, err := s.Revoke(t.Context(), "X"); !found || err != nil {
		t.Errorf("Revoke = %v, %v", found, err)
	}
	if found, err := s.Revoke(t.Context(), "x"); found || err != nil {
		t.Errorf("Revoke again = %v, %v", found, err)
	}
	if got := trusted(loaded(t, s), "x", "/p/x", digest("c")); got != skill.TrustNone {
		t.Errorf("revoked content is %v", got)
	}
}

// Several names lose what they have in one step.
func TestRevokeAll(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		must(t, s.Approve(t.Context(), Approval{Layer: "l", Name: name, Digest: digest(name)}))
	}
	give(t, s, Grant{Layer: "l", Name: "e", Digest: digest("e")}, func(g *Grant) { g.Given = home() })
	var told []string
	s.Record = func(_ context.Context, e trace.Event) error { told = append(told, e.Skill); return nil }
	found, err := s.RevokeAll(t.Context(), "C", "none", "a", "E", "a")
	if err != nil || !slices.Equal(found, []string{"a", "c", "e"}) || !slices.Equal(told, found) {
		t.Errorf("found %q, told %q, %v", found, told, err)
	}
	if set := loaded(t, s); len(set.Approvals()) != 2 || set.HasGrants("e") {
		t.Errorf("left %v, %v", set.Approvals(), set.Grants())
	}
}

func TestRoots(t *testing.T) {
	s := newStore(t)
	for _, dir := range []string{"/b", "/a", "/b"} {
		must(t, s.AddRoot(t.Context(), dir))
	}
	if diff := cmp.Diff([]string{"/a", "/b"}, loaded(t, s).Roots()); diff != "" {
		t.Error(diff)
	}
	if found, err := s.RemoveRoot(t.Context(), "/b/"); !found || err != nil {
		t.Errorf("RemoveRoot = %v, %v", found, err)
	}
	if found, err := s.RemoveRoot(t.Context(), "/b"); found || err != nil {
		t.Errorf("RemoveRoot again = %v, %v", found, err)
	}
	if got := trusted(loaded(t, s), "x", "/b/x", ""); got != skill.TrustNone {
		t.Errorf("below a removed root: %v", got)
	}
}

func TestRefused(t *testing.T) {
	s := newStore(t)
	for name, err := range map[string]error{
		"every file of this machine": s.AddRoot(t.Context(), "/"),
		"absolute path":              s.AddRoot(t.Context(), "a"),
		"not a clean absolute path":  s.AddRoot(t.Context(), "/a/../b"),
		"not canonical":              s.Approve(t.Context(), Approval{Layer: "l", Digest: digest("a")}),
		"64 hexadecimal":             s.Approve(t.Context(), Approval{Layer: "l", Name: "x", Digest: "sha256:abc"}),
		"is not \"sha256:\" and 64":  s.Approve(t.Context(), Approval{Layer: "l", Name: "x", Digest: strings.Repeat("a", 64)}),
		"is not that of an ID":       s.Approve(t.Context(), Approval{Name: "x", Digest: digest("a")}),
		"is not absolute":            s.Approve(t.Context(), Approval{Layer: at("x"), Name: "x", Digest: digest("a"), Dir: "x"}),
		"not 64 hexadecimal digits":  s.Approve(t.Context(), Approval{Layer: "l", Name: "x", Digest: digest("a"), Files: []File{{Path: "a", SHA256: "b"}}}),
	} {
		checkError(t, err, name)
	}
	if _, err := os.Stat(filepath.Dir(s.Path)); !os.IsNotExist(err) {
		t.Errorf("a refused change wrote something: %v", err)
	}
}

// A Store answers with what its file says now, and trusts nothing when the file is damaged.
func TestStoreTrust(t *testing.T) {
	s := &Store{Path: filepath.Join(t.TempDir(), "trust.json")}
	subject := skill.Subject{Name: "a", Digest: func(context.Context) (string, error) { return digest("a"), nil }}
	check := func(want skill.Trust, wantErr error) {
		t.Helper()
		if got, err := s.Trust(t.Context(), subject); got != want || !errors.Is(err, wantErr) {
			t.Errorf("%v, %v; want %v, %v", got, err, want, wantErr)
		}
	}
	check(skill.TrustNone, nil)
	if err := (&Store{Path: s.Path}).Approve(t.Context(), Approval{Layer: "l", Name: "a", Digest: digest("a")}); err != nil {
		t.Fatal(err)
	}
	check(skill.TrustApproved, nil)
	if err := os.WriteFile(s.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(skill.TrustNone, errCorrupt)
}

// C77: approvals and grants whose digest covers what belongs to no skill are for what does, and keep the other digest.
func TestDigestsOfTheWhole(t *testing.T) {
	hash := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }
	file := func(path string) File { return File{Path: path, SHA256: hash(path)} }
	digestOf := func(files ...File) string {
		var list []dirhash.File
		for _, f := range files {
			list = append(list, dirhash.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
		}
		return dirhash.Of(list, nil)
	}
	own := []File{file("SKILL.md"), file("scripts/a.py"), file("scripts/lone.pyc")}
	all := append(slices.Clone(own), file(".DS_Store"), file("scripts/__pycache__/a.cpython-314.pyc"), file("scripts/a.pyc"))
	whole, now := digestOf(all...), digestOf(own...)
	s := newStore(t)
	given := want.Of(want.Variable, "A")
	must(t, s.EditGrant(t.Context(), Grant{Layer: at("/x"), Name: "x", Digest: whole, Dir: "/x", Files: all}, func(g *Grant) error { g.Given = want.Set{given}; return nil }))
	must(t, s.Approve(t.Context(), Approval{Layer: at("/x"), Name: "x", Digest: whole, Dir: "/x", Files: all},
		Approval{Layer: "l", Name: "odd", Digest: digest("b"), Files: all}, // the files are not those of the digest
		Approval{Layer: "l", Name: "linked", Digest: whole, Files: append(slices.Clone(all), File{Path: "l", SHA256: hash("l"), Link: true})},
		Approval{Layer: "l", Name: "plain", Digest: now, Files: own}))
	for range 2 { // as it was written, and renewed
		set := loaded(t, s)
		for name, want := range map[string]bool{"x": true, "odd": false, "linked": false, "plain": true} {
			if got := trusted(set, name, "", now) == skill.TrustApproved; got != want {
				t.Errorf("%s is approved: %v, want %v", name, got, want)
			}
		}
		a, _ := set.Approval("x", at("/x"))
		if !a.Is(whole) || !a.Is(now) || a.Is(digest("b")) || a.Is("") || len(a.Files) != len(own) {
			t.Errorf("%+v", a)
		}
		for _, d := range []string{whole, now} {
			if g, ok := set.Grant(id("x", "/x", d)); !ok || !g.Given.Has(given) {
				t.Errorf("the grant of %s is %+v", d, g)
			}
			if _, ok := set.Lapsed(id("x", "/x", d)); ok {
				t.Errorf("the grant of %s has lapsed", d)
			}
		}
		if _, ok := set.Lapsed(id("x", "/x", digest("b"))); !ok {
			t.Error("the grant of another content has not lapsed")
		}
		must(t, s.EditGrant(t.Context(), Grant{Layer: at("/x"), Name: "x", Digest: now, Dir: "/x", Files: own}, func(g *Grant) error {
			if !g.Given.Has(given) {
				t.Errorf("it had %v", g.Given)
			}
			return nil
		}))
	}
	if text := string(read(t, s.Path)); strings.Count(text, whole) != 3 { // of the approval, of the grant, and the digest of linked
		t.Errorf("%d times the digest of the whole in %s", strings.Count(text, whole), text)
	}
}

// C77: the same holds for a content with links, as long as those in the folder of the skill are the same.
func TestDigestsOfTheWholeWithLinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"scripts/__pycache__", ".venv/bin"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	for _, name := range []string{"SKILL.md", "scripts/a.py", "scripts/__pycache__/a.cpython-314.pyc"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	must(t, os.Symlink("SKILL.md", filepath.Join(dir, "l")))
	must(t, os.Symlink("../../SKILL.md", filepath.Join(dir, ".venv/bin/python")))
	sum := func(whole bool) (string, []File) {
		t.Helper()
		s, err := dirhash.Dir(t.Context(), os.DirFS(dir), &dirhash.Options{Whole: whole})
		must(t, err)
		var files []File
		for _, f := range s.Files {
			files = append(files, File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
		}
		return s.Digest, files
	}
	whole, all := sum(true)
	now, own := sum(false)
	s := newStore(t)
	must(t, s.EditGrant(t.Context(), Grant{Layer: at(dir), Name: "x", Digest: whole, Dir: dir, Files: all}, func(g *Grant) error { g.Given = home(); return nil }))
	must(t, s.Approve(t.Context(), Approval{Layer: at(dir), Name: "x", Digest: whole, Dir: dir, Files: all}, Approval{Layer: at(dir + "/gone"), Name: "gone", Digest: whole, Dir: dir + "/gone", Files: all}))
	check := func(want skill.Trust) {
		t.Helper()
		set := loaded(t, s)
		if got := trusted(set, "x", "", now); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		if g, ok := set.Grant(id("x", dir, now)); want == skill.TrustApproved && (!ok || !g.Given.Has(home()[0]) || len(g.Files) != len(own)) {
			t.Errorf("the grant is %+v, %v", g, ok)
		}
		if got := trusted(set, "gone", "", now); got != skill.TrustChanged {
			t.Errorf("gone is %v", got)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "scripts/__pycache__/a.cpython-314.pyc"), []byte("made anew"), 0o600))
	check(skill.TrustApproved)
	must(t, os.Remove(filepath.Join(dir, ".venv/bin/python")))
	check(skill.TrustChanged)
	must(t, os.Symlink("../../scripts/a.py", filepath.Join(dir, ".venv/bin/python")))
	check(skill.TrustChanged)
	must(t, os.Remove(filepath.Join(dir, ".venv/bin/python")))
	must(t, os.Symlink("../../SKILL.md", filepath.Join(dir, ".venv/bin/python")))
	must(t, s.AddRoot(t.Context(), "/elsewhere")) // which writes the file
	must(t, os.RemoveAll(filepath.Join(dir, ".venv")))
	check(skill.TrustApproved)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}
