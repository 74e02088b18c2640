package manifest

import (
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/want"
)

// knownField describes one key of front matter: how it is written, what this build does with it, which field of the
// manifest has its value and how the value is checked. At least one of text, list, asks, flag, number, tools, keys and read is set; read,
// where it is set, has the last word, and keys are then for what it reads. A key below metadata may have none.
//
// A key below permissions needs asks alone: what it lists is then a want of that kind, which package want checks. keep is for what a
// manifest may not ask for although a user can give it.
type knownField struct {
	key      string // dotted below another
	aliases  string // other spellings that are read without a problem, separated by spaces
	standing Standing
	standard bool // one of the six keys of the open standard

	text   func(*Manifest) *string
	list   func(*Manifest) *[]string
	asks   want.Kind // of a list of the permissions: each item is a want of it
	flag   func(*Manifest) *bool
	number func(*Manifest) *int
	tools  func(*Manifest) *Tools
	keys   []*knownField // of a map
	read   func(*parser, *knownField, *yamlnode.Node)

	check    func(p *parser, at place, text string)      // checks a text that has been kept
	keep     func(p *parser, list []listItem) []string   // returns the items of a list to keep; nil keeps all
	split    string                                      // for a list that is written as one text: the characters between items
	sequence func(p *parser, at place, n *yamlnode.Node) // reads a list or a text instead of a map; nil rejects it
	declared func(*Manifest) *bool                       // records that a list has a value, even one that is dropped
	word     bool                                        // for a text: it has no spaces, so that text below it does not belong to it
	holds    bool                                        // for a flag: a value that is neither true nor false counts as true; for rules: what is not one is kept
	close    func(*Manifest)                             // makes a field that protects the user allow nothing; nil for other fields

	label  string // what people are told that a text is which nothing acts on; "" for other fields. Without text its value is in Manifest.Fields alone
	people bool   // it only tells people something: a program that ignores it does nothing else
	lost   string // what is lost where a program, which stands for %s, does not act on it; "" if nobody relies on it
}

const spacesAndCommas = " \t\n,"

// fields is the table of all front matter keys. Keys are found in any case and with "_" for "-".
var fields = [...]*knownField{
	{key: "name", word: true, standing: StandingEnforced, standard: true, read: (*parser).nameField, people: true},
	{key: "description", standing: StandingEnforced, standard: true, read: (*parser).descriptionField, people: true},
	{key: "license", standing: StandingInformational, standard: true, text: func(m *Manifest) *string { return &m.License }, label: "license"},
	{key: "compatibility", standing: StandingInformational, standard: true, text: func(m *Manifest) *string { return &m.Compatibility }, check: (*parser).checkCompatibility, label: "compatible"},
	{key: "metadata", standing: StandingInformational, standard: true, people: true, read: (*parser).metadata, keys: []*knownField{
		{key: "metadata.requires", standing: StandingEnforced, read: (*parser).requires},
		{key: "metadata.openclaw", standing: StandingEnforced, read: (*parser).hostNeeds},
		{key: "metadata.clawdbot", standing: StandingEnforced, read: (*parser).hostNeeds},
		{key: "metadata.moltbot", standing: StandingEnforced, read: (*parser).hostNeeds},
		{key: "metadata.tags", standing: StandingEnforced, split: spacesAndCommas, keep: (*parser).metadataTags},
		{key: "metadata.version", standing: StandingInformational},
		{key: "metadata.author", standing: StandingInformational},
		{key: "metadata.agent-base", standing: StandingEnforced},
		{key: "metadata.agent-base.cwd", standing: StandingEnforced},
	}},
	{key: "allowed-tools", aliases: "allowed_tools", standing: StandingEnforced, standard: true, tools: func(m *Manifest) *Tools { return &m.AllowedTools },
		close: func(m *Manifest) { m.AllowedTools = Tools{Declared: true} }, lost: "%s does not restrict it to the tools that it lists"},

	{key: "version", word: true, standing: StandingInformational, text: func(m *Manifest) *string { return &m.Version }, check: (*parser).checkVersion, people: true},
	{key: "author", standing: StandingInformational, text: func(m *Manifest) *string { return &m.Author }, label: "author"},
	{key: "repository", standing: StandingInformational, text: func(m *Manifest) *string { return &m.Repository }, label: "repository"},
	{key: "min_agent_base_version", aliases: "min-agent-base-version", word: true, standing: StandingEnforced, text: func(m *Manifest) *string { return &m.MinVersion }, check: (*parser).checkBound,
		lost: "%s does not check versions"},
	{key: "max_agent_base_version", aliases: "max-agent-base-version", word: true, standing: StandingEnforced, text: func(m *Manifest) *string { return &m.MaxVersion }, check: (*parser).checkBound,
		lost: "%s does not check versions"},
	{key: "requires-skills", aliases: "requires_skills", standing: StandingEnforced, split: ",\n", list: func(m *Manifest) *[]string { return &m.RequiresSkills }, keep: (*parser).needed,
		lost: "%s does not look for the skills that it needs"},
	{key: "toolsets", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Toolsets }, keep: (*parser).toolsets,
		lost: "%s does not offer its toolsets"},
	{key: "scripts", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Scripts }, keep: (*parser).scripts,
		declared: func(m *Manifest) *bool { return &m.ScriptsDeclared }},
	{key: "scripts_ignore", aliases: "scripts-ignore", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.ScriptsIgnore }, keep: (*parser).globs},
	{key: "permissions", standing: StandingEnforced, close: func(m *Manifest) { m.Permissions = Permissions{} }, lost: "%s runs its scripts with all rights of its own commands", keys: []*knownField{
		{key: "permissions.env", standing: StandingEnforced, split: spacesAndCommas, asks: want.Variable, keep: (*parser).envNames},
		{key: "permissions.network", standing: StandingEnforced, split: spacesAndCommas, asks: want.Host, keep: (*parser).hosts},
		{key: "permissions.read", standing: StandingEnforced, split: ",\n", asks: want.Read, keep: (*parser).readFolders},
		{key: "permissions.write", standing: StandingEnforced, split: ",\n", asks: want.Write, keep: (*parser).writeFolders},
		{key: "permissions.commands", standing: StandingEnforced, split: spacesAndCommas, asks: want.Command, keep: (*parser).commands},
		{key: "permissions.limits", standing: StandingEnforced, read: (*parser).limitsField, keys: []*knownField{
			{key: "permissions.limits.timeout", standing: StandingEnforced, read: (*parser).timeoutLimit},
			{key: "permissions.limits.memory", standing: StandingEnforced, read: (*parser).memoryLimit},
			{key: "permissions.limits.output", standing: StandingEnforced, read: (*parser).outputLimit},
			{key: "permissions.limits.processes", standing: StandingEnforced, read: (*parser).processesLimit},
		}},
	}},
	{key: "triggers", standing: StandingEnforced, sequence: (*parser).keywords, keys: []*knownField{
		{key: "triggers.keywords", standing: StandingEnforced, split: ",", list: func(m *Manifest) *[]string { return &m.Triggers.Keywords }},
		{key: "triggers.verbs", standing: StandingEnforced, split: ",", list: func(m *Manifest) *[]string { return &m.Triggers.Verbs }},
		{key: "triggers.patterns", standing: StandingEnforced, list: func(m *Manifest) *[]string { return &m.Triggers.Patterns }, keep: (*parser).patterns},
	}},
	{key: "default_enabled", aliases: "default-enabled", standing: StandingEnforced, flag: func(m *Manifest) *bool { return &m.DefaultEnabled }},
	{key: "brief_description", aliases: "brief-description", standing: StandingEnforced, text: func(m *Manifest) *string { return &m.Brief }, check: (*parser).checkBrief},
	{key: "model", word: true, standing: StandingEnforced, text: func(m *Manifest) *string { return &m.Model }}, // with context: fork; else informational, see finish
	{key: "context", word: true, standing: StandingEnforced, text: func(m *Manifest) *string { return &m.Context }, check: (*parser).checkContext,
		lost: "%s runs it in the conversation, not in one of its own"},
	{key: "agent", word: true, standing: StandingEnforced, text: func(m *Manifest) *string { return &m.Agent }},
	{key: "hooks", standing: StandingEnforced, read: (*parser).hooks, lost: "%s does not run its hooks, which may be checks"},
	{key: "priority", standing: StandingEnforced, number: func(m *Manifest) *int { return &m.Priority }},
	{key: "tags", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Tags }, people: true},
	{key: "scope", standing: StandingEnforced, close: func(m *Manifest) { m.Scope = Scope{Unclear: true} }, lost: "%s shows it to everybody", keys: []*knownField{
		{key: "scope.agents", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Scope.Agents }},
		{key: "scope.tenants", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Scope.Tenants }},
		{key: "scope.environments", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Scope.Environments }},
	}},

	{key: "when_to_use", aliases: "when-to-use", standing: StandingEnforced, text: func(m *Manifest) *string { return &m.WhenToUse }},
	{key: "argument-hint", standing: StandingInformational, read: (*parser).argumentHint},
	{key: "arguments", standing: StandingEnforced, split: spacesAndCommas, list: func(m *Manifest) *[]string { return &m.Arguments }},
	{key: "disable-model-invocation", standing: StandingEnforced, flag: func(m *Manifest) *bool { return &m.DisableModelInvocation }, holds: true,
		lost: "the model of %s may start it, which its author wants to leave to people"},
	{key: "user-invocable", standing: StandingEnforced, flag: func(m *Manifest) *bool { return &m.UserInvocable },
		lost: "%s may offer it as a command"},
	{key: "disallowed-tools", standing: StandingEnforced, tools: func(m *Manifest) *Tools { return &m.DisallowedTools }, holds: true,
		close: func(m *Manifest) { m.DisallowedTools = Tools{Declared: true, Rules: []string{"*"}} }, // which is not a rule, so it forbids everything
		lost:  "%s does not forbid the tools that it lists"},
	{key: "effort", word: true, standing: StandingInformational, text: func(m *Manifest) *string { return &m.Effort }},
	{key: "background", standing: StandingInformational, flag: func(m *Manifest) *bool { return &m.Background }},
	{key: "paths", standing: StandingInformational, split: ",", list: func(m *Manifest) *[]string { return &m.Paths }, lost: "%s offers it for all files"},
	{key: "shell", word: true, standing: StandingInformational, text: func(m *Manifest) *string { return &m.Shell }},
}

// form returns the form of the field's value, for messages.
func (f *knownField) form() string {
	switch {
	case f.keys != nil || f.key == "hooks":
		return "a map"
	case f.list != nil || f.asks != "" || f.tools != nil || f.keep != nil:
		return "a list of texts"
	case f.flag != nil:
		return "true or false"
	case f.number != nil:
		return "a whole number"
	}
	return "a text"
}

// isText reports whether the field is a text, which can be taken unchanged if it is not YAML.
func (f *knownField) isText() bool { return f.form() == "a text" }

// findField returns the field of a key, in any case and with "_" for "-", or nil for an unknown key.
func findField(key string) *knownField {
	if i := fieldIndex(key); i >= 0 {
		return fields[i]
	}
	return nil
}

// fieldIndex returns the index of a key in fields, or -1 for an unknown key.
func fieldIndex(key string) int {
	for i, f := range fields {
		if len(f.key) == len(key) && foldedKey(f.key, key) {
			return i
		}
	}
	return -1
}

// fieldName returns the name of a key's field. It returns an unknown key unchanged.
func fieldName(key string) string {
	if f := findField(key); f != nil {
		return f.key
	}
	return key
}

// protective reports whether a field protects the user: an unclear value then allows nothing.
func protective(key string) bool {
	f := findField(strings.Trim(key, `"'`))
	return f != nil && f.close != nil
}

// foldedKey reports whether b is a spelling of a, which has no capital letters.
func foldedKey(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
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
