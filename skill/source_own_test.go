package skill

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/fstest"
)

// placed is a foreign source of one skill that lies in dir, or nowhere.
type placed struct {
	dir   string
	err   error
	roots []string
}

func (p placed) Roots() []string { return p.roots }

func (p placed) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return own(func(context.Context) (Tree, error) {
		tree := ownTree{fstest.MapFS{"SKILL.md": {Data: []byte(skillText("a", ""))}}}
		if p.dir == "" && p.err == nil {
			return tree, nil
		}
		return placedTree{tree, p}, nil
	}).Skills(ctx)
}

type placedTree struct {
	ownTree
	p placed
}

func (t placedTree) Location(context.Context) (string, error) { return t.p.dir, t.p.err }

// A skill of a foreign source can lie in a trusted folder like one of Dir, when the source says where its skills lie.
func TestTrustedRootOfForeignSource(t *testing.T) {
	lost := errors.New("the folder is gone")
	rows := []struct {
		name   string
		source Source
		want   Trust
		err    error
	}{
		{"below the root", placed{dir: "/trusted/a", roots: []string{"/trusted"}}, TrustRoot, nil},
		{"elsewhere", placed{dir: "/other/a", roots: []string{"/other"}}, TrustNone, nil},
		{"a copy that says nothing of roots", placed{dir: "/trusted/a"}, TrustNone, nil},
		{"in memory", placed{roots: []string{"/trusted"}}, TrustNone, nil},
		{"not to be told", placed{err: lost, roots: []string{"/trusted"}}, TrustNone, lost},
		{"not rooted", SourceFunc(placed{dir: "/trusted/a"}.Skills), TrustNone, nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := opened(t, &Options{Layers: []Layer{{Name: "plugin", Source: Merge(r.source)}}, Trust: func(_ context.Context, s Subject) (Trust, error) {
				if s.Dir == "/trusted/a" {
					return TrustRoot, nil
				}
				return TrustNone, nil
			}})
			for what, ask := range map[string]func(context.Context) (Trust, error){"Entry": find(t, c, "a").Trust, "Skill": loaded(t, c, "a").Trust} {
				if got, err := ask(t.Context()); got != r.want || !errors.Is(err, r.err) {
					t.Errorf("%s: %s, %v; want %s, %v", what, got, err, r.want, r.err)
				}
			}
		})
	}
}
