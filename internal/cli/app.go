package cli

import (
	"context"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skills"
)

// app is one run of the command.
type app struct {
	sys   *System
	ui    *ui.Streams
	flush func() error // writes what is buffered of ui.Out
	flags globals
}

// ready applies the global flags, before the command runs.
func (a *app) ready() error {
	if a.flags.noColor {
		a.ui.Colour = false
	}
	return checkLogFormat(a.flags.logFormat)
}

func (a *app) close() {}

// catalog opens the skills there are.
func (a *app) catalog(ctx context.Context) (*skill.Catalog, error) {
	var layers []skill.Layer
	for _, dir := range a.flags.skillsDir {
		layers = append(layers, skill.Layer{Name: "extra", Source: skill.Dir(a.abs(dir), nil)})
	}
	layers = append(layers, skill.Layer{Name: "user", Source: skill.Dir(filepath.Join(a.sys.Home, ".agent/skills"), nil)},
		skill.Layer{Name: "bundled", Source: skill.FS(skills.Core(), nil), Trust: skill.Bundled})
	return skill.Open(ctx, &skill.Options{Layers: layers})
}

// abs makes a path that a person typed absolute.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) || a.sys.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(a.sys.Dir, path)
}
