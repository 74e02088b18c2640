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
	duration              // a number, in a file of milliseconds, else of seconds and perhaps with decimals; or 30s, 2m
	names                 // a list of texts, or one text with commas
	globs                 // as names
	place                 // one path
	places                // a list of paths
	roots                 // a list of paths, or of maps with path and mount
	plugins               // a list of maps (R74)
	layers                // a preset's name, or a list of layers
	selection             // as AGENT_SKILLS
	word                  // one text without blanks
	words                 // a list of key.values; "none" is an empty one
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
	values   []string // of a choice; with tighten from loose to strict
	alike    []string // those of values that are the strictest, all of them
	initial  string   // the default, as written; "" means nothing
	env      string   // variable; "" means AGENT_ and the name in capitals
	aliases  []string // other spellings than snake case
	min, max int64
	about    string // what it does, in Markdown
}

// keys lists all settings in the order of the documentation.
var keys = []*key{
	{name: "profile", kind: choice, values: nil, initial: "default", // the values are profileNames
		about: "The rules and defaults that hold, see [profiles](#profiles). What a profile that a project chose would loosen does not hold."},
	{name: "enabledSkills", kind: selection, project: never, env: "AGENT_SKILLS", aliases: []string{"AGENT_SKILLS", "agentSkills"},
		about: "Which skills are loaded: names, `all`, `all-untrusted` or `none`. Where it is set, `activation`, `enabled` and `disabled` decide nothing."},
	{name: "activation", kind: choice, project: tighten, values: []string{"auto", "explicit"}, initial: "auto",
		about: "`auto`: every skill that nobody disabled; `explicit`: those of `enabled` and no others."},
	{name: "enabled", kind: names, project: never,
		about: "Skills that are wanted; `agent skill enable` writes it."},
	{name: "disabled", kind: names, project: add,
		about: "Skills that are not; it wins over `enabled`. `agent skill disable` writes it."},
	{name: "enabledBundled", kind: names, project: ifUnset,
		about: "Of the bundled skills, these alone."},
	{name: "disabledBundled", kind: names, project: add,
		about: "Bundled skills that are not wanted."},
	{name: "allow", kind: globs, project: ifUnset,
		about: "Globs of skill names: where it is set, no other skill is loaded. At most 256 bytes and 16 alternatives in a glob and 64 globs; plain names do not count."},
	{name: "deny", kind: globs, project: add,
		about: "Globs of skill names that are never loaded, with the bounds of `allow`. Because of a glob that cannot be used no skill is loaded."},
	{name: "roots", kind: roots, project: add,
		about: "More folders of skills, as paths or as `{path, mount}`; `mount` is the path that a model is told."},
	{name: "coreDir", kind: place, project: never, aliases: []string{"core_skills_dir", "coreSkillsDir"},
		about: "A folder that takes the place of the bundled skills, and is trusted as they are."},
	{name: "userDir", kind: place, project: never, aliases: []string{"agent_skills_dir", "agentSkillsDir"},
		about: "Your skills; not set it is `skills` in `$AGENT_HOME`."},
	{name: "pluginsDir", kind: place, project: never,
		about: "Installed skills; not set it is `plugins` in `$AGENT_HOME`."},
	{name: "precedence", kind: layers, initial: "default",
		about: "Which layer wins where two have a skill of one name: an order that has a name, see [layers](#layers), or a list of layers, highest first."},
	{name: "duplicates", kind: choice, values: []string{"override", "error"}, initial: "override",
		about: "Two skills of one name in one layer: `override`, the first by path counts; `error`, neither does."},
	{name: "nested", kind: boolean, initial: "true",
		about: "Whether skills are also found in folders below folders."},
	{name: "symlinks", kind: choice, project: tighten, values: []string{"allow-list", "contained", "deny"}, initial: "contained",
		about: "Symbolic links to skills that are followed: with `contained` those that stay in their root, with `allow-list` those that lead into `symlinkRoots` too, with `deny` none."},
	{name: "symlinkRoots", kind: places, project: never,
		about: "Folders that links may lead to, with `symlinks: allow-list`."},
	{name: "disclosure", kind: choice, values: []string{"system-xml", "tool-description", "triggers", "minimal"}, initial: "system-xml",
		about: "How a model is told of the skills: a list in the system prompt, one in the description of the tool `skill`, those that a message triggers, or only what was activated."},
	{name: "xmlStyle", kind: choice, values: []string{"wink", "harness"}, initial: "harness",
		about: "The form of the list with `disclosure: system-xml`."},
	{name: "location", kind: choice, values: []string{"dir", "file", "uri"}, initial: "file",
		about: "What the list says of where a skill is: its folder, its SKILL.md, or `skill://NAME/SKILL.md`."},
	{name: "activationText", kind: choice, values: []string{"short", "long"}, initial: "short",
		about: "How long the steps below a list in the style `wink` are."},
	{name: "maxSkills", kind: number, initial: "0", max: 100_000,
		about: "Most skills in a list; 0 means no limit."},
	{name: "budget", kind: number, initial: "0", max: 10_000_000,
		about: "Most tokens of a list; 0 means no limit, and for `agent` itself a twentieth of `contextWindow`. What was cut is said."},
	{name: "enforce", kind: choice, project: tighten, values: []string{"off", "warn", "enforce"}, initial: "enforce",
		about: "What becomes of a call that an active skill does not allow: let through, let through with a warning, refused. This build restricts nothing yet."},
	{name: "stackPolicy", kind: choice, project: tighten, values: []string{"top", "intersection"}, initial: "intersection",
		about: "With several active skills: the last one restricts, or all do. This build restricts nothing yet."},
	{name: "strictStack", kind: boolean, initial: "false",
		about: "Whether activating an active skill is an error."},
	{name: "errorText", kind: boolean, initial: "false",
		about: "Whether failures carry their text instead of a code in `error`."},
	{name: "scriptRead", kind: choice, project: tighten, values: []string{"allow", "block"}, initial: "block",
		about: "Whether a model may read the source of scripts."},
	{name: "cwd", kind: choice, project: tighten, values: []string{"workspace", "skill", "script"}, alike: []string{"skill", "script"}, initial: "script",
		about: "Where scripts run: their own folder, the skill's, or the workspace."},
	{name: "scriptTimeout", kind: duration, project: tighten, env: "SCRIPT_TIMEOUT", initial: "60s", min: 1, max: 86_400_000,
		about: "How long a script may run. A bare number is milliseconds here, seconds, such as `0.5`, in the environment and as `script_timeout`; `30s` and `2m` are clear everywhere."},
	{name: "maxScriptOutput", kind: number, project: tighten, env: "MAX_SCRIPT_OUTPUT", initial: "1048576", min: 1, max: 1 << 30,
		about: "Bytes that are kept of what a script prints."},
	{name: "python", kind: place, project: never,
		about: "The Python that scripts run with; not set it is looked up."},
	{name: "uv", kind: place, project: never,
		about: "The uv that prepares environments; not set it is looked up."},
	{name: "plugins", kind: plugins, project: never,
		about: "Skills to install. This build shows them and installs nothing yet."},

	{name: "model", section: agentSection, kind: word, project: never,
		about: "The model that `agent` asks, as `provider/name`: `anthropic/…`, `openai/…`, `chat/…`, `gemini/…`, `ollama/…`, `replay/demo`. Not set, it is the provider whose key is in the environment, else a local server."},
	{name: "maxTurns", section: agentSection, kind: number, project: tighten, initial: "50", min: 1, max: 10_000,
		about: "Most requests to the model for one prompt."},
	{name: "maxTokens", section: agentSection, kind: number, project: tighten, initial: "2000000", min: 1, max: 1 << 40,
		about: "Most tokens for one prompt: what is sent and what is answered, of all its requests."},
	{name: "maxTime", section: agentSection, kind: duration, project: tighten, initial: "30m", min: 1, max: 86_400_000,
		about: "How long one prompt may take. A bare number is milliseconds here, seconds, such as `0.5`, in the environment."},
	{name: "promptBlocks", section: agentSection, kind: words, values: []string{"navigation", "paths", "execution", "calls", "none"}, initial: "navigation,execution",
		about: "Paragraphs of the system prompt on how to work with skills: what an activation gives, what paths mean, that scripts are run and never read, and how each tool is called. They are for models that need them said."},
	{name: "contextWindow", section: agentSection, kind: number, project: tighten, initial: "180000", min: 4000, max: 1 << 30,
		about: "Tokens that the model can hold; a conversation is shortened before it has as many."},
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

// in returns the map of a settings file that the key stands in.
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
