package config

import (
	"maps"
	"slices"
)

// profiles is the option table (C60): what each profile sets, as it would be written in a file. What it does not name
// has its default. The severities of rules are manifest.Profile's.
var profiles = []struct {
	name, about string
	options     map[string]string
}{
	{"default", "lenient reading, all sources, careful execution", nil},
	{"spec", "the open standard's rules as errors, else as default", nil},
	{"agent-base", "nothing disclosed or active unless named (000)", map[string]string{
		"disclosure": "minimal", "activation": "explicit", "duplicates": "error", "cwd": "script", "nested": "false",
	}},
	{"wink", "a section of the prompt, mounted folders (001)", map[string]string{
		"disclosure": "system-xml", "xmlStyle": "wink", "location": "dir", "enforce": "off",
	}},
	{"harness", "strict fields, flat XML with files (002)", map[string]string{
		"disclosure": "system-xml", "xmlStyle": "harness", "location": "file", "cwd": "skill", "enforce": "off", "scriptRead": "allow",
	}},
	{"harness-mvp", "skills are offered by triggers (003)", map[string]string{
		"disclosure": "triggers", "maxSkills": "3", "cwd": "skill",
	}},
	{"omniforge", "the list in the tool's description, the top skill restricts (004)", map[string]string{
		"disclosure": "tool-description", "precedence": "omniforge", "stackPolicy": "top", "nested": "false",
		"strictStack": "true", "errorText": "true",
	}},
}

// ProfileInfo names a profile and says in a few words what it is and what it sets, by key.
type ProfileInfo struct {
	Name, About string
	Options     map[string]string
}

// Profiles returns the seven profiles.
func Profiles() []ProfileInfo {
	out := make([]ProfileInfo, len(profiles))
	for i, p := range profiles {
		out[i] = ProfileInfo{p.name, p.about, maps.Clone(p.options)}
	}
	return out
}

func profileNames() []string {
	out := make([]string, len(profiles))
	for i, p := range profiles {
		out[i] = p.name
	}
	return out
}

// profileOptions returns what a profile sets.
func profileOptions(name string) map[string]string {
	for _, p := range profiles {
		if p.name == name {
			return p.options
		}
	}
	return nil
}

// Layers of skills by their name, and the two orders that have one (C16).
const (
	Enterprise = "enterprise"
	Extra      = "extra" // roots of the user: config, --skills-dir
	PluginDir  = "plugin"
	ProjectDir = "project"
	Claude     = "claude"
	UserDir    = "user"
	Bundled    = "bundled"
)

// presets are the orders of layers that have a name. In both the operator's folder is first and the embedded skills are
// last.
var presets = []struct {
	name  string
	order []string
}{
	{"default", []string{Enterprise, Extra, PluginDir, ProjectDir, Claude, UserDir, Bundled}},
	{"omniforge", []string{Enterprise, Extra, UserDir, ProjectDir, Claude, PluginDir, Bundled}},
}

// Preset is an order of layers that has a name.
type Preset struct {
	Name  string
	Order []string // highest first
}

// Presets returns the orders of layers that the key precedence can name.
func Presets() []Preset {
	out := make([]Preset, len(presets))
	for i, p := range presets {
		out[i] = Preset{p.name, slices.Clone(p.order)}
	}
	return out
}

// order completes a list of layers: the enterprise's first, whatever was written, and what is missing in the default
// order.
func order(written []string) []string {
	out := []string{Enterprise}
	for _, name := range append(slices.Clone(written), presets[0].order...) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
