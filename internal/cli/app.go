package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/config"
	"github.com/agent-base/agent-base/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skills"
	"github.com/agent-base/agent-base/trust"
)

// app is one run of the command.
type app struct {
	sys     *System
	ui      *ui.Streams
	flush   func() error // writes what is buffered of ui.Out
	flags   globals
	timeout time.Duration // of script run's flag; 0 when it was not given

	cfg         *config.Config // nil until settings was called
	cfgProblems []skill.Problem
	trustSet    *trust.Set // what was approved when the catalogue was opened, and since
}

// ready applies the global flags, before the command runs.
func (a *app) ready() error {
	if a.flags.noColor {
		a.ui.Colour = false
	}
	return a.checkGlobals()
}

// catalog opens the skills there are, and warns about settings that count for nothing.
func (a *app) catalog(ctx context.Context) (*skill.Catalog, error) {
	cfg, problems := a.settings()
	for _, p := range problems {
		a.warnProblem(p)
	}
	var err error
	if a.trustSet, err = a.trusted(); err != nil {
		a.warn(err.Error())
	}
	o := &skill.Options{Layers: a.layers(), Allow: cfg.Allow, Deny: cfg.Deny, Want: cfg.Want,
		Trust: a.trustOf, LookPath: a.sys.LookPath, Version: engineVersion}
	if cfg.Duplicates == "error" {
		o.Duplicates = skill.Refuse
	}
	cat, err := skill.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	a.warnSelection(ctx, cat)
	return cat, nil
}

// layers returns the sources of skills, highest precedence first.
func (a *app) layers() []skill.Layer {
	cfg, _ := a.settings()
	var out []skill.Layer
	for _, l := range cfg.Layers() {
		layer := skill.Layer{Name: l.Name, Mount: l.Mount}
		switch {
		case l.Dir != "":
			layer.Source = skill.Dir(l.Dir, &skill.DirOptions{Nested: cfg.Nested})
		default:
			layer.Source = skill.FS(skills.Core(), &skill.FSOptions{Cache: filepath.Join(cfg.Paths.Cache, "bundled")})
		}
		if l.Name == config.Bundled { // embedded, or from the user's own coreDir
			layer.Trust = skill.Bundled
		}
		out = append(out, layer)
	}
	return out
}

// warnSelection says what AGENT_SKILLS did not do: C21, C61, R72.
func (a *app) warnSelection(ctx context.Context, cat *skill.Catalog) {
	if a.flags.quiet {
		return
	}
	cfg, _ := a.settings()
	for _, p := range a.unknownSkills(cat) {
		a.warnProblem(p)
	}
	switch cfg.Want.Mode {
	case skill.AllUntrusted:
		a.warn("AGENT_SKILLS=all-untrusted loads every skill, and scripts run that nobody has approved")
	case skill.All:
		for range cat.All() {
			return
		}
		a.warn("No trusted skills installed. Install skills with 'agent skill add' or use AGENT_SKILLS=all-untrusted") // R72
	case skill.Named:
		for _, name := range cfg.Want.Names {
			e, err := cat.Lookup(name)
			if err != nil || e.State() != skill.Disabled {
				continue
			}
			if t, err := e.Trust(ctx); err == nil && !t.Runs() {
				a.warn(fmt.Sprintf("%s is not loaded: nobody has approved it: %s", name, trustCure(name)))
			}
		}
	}
}

// unknownSkills returns a problem for each name in AGENT_SKILLS that no skill has (R71, C61).
func (a *app) unknownSkills(cat *skill.Catalog) []skill.Problem {
	cfg, _ := a.settings()
	return cfg.Unknown(func(name string) bool {
		_, err := cat.Lookup(name)
		return err == nil
	})
}

// warn prints a warning, unless nobody wants any.
func (a *app) warn(text string) {
	if !a.flags.quiet {
		a.ui.Warn(text)
	}
}

// warnProblem prints a problem that does not stop the command, with its cure.
func (a *app) warnProblem(p skill.Problem) {
	text := p.Message
	if p.File != "" {
		text = p.File + ": " + text
		if p.Line > 0 {
			text = fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
		}
	}
	a.warn(text)
	if !a.flags.quiet {
		a.ui.Hint(p.Cure)
	}
}

// trustCure is the command that approves a skill (C57).
func trustCure(name string) string { return "agent skill trust " + name }

// trustStore returns the file of approvals.
func (a *app) trustStore() (*trust.Store, error) {
	if err := a.needHome(); err != nil {
		return nil, err
	}
	cfg, _ := a.settings()
	return &trust.Store{Path: cfg.Paths.Trust(), Now: a.sys.Now}, nil
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

// trustOf is the catalogue's question whether a skill's content may run.
func (a *app) trustOf(ctx context.Context, s skill.Subject) (skill.Trust, error) {
	return a.trustSet.Func()(ctx, s)
}

// abs makes a path that a person typed absolute.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) || a.sys.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(a.sys.Dir, path)
}
