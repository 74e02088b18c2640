package packages

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Installed are the facts about the installed skills. The zero value has none.
type Installed struct{ set registry.Set }

// Installed reads which skills are installed. A list that cannot be read has none: the catalogue says what is wrong with it.
func (p *Packages) Installed(ctx context.Context) *Installed {
	if p.Settings.Home() == "" {
		return &Installed{}
	}
	set, _ := p.Settings.Registry().Load(ctx)
	return &Installed{*set}
}

// All returns all entries, by name.
func (i *Installed) All() []registry.Entry { return i.set.All() }

// Of returns the facts about a skill of the catalogue, nil if it is not an installed one.
func (i *Installed) Of(ctx context.Context, e skill.Entry) *registry.Entry {
	if i.set.Len() == 0 || e.Layer() != config.PluginDir {
		return nil
	}
	found, ok := i.set.Get(e.Canonical())
	if !ok {
		return nil
	}
	if file, err := e.Location(ctx); err == nil && filepath.Dir(file) != found.InstalledPath {
		return nil // another folder of the same name
	}
	return &found
}

// Record reports a change of the installed skills that is about to take effect, or one that failed. With the setting audit:
// required, an error says that it must not take effect.
func (p *Packages) Record(ctx context.Context, kind trace.Kind, e registry.Entry, failed error) error {
	verb := map[trace.Kind]string{trace.SkillInstalled: "Installed", trace.SkillUpdated: "Updated", trace.SkillRolledBack: "Rolled back", trace.SkillRemoved: "Removed"}[kind]
	return p.Observe.Record(ctx, trace.Event{Time: p.Sys.Now(), Kind: kind, Skill: e.Name, Err: failed, Message: fmt.Sprintf("%s skill '%s'", verb, e.Name), Attrs: []slog.Attr{
		slog.String(trace.AttrDigest, e.Digest), slog.String(trace.AttrCommit, e.CommitSHA), slog.String(trace.AttrSource, e.Source)}})
}

// Backup returns a new folder for the changed files of an installed skill.
func (p *Packages) Backup(name string) string {
	return filepath.Join(p.Settings.Config().PluginsDir, ".backup", name+"-"+p.Sys.Now().UTC().Format("20060102T150405.000"))
}

// warnSpace warns if the disk of the installed skills is nearly full.
func (p *Packages) warnSpace() {
	if space, err := p.store().Space(0); err == nil && space.Low {
		p.Out.Warn(fmt.Sprintf("only %d MB are free on the disk of %s", space.Free>>20, p.Settings.Config().PluginsDir))
	}
}

// Digests returns the contents of a skill that are or were installed.
func (i *Installed) Digests(name string) []string {
	e, ok := i.set.Get(name)
	if !ok {
		return nil
	}
	out := []string{e.Digest}
	for _, p := range e.Previous {
		out = append(out, p.Digest)
	}
	return out
}

// Former reports whether a content is a former one of an installed skill that is kept.
func (i *Installed) Former(name, digest string) bool {
	e, ok := i.set.Get(name)
	return ok && e.Digest != digest && slices.ContainsFunc(e.Previous, func(p registry.Previous) bool { return p.Digest == digest })
}
