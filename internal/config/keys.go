package config

import (
	"slices"
	"strings"
)

// kind is the form of a value.
type kind uint8

const (
	choice    kind = iota // one of key.values
	number                // key.min to key.max
	boolean               // true, false, yes, no, on, off
	duration              // a number, in a file of milliseconds, else of seconds; or 30s, 2m
	names                 // a list of texts, or one text with commas
	globs                 // as names
	place                 // one path
	places                // a list of paths
	roots                 // a list of paths, or of maps with path and mount
	plugins               // a list of maps (R74)
	layers                // a preset's name, or a list of layers
	selection             // as AGENT_SKILLS
)

// rule says what a project's file may do with a key.
type rule uint8

const (
	set     rule = iota // like the user's
	tighten             // only make it stricter: values go from loose to strict
	add                 // add to the list; nothing of the user's goes away
	ifUnset             // set it where the user, the environment and the flags did not
	never
)

// key describes one setting under `skills:`.
type key struct {
	name     string
	kind     kind
	project  rule
	values   []string // of a choice; with tighten from loose to strict
	initial  string   // the default, as written; "" means nothing
	env      string   // variable; "" means AGENT_ and the name in capitals
	aliases  []string // other spellings than snake case
	min, max int64
}

// keys lists all settings in the order of the documentation.
var keys = []*key{
	{name: "profile", kind: choice, values: nil, initial: "default"}, // the values are profileNames
	{name: "enabledSkills", kind: selection, project: never, env: "AGENT_SKILLS", aliases: []string{"AGENT_SKILLS", "agentSkills"}},
	{name: "activation", kind: choice, project: tighten, values: []string{"auto", "explicit"}, initial: "auto"},
	{name: "enabled", kind: names, project: never},
	{name: "disabled", kind: names, project: add},
	{name: "enabledBundled", kind: names, project: ifUnset},
	{name: "disabledBundled", kind: names, project: add},
	{name: "allow", kind: globs, project: ifUnset},
	{name: "deny", kind: globs, project: add},
	{name: "roots", kind: roots, project: add},
	{name: "coreDir", kind: place, project: never, aliases: []string{"core_skills_dir", "coreSkillsDir"}},
	{name: "userDir", kind: place, project: never, aliases: []string{"agent_skills_dir", "agentSkillsDir"}},
	{name: "pluginsDir", kind: place, project: never},
	{name: "precedence", kind: layers, initial: "default"},
	{name: "duplicates", kind: choice, values: []string{"override", "error"}, initial: "override"},
	{name: "nested", kind: boolean, initial: "true"},
	{name: "symlinks", kind: choice, project: tighten, values: []string{"allow-list", "contained", "deny"}, initial: "contained"},
	{name: "symlinkRoots", kind: places, project: never},
	{name: "disclosure", kind: choice, values: []string{"system-xml", "tool-description", "triggers", "minimal"}, initial: "system-xml"},
	{name: "xmlStyle", kind: choice, values: []string{"wink", "harness"}, initial: "harness"},
	{name: "location", kind: choice, values: []string{"dir", "file", "uri"}, initial: "file"},
	{name: "activationText", kind: choice, values: []string{"short", "long"}, initial: "short"},
	{name: "maxSkills", kind: number, initial: "0", max: 100_000},
	{name: "budget", kind: number, initial: "0", max: 10_000_000},
	{name: "enforce", kind: choice, project: tighten, values: []string{"off", "warn", "enforce"}, initial: "enforce"},
	{name: "stackPolicy", kind: choice, project: tighten, values: []string{"top", "intersection"}, initial: "intersection"},
	{name: "strictStack", kind: boolean, initial: "false"},
	{name: "errorText", kind: boolean, initial: "false"},
	{name: "scriptRead", kind: choice, project: tighten, values: []string{"allow", "block"}, initial: "block"},
	{name: "cwd", kind: choice, values: []string{"script", "skill", "workspace"}, initial: "script"},
	{name: "scriptTimeout", kind: duration, env: "SCRIPT_TIMEOUT", initial: "60s", min: 1, max: 86_400_000},
	{name: "maxScriptOutput", kind: number, env: "MAX_SCRIPT_OUTPUT", initial: "1048576", min: 1, max: 1 << 30},
	{name: "python", kind: place, project: never},
	{name: "uv", kind: place, project: never},
	{name: "plugins", kind: plugins, project: never},
}

// trustWords are keys that somebody may expect to give trust; the answer is always the same.
var trustWords = []string{"trust", "trusted", "trustedRoots", "trustedSkills"}

func lookupKey(name string) *key {
	for _, k := range keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

// findKey returns the key of a spelling: camel case, snake case or an alias.
func findKey(written string) *key {
	if k := lookupKey(camel(written)); k != nil {
		return k
	}
	for _, k := range keys {
		if slices.Contains(k.aliases, written) {
			return k
		}
	}
	return nil
}

// variable returns the name of the key's environment variable.
func (k *key) variable() string {
	if k.env != "" {
		return k.env
	}
	var b strings.Builder
	b.WriteString("AGENT_")
	for _, r := range k.name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

func (k *key) choices() []string {
	if k.name == "profile" {
		return profileNames()
	}
	return k.values
}

func (k *key) isList() bool { return k.kind >= names && k.kind != place }

// camel turns max_skills into maxSkills.
func camel(s string) string {
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
