package script

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Grant is what the user gave the scripts of a skill. The zero value gives nothing.
type Grant struct {
	Declared bool               // what the manifest's permissions name counts, except variables of model providers
	Withheld []string           // entries of the permissions that do not count, as Declared returns them
	Env      []string           // exact names of further variables that pass; a name that never passes is ignored
	Home     bool               // HOME is the user's own folder
	Note     string             // what the caller of a run should know, such as that a grant has lapsed: it is in the result's Warning
	Read     []string           // files and folders that scripts may read, absolute or Here
	Write    []string           // files and folders that they may write, absolute or Here
	Net      runner.Network     // what they may reach
	Confine  runner.Confinement // whether they may run without a sandbox, if it is stricter than Options.Confine says; "" leaves it
	With     []string           // packages that scripts need in addition to those that the skill declares: requirements of Python, or npm:NAME
}

// Here is the entry of Grant.Read and Grant.Write for the folder that a script is started for, whichever that is: that where
// the user stands, and also the workspace if the script starts there.
const Here = "."

// granted returns what the user gave a skill.
func (h *Host) granted(ctx context.Context, s *skill.Skill) (Grant, error) {
	if h.o.Granted == nil {
		g := Grant{Declared: true}
		g.declare(s.Manifest(), h.operatorHome())
		return g, nil
	}
	g, err := h.o.Granted(ctx, s)
	if err == nil && g.Declared {
		g.declare(s.Manifest(), h.operatorHome())
	}
	return g, err
}

// The words before a folder among the entries that Declared returns.
const (
	WordRead  = "read:"
	WordWrite = "write:"
)

// Declared returns the entries of a manifest's permissions that count once the skill may run: patterns of variables, but not
// those of model providers, hosts, and folders with WordRead or WordWrite before them.
func Declared(m *manifest.Manifest) []string {
	p := &m.Permissions
	out := slices.DeleteFunc(slices.Clone(p.Env), func(entry string) bool {
		return variable.CheckDeclared(entry) != nil || program.Matches(providers, strings.ToUpper(entry))
	})
	out = append(out, p.Network...)
	for _, dir := range p.Read {
		out = append(out, WordRead+dir)
	}
	for _, dir := range p.Write {
		out = append(out, WordWrite+dir)
	}
	return out
}

// declare adds the hosts and folders that a manifest names, unless they are withheld. A host with a private address is only
// reached if the user named it.
func (g *Grant) declare(m *manifest.Manifest, home string) {
	for _, entry := range paths.Without(Declared(m), g.Withheld) {
		read, isRead := strings.CutPrefix(entry, WordRead)
		write, isWrite := strings.CutPrefix(entry, WordWrite)
		switch {
		case isRead:
			g.Read = append(slices.Clip(g.Read), folder(read, home)...)
		case isWrite:
			g.Write = append(slices.Clip(g.Write), folder(write, home)...)
		case slices.Contains(m.Permissions.Network, entry):
			g.Net.Hosts = append(slices.Clip(g.Net.Hosts), entry)
		}
	}
	g.Net.Hosts, g.Read, g.Write = paths.Unique(g.Net.Hosts), paths.Unique(g.Read), paths.Unique(g.Write)
}

// folder returns a folder of a manifest as a path of this machine; nothing for one below a home that there is not.
func folder(dir, home string) []string {
	below, inHome := strings.CutPrefix(dir, "~/")
	switch {
	case inHome && home != "":
		return []string{filepath.Join(home, filepath.FromSlash(below))}
	case !inHome && (dir == Here || filepath.IsAbs(dir)):
		return []string{dir}
	}
	return nil
}

// Passes reports whether the scripts of a skill with this manifest get a variable that the operator has.
func (g *Grant) Passes(m *manifest.Manifest, name string) bool { return g.passing(m).allows(name) }

// passing returns which variables pass to the scripts of a skill.
func (g *Grant) passing(m *manifest.Manifest) *passing {
	p := &passing{granted: g.Env}
	if g.Declared {
		p.declared = slices.DeleteFunc(slices.Clone(m.Permissions.Env), func(entry string) bool { return slices.Contains(g.Withheld, entry) })
	}
	return p
}
