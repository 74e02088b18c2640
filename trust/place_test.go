package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// C57, C65: a record of a skill is for its content and its place, and no name, link or other layer lets it count for others.
func TestPlaces(t *testing.T) {
	top := t.TempDir()
	under := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	write := func(folder, name, text string) {
		t.Helper()
		must(t, os.MkdirAll(under(folder), 0o700))
		must(t, os.WriteFile(filepath.Join(under(folder), "SKILL.md"), fmt.Appendf(nil, "---\nname: %s\ndescription: Does it.\n---\n%s\n", name, text), 0o600))
	}
	s := newStore(t)
	open := func(layer, folder string) *skill.Skill {
		t.Helper()
		c, err := skill.Open(t.Context(), &skill.Options{Trust: s.Trust, Layers: []skill.Layer{{Name: layer, Source: skill.Dir(filepath.Dir(under(folder)), nil)}}})
		must(t, err)
		for e := range c.All() {
			if e.Path() == filepath.Base(folder) {
				k, err := e.Load(t.Context())
				must(t, err)
				t.Cleanup(func() { _ = k.Close() })
				return k
			}
		}
		t.Fatalf("nothing in %s: %v", folder, c.Problems())
		return nil
	}
	is := func(what, layer, folder string, want skill.Trust) {
		t.Helper()
		if got, err := open(layer, folder).Trust(t.Context()); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	approve := func(layer, folder string) skill.ID {
		t.Helper()
		k := open(layer, folder)
		id, err := k.ID(t.Context())
		must(t, err)
		dir, err := k.Dir(t.Context())
		must(t, err)
		must(t, s.Approve(t.Context(), Approval{Layer: id.Layer, Name: id.Name, Digest: id.Digest, Dir: dir}))
		return id
	}
	write("a/skills/x", "x", "One.")
	write("b/skills/x", "x", "Two.")
	id := approve("project", "a/skills/x")
	is("itself", "project", "a/skills/x", skill.TrustApproved)
	is("by another layer", "extra", "a/skills/x", skill.TrustApproved)
	is("the same name in another project", "project", "b/skills/x", skill.TrustNone)

	// What is withheld in one project is withheld there only. A grant is for the content, wherever it is.
	must(t, s.EditGrant(t.Context(), Grant{Layer: id.Layer, Name: id.Name, Digest: id.Digest}, func(g *Grant) error {
		g.Given, g.Withheld = want.Each(want.Variable, want.User, "A"), want.Each(want.Host, want.Declared, "a.example")
		return nil
	}))
	other, err := open("project", "b/skills/x").ID(t.Context())
	must(t, err)
	set := loaded(t, s)
	if g, ok := set.Grant(other); ok {
		t.Errorf("the other project has %+v", g)
	}
	if g, ok := set.Lapsed(other); ok {
		t.Errorf("the other project had %+v", g)
	}

	// A former content of the folder is no longer trusted, by each path and layer that leads to the folder.
	must(t, os.Symlink(under("a"), under("way")))
	write("a/skills/x", "x", "Three.")
	is("changed", "project", "a/skills/x", skill.TrustChanged)
	is("changed, by a link", "project", "way/skills/x", skill.TrustChanged)
	if again := approve("extra", "way/skills/x"); again.Layer != id.Layer {
		t.Errorf("by a link it is in %s, and in %s else", again.Layer, id.Layer)
	}
	is("by both ways", "project", "a/skills/x", skill.TrustApproved)
	write("a/skills/x", "x", "One.")
	is("the former content", "project", "a/skills/x", skill.TrustChanged)
	is("the former content, by a link", "extra", "way/skills/x", skill.TrustChanged)

	// A link that leads to another folder has no records.
	must(t, os.Remove(under("way")))
	must(t, os.Symlink(under("b"), under("way")))
	is("behind a link that leads elsewhere now", "project", "way/skills/x", skill.TrustNone)
	must(t, os.Rename(under("a"), under("c")))
	must(t, os.Rename(under("b"), under("a")))
	is("another folder in the place of the approved one", "project", "a/skills/x", skill.TrustChanged)
	write("a/skills/x", "x", "Three.")
	is("with the approved content", "project", "a/skills/x", skill.TrustApproved)

	// A moved skill is the same one while its former folder is gone.
	must(t, os.RemoveAll(under("a")))
	is("moved", "project", "c/skills/x", skill.TrustChanged)

	// Names that differ only in case are one name.
	write("d/skills/y", "X", "Four.")
	is("in capitals", "project", "d/skills/y", skill.TrustChanged)
	approve("project", "d/skills/y")
	is("in capitals", "project", "d/skills/y", skill.TrustApproved)
	if n := len(loaded(t, s).Approvals()); n != 2 {
		t.Errorf("%d approvals", n)
	}

	// The file has a folder only as a note, and the note does not decide what a record is for.
	text := string(read(t, s.Path))
	for _, g := range loaded(t, s).Grants() {
		if strings.Contains(g.Layer, filepath.Base(top)) {
			t.Errorf("the place %s", g.Layer)
		}
	}
	if strings.Count(text, filepath.ToSlash(top)) != 2 {
		t.Errorf("%s", text)
	}
	must(t, os.WriteFile(s.Path, []byte(strings.ReplaceAll(text, `"dir": "`, `"dir": "/elsewhere`)), 0o600))
	is("after the note has changed", "project", "d/skills/y", skill.TrustApproved)

	// A record of a skill that is in no folder of the user's own has no note.
	in := place.Version(digest("a"))
	must(t, s.Approve(t.Context(), Approval{Layer: in, Name: "v", Digest: digest("a"), Dir: under("v")}))
	must(t, s.EditGrant(t.Context(), Grant{Layer: in, Name: "v", Digest: digest("a"), Dir: under("v")}, func(g *Grant) error {
		g.Given = want.Each(want.Variable, want.User, "A")
		return nil
	}))
	a, _ := loaded(t, s).Approval("v", in)
	if g, ok := loaded(t, s).Grant(a.ID()); !ok || a.Dir+g.Dir != "" {
		t.Errorf("%+v, %+v", a, g)
	}

	// The file of another tenant does not have it.
	s = newStore(t)
	is("for another tenant", "project", "d/skills/y", skill.TrustNone)
}
