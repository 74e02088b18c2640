package packages

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Wish records in the user's settings that skills are to be installed, all in one step; ref is the branch, tag or commit that was
// asked for, or "". The installation holds whether this can be done or not: a file that cannot be changed is a warning.
func (p *Packages) Wish(ctx context.Context, ref string, list ...registry.Entry) {
	var wishes []config.Plugin
	var names []string
	for _, e := range list {
		if url := cmp.Or(e.GitURL, e.Source); url != "" {
			wishes = append(wishes, config.Plugin{URL: url, Ref: ref, Name: e.Name, InstalledAt: e.InstalledAt})
			names = append(names, e.Name)
		}
	}
	if len(wishes) == 0 {
		return
	}
	if _, err := config.AddPlugins(ctx, p.Settings.Config().Paths.UserConfig(), wishes...); err != nil {
		p.Out.Warn(fmt.Sprintf("your settings do not say that this is installed: %s: %v", strings.Join(Some(names), ", "), err))
	}
}

// Unwish takes skills out of these settings, all in one step, and returns the canonical names of those that were there.
func (p *Packages) Unwish(ctx context.Context, names ...string) []string {
	found, err := config.RemovePlugins(ctx, p.Settings.Config().Paths.UserConfig(), names...)
	if err != nil {
		p.Out.Warn(fmt.Sprintf("still in your settings: %s: %v", strings.Join(Some(names), ", "), err))
	}
	return found
}

// Unfulfilled returns a problem for each skill that the settings want and that is not installed, and for each that is installed
// and that they do not name.
func (p *Packages) Unfulfilled(ctx context.Context) []manifest.Problem {
	var out []manifest.Problem
	set := p.Installed(ctx)
	wanted := map[string]bool{}
	file := p.Settings.Config().Paths.UserConfig()
	for _, w := range p.Settings.Config().Plugins {
		name := cmp.Or(w.Name, lastPart(w.URL))
		wanted[manifest.Canonical(name)] = true
		if _, ok := set.set.Get(name); ok || !w.Enabled {
			continue
		}
		out = append(out, manifest.Problem{Code: "plugin-missing", Severity: manifest.SeverityWarning, Skill: name, File: file,
			Message: fmt.Sprintf("the settings name the skill %q, which is not installed", name), Cure: cure.Add(w.URL, w.Ref, w.Name)})
	}
	for _, e := range set.All() {
		if wanted[e.NameCanonical] || e.Linked || e.Source == "" {
			continue
		}
		out = append(out, manifest.Problem{Code: "plugin-unlisted", Severity: manifest.SeverityWarning, Skill: e.Name, File: file,
			Message: fmt.Sprintf("skill %q is installed, and the settings do not name it", e.Name), Cure: cure.Add(e.Source, "", cmp.Or(e.OriginalName, e.Name))})
	}
	return out
}

// lastPart returns the last part of a URL, without ".git".
func lastPart(url string) string {
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	return url[strings.LastIndexAny(url, "/:")+1:]
}
