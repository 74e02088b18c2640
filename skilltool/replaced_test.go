package skilltool

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	c, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "plugin", Source: source}}, Trust: trust})
	if err != nil {
		t.Fatal(err)
	}
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
}
