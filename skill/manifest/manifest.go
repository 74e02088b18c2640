package manifest

import (
	"fmt"
	"time"

	"github.com/agent-base/agent-base/want"
)

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

	// RequiresAny has commands of which one must exist, and Systems the operating systems, named as in GOOS, of which the skill needs
	// one. They are from anyBins and os below metadata.openclaw, clawdbot or moltbot. Empty lists require nothing.
	RequiresAny, Systems []string

	// RequiresSkills has the skills that must be there, in the form that ParseNeed reads.
	RequiresSkills []string

	MinVersion, MaxVersion string // min_ and max_agent_base_version

	Toolsets        []string // "module:Class", "path:Class" or "NAME=COMMAND ARGUMENTS"
	Scripts         []string // explicit list; meaningless unless ScriptsDeclared
	ScriptsDeclared bool
	ScriptsIgnore   []string // globs

	Permissions    Permissions
	Triggers       Triggers
	DefaultEnabled bool // true unless the file says otherwise

	Model, Context, Agent string // Context is "", "inherit" or "fork"
	Effort, Shell         string
	Background            bool   // true unless the file says otherwise
	Hooks                 []Hook // at most 32
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

// Hook is a program of the skill that runs at a moment of a conversation while the skill is active.
type Hook struct {
	Event   string        // pre, post, PreToolUse, PostToolUse, Stop or SessionStart
	Matcher string        // names the tools of PreToolUse and PostToolUse; "" means every tool
	If      string        // a rule such as Bash(git push:*) for the calls that Matcher names; "" means all of them
	Script  string        // slash path in the skill, for pre and post
	Command string        // shell command, for the other events
	Timeout time.Duration // 0 if none is given
	Once    bool          // after each activation it runs until it has agreed once
}

// Permissions lists what a skill requests for its scripts in addition to its own files. It gives nothing by itself: a user
// approves it with the skill's content.
type Permissions struct {
	// Asked has variables, "*" matching any run of characters in their names, hosts in their usual form, folders, and programs that its
	// scripts start. All are from want.Declared.
	Asked  want.Set
	Limits Limits
}

// Wants returns what is requested, the limits too.
func (p *Permissions) Wants() want.Set {
	return p.Asked.Add(want.Each(want.Limit, want.Declared, p.Limits.texts()...)...)
}

// Empty reports whether nothing is requested.
func (p *Permissions) Empty() bool { return len(p.Asked) == 0 && p.Limits == Limits{} }

// Limits are what one run of a script may use. Zero means the usual limit.
type Limits struct {
	Timeout   time.Duration // at most ten minutes
	Memory    int64         // bytes of all its processes together, at most 8 GiB
	Output    int64         // bytes of its output, at most 16 MiB
	Processes int           // at the same time, at most 1024
}

// texts returns the limits that are requested, such as "memory=512MiB".
func (l *Limits) texts() []string {
	var out []string
	add := func(set bool, text string) {
		if set {
			out = append(out, text)
		}
	}
	add(l.Timeout > 0, "timeout="+l.Timeout.String())
	add(l.Memory > 0, fmt.Sprintf("memory=%dMiB", (l.Memory+1<<20-1)>>20))
	add(l.Output > 0, fmt.Sprintf("output=%dKiB", (l.Output+1<<10-1)>>10))
	add(l.Processes > 0, fmt.Sprintf("processes=%d", l.Processes))
	return out
}

// The most that a skill can request.
const (
	maxTimeout   = 10 * time.Minute
	maxMemory    = 8 << 30  // bytes
	maxOutput    = 16 << 20 // bytes
	maxProcesses = 1024
)

// Triggers say when a skill is offered automatically.
type Triggers struct {
	Keywords, Verbs []string // whole words or phrases
	Patterns        []string // regular expressions in RE2 syntax
}

// Empty reports whether the skill declares no triggers.
func (t Triggers) Empty() bool { return len(t.Keywords)+len(t.Verbs)+len(t.Patterns) == 0 }

// Scope limits to whom a skill is available. An empty list does not limit.
type Scope struct {
	Agents, Tenants, Environments []string
	Unclear                       bool // a part was dropped: nobody can tell to whom the skill is available
}

// Empty reports whether the scope limits nothing.
func (s Scope) Empty() bool {
	return len(s.Agents)+len(s.Tenants)+len(s.Environments) == 0 && !s.Unclear
}

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
