package skilltool

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// R141: an installed skill is what its screen showed. With other content a model gets nothing of it until that is approved.
func TestReplaced(t *testing.T) {
	ctx := t.Context()
	root := tree{"csv/SKILL.md": skillText("csv", "", "Say sum."), "csv/a.md": "A"}.write(t)
	digest := func() string { return digestOf(t, root, "csv") }
	installed, approved := digest(), ""
	source := skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			for f, err := range skill.Dir(root, nil).Skills(ctx) {
				f.Digest = installed
				if !yield(f, err) {
					return
				}
			}
		}
	})
	trust := func(ctx context.Context, s skill.Subject) (skill.Trust, error) {
		switch d, err := s.Digest(ctx); {
		case err != nil || approved == "":
			return skill.TrustNone, err
		case d == approved:
			return skill.TrustApproved, nil
		}
		return skill.TrustChanged, nil
	}
	var c *skill.Catalog
	look := func() {
		t.Helper()
		var err error
		if c, err = skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "plugin", Source: source}}, Trust: trust}); err != nil {
			t.Fatal(err)
		}
	}
	look()
	check := func(when string, used bool) {
		t.Helper()
		for _, one := range [][2]string{{"skill", `{"skill_name":"csv"}`}, {"skill_read", `{"skill_name":"csv","path":"a.md"}`}} {
			k := New(&Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil)})
			r := call(t, k, one[0], one[1])
			if r.Success != used || !used && (r.Error != tool.PermissionDenied || !strings.Contains(r.Message, "since it was installed")) {
				t.Errorf("%s: %s gave %+v, want success %t", when, one[0], r, used)
			}
		}
	}
	check("installed, not approved", true)
	approved = installed
	check("approved", true)
	if err := os.WriteFile(filepath.Join(root, "csv", "a.md"), []byte("B"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("changed", false)
	approved = ""
	check("changed, never approved", false)
	approved = digest()
	check("changed, and approved as it is", true)

	// C77: what belongs to no skill is no change, and a digest of before, which covers it, holds.
	left := filepath.Join(root, "csv", ".DS_Store")
	installed, approved = digest(), ""
	if err := os.WriteFile(left, []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	look()
	check("with what belongs to no skill", true)
	whole, err := dirhash.Dir(ctx, os.DirFS(filepath.Join(root, "csv")), &dirhash.Options{Whole: true})
	if err != nil || whole.Digest == installed {
		t.Fatal(err)
	}
	installed = whole.Digest
	look()
	check("installed before", true)
	if err := os.WriteFile(left, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("installed before, and something of that changed", false)
}

// attack L9: a model reads neither what belongs to no skill nor what can hold secrets, and neither is listed.
func TestSecretsAreNotRead(t *testing.T) {
	root := tree{"x/SKILL.md": skillText("x", "", "Body"), "x/.env": "K=SECRET", "x/.ssh/id": "SECRET", "x/.git/config": "SECRET", "x/a.md": "fine", "x/.env.example": "K=", "x/b/.env.local": "SECRET"}.write(t)
	for link, to := range map[string]string{"l.md": ".env", "m.md": "l.md", "d": ".ssh"} {
		if err := os.Symlink(to, filepath.Join(root, "x", link)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(root, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	k := New(&Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil)})
	for name, want := range map[string]bool{"a.md": true, ".env.example": true, ".env": false, "./.env": false, ".ssh/id": false, ".git/config": false, "b/.env.local": false, "l.md": false, "m.md": false, "d/id": false} {
		r := call(t, k, "skill_read", `{"skill_name":"x","path":"`+name+`"}`)
		if r.Success != want || strings.Contains(string(r.Encode()), "SECRET") {
			t.Errorf("%s: %s", name, r.Encode())
		}
	}
	r := call(t, k, "skill_read", `{"skill_name":"x"}`)
	if text := string(r.Encode()); !strings.Contains(text, "a.md") || strings.Contains(text, `.env"`) || strings.Contains(text, ".ssh") || strings.Contains(text, ".git/") {
		t.Errorf("listed are %s", text)
	}
}
