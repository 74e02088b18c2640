package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
)

// RepeatGrant is the command that grants the same again; two commands if packages were added too.
func RepeatGrant(t *trust.Grant) string {
	var commands []string
	if given := (&Given{Env: t.Env, Home: t.Home, Read: t.Read, Write: t.Write, Net: t.Net}); !given.Empty() {
		commands = append(commands, grantCommand(t.Name, given))
	}
	if len(t.With) > 0 {
		commands = append(commands, withCommand(t.Name, t.With))
	}
	if len(t.Withheld) > 0 {
		commands = append(commands, "agent skill revoke "+t.Name+" --env "+ShellWord(strings.Join(t.Withheld, ",")))
	}
	return strings.Join(commands, " && ")
}

// GrantCure is the command that grants variables.
func GrantCure(name string, variables []string) string {
	return grantCommand(name, &Given{Env: variables})
}

func grantCommand(name string, a *Given) string {
	words := []string{"agent skill grant", name}
	if len(a.Env) > 0 {
		words = append(words, "--env "+ShellWord(strings.Join(a.Env, ",")))
	}
	if a.Home {
		words = append(words, "--home")
	}
	for _, flag := range []struct {
		name   string
		values []string
	}{{"--read ", a.Read}, {"--write ", a.Write}, {"--net ", a.Net}} {
		for _, value := range flag.values {
			words = append(words, flag.name+ShellWord(value))
		}
	}
	return strings.Join(words, " ")
}

// GrantView is a grant as info, why and doctor show it.
type GrantView struct {
	Name     string   `json:"name"`
	Digest   string   `json:"digest"`
	Env      []string `json:"env"`
	Withheld []string `json:"withheld"` // entries of permissions.env that do not pass
	Home     bool     `json:"home"`
	With     []string `json:"with"`
	Lapsed   bool     `json:"lapsed"` // the content has changed, so nothing of it holds
	Repeat   string   `json:"repeat,omitempty"`

	Recorded Recorded `json:"recorded_not_enforced"`
}

// Recorded is the part of a grant that nothing enforces yet.
type Recorded struct {
	Read  []string `json:"read"`
	Write []string `json:"write"`
	Net   []string `json:"net"`
}

// ViewGrant returns a grant as it is shown.
func ViewGrant(t *trust.Grant, lapsed bool) *GrantView {
	list := func(values []string) []string { return append([]string{}, values...) }
	v := &GrantView{Name: t.Name, Digest: t.Digest, Env: list(t.Env), Withheld: list(t.Withheld), Home: t.Home, With: list(t.With), Lapsed: lapsed,
		Recorded: Recorded{list(t.Read), list(t.Write), list(t.Net)}}
	if lapsed {
		v.Repeat = RepeatGrant(t)
	}
	return v
}

// Enforced describes the part of a grant that has an effect, "" without one.
func (v *GrantView) Enforced() string {
	var parts []string
	if len(v.Env) > 0 {
		parts = append(parts, "env "+strings.Join(v.Env, " "))
	}
	if v.Home {
		parts = append(parts, "HOME is your own")
	}
	if len(v.With) > 0 {
		parts = append(parts, "with "+strings.Join(v.With, " "))
	}
	if len(v.Withheld) > 0 {
		parts = append(parts, "not passed: "+strings.Join(v.Withheld, " "))
	}
	return strings.Join(parts, "; ")
}

// Noted describes the part of a grant that nothing enforces yet, "" without one.
func (v *GrantView) Noted() string {
	var parts []string
	for _, one := range []struct {
		verb   string
		values []string
	}{{"read ", v.Recorded.Read}, {"write ", v.Recorded.Write}, {"net ", v.Recorded.Net}} {
		if len(one.values) > 0 {
			parts = append(parts, one.verb+hereText(one.values))
		}
	}
	return strings.Join(parts, "; ")
}

// hereText joins folders or hosts, and says what trust.Here means.
func hereText(values []string) string {
	out := slices.Clone(values)
	for i, value := range out {
		if value == trust.Here {
			out[i] = "where it is started"
		}
	}
	return strings.Join(out, ", ")
}

// Lacks reports whether a grant has less than another.
func (v *GrantView) Lacks(other *GrantView) bool {
	less := func(have, want []string) bool {
		return slices.ContainsFunc(want, func(item string) bool { return !slices.Contains(have, item) })
	}
	return other.Home && !v.Home || less(v.Env, other.Env) || less(v.Recorded.Read, other.Recorded.Read) ||
		less(v.Recorded.Write, other.Recorded.Write) || less(v.Recorded.Net, other.Recorded.Net)
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
	for _, name := range slices.Concat(m.Permissions.Env, script.Forwarded(m, g.sys.Environ), m.RequiresEnv) {
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
