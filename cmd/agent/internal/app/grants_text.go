package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// GrantView is a grant as info, why and doctor show it.
type GrantView struct {
	Name     string   `json:"name"`
	Digest   string   `json:"digest"`
	Env      []string `json:"env"`
	Withheld []string `json:"withheld"` // what the manifest declares and its scripts do not get
	Home     bool     `json:"home"`
	With     []string `json:"with"`
	Lapsed   bool     `json:"lapsed"`           // the content has changed, so nothing of it holds
	Former   bool     `json:"former,omitempty"` // it is of a former version of an installed skill, and holds again after a rollback
	Repeat   string   `json:"repeat,omitempty"`

	Read  []string `json:"read"`
	Write []string `json:"write"`
	Net   []string `json:"net"` // hosts; "*" is every host
}

// ViewGrant returns a grant as it is shown.
func ViewGrant(t *trust.Grant, lapsed bool) *GrantView {
	list := func(k want.Kind) []string { return append([]string{}, t.Given.Named(k)...) }
	v := &GrantView{Name: t.Name, Digest: t.Digest, Env: list(want.Variable), Withheld: []string{}, Home: t.Given.Has(ownWords["home"]), With: list(want.Package), Lapsed: lapsed,
		Read: list(want.Read), Write: list(want.Write), Net: list(want.Host)}
	for _, w := range t.Withheld {
		v.Withheld = append(v.Withheld, wordOf(w))
	}
	if lapsed {
		v.Repeat = cure.Repeat(t)
	}
	return v
}

// Text describes a grant, "" for an empty one.
func (v *GrantView) Text() string {
	var parts []string
	add := func(verb string, values []string) {
		if len(values) > 0 {
			parts = append(parts, verb+" "+hereText(values))
		}
	}
	if len(v.Env) > 0 {
		parts = append(parts, "env "+strings.Join(v.Env, " "))
	}
	if v.Home {
		parts = append(parts, "HOME is your own")
	}
	add("read", v.Read)
	add("write", v.Write)
	add("net", v.Net)
	if len(v.With) > 0 {
		parts = append(parts, "with "+strings.Join(v.With, " "))
	}
	if len(v.Withheld) > 0 {
		parts = append(parts, "withheld: "+strings.Join(v.Withheld, " "))
	}
	return strings.Join(parts, "; ")
}

// hereText joins folders or hosts, and says what want.Here and want.Any mean.
func hereText(values []string) string {
	out := slices.Clone(values)
	for i, value := range out {
		switch value {
		case want.Here:
			out[i] = "where it is started"
		case want.Any:
			out[i] = "every host"
		}
	}
	return strings.Join(out, ", ")
}

// Lacks reports whether a grant has less than another.
func (v *GrantView) Lacks(other *GrantView) bool {
	less := func(have, want []string) bool {
		return slices.ContainsFunc(want, func(item string) bool { return !slices.Contains(have, item) })
	}
	return other.Home && !v.Home || less(v.Env, other.Env) || less(v.Read, other.Read) ||
		less(v.Write, other.Write) || less(v.Net, other.Net)
}

// View returns the grant of a skill, or the one that has lapsed; nil without any.
func (g *Grants) View(ctx context.Context, s *skill.Skill) (*GrantView, error) {
	granted, lapsed, err := g.find(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case lapsed != nil:
		return ViewGrant(lapsed, true), nil
	case granted.Name != "":
		return ViewGrant(&granted, false), nil
	}
	return nil, nil
}

// Variable is an environment variable that a skill declares or that its scripts read.
type Variable struct {
	Name     string `json:"name"`
	Set      bool   `json:"set"`                    // the operator has it
	Declared bool   `json:"declared"`               // by SKILL.md
	Provider bool   `json:"provider_key,omitempty"` // of a model provider: it passes only if it is granted
	Passes   bool   `json:"passes"`                 // the scripts get it when it is set
	Files    int    `json:"files"`                  // that read it
}

// Variables returns what a skill's SKILL.md declares and its scripts read: those that are set first, then the declared ones,
// then those that look like keys, then by name.
func (g *Grants) Variables(ctx context.Context, s *skill.Skill) ([]Variable, error) {
	granted, _, err := g.given(ctx, s)
	if err != nil {
		return nil, err
	}
	m := s.Manifest()
	found := map[string]*Variable{}
	at := func(name string) *Variable {
		if found[name] == nil {
			_, set := g.sys.Lookup(name)
			found[name] = &Variable{Name: name, Set: set, Provider: script.IsProviderKey(name)}
		}
		return found[name]
	}
	for name, files := range script.Reads(s) {
		at(name).Files = files
	}
	for _, name := range slices.Concat(m.Permissions.Asked.Named(want.Variable), script.Forwarded(m, g.sys.Environ), m.RequiresEnv) {
		if script.CheckGrant(name) == nil && !script.AlwaysPasses(name) {
			at(name).Declared = true
		}
	}
	for name, v := range found {
		v.Passes = granted.Passes(m, name)
	}
	out := make([]Variable, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, *found[name])
	}
	slices.SortStableFunc(out, func(a, b Variable) int { return weight(&b) - weight(&a) })
	return out, nil
}

func weight(v *Variable) (w int) {
	for i, yes := range []bool{script.IsKey(v.Name), v.Declared, v.Set} {
		if yes {
			w += 1 << i
		}
	}
	return w
}
