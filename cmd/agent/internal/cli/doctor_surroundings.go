package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	engine "github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
)

// pathState is the PATH of scripts.
type pathState struct {
	Dirs    []string         `json:"dirs"`
	Dropped []engine.Dropped `json:"dropped"` // of the operator's PATH
}

// homeState is the private home of a skill.
type homeState struct {
	Skill string `json:"skill"`
	Dir   string `json:"dir"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// surroundings finds out where scripts find programs, and which homes skills have.
func (d *diagnosis) surroundings(o *doctorOptions) {
	dirs, dropped := o.settings.ScriptPath()
	d.Path = pathState{append([]string{}, dirs...), append([]engine.Dropped{}, dropped...)}
	d.Homes = []homeState{}
	host, err := o.tools.Host()
	if err != nil {
		return // without a home of its own the program keeps none
	}
	for _, h := range host.Homes() {
		d.Homes = append(d.Homes, homeState{h.Skill, h.Dir, h.Files, h.Bytes})
	}
}

// runtimeState is a program that can run toolsets.
type runtimeState struct {
	Name     string `json:"name"`
	Path     string `json:"path,omitempty"`
	Version  string `json:"version,omitempty"` // as it says it
	Toolsets string `json:"toolsets"`          // what it runs, or what it lacks
}

// runtimes says which programs can run toolsets of which languages. It starts them for their versions.
func (o *doctorOptions) runtimes(ctx context.Context, programs []program) []runtimeState {
	out := []runtimeState{}
	host, err := o.tools.Host()
	if err != nil {
		return out // without a home of its own the program starts none
	}
	for _, name := range []string{"python3", "node", "bun", "deno"} {
		r := runtimeState{Name: name, Toolsets: "not installed"}
		if i := slices.IndexFunc(programs, func(p program) bool { return p.Name == name }); i >= 0 && programs[i].Path != "" {
			r.Path = programs[i].Path
			said, err := host.Version(ctx, r.Path)
			if fields := strings.Fields(said); err == nil && len(fields) > 0 {
				r.Version = fields[min(1, len(fields)-1)]
			}
			if r.Toolsets = runs(name, r.Version); r.Version == "" {
				r.Toolsets = "does not say its version"
				if err != nil {
					r.Toolsets = err.Error()
				}
			}
		}
		out = append(out, r)
	}
	return out
}

// firstTypes is the first major version of Node.js that runs TypeScript.
const firstTypes = 22

// runs says which toolsets a runtime of a version runs.
func runs(name, version string) string {
	switch major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "."); {
	case name == "python3":
		return "Python"
	case name != "node":
		return "TypeScript, JavaScript"
	default:
		if n, err := strconv.Atoi(major); err != nil || n < firstTypes {
			return fmt.Sprintf("JavaScript; TypeScript needs Node.js %d or newer, bun or deno", firstTypes)
		}
		return "TypeScript, JavaScript"
	}
}

// printRuntimes shows what can run toolsets.
func (o *doctorOptions) printRuntimes(list []runtimeState) error {
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{"  " + r.Name, output.OrDash(r.Version), r.Toolsets})
	}
	return o.titled("Toolsets are run by", rows)
}

// grants lists all grants. One that gives something lapses when its skill has another content, unless its own is kept for a rollback.
func (t *trustState) grants(ctx context.Context, cat *skill.Catalog, set *trust.Set, installed *packages.Installed) {
	for _, g := range set.Grants() {
		former := installed.Former(g.Name, g.Digest)
		v := grants.ViewOf(&g, !former && len(g.Given) > 0 && lapsed(ctx, cat, &g))
		v.Former = former
		t.Grants = append(t.Grants, v)
	}
}

// lapsed reports whether the skill that a grant is for has another content. A skill that this command does not see, such as
// one below a folder of --skills-dir, may be unchanged.
func lapsed(ctx context.Context, cat *skill.Catalog, g *trust.Grant) bool {
	e, err := cat.Lookup(g.Name)
	if err != nil {
		return false
	}
	s, err := e.Load(ctx)
	if err != nil {
		return true
	}
	defer s.Close()
	digest, err := s.Digest(ctx)
	return err != nil || digest != g.Digest
}

// grantRow describes a grant in a line.
func grantRow(g *grants.View) string {
	parts := []string{fmt.Sprintf("%s [%s]", g.Name, output.Short(g.Digest))}
	if g.Former {
		parts[0] += " (a former version, kept for agent skill rollback)"
	}
	if g.Lapsed {
		return parts[0] + " has lapsed; again with: " + g.Repeat
	}
	if text := g.Text(); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// printSandbox shows what confines scripts, what is missing, and what would provide it.
func (o *doctorOptions) printSandbox(state *sandbox.State) error {
	rows := [][]string{{"  setting", state.Setting}, {"  tier", state.Text()}}
	for _, layer := range state.Layers {
		rows = append(rows, []string{"  has", layer})
	}
	for _, layer := range state.Missing {
		rows = append(rows, []string{"  lacks", layer})
	}
	if state.Cure != "" {
		rows = append(rows, []string{"  cure", state.Cure})
	}
	return o.titled("Sandbox of scripts", rows)
}

// printSurroundings shows the PATH of scripts and the homes of skills.
func (o *doctorOptions) printSurroundings(d *diagnosis) error {
	rows := [][]string{{"  used", output.OrDash(strings.Join(d.Path.Dirs, string(filepath.ListSeparator)))}}
	for _, dropped := range d.Path.Dropped {
		rows = append(rows, []string{"  left out", fmt.Sprintf("%q %s", dropped.Dir, dropped.Reason)})
	}
	if err := o.titled("PATH of scripts", rows); err != nil {
		return err
	}
	rows = nil
	var bytes int64
	for _, h := range d.Homes {
		if h.Files == 0 {
			continue
		}
		bytes += h.Bytes
		rows = append(rows, []string{"  " + h.Skill, fmt.Sprintf("%s, %s", output.Count(h.Files, "file"), bytesText(h.Bytes)), h.Dir})
	}
	if len(rows) == 0 {
		return nil
	}
	rows = append(rows, []string{"  together", bytesText(bytes), cure.Untrust("NAME") + " removes one"})
	return o.titled("Private homes of skills", rows)
}

// printUnread shows the folders of other agents, and what installs their skills.
func (o *doctorOptions) printUnread(list []library.Unread) error {
	var rows [][]string
	for _, u := range list {
		rows = append(rows, []string{"  " + strconv.Itoa(len(u.Skills)), u.Dir, u.Command})
	}
	if len(rows) == 0 {
		return nil
	}
	return o.titled("Skills of other agents, which are not read", rows)
}
