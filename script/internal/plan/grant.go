package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Grant is what the user gave the scripts of a skill. The zero value gives nothing.
type Grant struct {
	Declared bool     // what Declared returns of the manifest counts
	Withheld want.Set // what does not count of that

	// Given has further variables by their exact names, of which one that never passes is ignored; files and folders, absolute or
	// want.Here; hosts, of which want.Any is the whole network; packages that scripts need in addition to those that the skill
	// declares; and want.Home for the user's own folder as HOME. A host from want.Seen or want.Declared is reached at public
	// addresses only, another one also at those of this machine and its own network.
	Given want.Set

	Note    string             // what the caller of a run should know, such as that a grant has lapsed: it is in the result's Warning
	Confine runner.Confinement // whether they may run without a sandbox, if it is stricter than Options.Confine says; "" leaves it
	Env     []string           // NAME=value of the variables that they may get, in place of all those of the operator; nil leaves those of the operator
}

// Declared returns what a manifest's permissions give its scripts once the skill may run: patterns of variables, but not those of
// model providers and those that forward nothing, hosts, and folders.
func Declared(m *manifest.Manifest) want.Set {
	out, _ := m.Permissions.Asked.Split(func(w want.Want) bool {
		never := w.Kind == want.Variable && (variable.CheckDeclared(w.Name) != nil || variable.Matches(providers, strings.ToUpper(w.Name)))
		return w.Kind.Permitted() && !never
	})
	return out
}

// Declare adds to a grant what a manifest declares, unless it is withheld. A folder below the home is an absolute one here.
func Declare(g *Grant, m *manifest.Manifest, home string) {
	for _, w := range Declared(m).Without(g.Withheld...) {
		if w.Kind.Files() {
			if w.Name = folder(w.Name, home); w.Name == "" {
				continue
			}
		}
		g.Given = g.Given.Add(w)
	}
}

// folder returns a folder of a manifest as a path of this machine; "" for one below a home that there is not.
func folder(dir, home string) string {
	below, inHome := strings.CutPrefix(dir, "~/")
	switch {
	case inHome && home != "":
		return filepath.Join(home, filepath.FromSlash(below))
	case !inHome && (dir == want.Here || filepath.IsAbs(dir)):
		return dir
	}
	return ""
}

// Passes reports whether the scripts of a skill with this manifest get a variable that the operator has.
func (g *Grant) Passes(m *manifest.Manifest, name string) bool {
	one := *g
	if one.Declared {
		Declare(&one, m, "")
	}
	return PassingOf(&one).Allows(name)
}

// PassingOf returns which variables pass to the scripts of a skill.
func PassingOf(g *Grant) *Passing {
	declared, given := g.Given.Kind(want.Variable).Split(func(w want.Want) bool { return w.From == want.Declared })
	return &Passing{declared: declared.Named(want.Variable), granted: given.Named(want.Variable)}
}

// Packages returns the packages that scripts need in addition.
func Packages(g *Grant) []string { return g.Given.Named(want.Package) }

// Writes reports whether scripts may write files of the user.
func Writes(g *Grant) bool { return len(g.Given.Named(want.Write)) > 0 }

// OwnHome reports whether HOME is the user's own.
func OwnHome(g *Grant) bool { return g.Given.Has(want.Of(want.Home, "")) }

// Network returns which hosts scripts may reach.
func Network(g *Grant) runner.Network {
	all, hosts := g.Given.Kind(want.Host).Split(func(w want.Want) bool { return w.Name == want.Any })
	_, chosen := hosts.Split(func(w want.Want) bool { return slices.Contains([]want.Origin{want.Seen, want.Declared}, w.From) })
	return runner.Network{All: len(all) > 0, Hosts: hosts.Named(want.Host), Private: chosen.Named(want.Host)}
}
