package manifest

import "strings"

// fieldKind is the form that a field's value has.
type fieldKind uint8

const (
	kindText fieldKind = iota
	kindList           // a list of texts, or one text that is split
	kindFlag
	kindNumber
	kindMap // and every other form that has a reader of its own
)

// String returns what a message says a value should be.
func (k fieldKind) String() string {
	return [...]string{"a text", "a list of texts", "true or false", "a whole number", "a map"}[k]
}

// knownField is one key of front matter that this build knows, with what it does about it.
type knownField struct {
	key      string
	kind     fieldKind
	split    string // of a list that is written as one text: the characters between entries
	standing Standing
	standard bool   // one of the six keys of the open standard
	aliases  string // other spellings that are read without a word, separated by blanks
	from     string // where it comes from: requirement rows, or "claude" for Claude Code
}

const blanksAndCommas = " \t\n,"

// fields is the one table of front matter. Keys are found in any case and with "_" for "-".
var fields = [...]*knownField{
	{key: "name", standing: StandingEnforced, standard: true, from: "R11-R15"},
	{key: "description", standing: StandingEnforced, standard: true, from: "R16-R20"},
	{key: "license", standing: StandingInformational, standard: true, from: "R23"},
	{key: "compatibility", standing: StandingInformational, standard: true, from: "R24"},
	{key: "metadata", kind: kindMap, standing: StandingInformational, standard: true, from: "R25"},
	{key: "allowed-tools", kind: kindList, split: blanksAndCommas, standing: StandingInformational, standard: true, aliases: "allowed_tools", from: "R23 R38"},

	{key: "version", standing: StandingInformational, from: "R21"},
	{key: "author", standing: StandingInformational, from: "R21"},
	{key: "repository", standing: StandingInformational, from: "R21"},
	{key: "min_agent_base_version", standing: StandingEnforced, aliases: "min-agent-base-version", from: "R27"},
	{key: "max_agent_base_version", standing: StandingEnforced, aliases: "max-agent-base-version", from: "R27"},
	{key: "toolsets", kind: kindList, split: blanksAndCommas, standing: StandingInformational, from: "R28-R30"},
	{key: "scripts", kind: kindList, split: blanksAndCommas, standing: StandingEnforced, from: "R31"},
	{key: "scripts_ignore", kind: kindList, split: blanksAndCommas, standing: StandingEnforced, aliases: "scripts-ignore", from: "R33"},
	{key: "permissions", kind: kindMap, standing: StandingEnforced, from: "R34"},
	{key: "triggers", kind: kindMap, standing: StandingEnforced, from: "R35"},
	{key: "default_enabled", kind: kindFlag, standing: StandingEnforced, aliases: "default-enabled", from: "R37"},
	{key: "brief_description", standing: StandingEnforced, aliases: "brief-description", from: "R37"},
	{key: "model", standing: StandingEnforced, from: "R39 claude"},      // with context: fork; else informational, see finish
	{key: "context", standing: StandingEnforced, from: "R39 claude"},    // where the host runs sub-agents, as the command does
	{key: "agent", standing: StandingInformational, from: "R39 claude"}, // goes along with a fork; this build has one kind of agent
	{key: "hooks", kind: kindMap, standing: StandingInformational, from: "R40 claude"},
	{key: "priority", kind: kindNumber, standing: StandingEnforced, from: "R41"},
	{key: "tags", kind: kindList, split: blanksAndCommas, standing: StandingEnforced, from: "R41"},
	{key: "scope", kind: kindMap, standing: StandingInformational, from: "R41"},

	{key: "when_to_use", standing: StandingEnforced, aliases: "when-to-use", from: "claude"},
	{key: "argument-hint", standing: StandingInformational, from: "claude"},
	{key: "arguments", kind: kindList, split: blanksAndCommas, standing: StandingEnforced, from: "claude"},
	{key: "disable-model-invocation", kind: kindFlag, standing: StandingEnforced, from: "claude"},
	{key: "user-invocable", kind: kindFlag, standing: StandingEnforced, from: "claude"},
	{key: "disallowed-tools", kind: kindList, split: blanksAndCommas, standing: StandingInformational, from: "claude"},
	{key: "effort", standing: StandingInformational, from: "claude"},
	{key: "background", kind: kindFlag, standing: StandingInformational, from: "claude"},
	{key: "paths", kind: kindList, split: ",", standing: StandingInformational, from: "claude"},
	{key: "shell", standing: StandingInformational, from: "claude"},
}

// findField returns what is known of a key, in any case and with "_" for "-"; nil for an unknown
// one.
func findField(key string) *knownField {
	for _, f := range fields {
		if len(f.key) == len(key) && foldedKey(f.key, key) {
			return f
		}
	}
	return nil
}

func foldedKey(a, b string) bool {
	for i := range len(a) {
		x, y := a[i], b[i]
		if x == '_' {
			x = '-'
		}
		if y == '_' {
			y = '-'
		}
		if y >= 'A' && y <= 'Z' {
			y += 'a' - 'A'
		}
		if x != y {
			return false
		}
	}
	return true
}

// spelled reports whether key is the field's own key or one of its aliases.
func (f *knownField) spelled(key string) bool {
	if key == f.key {
		return true
	}
	for alias := range strings.FieldsSeq(f.aliases) {
		if key == alias {
			return true
		}
	}
	return false
}

// protective reports whether a field protects the user: what is unclear about it allows nothing.
func protective(key string) bool {
	f := findField(strings.Trim(key, `"'`))
	return f != nil && (f.key == "allowed-tools" || f.key == "permissions")
}

// textOf returns where the manifest keeps a field of text.
func (m *Manifest) textOf(key string) *string {
	switch key {
	case "license":
		return &m.License
	case "compatibility":
		return &m.Compatibility
	case "version":
		return &m.Version
	case "author":
		return &m.Author
	case "repository":
		return &m.Repository
	case "min_agent_base_version":
		return &m.MinVersion
	case "max_agent_base_version":
		return &m.MaxVersion
	case "brief_description":
		return &m.Brief
	case "model":
		return &m.Model
	case "context":
		return &m.Context
	case "agent":
		return &m.Agent
	case "when_to_use":
		return &m.WhenToUse
	case "argument-hint":
		return &m.ArgumentHint
	case "effort":
		return &m.Effort
	case "shell":
		return &m.Shell
	}
	return &m.Description
}

// listOf returns where the manifest keeps a list that needs no check of its own; nil for others.
func (m *Manifest) listOf(key string) *[]string {
	switch key {
	case "tags":
		return &m.Tags
	case "arguments":
		return &m.Arguments
	case "paths":
		return &m.Paths
	case "toolsets":
		return &m.Toolsets
	case "scripts":
		return &m.Scripts
	}
	return &m.ScriptsIgnore
}

// flagOf returns where the manifest keeps a truth value.
func (m *Manifest) flagOf(key string) *bool {
	switch key {
	case "default_enabled":
		return &m.DefaultEnabled
	case "disable-model-invocation":
		return &m.DisableModelInvocation
	case "user-invocable":
		return &m.UserInvocable
	}
	return &m.Background
}
