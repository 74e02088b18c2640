package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Plugin is a skill that the user wants installed. It says nothing about what is installed.
type Plugin struct {
	URL         string    `json:"url"`
	Ref         string    `json:"ref,omitempty"`  // branch, tag or commit; "" is the default branch
	Name        string    `json:"name,omitempty"` // of the skill; "" if the place has only one
	Enabled     bool      `json:"enabled"`
	InstalledAt time.Time `json:"installedAt,omitzero"`
}

// String returns the name, or else the URL.
func (p Plugin) String() string {
	if p.Name == "" {
		return p.URL
	}
	return p.Name
}

// plugins reads the list of wanted skills.
func (r *reader) plugins(n *yamlnode.Node) (any, error) {
	if n.Kind != yamlnode.Sequence {
		return nil, bad("write a list of {url: …, name: …}", "plugins must be a list, not a %s", n.Kind)
	}
	out := []Plugin{}
	for _, item := range n.Items {
		if item.Kind != yamlnode.Mapping {
			r.wrong(item, fmt.Sprintf("a plugin must be a map, not a %s: ignored", item.Kind), "write {url: …, name: …}")
			continue
		}
		f := r.fields(item, "url", "ref", "name", "enabled", "installedAt")
		p := Plugin{URL: f["url"], Ref: f["ref"], Name: f["name"], Enabled: true}
		p.InstalledAt, _ = time.Parse(time.RFC3339, f["installedAt"]) // for people only
		switch {
		case p.URL == "":
			r.wrong(item, "plugin without a url: ignored", "write where it is from: {url: …, name: …}")
			continue
		case p.Name != "" && manifest.CheckName(p.Name) != nil:
			r.wrong(item, fmt.Sprintf("plugin with the invalid name %q: ignored", p.Name), "write the name of the skill, or leave it out")
			continue
		}
		if text := strings.ToLower(f["enabled"]); text == "false" || text == "no" || text == "off" {
			p.Enabled = false
		}
		out = append(out, p)
	}
	return out, nil
}

// switchedOff returns the names of the wanted skills that are disabled.
func switchedOff(list []Plugin) []string {
	var out []string
	for _, p := range list {
		if !p.Enabled && p.Name != "" {
			out = append(out, manifest.Canonical(p.Name))
		}
	}
	return out
}
