package packages

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/hosts"
	"github.com/agent-base/agent-base/install/registry"
)

// Repoint makes the links that exports have made to a version of a skill lead to the one that is active now, those in the home
// folder and in the project. It returns where they are.
func (p *Packages) Repoint(before, now registry.Entry) []string {
	return p.links(before, func(l hosts.Linked) error {
		if l.Target == now.InstalledPath {
			return nil
		}
		return l.Repoint(now.InstalledPath)
	})
}

// RemoveLinks removes the links that exports have made to a version of a skill. It returns where they were.
func (p *Packages) RemoveLinks(e registry.Entry) []string {
	return p.links(e, hosts.Linked.Remove)
}

// links calls change for each link of another agent to a version of a skill, and returns where those are for which it succeeded.
// A link that cannot be changed is a warning: the skill has changed already. The folder of a linked skill stays what it was, and so
// do the links to it.
func (p *Packages) links(e registry.Entry, change func(hosts.Linked) error) []string {
	changed := []string{}
	if e.Linked {
		return changed
	}
	versions := []string{e.InstalledPath}
	for _, old := range e.Previous {
		versions = append(versions, old.InstalledPath)
	}
	bases := map[hosts.Scope]string{hosts.User: p.Sys.Home, hosts.Project: p.Settings.Config().Paths.Project}
	for _, scope := range []hosts.Scope{hosts.User, hosts.Project} {
		if bases[scope] == "" || scope == hosts.Project && bases[scope] == p.Sys.Home {
			continue
		}
		for _, version := range versions {
			for _, l := range hosts.FindLinks(bases[scope], scope, filepath.Dir(version)) {
				if filepath.Clean(l.Target) != version || slices.Contains(changed, l.Location) {
					continue // changed a moment ago, to a version that is kept too
				}
				if err := change(l); err != nil {
					p.Out.Warn(fmt.Sprintf("the link %s of %s leads to another version of %s: %v", l.Location, l.Host.Title, e.Name, err))
					continue
				}
				changed = append(changed, l.Location)
			}
		}
	}
	return changed
}
