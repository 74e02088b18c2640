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
	duration              // 30s or 2m, or a number: milliseconds in a file, otherwise seconds, which may have decimals
	names                 // a list of texts, or one text with commas
	globs                 // as names
	place                 // one path
	places                // a list of paths
	roots                 // a list of paths, or of maps with path and mount
	layers                // the name of a preset, or a list of layers
	selection             // as AGENT_SKILLS
	word                  // one text without spaces
	words                 // a list of key.values; "none" is an empty list
)

// rule says what a project's file may do with a key.
type rule uint8

const (
	set     rule = iota // set it, as the user may
	tighten             // make it stricter; the values are ordered from loose to strict
	add                 // add to the list; the user's items stay
	ifUnset             // set it if the user, the environment and the flags do not
	never
)

// The two maps of a settings file.
const (
	skillsSection = "skills"
	agentSection  = "agent"
)

// key describes one setting.
type key struct {
	name     string
	section  string // "" means skillsSection
	kind     kind
	project  rule
	guards   bool     // it keeps skills from being loaded: without its value only the bundled ones are
	values   []string // of a choice; with tighten from loose to strict
	alike    []string // those of values that are equally strict, and the strictest
	initial  string   // the default, as written; "" means none
	env      string   // its variable; "" means AGENT_ and the name in capitals
	aliases  []string // spellings other than snake case
	min, max int64
	about    string // what it does, in Markdown
}

// keys lists all settings in the order of the documentation.
var keys = []*key{
	{name: "profile", kind: choice, values: nil, initial: "default", // the values are profileNames
		about: "The set of rules and defaults, see [profiles](#profiles). A profile that a project chooses cannot loosen a protection."},
	{name: "enabledSkills", kind: selection, project: never, guards: true, env: "AGENT_SKILLS", aliases: []string{"AGENT_SKILLS", "agentSkills"},
		about: "Which skills are loaded: names, `all`, `all-untrusted` or `none`. If it is set, `activation`, `enabled` and `disabled` have no effect."},
	{name: "activation", kind: choice, project: tighten, values: []string{"auto", "explicit"}, initial: "auto",
		about: "`auto` loads every skill that is not disabled; `explicit` loads only those in `enabled`."},
	{name: "enabled", kind: names, project: never,
		about: "Skills to load; `agent skill enable` adds to it."},
	{name: "disabled", kind: names, project: add, guards: true,
		about: "Skills not to load, even if they are in `enabled`; `agent skill disable` adds to it."},
	{name: "enabledBundled", kind: names, project: ifUnset,
		about: "The only bundled skills to load."},
	{name: "disabledBundled", kind: names, project: add,
		about: "Bundled skills not to load."},
	{name: "allow", kind: globs, project: ifUnset, guards: true,
		about: "Globs of skill names; if it is set, no other skill is loaded. A glob has at most 256 bytes and 16 alternatives, and there are at most 64 globs. Plain names do not count."},
	{name: "deny", kind: globs, project: add, guards: true,
		about: "Globs of skill names that are never loaded, with the same bounds as `allow`. If a glob is unusable, no skill is loaded."},
	{name: "roots", kind: roots, project: add,
		about: "More folders of skills, each a path or `{path, mount}`; a model sees the folder under the path `mount`."},
	{name: "coreDir", kind: place, project: never, aliases: []string{"core_skills_dir", "coreSkillsDir"},
		about: "A folder that replaces the bundled skills and is trusted as they are."},
	{name: "userDir", kind: place, project: never, aliases: []string{"agent_skills_dir", "agentSkillsDir"},
		about: "The folder of your skills; by default `skills` in `$AGENT_HOME`."},
	{name: "pluginsDir", kind: place, project: never,
		about: "The folder of installed skills; by default `plugins` in `$AGENT_HOME`."},
	{name: "precedence", kind: layers, initial: "default",
		about: "Which layer wins if two have a skill of the same name: a named order, see [layers](#layers), or a list of layers, highest first. In the list of a project the layer `extra` stays above the others."},
	{name: "duplicates", kind: choice, values: []string{"override", "error"}, initial: "override",
		about: "Two skills of the same name in one layer: `override` loads the first by path; `error` loads neither."},
	{name: "nested", kind: boolean, initial: "true",
		about: "Whether to search folders below folders for skills, ten levels deep, and the hidden folders in which hosts keep them."},
	{name: "symlinks", kind: choice, project: tighten, values: []string{"allow-list", "contained", "deny"}, initial: "contained",
		about: "Which symbolic links to skills are followed: with `contained` those that stay in their root, with `allow-list` also those that lead into `symlinkRoots`, with `deny` none."},
	{name: "symlinkRoots", kind: places, project: never,
		about: "Folders that links may lead into, with `symlinks: allow-list`."},
	{name: "disclosure", kind: choice, values: []string{"system-xml", "tool-description", "triggers", "minimal"}, initial: "system-xml",
		about: "How a model learns about skills: from a list in the system prompt, from a list in the description of the tool `skill`, when a message triggers them, or only when they are activated."},
	{name: "xmlStyle", kind: choice, values: []string{"wink", "harness"}, initial: "harness",
		about: "The form of the list with `disclosure: system-xml`."},
	{name: "location", kind: choice, values: []string{"dir", "file", "uri"}, initial: "file",
		about: "How the list gives the place of a skill: as its folder, as its SKILL.md, or as `skill://NAME/SKILL.md`."},
	{name: "activationText", kind: choice, values: []string{"short", "long"}, initial: "short",
		about: "The length of the steps below a list in the style `wink`."},
	{name: "maxSkills", kind: number, initial: "0", max: 100_000,
		about: "The most skills in a list; 0 means no limit, or 3 with `disclosure: triggers`."},
	{name: "budget", kind: number, initial: "0", max: 10_000_000,
		about: "The most tokens in a list; 0 means no limit, or for `agent` a twentieth of `contextWindow`. The list says what was cut."},
	{name: "strictStack", kind: boolean, initial: "false",
		about: "Whether activating an active skill is an error."},
	{name: "errorText", kind: boolean, initial: "false",
		about: "Whether `error` has the text of a failure instead of its code."},
	{name: "scripts", kind: choice, project: tighten, values: []string{"any", "direct"}, initial: "any",
		about: "Which files of a skill are scripts: `any` file that can be run, called by its name or its path; or `direct`, those directly in `scripts/` with one of the extensions `.py .sh .js .ts .rb .pl`, a `#!` line, or as a program, which are listed with absolute paths."},
	{name: "scriptRead", kind: choice, project: tighten, values: []string{"allow", "block"}, initial: "block",
		about: "Whether a model may read the source of scripts."},
	{name: "cwd", kind: choice, project: tighten, values: []string{"workspace", "user", "skill", "script"}, alike: []string{"skill", "script"}, initial: "user",
		about: "The directory where a script starts: `user`, where you are, so that relative paths in its arguments are yours; `workspace`, the project's root; `skill` and `script`, the folder of its skill and its own. A skill that needs another says so with `metadata.agent-base.cwd`; what you set here comes before that."},
	{name: "scriptJSON", kind: choice, values: []string{"auto", "yes", "no"}, initial: "auto",
		about: "Whether a script is asked for JSON if the call does not say: `auto` adds `--json` for a script that declares such a flag, `yes` always adds it and fails if the output is not JSON, `no` returns text."},
	{name: "scriptHelp", kind: choice, project: tighten, values: []string{"always", "auto"}, initial: "auto",
		about: "Which scripts are run with `--help` when their help is asked for: with `auto` those whose text shows that they know it, and the others are described without running them; with `always` all."},
	{name: "scriptTimeout", kind: duration, project: tighten, env: "SCRIPT_TIMEOUT", initial: "60s", min: 1, max: 86_400_000,
		about: "How long a script may run. A bare number is in milliseconds here, and in seconds, such as `0.5`, in the environment and as `script_timeout`. `30s` and `2m` are the same everywhere."},
	{name: "maxScriptOutput", kind: number, project: tighten, env: "MAX_SCRIPT_OUTPUT", initial: "1048576", min: 1, max: 1 << 30,
		about: "How many bytes of a script's output are kept."},
	{name: "path", kind: places, project: never,
		about: "The folders in which scripts, and what runs them, are found; by default those of `PATH`, except folders that are relative, missing, in a skill, in the project or writable by others. `agent doctor` shows what was left out."},
	{name: "prepareTimeout", kind: duration, project: tighten, initial: "10m", min: 1, max: 86_400_000,
		about: "How long preparing the dependencies of a script may take. A bare number is in milliseconds here, and in seconds in the environment. In a call of a script it also ends after the call's own timeout."},
	{name: "maxEnvironment", kind: number, project: tighten, initial: "1073741824", min: 1, max: 1 << 40,
		about: "How many bytes the dependencies of a script may add to the disk, in its environment and in uv's cache together. A download of more than 200 MB that a person allowed may add eight times its size."},
	{name: "pythonDownload", kind: choice, project: tighten, values: []string{"auto", "never"}, initial: "auto",
		about: "Whether uv downloads a Python if a script requires a version that is not installed."},
	{name: "python", kind: place, project: never,
		about: "The Python that runs scripts; by default it is searched for."},
	{name: "uv", kind: place, project: never,
		about: "The uv that prepares environments; by default it is searched for."},

	{name: "model", section: agentSection, kind: word, project: never,
		about: "The model that `agent` uses, as `provider/name`: `anthropic/…`, `openai/…`, `chat/…`, `gemini/…`, `ollama/…`, `replay/demo`. By default it is that of the provider whose key is in the environment, or else of a local server."},
	{name: "maxTurns", section: agentSection, kind: number, project: tighten, initial: "50", min: 1, max: 10_000,
		about: "The most requests to the model for one prompt."},
	{name: "maxTokens", section: agentSection, kind: number, project: tighten, initial: "2000000", min: 1, max: 1 << 40,
		about: "The most tokens for one prompt, in all requests and answers."},
	{name: "maxTime", section: agentSection, kind: duration, project: tighten, initial: "30m", min: 1, max: 86_400_000,
		about: "How long one prompt may take. A bare number is in milliseconds here, and in seconds, such as `0.5`, in the environment."},
	{name: "promptBlocks", section: agentSection, kind: words, values: []string{"navigation", "paths", "execution", "calls", "none"}, initial: "navigation,execution",
		about: "Paragraphs of the system prompt about working with skills: what an activation returns, what paths mean, that scripts are run and not read, and how to call each tool. Some models need them."},
	{name: "contextWindow", section: agentSection, kind: number, project: tighten, initial: "180000", min: 4000, max: 1 << 30,
		about: "How many tokens the model can hold. A conversation is shortened before it reaches this size."},
}

// trustWords are keys that a user may expect to grant trust. None does.
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

// in returns the map of a settings file that has the key.
func (k *key) in() string {
	if k.section == "" {
		return skillsSection
	}
	return k.section
}

func (k *key) choices() []string {
	if k.name == "profile" {
		return profileNames()
	}
	return k.values
}

func (k *key) isList() bool { return k.kind >= names && k.kind != place && k.kind != word }

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
