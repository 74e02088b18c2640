package manifest

// Manifest is the content of a SKILL.md. Strings are as written, with nothing resolved: `version: 1.10` is "1.10". A
// field that was absent or dropped has its zero value.
type Manifest struct {
	Name          string // as written if CheckName accepts it, else the directory's name or one made of the two; never empty
	Description   string
	Brief         string // brief_description, else the first sentence of the description; at most 80 characters
	WhenToUse     string // Claude Code: appended to the description in a listing
	License       string
	Compatibility string
	Version       string // top level, else metadata.version
	Author        string // likewise
	Repository    string

	AllowedTools    Tools // what a model may call while the skill is active
	DisallowedTools Tools

	Tags []string // tags, else metadata.tags split at spaces and commas

	// Requires has the commands, and RequiresEnv the environment variables, that must exist. They are from
	// metadata.requires and from requires below metadata.openclaw, clawdbot or moltbot. See Profile.Needs.
	Requires, RequiresEnv []string

	MinVersion, MaxVersion string // min_ and max_agent_base_version

	Toolsets        []string // "module:Class" or "path:Class"
	Scripts         []string // explicit list; meaningless unless ScriptsDeclared
	ScriptsDeclared bool
	ScriptsIgnore   []string // globs

	Permissions    Permissions
	Triggers       Triggers
	DefaultEnabled bool // true unless the file says otherwise

	Model, Context, Agent string // Context is "", "inherit" or "fork"
	Effort, Shell         string
	Background            bool              // true unless the file says otherwise
	Hooks                 map[string]string // event to a path, or to JSON if it has more than a path; informational
	Priority              int
	Scope                 Scope
	Paths                 []string // globs that limit automatic loading

	ArgumentHint           string
	Arguments              []string // names for $name substitution
	DisableModelInvocation bool     // hidden from the model; a person may still invoke it
	UserInvocable          bool     // true unless the file says otherwise

	Metadata map[string]string // lists and maps as JSON; at most 64 keys of 1 KiB

	Body     string  // the instructions, without leading and trailing blank lines
	BodyLine int     // line of the file at which Body starts, from 1; 0 for none
	Fields   []Field // every key of the front matter in file order, and the known keys below permissions, triggers, scope, hooks and metadata, dotted; at most 512
}

// Tools is an allow-list of tools. Declared distinguishes an absent list, which restricts nothing, from an empty list,
// which allows nothing.
type Tools struct {
	Declared bool
	Rules    []string // such as "Bash(git:*)" or "Read"
}

// Permissions lists what a skill requests in addition to its own files.
type Permissions struct {
	Env []string // names of environment variables for its scripts, "*" matching any run
}

// Triggers say when a skill is offered automatically.
type Triggers struct {
	Keywords, Verbs []string // whole words or phrases
	Patterns        []string // regular expressions in RE2 syntax
}

// Empty reports whether the skill declares no triggers.
func (t Triggers) Empty() bool { return len(t.Keywords)+len(t.Verbs)+len(t.Patterns) == 0 }

// Scope limits where a skill is available. It is informational in this build.
type Scope struct{ Agents, Tenants, Environments []string }

// Standing says what this build does with a front matter field.
type Standing uint8

// A field is enforced (it changes what happens), informational (it is kept and shown) or rejected (it is not understood
// or not allowed, and has no effect).
const (
	StandingInformational Standing = iota
	StandingEnforced
	StandingRejected
)

// String returns "informational", "enforced" or "rejected".
func (s Standing) String() string {
	return [...]string{"informational", "enforced", "rejected"}[s]
}

// Field is one key of the front matter.
type Field struct {
	Key       string // as written
	Line, Col int
	Value     string // the source text of a scalar, else a compact form
	Standing  Standing
}
