package config

import (
	"maps"
	"slices"
)

// profiles lists what each profile sets, as it would be written in a file. Other settings have their defaults. The
// severities of rules are in manifest.Profile.
var profiles = []struct {
	name, about string
	options     map[string]string
}{
	{"default", "reads leniently, uses all sources, executes carefully", nil},
	{"spec", "as default, but violations of the open standard are errors", nil},
	{"agent-base", "lists and activates only skills that are named", map[string]string{
		"disclosure": "minimal", "activation": "explicit", "duplicates": "error", "cwd": "script", "nested": "false", "scripts": "direct",
		"scriptJson": "yes", "scriptHelp": "always", "hooks": "false", "brokenToolset": "drop",
	}},
	{"wink", "a section of the system prompt, mounted folders", map[string]string{
		"disclosure": "system-xml", "xmlStyle": "wink", "location": "dir", "cwd": "script", "enforce": "off", "hooks": "false",
	}},
	{"harness", "strict fields, a flat XML list with files", map[string]string{
		"disclosure": "system-xml", "xmlStyle": "harness", "location": "file", "cwd": "skill", "scriptRead": "allow", "enforce": "off", "hooks": "false",
	}},
	{"harness-mvp", "offers skills by their triggers", map[string]string{
		"disclosure": "triggers", "maxSkills": "3", "cwd": "skill", "hooks": "false", "sources": "bundled,user,project",
	}},
	{"omniforge", "lists skills in the description of a tool", map[string]string{
		"disclosure": "tool-description", "precedence": "omniforge", "nested": "false", "strictStack": "true", "errorText": "true", "cwd": "script",
		"stackPolicy": "top", "lock": "off",
	}},
}

// ProfileInfo describes a profile: its name, what it is in a few words, and what it sets, by key.
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

// profileOptions returns the settings of a profile.
func profileOptions(name string) map[string]string {
	for _, p := range profiles {
		if p.name == name {
			return p.options
		}
	}
	return nil
}

// Names of the layers of skills.
const (
	Enterprise = "enterprise"
	Extra      = "extra" // folders that the user named in settings or with --skills-dir
	PluginDir  = "plugin"
	ProjectDir = "project"
	Claude     = "claude"
	UserDir    = "user"
	Bundled    = "bundled"
)

// presets are the named orders of layers. In both, the operator's folder is first and the bundled skills are last.
var presets = []struct {
	name  string
	order []string
}{
	{"default", []string{Enterprise, Extra, PluginDir, ProjectDir, Claude, UserDir, Bundled}},
	{"omniforge", []string{Enterprise, Extra, UserDir, ProjectDir, Claude, PluginDir, Bundled}},
}

// Preset is a named order of layers.
type Preset struct {
	Name  string
	Order []string // highest first
}

// Presets returns the named orders that the key precedence accepts.
func Presets() []Preset {
	out := make([]Preset, len(presets))
	for i, p := range presets {
		out[i] = Preset{p.name, slices.Clone(p.order)}
	}
	return out
}

// order completes a list of layers. The enterprise layer comes first, and layers that are missing follow in the default
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
