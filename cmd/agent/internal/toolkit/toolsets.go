package toolkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
)

// Toolsets returns a host of toolsets for one conversation or command, which closes it, or nil where no script is run: without
// a home. It starts nothing. denied returns the rules about files that hold when a process starts; it may be nil.
func (k *Toolkit) Toolsets(denied func() runner.Denied) (*toolset.Host, error) {
	if k.Settings.Config().Paths.Cache == "" {
		return nil, nil
	}
	scripts, err := k.Host()
	if err != nil {
		return nil, err
	}
	return k.ToolsetsOn(scripts, denied, nil)
}

// ToolsetsOn is Toolsets with the processes of a host of scripts, such as one of TestHosts. printed gets what they print; it may be nil.
func (k *Toolkit) ToolsetsOn(scripts *script.Host, denied func() runner.Denied, printed func(skillName, line string)) (*toolset.Host, error) {
	cfg := k.Settings.Config()
	return toolset.New(&toolset.Options{Scripts: scripts, Cache: cfg.Paths.Cache, Call: cfg.ScriptTimeout, MaxResult: cfg.MaxScriptOutput, Advise: k.Settings.Cures().Advise, Denied: denied, Printed: printed, Trace: k.Observe.Tracer()})
}

// ToolKit is Kit with toolsets, and a function that ends them.
func (k *Toolkit) ToolKit(cat *skill.Catalog, approve func(context.Context, *skill.Skill) (bool, error)) (*skilltool.Kit, func(), error) {
	o, err := k.Options(cat)
	if err != nil {
		return nil, nil, err
	}
	o.Policy.Approve, o.ByUser = approve, true
	host, err := k.Toolsets(nil)
	if err != nil {
		return nil, nil, err
	}
	if host == nil {
		return skilltool.New(o), func() {}, nil
	}
	o.Toolsets = host
	return skilltool.New(o), func() { _ = host.Close() }, nil
}

// KnownTools returns the tools that the toolsets of a skill's present content had when they last ran, and whether that is known.
// It starts nothing.
func (k *Toolkit) KnownTools(ctx context.Context, s *skill.Skill) ([]tool.Tool, bool) {
	if !skilltool.HasToolsets(s) {
		return nil, false
	}
	host, err := k.Toolsets(nil)
	if err != nil || host == nil {
		return nil, false
	}
	tools, known := host.Known(ctx, s, func(context.Context, *skill.Skill) (*skill.Skill, error) {
		return nil, errors.New("this tool is only looked at")
	})
	return tools, known && len(tools) > 0
}

// ToolsetNames returns the toolsets that a skill declares, as they are written.
func ToolsetNames(s *skill.Skill) []string {
	entries, _ := toolset.Entries(s)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Toolset)
	}
	for _, text := range s.Manifest().Toolsets {
		if !slices.Contains(names, text) && !slices.ContainsFunc(entries, func(e toolset.Entry) bool { return strings.HasPrefix(text, e.Toolset+"=") }) {
			names = append(names, text)
		}
	}
	return names
}

// ToolsetCommands says what the toolsets of a skill start, other than its own files by a language host: "github (mcp.json): npx -y x".
func ToolsetCommands(s *skill.Skill) []string {
	entries, _ := toolset.Entries(s)
	var out []string
	for _, e := range entries {
		if e.Command == nil {
			continue
		}
		words := []string{cure.Word(e.Command.Path)}
		for _, arg := range e.Command.Args {
			words = append(words, cure.Word(arg))
		}
		out = append(out, e.Toolset+" ("+e.Command.From+"): "+strings.Join(words, " "))
	}
	return out
}

// BrokenToolsets returns for each enabled and trusted skill whose toolsets cannot be loaded why, by its canonical name, if the
// settings say that such a skill is not loaded. It starts the toolsets for that; otherwise it does nothing.
func (k *Toolkit) BrokenToolsets(ctx context.Context, cat *skill.Catalog) (map[string]string, error) {
	if k.Settings.Config().BrokenToolset != "drop" {
		return nil, nil
	}
	kit, end, err := k.ToolKit(cat, nil)
	if err != nil {
		return nil, err
	}
	defer end()
	out := map[string]string{}
	for e := range cat.Visible() {
		if !e.DeclaresToolsets() {
			continue
		}
		_, err := kit.ListTools(ctx, e.Canonical())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if why := importError(err); why != "" {
			out[e.Canonical()] = why
		}
	}
	return out, nil
}

// importError returns the failure of a toolset's code as a short text, or "": one that is found whenever the content is loaded.
func importError(err error) string {
	for _, e := range toolset.Errors(err) {
		switch e.Kind {
		case toolset.KindImport, toolset.KindClass, toolset.KindBase, toolset.KindPackage, toolset.KindShape, toolset.KindEntry:
			return fmt.Sprintf("import error (%s)", e.Message)
		}
	}
	return ""
}
