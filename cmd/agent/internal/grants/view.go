package grants

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// View is a grant as info, why and doctor show it.
type View struct {
	Name, Digest string
	Given        want.Set
	Withheld     want.Set // what the manifest declares and its scripts do not get
	Lapsed       bool     // the content has changed, so nothing that was given holds
	Former       bool     // it is of a former version of an installed skill, and holds again after a rollback
	Repeat       string   // the command that grants it again, if it has lapsed
}

// ViewOf returns a grant as it is shown.
func ViewOf(t *trust.Grant, lapsed bool) *View {
	v := &View{Name: t.Name, Digest: t.Digest, Given: t.Given, Withheld: t.Withheld, Lapsed: lapsed}
	if lapsed {
		v.Repeat = cure.Repeat(t)
	}
	return v
}

// MarshalJSON returns an object with a key for each kind of thing that a user can give: the names, or whether it is given for a kind
// without names. Any host is "*".
func (v *View) MarshalJSON() ([]byte, error) {
	out := map[string]any{"name": v.Name, "digest": v.Digest, "withheld": WordsOf(v.Withheld), "lapsed": v.Lapsed}
	if v.Former {
		out["former"] = true
	}
	if v.Repeat != "" {
		out["repeat"] = v.Repeat
	}
	for _, k := range want.Kinds() {
		switch key := k.Title(want.User); {
		case key == "":
		case k.Single():
			out[key] = len(v.Given.Kind(k)) > 0
		default:
			out[key] = append([]string{}, v.Given.Named(k)...)
		}
	}
	return json.Marshal(out)
}

// Text describes a grant, "" for an empty one.
func (v *View) Text() string {
	var parts []string
	for _, k := range want.Kinds() {
		if names := v.Given.Named(k); len(names) > 0 {
			parts = append(parts, strings.TrimSpace(k.Title(want.User)+" "+hereText(names)))
		}
	}
	if len(v.Withheld) > 0 {
		parts = append(parts, "withheld: "+strings.Join(WordsOf(v.Withheld), " "))
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

// Lacks reports whether a grant has less than another, packages aside.
func (v *View) Lacks(other *View) bool {
	_, others := other.Given.Split(func(w want.Want) bool { return w.Kind == want.Package })
	return len(others.Without(v.Given...)) > 0
}

// View returns the grant of a skill, or the one that has lapsed; nil without any.
func (g *Grants) View(ctx context.Context, s *skill.Skill) (*View, error) {
	granted, lapsed, err := g.Find(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case lapsed != nil:
		return ViewOf(lapsed, true), nil
	case granted.Name != "":
		return ViewOf(&granted, false), nil
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
func (g *Grants) Variables(ctx context.Context, s *skill.Skill, seen *script.Seen) ([]Variable, error) {
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
	for _, name := range seen.Wants().Named(want.Variable) {
		at(name).Files = seen.Readers(want.VariableOf(name))
	}
	for _, name := range slices.Concat(m.Permissions.Asked.Named(want.Variable), script.Forwarded(m, g.sys.Environ), m.RequiresEnv) {
		if script.Shown(name) {
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

// Text describes a variable on a line.
func (v *Variable) Text() string {
	parts := []string{"reads " + v.Name}
	if v.Files == 0 {
		parts[0] = "declares " + v.Name
	} else if v.Declared {
		parts = append(parts, "declared")
	}
	if v.Provider {
		parts = append(parts, "a model provider's")
	}
	if v.Set {
		return strings.Join(append(parts, "which you have set"), ", ")
	}
	return strings.Join(append(parts, "not set"), ", ")
}
