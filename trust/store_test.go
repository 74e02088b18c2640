package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// The file's form is a promise: a later version reads it.
func TestFileForm(t *testing.T) {
	s := newStore(t)
	must(t, s.AddRoot(t.Context(), "/home/me/skills"))
	must(t, s.Approve(t.Context(), Approval{Layer: at("/p/x"), Name: "x", Digest: digest("a"), Dir: "/p/x", Wants: want.New(want.HostOf("a.example")),
		Files: []File{{Path: "SKILL.md", SHA256: strings.Repeat("1", 64)}}}))
	form := `{
  "version": 3,
  "roots": [
    "/home/me/skills"
  ],
  "approvals": [
    {
      "name": "x",
      "layer": "folder@32fab2b384578bb4a1691159efad0806",
      "digest": "` + digest("a") + `",
      "dir": "/p/x",
      "approved_at": "2026-11-21T10:00:00Z",
      "wants": [
        "host:a.example"
      ],
      "files": [
        {
          "path": "SKILL.md",
          "sha256": "` + strings.Repeat("1", 64) + `"
        }
      ]
    }
  ]
}
`
	got, err := os.ReadFile(s.Path)
	if err != nil || string(got) != form {
		t.Errorf("the file is %s, %v; want %s", got, err, form)
	}
	if info, err := os.Stat(s.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v; want 0600", info.Mode(), err)
	}
}

func TestMissingFile(t *testing.T) {
	s := newStore(t)
	if got := trusted(loaded(t, s), "x", "/p/x", digest("a")); got != skill.TrustNone {
		t.Errorf("trust %v, want untrusted", got)
	}
	if found, err := s.Revoke(t.Context(), "x"); found || err != nil {
		t.Errorf("Revoke = %v, %v", found, err)
	}
	if _, err := os.Stat(s.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made for nothing: %v", err)
	}
}

// REQUIREMENTS 1.4 and C45: a damaged file trusts nothing, a reader says so and writes nothing, the next writer keeps it
// under another name.
func TestDamagedFile(t *testing.T) {
	whole := `{"version":1,"roots":["/a"],"approvals":[{"name":"x","digest":"` + digest("a") + `","approved_at":"2026-01-01T00:00:00Z"}]}`
	tests := []struct{ name, content string }{
		{"empty", ""},
		{"cut", whole[:len(whole)-9]},
		{"no JSON", "trusted: true"},
		{"another form", `["/a"]`},
		{"no version", strings.Replace(whole, `"version":1,`, "", 1)},
		{"a root that is everything", strings.Replace(whole, `"/a"`, `"/"`, 1)},
		{"a relative root", strings.Replace(whole, `"/a"`, `"."`, 1)},
		{"an empty root", strings.Replace(whole, `"/a"`, `""`, 1)},
		{"a short digest", strings.Replace(whole, digest("a"), "sha256:", 1)},
		{"no name", strings.Replace(whole, `"name":"x"`, `"name":""`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			must(t, os.MkdirAll(filepath.Dir(s.Path), 0o700))
			must(t, os.WriteFile(s.Path, []byte(tt.content), 0o600))
			set, err := s.Load(t.Context())
			if !errors.Is(err, errCorrupt) {
				t.Errorf("error %v, want errCorrupt", err)
			}
			if got := trusted(set, "x", "/a/x", digest("a")); got != skill.TrustNone {
				t.Errorf("trust %v, want untrusted", got)
			}
			if got, _ := os.ReadFile(s.Path); string(got) != tt.content {
				t.Error("Load changed the file")
			}
			must(t, s.Approve(t.Context(), Approval{Layer: "l", Name: "y", Digest: digest("b")}))
			kept, err := os.ReadFile(s.Path + ".corrupt-20261121T100000.000Z")
			if err != nil || string(kept) != tt.content {
				t.Errorf("kept %q, %v; want %q", kept, err, tt.content)
			}
			set = loaded(t, s)
			if x, y := trusted(set, "x", "/a/x", digest("a")), trusted(set, "y", "", digest("b")); x != skill.TrustNone || y != skill.TrustApproved {
				t.Errorf("after the write x is %v and y %v", x, y)
			}
		})
	}
}

func TestNewerFileIsLeftAlone(t *testing.T) {
	s := newStore(t)
	content := `{"version":4,"roots":{"any":"form"}}`
	must(t, os.MkdirAll(filepath.Dir(s.Path), 0o700))
	must(t, os.WriteFile(s.Path, []byte(content), 0o600))
	set, err := s.Load(t.Context())
	if !errors.Is(err, errNewer) || trusted(set, "x", "/any/x", digest("a")) != skill.TrustNone {
		t.Errorf("error %v, want errNewer and nothing trusted", err)
	}
	if err := s.Approve(t.Context(), Approval{Layer: "l", Name: "y", Digest: digest("b")}); !errors.Is(err, errNewer) {
		t.Errorf("error %v, want errNewer", err)
	}
	checkError(t, err, "update this program")
	if got, _ := os.ReadFile(s.Path); string(got) != content {
		t.Errorf("the file is now %q", got)
	}
}

func TestUnreadableFile(t *testing.T) {
	s := newStore(t)
	must(t, os.MkdirAll(s.Path, 0o700))
	set, err := s.Load(t.Context())
	checkError(t, err, "nothing is trusted")
	if trusted(set, "x", "/a", "") != skill.TrustNone {
		t.Error("an unreadable file trusts something")
	}
	if (&Store{Path: s.Path}).now().IsZero() {
		t.Error("no clock means no time")
	}
}

// C44: writers at once lose nothing.
func TestWritersAtOnce(t *testing.T) {
	s := newStore(t)
	var wg sync.WaitGroup
	for _, n := range strings.Split("abcdefgh", "") {
		wg.Go(func() {
			if err := s.Approve(t.Context(), Approval{Layer: "l", Name: n, Digest: digest("a")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(loaded(t, s).Approvals()); got != 8 {
		t.Errorf("%d approvals, want 8", got)
	}
}

// Whatever the file holds, beside an error nothing is trusted, and no root is wider than a folder.
func FuzzLoad(f *testing.F) {
	f.Add(`{"version":1,"roots":["/a"],"approvals":[{"name":"x","digest":"` + digest("a") + `","approved_at":"2026-01-01T00:00:00Z"}]}`)
	f.Add(`{"version":1,"roots":["/"],"approvals":null}`)
	f.Add(`{"version":4}`)
	s := &Store{Path: filepath.Join(f.TempDir(), "trust.json")}
	f.Fuzz(func(t *testing.T, content string) {
		must(t, os.WriteFile(s.Path, []byte(content), 0o600))
		set, err := s.Load(t.Context())
		if err != nil && len(set.Roots())+len(set.Approvals()) > 0 {
			t.Errorf("beside %v there are %v and %v", err, set.Roots(), set.Approvals())
		}
		if got := trusted(set, "never-approved", "/", digest("a")); got == skill.TrustRoot {
			t.Errorf("the root of the file system is trusted by %q", content)
		}
	})
}

// A Store without an absolute path reads and writes nothing: the file would lie wherever the program happens to be.
func TestStoreWithoutAbsolutePath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"", "rel.json", "./trust/rel.json"} {
		s := &Store{Path: path}
		_, revokeErr := s.Revoke(t.Context(), "a")
		_, removeErr := s.RemoveRoot(t.Context(), "/a")
		set, loadErr := s.Load(t.Context())
		want := fmt.Sprintf("trust.Store: path %q is not absolute", path)
		for way, err := range map[string]error{
			"approve": s.Approve(t.Context(), Approval{Layer: "l", Name: "a", Digest: digest("a")}), "add": s.AddRoot(t.Context(), "/a"),
			"revoke": revokeErr, "remove": removeErr, "load": loadErr,
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", way, err, want)
			}
		}
		if set == nil || len(set.Roots())+len(set.Approvals()) > 0 {
			t.Errorf("got %+v", set)
		}
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("%q were made", left)
	}
	if left, _ := filepath.Glob(".*"); len(left) > 0 {
		t.Errorf("%q were made", left)
	}
}

// An ended context approves nothing and takes nothing back.
func TestEndedContextChangesNothing(t *testing.T) {
	s := newStore(t)
	must(t, s.AddRoot(t.Context(), "/a"))
	must(t, s.Approve(t.Context(), Approval{Layer: "l", Name: "x", Digest: digest("a")}))
	before := loaded(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, revokeErr := s.Revoke(ctx, "x")
	_, removeErr := s.RemoveRoot(ctx, "/a")
	for way, err := range map[string]error{
		"approve": s.Approve(ctx, Approval{Layer: "l", Name: "y", Digest: digest("b")}), "add": s.AddRoot(ctx, "/b"), "revoke": revokeErr, "remove": removeErr,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want the context's", way, err)
		}
	}
	if after := loaded(t, s); !slices.Equal(after.Roots(), before.Roots()) || len(after.Approvals()) != 1 {
		t.Errorf("got %v, %v", after.Roots(), after.Approvals())
	}
}

// While another process holds the file for ten seconds the error is one to branch on.
func TestLockedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		must(t, s.AddRoot(t.Context(), "/a"))
		unlock, err := lockfile.Lock(t.Context(), s.Path+".lock", 0)
		must(t, err)
		defer unlock()
		begun := time.Now()
		err = s.AddRoot(t.Context(), "/b")
		if waited := time.Since(begun); !errors.Is(err, errLocked) || waited < 9*time.Second {
			t.Errorf("error %v after %s, want errLocked", err, waited)
		}
		checkError(t, err, "wait for the other process")
		if !errors.Is(err, lockfile.ErrLocked) { // by which the command chooses its exit code
			t.Errorf("error %v is not lockfile's any more", err)
		}
		if got := loaded(t, s).Roots(); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("roots are %q", got)
		}
	})
}

// What a newer minor version of the file says survives a write: at the top, in an approval and in its files. A renewed
// approval takes nothing from the one it replaces.
func TestUnknownFieldsAreKept(t *testing.T) { // F20
	s := newStore(t)
	must(t, os.MkdirAll(filepath.Dir(s.Path), 0o700))
	hash := strings.Repeat("1", 64)
	entry := func(name string) string {
		return `{"name": "` + name + `", "digest": "` + digest("a") + `", "approved_at": "2026-11-21T10:00:00Z",
			"grants": {"network": true}, "files": [{"path": "SKILL.md", "sha256": "` + hash + `", "mode": 420}]}`
	}
	must(t, os.WriteFile(s.Path, []byte(`{"future": [1, {"x": null}], "version": 1, "roots": [], "approvals": [`+entry("x")+`,`+entry("y")+`]}`), 0o600))
	must(t, s.AddRoot(t.Context(), "/home/me/skills"))
	must(t, s.Approve(t.Context(), Approval{Layer: "bundled", Name: "y", Digest: digest("b")}))
	text, err := os.ReadFile(s.Path)
	must(t, err)
	var got struct {
		Future    any
		Roots     []string
		Approvals []map[string]any
	}
	must(t, json.Unmarshal(text, &got))
	if fmt.Sprint(got.Future) != "[1 map[x:<nil>]]" || len(got.Roots) != 1 || len(got.Approvals) != 2 {
		t.Fatalf("the file is %s", text)
	}
	x, y := got.Approvals[0], got.Approvals[1]
	if fmt.Sprint(x["grants"]) != "map[network:true]" || !strings.Contains(fmt.Sprint(x["files"]), "mode:420") {
		t.Errorf("the approval of x lost what it had: %v", x)
	}
	if y["grants"] != nil || y["digest"] != digest("b") {
		t.Errorf("the new approval of y has what the old one had: %v", y)
	}
}

// Nothing is trusted, and nothing is written, while another user can write to the file or to its folder.
func TestUnsafeFile(t *testing.T) { // F5
	for _, name := range []string{"agent", "agent/trust.json"} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			must(t, s.AddRoot(t.Context(), "/home/me/skills"))
			open := filepath.Join(filepath.Dir(filepath.Dir(s.Path)), name)
			must(t, os.Chmod(open, 0o777))
			if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o777 {
				t.Skip("this system has no such modes")
			}
			set, err := s.Load(t.Context())
			if !errors.Is(err, errUnsafe) || len(set.Roots()) > 0 {
				t.Errorf("Load returns %v, %v; want nothing and %v", set.Roots(), err, errUnsafe)
			}
			checkError(t, err, "nothing is trusted: \""+open+"\" is writable by other users (mode 0777)")
			before, _ := os.ReadFile(s.Path)
			if err := s.AddRoot(t.Context(), "/other"); !errors.Is(err, errUnsafe) {
				t.Errorf("AddRoot returns %v, want %v", err, errUnsafe)
			}
			if after, _ := os.ReadFile(s.Path); string(after) != string(before) {
				t.Errorf("the file changed: %s", after)
			}
			if risk := RootRisk(open); !strings.Contains(risk, "writable by other users") {
				t.Errorf("RootRisk = %q", risk)
			}
		})
	}
	if risk := RootRisk(t.TempDir()); risk != "" {
		t.Errorf("RootRisk of a closed folder = %q, want none", risk)
	}
}

// Several approvals are stored in one step: all of them, or none.
func TestApproveSeveral(t *testing.T) {
	s := &Store{Path: filepath.Join(t.TempDir(), "trust.json")}
	digest := "sha256:" + strings.Repeat("a", 64)
	list := []Approval{{Layer: at("/skills/one"), Name: "one", Digest: digest, Dir: "/skills/one"}, {Layer: at("/skills/two"), Name: "two", Digest: "none", Dir: "/skills/two"}}
	if err := s.Approve(t.Context(), list...); err == nil {
		t.Error("an approval without a digest was stored")
	}
	if set, err := s.Load(t.Context()); err != nil || len(set.Approvals()) != 0 {
		t.Errorf("after an error: %v, %v", set.Approvals(), err)
	}
	list[1].Digest = digest
	if err := s.Approve(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	if set, err := s.Load(t.Context()); err != nil || len(set.Approvals()) != 2 {
		t.Errorf("got %v, %v; want both", set.Approvals(), err)
	}
}

// What cannot be recorded is not given, but taken away it is.
func TestRecordFails(t *testing.T) {
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: "l", Name: "x", Digest: digest("a")}, Approval{Layer: "l", Name: "y", Digest: digest("a")}))
	must(t, s.AddRoot(t.Context(), "/r"))
	key := Grant{Layer: "l", Name: "x", Digest: digest("a")}
	must(t, s.EditGrant(t.Context(), key, func(g *Grant) error { g.Given = sets(t, "env:A, env:B, home, seen host:s.example"); return nil }))
	full := errors.New("full")
	s.Record = func(context.Context, trace.Event) error { return full }
	for what, err := range map[string]error{
		"approve":   s.Approve(t.Context(), Approval{Layer: "l", Name: "z", Digest: digest("a")}),
		"root":      s.AddRoot(t.Context(), "/s"),
		"grant":     s.EditGrant(t.Context(), key, func(g *Grant) error { g.Given = sets(t, "env:A, env:C"); return nil }),
		"give back": s.EditGrant(t.Context(), key, func(g *Grant) error { g.Given = sets(t, "env:A, host:example.com"); return nil }),
		"name":      s.EditGrant(t.Context(), key, func(g *Grant) error { g.Given = sets(t, "host:s.example"); return nil }),
	} {
		if !errors.Is(err, full) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, s.EditGrant(t.Context(), key, func(g *Grant) error { g.Given, g.Withheld = sets(t, "env:A"), sets(t, "env:W"); return nil }))
	if g, _ := loaded(t, s).Grant(id("x", "", digest("a"))); g.Given.String() != "env:A" {
		t.Errorf("%+v", g)
	}
	for _, name := range []string{"x", "y"} {
		if ok, err := s.Revoke(t.Context(), name); !ok || err != nil {
			t.Errorf("revoke %s: %v, %v", name, ok, err)
		}
	}
	if ok, err := s.RemoveRoot(t.Context(), "/r"); !ok || err != nil {
		t.Errorf("root: %v, %v", ok, err)
	}
	if set := loaded(t, s); len(set.Approvals())+len(set.Grants())+len(set.Roots()) != 0 {
		t.Errorf("left: %+v", set)
	}
}

// Single contents are forgotten with their grants, and only these; that this cannot be recorded does not keep them.
func TestForget(t *testing.T) {
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: at("/v/1/x"), Name: "x", Digest: digest("a"), Dir: "/v/1/x"}, Approval{Layer: at("/v/2/x"), Name: "x", Digest: digest("b"), Dir: "/v/2/x"}, Approval{Layer: at("/v/1/y"), Name: "y", Digest: digest("a"), Dir: "/v/1/y"}))
	must(t, s.EditGrant(t.Context(), Grant{Layer: at("/v/1/x"), Name: "x", Digest: digest("a"), Dir: "/v/1/x"}, func(g *Grant) error { g.Given = home(); return nil }))
	gone := func(of skill.ID) bool { return of.Name == "x" && of.Layer == at("/v/1/x") }
	var told []string
	s.Record = func(_ context.Context, e trace.Event) error { told = append(told, e.Skill); return errors.New("full") }
	list, err := s.Forget(t.Context(), gone)
	if want := []skill.ID{id("x", "/v/1/x", digest("a"))}; err != nil || !slices.Equal(list, want) || !slices.Equal(told, []string{"x"}) {
		t.Errorf("%v, %v, told %q", list, err, told)
	}
	set := loaded(t, s)
	if len(set.Approvals()) != 2 || len(set.Grants()) != 0 || trusted(set, "x", "", digest("a")) != skill.TrustChanged || trusted(set, "x", "", digest("b")) != skill.TrustApproved {
		t.Errorf("left: %v, %v", set.Approvals(), set.Grants())
	}
}
