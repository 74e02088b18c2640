package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/unknown"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// Grant records what the user gave to one content of one skill, beyond that its scripts may run. It is bound to the digest:
// another content of the skill has none of it. The store keeps fields that this version does not know.
type Grant struct {
	Name      string    `json:"name"`          // canonical
	Layer     string    `json:"layer"`         // as in Approval: the content there has one grant
	Digest    string    `json:"digest"`        // of the content that it is for, as in Approval
	Dir       string    `json:"dir,omitempty"` // as in Approval
	GrantedAt time.Time `json:"granted_at"`    // whole seconds, UTC

	// Given is what its scripts get: exact names of variables, clean absolute folders or want.Here, hosts, the user's home, and packages
	// in addition to those that they declare. A host from want.Seen is one that the answer to a question gave because the texts of
	// the scripts name it; it is reached at public addresses only. A sandbox enforces folders and hosts. Without one scripts reach
	// everything that the user does.
	Given want.Set `json:"given,omitempty"`

	// Withheld is what the manifest's permissions declare and its scripts do not get. Unlike Given it does not lapse: what declares
	// the same in another content of the folder is withheld, too, until it is given.
	Withheld want.Set `json:"withheld,omitempty"`

	Files []File `json:"files,omitempty"` // the content, to show what changed when the grant lapses
	Whole string `json:"whole,omitempty"` // as in Approval
}

// ID returns what the grant is for.
func (g *Grant) ID() skill.ID { return skill.ID{Layer: g.Layer, Name: g.Name, Digest: g.Digest} }

func (g *Grant) is(digest string) bool {
	return g.Digest == digest || g.Whole != "" && g.Whole == digest
}

// Empty reports whether nothing is granted and nothing withheld.
func (g *Grant) Empty() bool { return len(g.Given)+len(g.Withheld) == 0 }

// Local returns an error for a grant that only makes sense on one machine, because it names a folder or gives the home.
func (g *Grant) Local() error {
	for _, w := range g.Given {
		switch {
		case w.Kind == want.Home:
			return errors.New("it gives the home of one machine")
		case w.Kind.Files():
			return fmt.Errorf("it names the folder %q of one machine", w.Name)
		}
	}
	return nil
}

func (g *Grant) check() error {
	a := Approval{Layer: g.Layer, Name: g.Name, Digest: g.Digest, Dir: g.Dir, Files: g.Files}
	if err := a.check(); err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	if err := cmp.Or(g.Given.Check(), g.Withheld.Check()); err != nil {
		return fmt.Errorf("grant for %q: %w", g.Name, err)
	}
	for _, w := range g.Given {
		switch {
		case w.Kind == want.Variable:
			if strings.ContainsAny(w.Name, `*?[]\`) {
				return fmt.Errorf("grant for %q: %q is not the name of a variable", g.Name, w.Name)
			}
		case w.Kind.Files():
			if w.Name != want.Here && (!filepath.IsAbs(w.Name) || filepath.Clean(w.Name) != w.Name) {
				return fmt.Errorf("grant for %q: folder %q is not a clean absolute path", g.Name, w.Name)
			}
		}
		if !w.Kind.Granted() {
			return fmt.Errorf("grant for %q: a %s cannot be granted", g.Name, w.Kind)
		}
	}
	return nil
}

// tidy sorts the sets, so the same grant has the same text.
func (g *Grant) tidy() { g.Given, g.Withheld = want.New(g.Given...), want.New(g.Withheld...) }

// storedGrant is a grant with the fields that this version does not know.
type storedGrant struct {
	Grant
	rest unknown.Fields
}

// UnmarshalJSON keeps the unknown fields.
func (g *storedGrant) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &g.Grant); err != nil {
		return err
	}
	return g.rest.Split(text, &g.Grant)
}

// MarshalJSON writes the unknown fields after the others.
func (g storedGrant) MarshalJSON() ([]byte, error) {
	return g.rest.Join(g.Grant)
}

// EditGrant changes the grant of a skill. key has the name, the layer, the digest, the files and perhaps the folder of the present content;
// its other fields are ignored. edit gets the grant of that content. Without one it gets a grant that gives nothing, has a zero GrantedAt,
// and withholds what the grant of another content in the same place does, which has lapsed and is replaced. A grant that is empty after
// edit is removed. The errors are those of Approve, and that of edit, after which nothing was written.
func (s *Store) EditGrant(ctx context.Context, key Grant, edit func(*Grant) error) error {
	key.Name, key.Dir = manifest.Canonical(key.Name), s.noted(key.Layer, key.Dir)
	return s.change(ctx, func(f *file, c *document.Change) error {
		had := false
		g := storedGrant{Grant: Grant{Layer: key.Layer, Name: key.Name, Digest: key.Digest, Dir: key.Dir}}
		at := slices.IndexFunc(f.Grants, func(b storedGrant) bool { return b.Name == key.Name && b.Layer == key.Layer })
		switch {
		case at < 0:
		case f.Grants[at].is(key.Digest):
			g = f.Grants[at]
			had = !g.Empty()
		default:
			g.Withheld = f.Grants[at].Withheld
		}
		before := g.Grant
		before.tidy() // the lists are its own
		if err := edit(&g.Grant); err != nil {
			return err
		}
		g.Layer, g.Name, g.Digest, g.Dir, g.Files = key.Layer, key.Name, key.Digest, key.Dir, key.Files
		g.GrantedAt = s.now().UTC().Truncate(time.Second)
		g.tidy()
		if err := g.check(); err != nil {
			return err
		}
		if err := g.Local(); s.Kept != nil && err != nil {
			return fmt.Errorf("a grant that machines share cannot be for files: %w", err)
		}
		if at >= 0 {
			f.Grants = slices.Delete(f.Grants, at, at+1)
		}
		if !g.Empty() || len(g.rest) > 0 {
			f.Grants = append(f.Grants, g)
		}
		if had || !g.Empty() {
			c.Events, c.Takes = []trace.Event{granted(&g.Grant)}, onlyTakes(&before, &g.Grant)
		}
		return nil
	})
}

// Grants returns all grants, sorted by name and place, those of former contents included. The caller must not change
// their lists.
func (s *Set) Grants() []Grant { return slices.Clone(s.grants) }

// Grant returns what was given to a content of a skill, and whether there is such a grant. That of its own place is preferred to others.
func (s *Set) Grant(id skill.ID) (Grant, bool) {
	var found *Grant
	for i := range s.grants {
		g := &s.grants[i]
		if g.Name == manifest.Canonical(id.Name) && g.is(id.Digest) && !apart(g.Layer, id.Layer) && (found == nil || g.Layer == id.Layer) {
			found = g
		}
	}
	if found == nil {
		return Grant{}, false
	}
	return *found, true
}

// Lapsed returns the grant that a former content in the place of a skill had, unless its present content has one too.
func (s *Set) Lapsed(id skill.ID) (Grant, bool) {
	if _, ok := s.Grant(id); ok {
		return Grant{}, false
	}
	for _, g := range s.grants {
		if g.Name == manifest.Canonical(id.Name) && g.Layer == id.Layer && !g.is(id.Digest) {
			return g, true
		}
	}
	return Grant{}, false
}

// HasGrants reports whether anything was ever granted under a name. While it was not, no digest is needed to know that.
func (s *Set) HasGrants(name string) bool {
	return slices.ContainsFunc(s.grants, func(g Grant) bool { return g.Name == manifest.Canonical(name) })
}
