package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
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

	progress func(string) // says what is being prepared, while something is shown to be under way

	cfg         *config.Config // nil until settings was called
	cfgProblems []manifest.Problem
	trustSet    *atomic.Pointer[trust.Set] // what was approved when the catalogue was opened, and since; never nil
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
	cfg := a.spokenSettings()
	set, err := a.trusted()
	if err != nil {
		a.warn(err.Error())
	}
	a.trustSet.Store(set)
	profile, err := manifest.ProfileNamed(cfg.Profile)
	if err != nil {
		return nil, err
	}
	o := &skill.Options{Layers: a.layers(), Profile: profile, Allow: cfg.Allow, Deny: cfg.Deny, Want: cfg.Want,
		Trust: a.trustOf, LookPath: a.sys.LookPath, Version: engineVersion}
	if cfg.Duplicates == "error" {
		o.Duplicates = skill.DuplicatesRefuse
	}
	if cfg.Omniforge {
		o.Precedence = skill.PrecedencePriority
	}
	cat, err := skill.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, p := range cat.Problems() {
		if spoken(p.Code) {
			a.warnProblem(p)
		}
	}
	return cat, nil
}

// spokenSettings returns every setting, after warnings about those that count for nothing.
func (a *app) spokenSettings() *config.Config {
	cfg, problems := a.settings()
	for _, p := range problems {
		a.warnProblem(p)
	}
	return cfg
}

// spoken reports whether a problem of the catalogue is told whatever the command: it is about what was asked for
// (C21, C61, R72) or about a whole source. Those of single skills are for why, info, validate and doctor.
func spoken(code string) bool {
	switch code {
	case "skill-untrusted", "skill-unknown", "skills-none-trusted", "skills-untrusted-loaded", "trust-unreadable",
		"glob-invalid", "source-unreadable":
		return true
	}
	return false
}

// layers returns the sources of skills, highest precedence first.
func (a *app) layers() []skill.Layer {
	cfg, _ := a.settings()
	var out []skill.Layer
	for _, l := range cfg.Layers() {
		layer := skill.Layer{Name: l.Name, Mount: l.Mount, Source: a.source(l)}
		if l.Name == config.Bundled { // embedded, or from the user's own coreDir
			layer.Trust = skill.TrustBundled
		}
		out = append(out, layer)
	}
	return out
}

// source returns the skills of one layer.
func (a *app) source(l config.Layer) skill.Source {
	cfg, _ := a.settings()
	if l.Dir == "" {
		o := &skill.FSOptions{}
		if cfg.Paths.Cache != "" {
			o.Cache = filepath.Join(cfg.Paths.Cache, "bundled")
		}
		return skill.FS(skills.Core(), o)
	}
	o := &skill.DirOptions{Nested: cfg.Nested}
	switch cfg.Symlinks {
	case "deny":
		o.Links = skill.LinksDeny
	case "allow-list":
		o.Allow = cfg.LinkRoots
	}
	if l.Name == config.ProjectDir || l.Name == config.Claude { // a clone may bring a link to anywhere (R49)
		o.Within = cfg.Paths.Project
	}
	return skill.Dir(l.Dir, o)
}

// unknownSkills returns a problem for each name in AGENT_SKILLS that no skill has (R71, C61).
func (a *app) unknownSkills(cat *skill.Catalog) []manifest.Problem {
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
func (a *app) warnProblem(p manifest.Problem) {
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

// editTrust is trustStore for who is about to change it.
func (a *app) editTrust() (*trust.Store, error) {
	if err := a.needRoom(""); err != nil {
		return nil, err
	}
	return a.trustStore()
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
	cfg, _ := a.settings()
	if cfg.Want.Mode == skill.SelectAllUntrusted { // 1.4: scripts run too; the catalogue warns
		return skill.TrustRoot, nil
	}
	return a.trustSet.Load().Func()(ctx, s)
}

// abs makes a path that a person typed absolute.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) || a.sys.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(a.sys.Dir, path)
}
