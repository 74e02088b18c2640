// Package config resolves every setting of the engine and remembers where its value came from: a flag, the
// environment, the project's file, the user's file, the profile or the default, in this order (REQUIREMENTS 1.3).
// It holds the profiles' option table (C60), the places of files (Paths), the layers of skills in their order (Layers),
// the meaning of AGENT_SKILLS, and the edits that `enable` and `disable` make to the user's file.
//
// A file that is damaged, or a value that makes no sense, never stops the program: it is a Problem with its place and
// its cure, and what is left holds. Settings that protect somebody then take the careful value, not the convenient one.
// A project's file comes with a clone, so it may narrow but never widen: it cannot trust, enable itself, lower a
// protection, name programs or lead outside its project.
//
// The package reads no environment; everything comes in as Options. A Config never changes after Load returned it, and
// functions may be called from several goroutines at once.
package config

import (
	"fmt"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Config is every setting, resolved. The comments give the keys under `skills:`; durations are milliseconds there.
type Config struct {
	Paths   Paths
	Profile string // profile

	// Want joins enabledSkills (AGENT_SKILLS), activation, enabled, disabled, disabledBundled and enabledBundled. Its
	// Enabled and Disabled are the persisted wishes whatever the mode is (C22); what is in both is disabled.
	Want       skill.Selection
	Allow      []string // allow: globs of skill names
	Deny       []string // deny
	Duplicates string   // duplicates: override, error
	Nested     bool     // nested
	Symlinks   string   // symlinks: allow-list, contained, deny
	LinkRoots  []string // symlinkRoots: absolute folders that links may lead to, with allow-list
	Roots      []Root   // roots: more folders of skills
	CoreDir    string   // coreDir: takes the place of the bundled skills; "" means the embedded ones
	UserDir    string   // userDir
	PluginsDir string   // pluginsDir
	Precedence []string // precedence: names of layers, highest first
	Omniforge  bool     // precedence: omniforge, which has folders of its own (R59)
	Plugins    []Plugin // plugins

	Disclosure     string // disclosure: system-xml, tool-description, triggers, minimal
	XMLStyle       string // xmlStyle: wink, harness
	Location       string // location: dir, file, uri
	ActivationText string // activationText: short, long
	MaxSkills      int    // maxSkills; 0 means no limit
	Budget         int    // budget: tokens for the list of skills; 0 means no limit

	Enforce     string // enforce: off, warn, enforce
	StackPolicy string // stackPolicy: top, intersection
	StrictStack bool   // strictStack: activating an active skill is an error (C48)
	ErrorText   bool   // errorText: failures carry their text in "error" (C49)
	ScriptRead  string // scriptRead: allow, block

	Cwd             string        // cwd: script, skill, workspace
	ScriptTimeout   time.Duration // scriptTimeout
	MaxScriptOutput int64         // maxScriptOutput: bytes
	Python, UV      string        // python, uv: absolute paths; "" means to look them up

	Agent Agent

	settings []Setting
}

// Agent is what the agent itself is set to; its keys stand under `agent:`.
type Agent struct {
	Model     string        // model: provider/name; "" means what can be found
	MaxTurns  int           // maxTurns: requests for one prompt
	MaxTokens int           // maxTokens: of all requests and answers for one prompt
	MaxTime   time.Duration // maxTime: of one prompt
	Window    int           // contextWindow: tokens that the model holds
	Blocks    []string      // promptBlocks: never nil
}

// Root is a further folder of skills and the path under which they are mounted for a model (R54).
type Root struct {
	Dir     string `json:"dir"`             // absolute
	Mount   string `json:"mount,omitempty"` // "" means the default
	Project bool   `json:"project"`         // named by the project's file
}

// String returns "/srv/skills", or "/srv/skills as MOUNT", for people.
func (r Root) String() string {
	if r.Mount == "" {
		return r.Dir
	}
	return r.Dir + " as " + r.Mount
}

// Plugin is a skill that the user wants installed (R74).
type Plugin struct {
	URL         string `json:"url"`
	Ref         string `json:"ref,omitempty"`
	Name        string `json:"name,omitempty"`
	Enabled     bool   `json:"enabled"`
	InstalledAt string `json:"installed_at,omitempty"`
}

// String returns "URL REF as NAME (switched off)", of which all but the URL may be missing, for people.
func (p Plugin) String() string {
	s := p.URL
	if p.Ref != "" {
		s += " " + p.Ref
	}
	if p.Name != "" {
		s += " as " + p.Name
	}
	if !p.Enabled {
		s += " (switched off)"
	}
	return s
}

// Setting is one value with its origin, as `agent doctor` shows it.
type Setting struct {
	Key     string
	Value   any      // text, number, true or false, a list, or nil for what is not set
	Origins []Origin // several where sources were joined, highest first; never empty
}

// Settings returns every setting in the order of the documentation.
func (c *Config) Settings() []Setting { return c.settings }

// Unknown returns a problem for each name in AGENT_SKILLS, or in enabledSkills, that no skill has (R71, C61). Has is
// asked with canonical names.
func (c *Config) Unknown(has func(name string) bool) []manifest.Problem {
	var out []manifest.Problem
	for _, name := range c.Want.Names {
		if has(name) {
			continue
		}
		p := c.wanted().problem("config-unknown-skill", fmt.Sprintf("there is no skill %q", name),
			"\"agent skill list --all\" shows the names there are")
		p.Severity = manifest.SeverityError
		out = append(out, p)
	}
	return out
}

// wanted returns where the names to load were written.
func (c *Config) wanted() Origin {
	var out Origin
	for _, s := range c.settings {
		if s.Key == "enabledSkills" && s.Value != nil {
			return s.Origins[0]
		}
		if s.Key == "enabled" {
			out = s.Origins[0]
		}
	}
	return out
}
