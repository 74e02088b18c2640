package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/toolset"
)

// Toolsets returns a host of toolsets for one conversation or command, which closes it, or nil where no script is run: without
// a home. It starts nothing. denied returns the rules about files that hold when a process starts; it may be nil.
func (k *Toolkit) Toolsets(denied func() script.Denied) (*toolset.Host, error) {
	cfg := k.settings.Config()
	if cfg.Paths.Cache == "" {
		return nil, nil
	}
	scripts, err := k.Host()
	if err != nil {
		return nil, err
	}
	return toolset.New(&toolset.Options{Scripts: scripts, Cache: cfg.Paths.Cache, Call: cfg.ScriptTimeout, MaxResult: cfg.MaxScriptOutput, Denied: denied, Trace: k.observe.Tracer()})
}

// ToolKit is Kit with toolsets, and a function that ends them.
func (k *Toolkit) ToolKit(cat *skill.Catalog, approve func(context.Context, *skill.Skill) (bool, error)) (*skilltool.Kit, func(), error) {
	o, err := k.Options(cat)
	if err != nil {
		return nil, nil, err
	}
	o.Approve, o.ByUser = approve, true
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

// ImportError returns the failure of a toolset's code as a short text, or "": one that is found whenever the content is loaded.
func ImportError(err error) string {
	for _, e := range toolset.Errors(err) {
		switch e.Kind {
		case toolset.KindImport, toolset.KindClass, toolset.KindBase, toolset.KindPackage, toolset.KindShape, toolset.KindEntry:
			return fmt.Sprintf("import error (%s)", e.Message)
		}
	}
	return ""
}

// toolsetCure returns the command that may fix why a toolset failed, or "".
func toolsetCure(err error, name string) string {
	var e *toolset.Error
	if !errors.As(err, &e) || e.Kind != toolset.KindPackage || e.Package == "" {
		return ""
	}
	for _, one := range toolset.Errors(err) {
		if one.Kind == toolset.KindPackage && one.Package != "" {
			return WithCure(name, one.Package)
		}
	}
	return ""
}
