package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
)

// Grants says what the user granted to the scripts of skills, and changes it.
type Grants struct {
	sys   *System
	trust *Trust
}

// of returns what the scripts of a skill get in a run: a script.Options.Granted. Its Note reports a grant that has lapsed.
func (g *Grants) of(ctx context.Context, s *skill.Skill) (script.Grant, error) {
	granted, lapsed, err := g.given(ctx, s)
	granted.Withheld = append(slices.Clip(granted.Withheld), refusedWords(refused(s.Manifest(), g.sys.Home, g.trust.settings.Home()))...)
	if err == nil && lapsed != nil {
		granted.Note = lapsedText(ctx, s, lapsed)
	}
	return granted, err
}

// given returns what the scripts of a skill get, and the grant that has lapsed, if there is one.
func (g *Grants) given(ctx context.Context, s *skill.Skill) (script.Grant, *trust.Grant, error) {
	if g.trust.Everything() { // no person saw what these skills ask for
		t, err := s.Trust(ctx)
		if t == skill.TrustBundled {
			return script.Grant{Declared: true, Write: []string{script.Here}}, nil, err
		}
		return script.Grant{Confine: runner.ConfineRequired}, nil, err
	}
	t, lapsed, err := g.find(ctx, s)
	if err != nil {
		return script.Grant{}, nil, err
	}
	out := script.Grant{Declared: true, Withheld: t.Withheld, Env: t.Env, Home: t.Home, With: t.With, Read: t.Read, Write: t.Write, Net: network(&t)}
	place, err := s.Trust(ctx)
	if err == nil && (place == skill.TrustBundled || place == skill.TrustRoot) { // no question was asked about them
		out.Write = append(slices.Clone(out.Write), script.Here)
	}
	if err == nil && place == skill.TrustRoot {
		out.Read = append(slices.Clone(out.Read), g.around(ctx, s)...)
	}
	return out, lapsed, err
}

// around returns the trusted folders that hold a skill: what its scripts share with others lies there. A folder that holds the
// user's home has too much else.
func (g *Grants) around(ctx context.Context, s *skill.Skill) []string {
	dir, err := grantDir(ctx, s.Entry())
	if err != nil || dir == "" {
		return nil
	}
	home := paths.Real(g.sys.Home)
	return slices.DeleteFunc(g.trust.Known().Roots(), func(root string) bool {
		return !paths.Within([]string{root}, dir) || home == "" || paths.Within([]string{root}, home)
	})
}

// seals reports whether a sealed copy of a skill runs although its place is trusted: its content was granted more than packages
// and what every skill of such a place has.
func (g *Grants) seals(ctx context.Context, s *skill.Skill) (bool, error) {
	t, _, err := g.find(ctx, s)
	t.With, t.Suggested, t.Withheld, t.Write = nil, nil, nil, without(t.Write, trust.Here)
	return !t.Empty(), err
}

// network returns what a grant lets scripts reach. A host that the user named may have a private address; one that a question
// suggested may not.
func network(t *trust.Grant) runner.Network {
	named := without(t.Net, trust.AnyHost)
	return runner.Network{All: len(named) < len(t.Net), Hosts: slices.Concat(named, t.Suggested), Private: named}
}

// find returns the grant of a skill's content, and the one that has lapsed, if there is one.
func (g *Grants) find(ctx context.Context, s *skill.Skill) (trust.Grant, *trust.Grant, error) {
	set := g.trust.Known()
	if !set.HasGrants(s.Canonical()) {
		return trust.Grant{}, nil, nil
	}
	dir, err := grantDir(ctx, s.Entry())
	if err != nil {
		return trust.Grant{}, nil, err
	}
	digest, err := s.Digest(ctx)
	if ctx.Err() != nil {
		return trust.Grant{}, nil, ctx.Err()
	} else if err != nil {
		digest = "" // no grant is for such a content
	}
	if found, ok := set.Grant(s.Canonical(), dir, digest); ok {
		return found, nil, nil
	}
	if lapsed, ok := set.Lapsed(s.Canonical(), dir, digest); ok {
		return trust.Grant{}, &lapsed, nil
	}
	return trust.Grant{}, nil, nil
}

// grantDir returns the folder under which a skill's grant is stored, "" for a bundled skill.
func grantDir(ctx context.Context, e skill.Entry) (string, error) {
	if e.Layer() == "bundled" {
		return "", nil
	}
	file, err := e.Location(ctx)
	switch {
	case errors.Is(err, skill.ErrNoFolder):
		return "", nil
	case err != nil:
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(file))
}

// lapsedText says that a grant has lapsed, what changed, and the command that repeats it.
func lapsedText(ctx context.Context, s *skill.Skill, lapsed *trust.Grant) string {
	return fmt.Sprintf("what was granted to %s on %s has lapsed, because its content changed%s; to grant it again: %s",
		s.Name(), lapsed.GrantedAt.Format("2006-01-02"), changedText(ctx, s, lapsed), repeatGrant(lapsed))
}

// changedText lists the files that changed since a grant: " (changed scripts/a.py)".
func changedText(ctx context.Context, s *skill.Skill, lapsed *trust.Grant) string {
	sum, err := s.Sum(ctx)
	if err != nil || len(lapsed.Files) == 0 {
		return ""
	}
	const most = 4
	changes := dirhash.Diff(hashes(lapsed.Files), sum.Files)
	slices.SortStableFunc(changes, func(a, b dirhash.Change) int { return runsFirst(a.Path, b.Path) })
	var parts []string
	for _, c := range changes[:min(len(changes), most)] {
		parts = append(parts, fmt.Sprintf("%s %s", c.Kind, c.Path))
	}
	if more := len(changes) - most; more > 0 {
		parts = append(parts, Count(more, "other file"))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// runsFirst orders files that may run before others.
func runsFirst(a, b string) int {
	switch x, y := mayRun(a), mayRun(b); {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// Given is what one command or answer gives to a skill, or takes from it.
type Given struct {
	Env              []string
	Home             bool
	Read, Write, Net []string
}

// Empty reports whether it names nothing.
func (a *Given) Empty() bool {
	return !a.Home && len(a.Env)+len(a.Read)+len(a.Write)+len(a.Net) == 0
}

// Check returns an error for what cannot be granted, and brings the hosts into their usual form.
func (a *Given) Check(declared []string) error {
	for _, name := range a.Env {
		err := script.CheckGrant(name)
		switch {
		case err == nil || slices.Contains(declared, name):
		case errors.Is(err, script.ErrNeverPasses):
			return Denied(err, "")
		default:
			return Usage(err, "such as --env GITHUB_TOKEN; several with commas")
		}
	}
	return a.CheckHosts()
}

// CheckHosts returns an error for a text that is not a host, and brings the others into their usual form.
func (a *Given) CheckHosts() error {
	for i, host := range a.Net {
		if host == "all" || host == trust.AnyHost {
			a.Net[i] = trust.AnyHost
			continue
		}
		h, err := hostname.Parse(host)
		if err != nil {
			return Usage(fmt.Errorf("%q is not the name of a host: %w", host, err), "such as --net api.example.com, or --net all for every host")
		}
		a.Net[i] = h.String()
	}
	return nil
}

// Edit changes the grant of a skill's present content: it adds what give names and removes what take names; both may be nil.
// An entry of the manifest's permissions that is taken is withheld, until it is given again.
func (g *Grants) Edit(ctx context.Context, s *skill.Skill, give, take *Given) (*trust.Grant, error) {
	store, err := g.trust.Edit()
	if err != nil {
		return nil, err
	}
	key, err := grantKey(ctx, s)
	if err != nil {
		return nil, err
	}
	declared := g.declared(s.Manifest())
	err = store.EditGrant(ctx, *key, func(t *trust.Grant) error {
		if give != nil {
			add(t, give, declared)
		}
		if take != nil && !remove(t, take, declared) {
			return NotFound(fmt.Errorf("%s has nothing of that to revoke", s.Name()), "agent skill info "+s.Canonical()+" shows what it has")
		}
		return nil
	})
	if err == nil {
		err = g.trust.reload()
	}
	if err != nil {
		return nil, err
	}
	now, _ := g.trust.Known().Grant(key.Name, key.Dir, key.Digest)
	now.Name = key.Name
	return &now, nil
}

// set stores what the choice of a proposal gives: in place of what the content had, or in addition if flags alone decided.
func (g *Grants) set(ctx context.Context, p *Proposal) error {
	given := p.given()
	if p.added && given.Empty() || given.Empty() && p.granted == nil {
		return nil
	}
	store, err := g.trust.Edit()
	if err != nil {
		return err
	}
	key := trust.Grant{Name: p.approval.Name, Dir: p.approval.Dir, Digest: p.approval.Digest, Files: p.approval.Files}
	err = store.EditGrant(ctx, key, func(t *trust.Grant) error {
		if !p.added {
			*t = trust.Grant{With: slices.Concat(t.With, p.packages()), Withheld: given.Withheld, Suggested: given.Suggested}
		}
		add(t, &Given{Env: given.Env, Home: given.Home, Read: given.Read, Write: given.Write, Net: given.Net}, g.declared(p.manifest))
		return nil
	})
	if err != nil {
		return err
	}
	return g.trust.reload()
}

// grantKey returns what a grant of a skill's present content is bound to.
func grantKey(ctx context.Context, s *skill.Skill) (*trust.Grant, error) {
	dir, err := grantDir(ctx, s.Entry())
	if err != nil {
		return nil, err
	}
	sum, err := sumOf(ctx, s)
	if err != nil {
		return nil, err
	}
	key := &trust.Grant{Name: s.Canonical(), Dir: dir, Digest: sum.Digest}
	for _, f := range sum.Files {
		key.Files = append(key.Files, trust.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link})
	}
	return key, nil
}

// declared returns the entries of a manifest's permissions by the words that the user has for them: a folder below the home is
// an absolute one there.
func (g *Grants) declared(m *manifest.Manifest) map[string]string {
	out := map[string]string{}
	for _, entry := range script.Declared(m) {
		word := entry
		if kind, below, inHome := strings.Cut(entry, ":~/"); inHome && g.sys.Home != "" {
			word = kind + ":" + filepath.Join(g.sys.Home, filepath.FromSlash(below))
		}
		out[word] = entry
	}
	return out
}

// words are the single things that are given or taken, as entries of Grants.declared.
func (a *Given) words() []string {
	out := slices.Concat(a.Env, a.Net)
	for _, dir := range a.Read {
		out = append(out, script.WordRead+dir)
	}
	for _, dir := range a.Write {
		out = append(out, script.WordWrite+dir)
	}
	return out
}

func add(t *trust.Grant, give *Given, declared map[string]string) {
	for _, word := range give.words() {
		t.Withheld = without(t.Withheld, declared[word])
	}
	for _, name := range give.Env {
		if declared[name] == "" {
			t.Env = append(t.Env, name)
		}
	}
	t.Home = t.Home || give.Home
	t.Read, t.Write, t.Net = append(t.Read, give.Read...), append(t.Write, give.Write...), append(t.Net, give.Net...)
}

// remove takes something from a grant and reports whether the grant had all of it.
func remove(t *trust.Grant, take *Given, declared map[string]string) bool {
	had := !take.Home || t.Home
	for _, word := range take.words() {
		entry := declared[word]
		passes := entry != "" && !slices.Contains(t.Withheld, entry)
		if passes {
			t.Withheld = append(t.Withheld, entry)
		}
		had = had && (drop(t, word) || passes)
	}
	if take.Home {
		t.Home = false
	}
	return had
}

// drop takes a word out of a grant and reports whether it was there.
func drop(t *trust.Grant, word string) bool {
	had := false
	for _, list := range []struct {
		items  *[]string
		prefix string
	}{{&t.Env, ""}, {&t.Net, ""}, {&t.Suggested, ""}, {&t.Read, script.WordRead}, {&t.Write, script.WordWrite}} {
		item, ok := strings.CutPrefix(word, list.prefix)
		if ok && slices.Contains(*list.items, item) {
			*list.items, had = without(*list.items, item), true
		}
	}
	return had
}

func without(list []string, items ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(have string) bool { return slices.Contains(items, have) })
}

// RevokeAll removes the whole grant of a skill, of its present content or a former one. It reports whether there was one.
func (g *Grants) RevokeAll(ctx context.Context, s *skill.Skill) (bool, error) {
	store, err := g.trust.Edit()
	if err != nil {
		return false, err
	}
	set, err := g.trust.Load()
	if err != nil {
		return false, err
	}
	key, err := grantKey(ctx, s)
	if err != nil {
		return false, err
	}
	_, has := set.Grant(key.Name, key.Dir, key.Digest)
	_, lapsed := set.Lapsed(key.Name, key.Dir, key.Digest)
	if !has && !lapsed {
		return false, nil
	}
	err = store.EditGrant(ctx, *key, func(t *trust.Grant) error {
		*t = trust.Grant{With: t.With}
		return nil
	})
	if err != nil {
		return false, err
	}
	return true, g.trust.reload()
}
