package grants

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// Grants says what the user granted to the scripts of skills, and changes it.
type Grants struct {
	sys   *setup.System
	Trust *Trust
}

// Of returns what the scripts of a skill get in a run: a script.Options.Granted. Its Note reports a grant that has lapsed.
func (g *Grants) Of(ctx context.Context, s *skill.Skill) (script.Grant, error) {
	granted, err := g.of(ctx, s)
	if settings := g.Trust.settings; err == nil && settings.Served() {
		granted.Env, err = settings.Variables(func(name string) bool { return granted.Passes(s.Manifest(), name) })
	}
	return granted, err
}

// of is Of without the values of variables.
func (g *Grants) of(ctx context.Context, s *skill.Skill) (script.Grant, error) {
	granted, lapsed, err := g.given(ctx, s)
	granted.Withheld = granted.Withheld.Add(g.Refused(s.Manifest())...)
	granted.Given, _ = granted.Given.Split(func(w want.Want) bool { // what was given before the organisation said never
		d := g.Trust.settings.Policy().Decide(w)
		return d.Level != policy.Never || d.Layer == ""
	})
	if err == nil && lapsed != nil {
		granted.Note = lapsedText(ctx, s, lapsed)
	}
	return granted, err
}

// Elsewhere is Of for scripts that run on a worker, which has no folder of the user's: without the folders that a skill may use unasked. The
// values of variables are read later.
func (g *Grants) Elsewhere(ctx context.Context, s *skill.Skill) (script.Grant, error) {
	out, err := g.of(ctx, s)
	out.Given = out.Given.Without(WritesHere())
	if t, bad := s.Entry().Trust(ctx); bad == nil && t == skill.TrustRoot {
		out.Given = out.Given.Without(want.Each(want.Read, want.User, g.around(ctx, s)...)...)
	}
	return out, err
}

// given returns what the scripts of a skill get, and the grant that has lapsed, if there is one.
func (g *Grants) given(ctx context.Context, s *skill.Skill) (script.Grant, *trust.Grant, error) {
	if g.Trust.Everything() { // no person saw what these skills ask for
		t, err := s.Trust(ctx)
		if t == skill.TrustBundled {
			return script.Grant{Declared: true, Given: want.New(WritesHere())}, nil, err
		}
		return script.Grant{Confine: runner.ConfineRequired}, nil, err
	}
	t, lapsed, err := g.Find(ctx, s)
	if err != nil {
		return script.Grant{}, nil, err
	}
	out := script.Grant{Declared: true, Withheld: t.Withheld, Given: t.Given}
	place, err := s.Entry().Trust(ctx)                                           // where a sealed copy runs, the trust of the place that it is of
	if err == nil && (place == skill.TrustBundled || place == skill.TrustRoot) { // no question was asked about them
		out.Given = out.Given.Add(WritesHere())
	}
	if err == nil && place == skill.TrustRoot {
		out.Given = out.Given.Add(want.Each(want.Read, want.User, g.around(ctx, s)...)...)
	}
	return out, lapsed, err
}

// Unasked reports whether the user wants no question for each command that runs a script of a skill, whose present content may run.
func (g *Grants) Unasked(ctx context.Context, s *skill.Skill) bool {
	t, err := s.Trust(ctx)
	if err != nil || !t.Runs() {
		return false
	}
	given, _, err := g.given(ctx, s)
	return err == nil && given.Given.Has(want.Of(want.Unasked, ""))
}

// around returns the trusted folders that hold a skill: what its scripts share with others lies there. A folder that holds the
// user's home has too much else.
func (g *Grants) around(ctx context.Context, s *skill.Skill) []string {
	file, err := s.Entry().Location(ctx)
	if err != nil {
		return nil
	}
	dir := paths.Real(filepath.Dir(file))
	home := g.sys.Home
	return slices.DeleteFunc(g.Trust.Known().Roots(), func(root string) bool {
		return !paths.Within([]string{root}, dir) || home == "" || paths.Holds(root, home)
	})
}

// Seals reports whether a sealed copy of a skill runs although its place is trusted: its content was granted more than packages
// and what every skill of such a place has.
func (g *Grants) Seals(ctx context.Context, s *skill.Skill) (bool, error) {
	t, _, err := g.Find(ctx, s)
	_, more := t.Given.Split(func(w want.Want) bool { return w.Kind == want.Package || w.From == want.Seen || w == WritesHere() })
	return len(more) > 0, err
}

// Find returns the grant of a skill's content, and the one that has lapsed, if there is one that gave something. What that one
// withheld, the first one withholds as far as the content declares it.
func (g *Grants) Find(ctx context.Context, s *skill.Skill) (trust.Grant, *trust.Grant, error) {
	set := g.Trust.Known()
	if !set.HasGrants(s.Canonical()) {
		return trust.Grant{}, nil, nil
	}
	at, err := s.Entry().Place(ctx)
	if err != nil {
		return trust.Grant{}, nil, err
	}
	id := skill.ID{Layer: at, Name: s.Canonical()}
	if id.Digest, err = s.Digest(ctx); ctx.Err() != nil {
		return trust.Grant{}, nil, ctx.Err()
	} else if err != nil {
		id.Digest = "" // no grant is for such a content
	}
	if found, ok := set.Grant(id); ok {
		return found, nil, nil
	}
	lapsed, ok := set.Lapsed(id)
	if !ok {
		return trust.Grant{}, nil, nil
	}
	lapsed.Withheld = stillWithheld(&lapsed, s.Manifest())
	now := trust.Grant{Withheld: lapsed.Withheld}
	if !now.Empty() {
		now.Name, now.Digest, now.Layer = id.Name, id.Digest, id.Layer
	}
	if len(lapsed.Given) == 0 {
		return now, nil, nil
	}
	return now, &lapsed, nil
}

// begin prepares the grant that a content gets in place of one that has lapsed.
func begin(t *trust.Grant, m *manifest.Manifest) {
	if t.GrantedAt.IsZero() {
		t.Withheld = t.Withheld.Add(stillWithheld(t, m)...)
	}
}

// stillWithheld returns what a manifest declares that the grant of a former content withheld, or that includes something of it.
func stillWithheld(lapsed *trust.Grant, m *manifest.Manifest) want.Set {
	out, _ := script.Declared(m).Split(func(w want.Want) bool {
		return lapsed.Withheld.Covers(w) || slices.ContainsFunc(lapsed.Withheld, w.Covers)
	})
	return out
}

// lapsedText says that a grant has lapsed, what changed, and the command that repeats it.
func lapsedText(ctx context.Context, s *skill.Skill, lapsed *trust.Grant) string {
	return fmt.Sprintf("what was granted to %s on %s has lapsed, because its content changed%s; to grant it again: %s",
		s.Name(), lapsed.GrantedAt.Format("2006-01-02"), changedText(ctx, s, lapsed), cure.Repeat(lapsed))
}

// changedText lists the files that changed since a grant: " (changed scripts/a.py)".
func changedText(ctx context.Context, s *skill.Skill, lapsed *trust.Grant) string {
	sum, err := s.Sum(ctx)
	if err != nil || len(lapsed.Files) == 0 {
		return ""
	}
	const most = 4
	changes := dirhash.Diff(Hashes(lapsed.Files), sum.Files)
	slices.SortStableFunc(changes, func(a, b dirhash.Change) int { return runsFirst(a.Path, b.Path) })
	var parts []string
	for _, c := range changes[:min(len(changes), most)] {
		parts = append(parts, fmt.Sprintf("%s %s", c.Kind, c.Path))
	}
	if more := len(changes) - most; more > 0 {
		parts = append(parts, output.Count(more, "other file"))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// runsFirst orders files that may run before others.
func runsFirst(a, b string) int {
	switch x, y := MayRun(a), MayRun(b); {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// Edit changes the grant of a skill's present content: it adds what give names and removes what take names. An entry of the
// manifest's permissions that is taken is withheld, until it is given again.
func (g *Grants) Edit(ctx context.Context, s *skill.Skill, give, take want.Set) (*trust.Grant, error) {
	key, err := grantKey(ctx, s)
	if err != nil {
		return nil, err
	}
	m := s.Manifest()
	err = g.change(ctx, key, func(t *trust.Grant) error {
		begin(t, m)
		g.add(t, give, m)
		if !g.remove(t, take, m) {
			return failure.NotFound(fmt.Errorf("%s has nothing of that to revoke", s.Name()), "agent skill info "+s.Canonical()+" shows what it has")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	now, _ := g.Trust.Known().Grant(key.ID())
	now.Name = key.Name
	return &now, nil
}

// change edits the grant of a content. What is known of it from then on is what was stored.
func (g *Grants) change(ctx context.Context, key *trust.Grant, edit func(*trust.Grant) error) error {
	store, err := g.Trust.Edit()
	if err != nil {
		return err
	}
	if err := store.EditGrant(ctx, *key, edit); err != nil {
		return err
	}
	return g.Trust.Reload(ctx)
}

// Give adds something to the grant of a content with a manifest, after anew has made another one of it, if it is not nil.
func (g *Grants) Give(ctx context.Context, key *trust.Grant, m *manifest.Manifest, given want.Set, anew func(*trust.Grant)) error {
	return g.change(ctx, key, func(t *trust.Grant) error {
		if begin(t, m); anew != nil {
			anew(t)
		}
		g.add(t, given, m)
		return nil
	})
}

// grantKey returns what a grant of a skill's present content is bound to.
func grantKey(ctx context.Context, s *skill.Skill) (*trust.Grant, error) {
	sum, err := SumOf(ctx, s)
	if err != nil {
		return nil, err
	}
	id, err := s.ID(ctx)
	if err != nil {
		return nil, err
	}
	key := &trust.Grant{Layer: id.Layer, Name: id.Name, Digest: id.Digest}
	for _, f := range sum.Files {
		key.Files = append(key.Files, trust.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
	}
	return key, nil
}

// entry returns what a manifest declares that the user means by w: a folder below the home is an absolute one there. It reports
// whether there is one.
func (g *Grants) entry(m *manifest.Manifest, w want.Want) (want.Want, bool) {
	for _, d := range script.Declared(m) {
		name := d.Name
		if below, ok := strings.CutPrefix(name, "~/"); ok && g.sys.Home != "" {
			name = filepath.Join(g.sys.Home, filepath.FromSlash(below))
		}
		if d.Kind == w.Kind && (name == w.Name || d.Name == w.Name) {
			return d, true
		}
	}
	return want.Want{}, false
}

// add gives something. A variable that is declared passes by its entry.
func (g *Grants) add(t *trust.Grant, give want.Set, m *manifest.Manifest) {
	for _, w := range give {
		entry, declared := g.entry(m, w)
		t.Withheld = t.Withheld.Without(w)
		if declared {
			t.Withheld = t.Withheld.Without(entry)
		}
		if !declared || w.Kind != want.Variable {
			t.Given = t.Given.Add(w)
		}
	}
}

// remove takes something from a grant and reports whether the grant had all of it.
func (g *Grants) remove(t *trust.Grant, take want.Set, m *manifest.Manifest) bool {
	all := true
	for _, w := range take {
		had := t.Given.Has(w)
		t.Given = t.Given.Without(w)
		if entry, declared := g.entry(m, w); declared && !t.Withheld.Has(entry) {
			t.Withheld, had = t.Withheld.Add(entry), true
		}
		all = all && had
	}
	return all
}

// RevokeAll takes everything that a skill was given, for its present content or a former one. It reports whether there was something.
// What is withheld stays withheld.
func (g *Grants) RevokeAll(ctx context.Context, s *skill.Skill) (bool, error) {
	set, err := g.Trust.Load(ctx)
	if err != nil {
		return false, err
	}
	key, err := grantKey(ctx, s)
	if err != nil {
		return false, err
	}
	now, _ := set.Grant(key.ID())
	lapsed, _ := set.Lapsed(key.ID())
	if len(now.Given)+len(lapsed.Given) == 0 {
		return false, nil
	}
	return true, g.change(ctx, key, func(t *trust.Grant) error {
		begin(t, s.Manifest())
		t.Given = t.Given.Kind(want.Package)
		return nil
	})
}

// Refused returns what a manifest declares and nobody gives.
func (g *Grants) Refused(m *manifest.Manifest) want.Set {
	no, _ := script.Declared(m).Split(func(w want.Want) bool {
		d := g.Trust.settings.Policy().Decide(w)
		return d.Level == policy.Never && (w.Kind != want.Variable || d.Layer != "")
	})
	return no
}

// EditWith adds packages that the scripts of a skill need in addition to those that it declares, for its present content, and
// removes others.
func (g *Grants) EditWith(ctx context.Context, s *skill.Skill, add, remove []string) error {
	key, err := grantKey(ctx, s)
	if err != nil {
		return err
	}
	return g.change(ctx, key, func(t *trust.Grant) error {
		for _, name := range remove {
			_, t.Given = t.Given.Split(func(w want.Want) bool { return w.Kind == want.Package && script.SamePackage(w.Name, name) })
		}
		t.Given = t.Given.Add(want.Each(want.Package, want.User, add...)...)
		return nil
	})
}

// New returns what the user granted.
func New(sys *setup.System, trust *Trust) *Grants { return &Grants{sys: sys, Trust: trust} }
