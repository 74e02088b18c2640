package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skills"
	"github.com/agent-base/agent-base/trust"
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
	trusted, err := a.trusted()
	if err != nil {
		a.warn(err.Error())
	}
	return skill.Open(ctx, &skill.Options{Layers: layers, Trust: trusted.Func()})
}

// warn prints a warning, unless nobody wants any.
func (a *app) warn(text string) {
	if !a.flags.quiet {
		a.ui.Warn(text)
	}
}

// home returns AGENT_HOME, by default ~/.agent; "" when there is neither.
func (a *app) home() string {
	if dir := a.sys.getenv("AGENT_HOME"); dir != "" {
		return a.abs(dir)
	}
	if a.sys.Home == "" {
		return ""
	}
	return filepath.Join(a.sys.Home, ".agent")
}

// trustStore returns the file of approvals.
func (a *app) trustStore() (*trust.Store, error) {
	home := a.home()
	if home == "" {
		return nil, &failure{exit: ExitFailure, code: "failed", hint: "export AGENT_HOME=DIR", err: errors.New("there is no home directory to keep approvals in")}
	}
	return &trust.Store{Path: filepath.Join(home, "trust.json"), Now: a.sys.Now}, nil
}

// trusted returns what the user has approved. Beside an error it is the empty set.
func (a *app) trusted() (*trust.Set, error) {
	if a.home() == "" {
		return &trust.Set{}, nil
	}
	store, err := a.trustStore()
	if err != nil {
		return &trust.Set{}, err
	}
	return store.Load()
}

// abs makes a path that a person typed absolute.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) || a.sys.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(a.sys.Dir, path)
}
