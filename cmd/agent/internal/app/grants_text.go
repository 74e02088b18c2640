package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// repeatGrant is the command that grants the same again; several commands if packages were added too, or something is withheld.
func repeatGrant(t *trust.Grant) string {
	var commands []string
	packages, given := t.Given.Split(func(w want.Want) bool { return w.Kind == want.Package })
	if len(given) > 0 {
		commands = append(commands, grantCommand(t.Name, given))
	}
	if len(packages) > 0 {
		commands = append(commands, withCommand(t.Name, packages.Named(want.Package)))
	}
	if len(t.Withheld) > 0 {
		commands = append(commands, commandOf("revoke", t.Name, t.Withheld))
	}
	return strings.Join(commands, " && ")
}

// netCure is the command that lets the scripts of a skill reach what they could not, and gives them variables that they lacked.
// Without a known host it is the whole network. There is none, "", for a machine's own addresses such as that of a cloud's
// metadata: no script should have a person open these.
func netCure(name string, u *script.Unreached, variables []string) string {
	hosts := slices.DeleteFunc(slices.Clone(u.Hosts), func(host string) bool {
		h, err := hostname.Parse(host)
		return err != nil || hostname.IsLinkLocal(h.Host)
	})
	switch {
	case len(u.Hosts) == 0 || u.Direct:
		hosts = []string{want.Any}
	case len(hosts) == 0:
		return ""
	}
	return grantCommand(name, want.Each(want.Variable, want.User, variables...).Add(want.Each(want.Host, want.User, hosts...)...))
}

// grantCure is the command that grants variables.
func grantCure(name string, variables []string) string {
	return grantCommand(name, want.Each(want.Variable, want.User, variables...))
}

func grantCommand(name string, given want.Set) string { return commandOf("grant", name, given) }

// commandOf returns the command that grants or revokes.
func commandOf(verb, name string, wants want.Set) string {
	words := []string{"agent skill " + verb, name}
	if names := wants.Named(want.Variable); len(names) > 0 {
		words = append(words, "--env "+ShellWord(strings.Join(names, ",")))
	}
	if wants.Has(ownWords["home"]) {
		words = append(words, "--home")
	}
	for _, flag := range []struct {
		name string
		kind want.Kind
	}{{"--read ", want.Read}, {"--write ", want.Write}, {"--net ", want.Host}} {
		for _, value := range wants.Named(flag.kind) {
			if value == want.Any {
				value = "all"
			}
			words = append(words, flag.name+homeWord(value))
		}
	}
	return strings.Join(words, " ")
}

// homeWord is ShellWord, but leaves "~/" at the beginning to the shell.
func homeWord(value string) string {
	if below, ok := strings.CutPrefix(value, "~/"); ok {
		return "~/" + ShellWord(below)
	}
	return ShellWord(value)
}

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
		v.Repeat = repeatGrant(t)
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
	for _, name := range slices.Concat(m.Permissions.Wants().Named(want.Variable), script.Forwarded(m, g.sys.Environ), m.RequiresEnv) {
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
