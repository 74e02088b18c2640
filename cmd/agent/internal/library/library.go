// Package library opens the catalogue of skills as the settings say, and says what was left out of it.
package library

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skills"
	"github.com/agent-base/agent-base/trace"
)

// Library opens the skills that the settings name.
type Library struct {
	Sys      *setup.System
	Settings *setup.Settings
	Trust    *grants.Trust
	Out      *output.Printer
	Observe  *observe.Observers
	inside   bool            // see OpenAll
	quiet    bool            // see OpenQuietly
	Served   *servers.Skills // nil: no skills of servers
	without  []string        // names of skills that are not loaded
	below    *below          // nil: skills below the working directory are not found
	Verdicts *scanner.Verdicts
	examples []string // names of bundled skills that a model is offered only if the settings name them
}

// Without returns a library that does not load skills of these names.
func (l *Library) Without(names []string) *Library {
	other := *l
	other.without = names
	return &other
}

// HideExamples has the catalogues that are opened from now on hide the skills that are only examples from models, as the agent
// does. Those that a text names stay.
func (l *Library) HideExamples(text string) {
	l.examples = slices.DeleteFunc(skills.Examples(), func(name string) bool { return strings.Contains(text, name) })
}

// Open opens the catalogue. It warns about ignored settings, and about problems that do not belong to a single skill.
func (l *Library) Open(ctx context.Context) (*skill.Catalog, error) {
	for _, p := range l.Settings.Problems() {
		l.Out.WarnProblem(p)
	}
	begun := time.Now()
	cat, err := l.open(ctx, l.Out.Warn)
	if t := l.Observe.Telemetry(); t != nil {
		trace.Emit(ctx, t, loaded(cat, time.Since(begun), err))
	}
	if err != nil {
		return nil, err
	}
	for _, p := range cat.Notes() {
		if Spoken(p.Code) {
			l.Out.WarnProblem(cure.Advised(p))
		}
	}
	return cat, nil
}

// OpenAll is like Open. LeftOut then also has each SKILL.md below a skill.
func (l *Library) OpenAll(ctx context.Context) (*skill.Catalog, error) {
	all := *l
	all.inside = true
	return all.Open(ctx)
}

// OpenQuietly opens the catalogue. It prints nothing, reports nothing to telemetry and asks no server: their skills are those that were
// last listed.
func (l *Library) OpenQuietly(ctx context.Context) (*skill.Catalog, error) {
	other := *l
	other.quiet = true
	return other.open(ctx, func(string) {})
}

// OpenWith opens the catalogue as it would be with more installed skills: those in some folders, by their names. It prints nothing.
func (l *Library) OpenWith(ctx context.Context, folders map[string]string) (*skill.Catalog, error) {
	more := skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			for _, name := range slices.Sorted(maps.Keys(folders)) {
				for f, err := range skill.Dir(folders[name], nil).Skills(ctx) {
					if f.Path != "." { // what lies in its folder is the skill's
						continue
					}
					if f.Path, f.Folder = name, folders[name]; !yield(f, err) {
						return
					}
				}
			}
		}
	})
	o, err := l.Options()
	if err != nil {
		return nil, err
	}
	o.Layers = l.layers()
	for i := range o.Layers {
		if o.Layers[i].Name == config.PluginDir {
			o.Layers[i].Source = skill.Merge(more, o.Layers[i].Source)
		}
	}
	return skill.Open(ctx, o)
}

func (l *Library) open(ctx context.Context, warn func(string)) (*skill.Catalog, error) {
	if err := l.Trust.Reload(ctx); err != nil {
		warn(err.Error())
	}
	o, err := l.Options()
	if err != nil {
		return nil, err
	}
	o.Layers = l.layers()
	projects, _ := manifest.ProfileNamed(l.Settings.Config().Profile) // a setting has no other name
	of, err := l.Served.Layers(ctx, projects, l.quiet)
	if err != nil {
		return nil, err
	}
	o.Layers = append(o.Layers, of...)
	return skill.Open(ctx, o)
}

// Options returns how the settings want skills to be opened, without the layers.
func (l *Library) Options() (*skill.Options, error) {
	cfg := l.Settings.Config()
	profile, err := manifest.ProfileNamed(cfg.OwnProfile)
	if err != nil {
		return nil, err
	}
	o := &skill.Options{Examples: l.examples, Profile: profile, Allow: cfg.Allow, Deny: slices.Concat(cfg.Deny, l.without), Want: cfg.Want,
		Trust: l.Trust.Of, LookPath: l.Settings.FindProgram, HasVariable: func(name string) bool { value, _ := l.Settings.Variable(name); return value != "" }, Version: setup.Version}
	if cfg.Scoped() {
		o.Audience = &skill.Audience{Agent: cfg.AgentType, Tenant: cfg.Tenant, Environment: cfg.Environment}
	}
	if a := scanner.NewAdmission(l.Sys, l.Settings, l.Verdicts); a != nil {
		o.Admit = a.OfCatalog
	}
	if cfg.Duplicates == "error" {
		o.Duplicates = skill.DuplicatesRefuse
	}
	if cfg.Omniforge {
		o.Precedence = skill.PrecedencePriority
	}
	return o, nil
}

// loaded returns the event of an opened catalogue.
func loaded(cat *skill.Catalog, took time.Duration, err error) trace.Event {
	e := trace.Event{Kind: trace.SkillsLoaded, Duration: took, Err: err}
	if err != nil {
		e.Level = slog.LevelError
		return e
	}
	names, all := []string{}, 0
	for s := range cat.Visible() {
		names = append(names, s.Canonical())
	}
	for range cat.All() {
		all++
	}
	e.Attrs = []slog.Attr{slog.Any(trace.AttrNames, names), slog.Int(trace.AttrCount, len(names)), slog.Int(trace.AttrFound, all)}
	return e
}

// Load opens a skill by name. A person may look at skills in any state except broken.
func (l *Library) Load(ctx context.Context, name string) (*skill.Skill, error) {
	cat, err := l.OpenFor(ctx, name)
	if err != nil {
		return nil, err
	}
	e, err := Find(cat, name)
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}

// Spoken reports whether every command prints problems with a code: those about the selection or about a whole source.
// Problems of single skills are for why, info, validate and doctor.
func Spoken(code string) bool {
	switch code {
	case "skill-untrusted", "skill-unknown", "skills-none-trusted", "skills-untrusted-loaded", "trust-unreadable",
		"glob-invalid", "source-unreadable", "server-skills", "server-skill-invalid", "registry-damaged", "registry-unreadable":
		return true
	}
	return false
}

// layers returns the sources of skills, highest precedence first.
func (l *Library) layers() []skill.Layer {
	cfg := l.Settings.Config()
	projects, _ := manifest.ProfileNamed(cfg.Profile) // a setting has no other name
	var out []skill.Layer
	for _, from := range distinct(cfg.Layers()) {
		layer := skill.Layer{Name: from.Name, Mount: from.Mount, Source: l.source(from), Value: from.Value}
		if from.Name == config.Bundled { // embedded, or from the user's own coreDir
			layer.Trust = skill.TrustBundled
		}
		if from.OfProject() {
			layer.Profile = projects
		}
		out = append(out, layer)
	}
	if l.below == nil {
		return out
	}
	for i := range slices.Backward(out) {
		if out[i].Name == config.ProjectDir || out[i].Name == config.Claude {
			return slices.Insert(out, i+1, skill.Layer{Name: config.ProjectDir, Source: l.below, Profile: projects})
		}
	}
	return out
}

// distinct returns the layers whose folders are different ones, also where a link leads to one of them: each is the user's, or else in
// the layer of higher precedence.
func distinct(layers []config.Layer) (out []config.Layer) {
	folders := make([]os.FileInfo, len(layers))
	for i, l := range layers {
		folders[i], _ = os.Stat(l.Dir) // nil for a folder that is not there: it is the same as none
	}
	same := func(i, j int) bool {
		return i != j && folders[i] != nil && folders[j] != nil && layers[i].Commands == layers[j].Commands && os.SameFile(folders[i], folders[j])
	}
	for i, l := range layers {
		users, again := l.Name == config.UserDir, false
		for j, other := range layers {
			first := j < i
			if othersUsers := other.Name == config.UserDir; users != othersUsers {
				first = othersUsers
			}
			again = again || first && same(i, j)
		}
		if !again {
			out = append(out, l)
		}
	}
	return out
}

// source returns the skills of one layer.
func (l *Library) source(from config.Layer) skill.Source {
	cfg := l.Settings.Config()
	if from.Dir == "" {
		o := &skill.FSOptions{}
		if cfg.Paths.Cache != "" {
			o.Cache = filepath.Join(cfg.Paths.Cache, "bundled")
		}
		return skill.FS(skills.Core(), o)
	}
	within := ""
	if from.OfProject() { // a clone may bring a link to anywhere
		within = cfg.Paths.Project
	}
	if from.Commands {
		return skill.Commands(from.Dir, &skill.CommandOptions{Within: within})
	}
	o := &skill.DirOptions{Nested: cfg.Nested, Inside: l.inside, Within: within}
	switch cfg.Symlinks {
	case "deny":
		o.Links = skill.LinksDeny
	case "allow-list":
		o.Allow = cfg.LinkRoots
	}
	o.Own = l.own(from) // with "deny" nothing is followed
	if from.Name == config.PluginDir {
		installed := install.Source(l.Settings.Registry(), o)
		o.Listed = filepath.Base(store.Folder(from.Dir))
		return skill.Merge(installed, skill.Dir(from.Dir, o))
	}
	return skill.Dir(from.Dir, o)
}

// own returns the rule by which a link in one of the user's own folders of skills is followed. Its target belongs to the user, is not
// writable by others, lies in the same home and is read by no other layer. Whoever can make a link in a project or in a folder that several users share could
// otherwise choose what of a home is read.
func (l *Library) own(from config.Layer) func(target string) string {
	home := paths.Real(l.Sys.Home)
	if from.Name != config.UserDir || home == "" || !paths.Within([]string{home}, paths.Real(from.Dir)) {
		return nil
	}
	others := sync.OnceValue(func() []string {
		out := []string{paths.Real(l.Settings.Home())}
		for _, layer := range l.Settings.Config().Layers() {
			out = append(out, paths.Real(layer.Dir))
		}
		return slices.DeleteFunc(out, func(dir string) bool { return dir == "" })
	})
	return func(target string) string {
		holds := func(dir string) bool { return paths.Within([]string{target}, dir) }
		if !paths.Within([]string{home}, target) || paths.Within(others(), target) || slices.ContainsFunc(others(), holds) || !onlyMine(home, target) {
			return ""
		}
		return home
	}
}

// onlyMine reports whether no other user could change a file or folder, or put another one in its place, from a folder down.
func onlyMine(from, path string) bool {
	for {
		info, err := os.Lstat(path)
		if err != nil || lockfile.CheckOwner(path, info) != nil {
			return false
		}
		if path == from {
			return true
		}
		path = filepath.Dir(path)
	}
}

// Unknown returns a problem for each name in AGENT_SKILLS that no skill has.
func (l *Library) Unknown(cat *skill.Catalog) []manifest.Problem {
	cfg := l.Settings.Config()
	return cfg.Unknown(func(name string) bool {
		_, err := cat.Lookup(name)
		return err == nil
	})
}

// MustBeVisible returns an error for a skill that a model may not use. It says more than a model may know.
func MustBeVisible(cat *skill.Catalog, name string) error {
	e, err := Find(cat, name)
	if err != nil || e.State() == skill.StateEnabled {
		return err
	}
	exit, code := failure.ExitNotFound, "not_found"
	if e.State() == skill.StateBroken {
		exit, code = failure.ExitInvalid, "invalid_skill"
	}
	return &failure.Error{Exit: exit, Code: code, Hint: cure.Enable(e), Err: fmt.Errorf("skill %q is %s: %s", e.Name(), e.State(), e.Reason())}
}

// Local returns a library without the skills of servers.
func (l *Library) Local() *Library {
	other := *l
	other.Served = nil
	return &other
}

// After returns the library of services that are made from others: it finds what theirs was told to find.
func (l *Library) After(before *Library) *Library {
	if before != nil {
		l.below, l.examples = before.below, before.examples
	}
	return l
}
