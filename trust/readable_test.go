package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/want"
)

// The store refuses to write what it could not read again, and what is there stays.
func TestWritesOnlyWhatItReads(t *testing.T) {
	s := newStore(t)
	must(t, s.Approve(t.Context(), Approval{Layer: at("/good"), Name: "good", Digest: digest("a"), Dir: "/good"}))
	give(t, s, Grant{Layer: at("/good"), Name: "good", Digest: digest("a"), Dir: "/good"}, func(g *Grant) { g.Given = home() })
	before := string(read(t, s.Path))
	bad := want.New(want.Of(want.Server, "x: python3 a\x00b"))
	for name, err := range map[string]error{
		"NUL":                         s.Approve(t.Context(), Approval{Layer: "l", Name: "ok", Digest: digest("b")}, Approval{Layer: "l", Name: "bad", Digest: digest("b"), Wants: bad}),
		"holds NUL":                   s.Approve(t.Context(), Approval{Layer: "l", Name: "bad", Digest: digest("b"), Forgoes: bad}),
		"is not a kind":               s.Approve(t.Context(), Approval{Layer: "l", Name: "bad", Digest: digest("b"), Wants: want.New(want.Of("x y", "z"))}),
		"nobody who names":            s.Approve(t.Context(), Approval{Layer: "l", Name: "bad", Digest: digest("b"), Wants: want.Each(want.Hook, "somebody", "z")}),
		"UTF-8":                       s.Approve(t.Context(), Approval{Layer: at("/\xff"), Name: "bad", Digest: digest("b"), Dir: "/\xff"}),
		"in UTF-8":                    s.AddRoot(t.Context(), "/\xff"),
		"MarshalJSON":                 s.Approve(t.Context(), Approval{Layer: "l", Name: "bad", Digest: digest("b"), ApprovedAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}),
		"could not be read again, so": s.change(t.Context(), func(f *file, _ *document.Change) error { f.Roots = append(f.Roots, "relative"); return nil }),
	} {
		checkError(t, err, name)
		if errors.Is(err, errCorrupt) {
			t.Errorf("%v says that the file is damaged", err)
		}
	}
	if after := string(read(t, s.Path)); after != before {
		t.Error(cmp.Diff(before, after))
	}
	if set := loaded(t, s); len(set.Approvals()) != 1 || len(set.Grants()) != 1 {
		t.Errorf("left are %v and %v", set.Approvals(), set.Grants())
	}
}

// Whatever a skill asks for and is given, the store either refuses it or reads it again, beside what was there.
func FuzzStore(f *testing.F) {
	f.Add("x", "/skills/x", "server", "x: python3 a\x00b", "declared", "SKILL.md")
	f.Add("x", "/skills/\xff", "env", "A B", "user", "\xff")
	f.Add("good", "/good", "write", ".", "seen", "a")
	s := &Store{Path: filepath.Join(f.TempDir(), "trust.json")}
	f.Fuzz(func(t *testing.T, name, dir, kind, what, origin, path string) {
		_ = os.Remove(s.Path)
		must(t, s.Approve(t.Context(), Approval{Layer: at("/good"), Name: "good", Digest: digest("a"), Dir: "/good"}))
		w := want.Want{Kind: want.Kind(kind), Name: what, From: want.Origin(origin)}
		a := Approval{Layer: at(dir), Name: name, Digest: digest("b"), Dir: dir, Wants: want.New(w), Files: []File{{Path: path, SHA256: strings.Repeat("1", 64)}}}
		if s.Approve(t.Context(), a) == nil {
			if got, ok := loaded(t, s).Approval(name, dir); !ok || !got.Wants.Has(w) {
				t.Errorf("%+v is read as %+v", a, got)
			}
		}
		key := Grant{Layer: at(dir), Name: name, Digest: digest("b"), Dir: dir}
		if s.EditGrant(t.Context(), key, func(g *Grant) error { g.Given = want.New(w); return nil }) == nil {
			if got, ok := loaded(t, s).Grant(id(name, dir, digest("b"))); !ok || !got.Given.Has(w) {
				t.Errorf("%s is read as %+v", w, got)
			}
		}
		if s.AddRoot(t.Context(), dir) == nil && !strings.Contains(strings.Join(loaded(t, s).Roots(), "\n"), dir) {
			t.Errorf("the root %q is read as %q", dir, loaded(t, s).Roots())
		}
		if len(loaded(t, s).Approvals()) == 0 {
			t.Error("what was there is gone")
		}
	})
}
