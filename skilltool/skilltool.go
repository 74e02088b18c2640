// Package skilltool has the tools through which a model uses skills: skill and skill_read; with a script host script_list,
// script_help and script_run; with toolsets toolset_list and toolset_call. There is never one tool per script.
//
// What active skills allow holds only for calls that [Kit.Check] decides about. Call all tools of a conversation, those of the
// program too, by one tool.Executor that has the Check of the Kit and, for hooks, its After. A program that calls tool.Tool.Call
// itself has no restrictions.
//
// The tools work over a catalogue that the caller may swap between calls, one session and one
// script host. They refuse scripts of content that is not approved, and they keep the text of
// scripts from the model. The content of a skill is returned in a frame that
// names the skill. Only the script host executes anything of it.
//
// Each tool is also a typed call for programs: [Kit.Activate], [Kit.ListScripts], [Kit.HelpScript] and
// [Kit.RunScript]. For a conversation a Kit has the text of a turn ([Kit.Turn]), the activation of a skill
// that its user called for ([Kit.Invoke]), what survives when it is shortened ([Kit.Carry]) and the
// kit of a sub-agent ([Kit.Sub]).
//
// A failure is a failed tool.Result. Its texts name the skill or script as the caller wrote it:
//
//   - invalid_name: "skill_name is required", "script_name is required", "Invalid skill name: '../x'"
//   - not_found: "Skill 'x' not found." with " Did you mean 'y'?" if one is near; of script_list "Skill 'x' not found",
//     of script_help and script_run "Skill 'x' not loaded or installed", "Script 'y' not found in skill 'x'"; of all of them
//     "Skill 'x' is unavailable: missing commands: pdftotext. …" where a skill is there and only lacks what it requires
//   - permission_denied: with the reason untrusted "Skill 'x' is not trusted: its scripts are not run. …" or "has changed
//     since it was trusted", with script_read "Script 'y' of skill 'x' must be EXECUTED via Bash tool or script_run, not read: …"
//   - timeout: "Failed to load skill: timed out after 30s", "The turn was ended before this call: …", a script that took too long
//   - execution_failed: "Failed to load skill: …", "Skill activate failed: …", the errors of package session, and with
//     tool.ReasonArguments arguments that do not fit a schema, such as "Unknown action 'z'. Use 'activate' or 'deactivate'."
//   - the failures of package script, with their codes and reasons
//
// A call with a context that is done does nothing. If the context ends during an activation, nothing becomes active.
//
// A Kit is safe for concurrent use.
package skilltool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Options says what the tools work with. Catalog and Session are needed, the rest may be left out. Functions may be called by several
// goroutines at the same time.
type Options struct {
	Catalog  func() *skill.Catalog // returns the present snapshot, never nil; asked once for each call
	Session  *session.Session      // of one conversation, as the Kit is
	Scripts  Scripts               // runs scripts and hooks; nil: no script tools, and a hook that guards something refuses it
	Toolsets Toolsets              // nil: no tools of toolsets; see Kit.More
	Trace    trace.Tracer          // nil: nothing is traced
	Indexes  *disclose.Indexes     // shared by conversations with the same skills, so that these are indexed once; nil: the kit has its own

	ScriptRule script.Rule // which files of a skill are scripts; "" means script.Any
	Show       Show
	Policy     Policy

	// Rules returns where the paths in the rules of a skill lead, such as allowed-tools: Read(notes/**): the Roots, Home and Resolve
	// of the program's own tools for files. The kit adds the folder and the scripts of the skill. A program that has such tools needs
	// it: with nil, a rule about a relative path is about the skill's folder alone, and a call must name an absolute path.
	// The context does not end, since Resolve is called later.
	Rules func(context.Context, *skill.Skill) allow.Options

	// Free names tools of the program that an active skill never refuses, because they run and reach nothing.
	Free []string

	ByUser      bool // a person makes the calls, and no model: skills that are hidden from models are there
	Forks       bool // the caller honours tool.Result.Fork: skills with context: fork ask for it
	Hooks       bool // run the hooks of active skills, which needs Kit.Check and Kit.After in the executor; else no hook runs and no guard of a skill holds
	Hold        bool // hold the restriction of a skill that a user called for, and of a sub-agent's skill, see session.Session.Hold
	StrictStack bool // activating an active skill is a failure, "Skill 'x' is already active"
}

// Scripts runs what skills bring: a *script.Host does on this machine. Where it runs, and whether there, is its own matter: it may send
// the call elsewhere. The skill that Admit returns is the content that runs.
type Scripts interface {
	Run(ctx context.Context, s *skill.Skill, sc script.Script, o *script.RunOptions) (*script.Result, error)
	Help(ctx context.Context, s *skill.Skill, sc script.Script, o *script.HelpOptions) (*script.HelpText, error)
	RunHook(ctx context.Context, s *skill.Skill, o *script.HookOptions) (*script.HookOutput, error)

	// Seal returns a copy of a skill that keeps the content of its Digest, as script.Host.Seal does. Kit.Admit calls it.
	Seal(ctx context.Context, s *skill.Skill) (*skill.Skill, error)
}

// Show says what a model is shown of skills. The zero value shows all of them, in the description of the tool skill.
type Show struct {
	Unlisted  bool // the skill tool's description has no list of skills: the system prompt or the turns have it
	Listing   bool // the tool skill has the action list, which returns all skills by pages
	Budget    int  // estimated tokens for that list; 0 means no limit
	MaxSkills int  // most skills in that list; 0 means no limit

	// Instructions has values that an activation fills in: the session's id, the project's directory. Its Args, Wrap and Scripts are
	// not used.
	Instructions disclose.InstructionOptions
	// Carry limits the text of Kit.Carry; its Instructions are not used. A model with a small window needs less than the
	// 25,000 tokens of the zero value.
	Carry disclose.CarryOptions

	ReadScripts bool // let skill_read return the text of scripts, which is otherwise refused for those of survey.Set.Kept
	CallOnly    bool // a model calls the tools of toolsets by toolset_call alone: Kit.More returns none of them
	Prefix      bool // Kit.More names a tool whose name is taken "<skill>__<tool>"; otherwise the first of a name wins
}

// Policy has what the program decides about skills. With the zero value only content runs that is approved, or whose place is
// trusted.
type Policy struct {
	// Approve may be asked about a skill whose content is not approved; nil refuses it.
	// It is asked once for each call, never in parallel for one call. A yes is for the content of the skill's Digest, which
	// is known by then and alone is run: if files are shown, they have to be those of that digest.
	Approve func(context.Context, *skill.Skill) (bool, error)

	// Seals reports whether the content of a skill whose place is trusted must not change while it runs, because it was
	// granted something: a sealed copy runs then. nil means that none must.
	Seals func(context.Context, *skill.Skill) (bool, error)

	// Starts may refuse to start the toolsets of a skill for a model. asked says that the model called toolset_list for it; otherwise they
	// are about to be started because the skill became active, or one of their tools is called. nil refuses none.
	Starts func(ctx context.Context, skillName string, asked bool) error

	// Organisation has the rules of the organisation about calls, which hold for each call of a tool, a script and a toolset; nil has none.
	// Patterns says what the patterns of its rules are about. Ask asks a person about a call of which a rule wants that, and reports
	// whether it may be made; about names the call, and why is a clause. It may be asked more than once for a call. nil refuses the call.
	Organisation *policy.Policy
	Patterns     allow.Options
	Ask          func(ctx context.Context, about, why string) (bool, error)

	// Advise returns advice for a person about the error of a script's call, or "". It is added to the message for the model.
	// nil adds nothing.
	Advise func(err error, skillName string) string
}

// Kit makes the tools.
type Kit struct {
	o Options // fixed at creation

	mu sync.Mutex

	once map[ran]bool // hooks that ran and run once

	called map[string]bool // by canonical name: skills for sub-agents that the user called for

	outer   *Kit   // of the conversation that a sub-agent works for, or nil
	opening string // see Opening

	brought map[string]*brought  // by canonical name: the tools of toolsets
	broken  []string             // why some have none: what Broken returns next is new
	told    int                  // how many of them it has returned
	refs    map[string]tool.Tool // those of brought, by full name
	handled map[string]bool      // full names of those that More returned or left out
}

// New returns a kit, which says what the rules of skills refer to in its session, see session.Session.SetRules. It panics when
// Catalog or Session is missing.
func New(o *Options) *Kit {
	if o == nil || o.Catalog == nil || o.Session == nil {
		panic("skilltool: Options.Catalog and Options.Session are needed")
	}
	k := &Kit{o: *o}
	if k.o.Indexes == nil {
		k.o.Indexes = &disclose.Indexes{}
	}
	k.o.Session.SetRules(k.rules)
	return k
}

// Tools returns the tools with descriptions of the present catalogue. It returns none if there is no skill that a model may
// see or a user may call for, and only skill and skill_read without a script host.
func (k *Kit) Tools() []tool.Tool {
	any := false
	for e := range k.o.Catalog().All() {
		if any = e.State() == skill.StateEnabled || refuseUser(e) == nil; any {
			break
		}
	}
	if !any {
		return nil
	}
	out := []tool.Tool{k.skillTool(), k.readTool()}
	if k.anyToolsets() {
		out = append(out, k.toolsetTools()...)
	}
	if k.o.Scripts != nil {
		out = append(out, k.listTool(), k.helpTool(), k.runTool())
	}
	return out
}

// load finds and opens a skill that a model may use. For one that only lacks a requirement it returns an *unavailableError, for
// other skills the error for a missing one.
func (k *Kit) load(ctx context.Context, name string) (*skill.Skill, error) {
	e, err := k.o.Catalog().Lookup(name)
	if err != nil {
		return nil, err
	}
	if k.mayUse(e) || k.o.ByUser && e.Cause() == skill.CauseAdmit { // then the error says why
		return e.Load(ctx)
	}
	missing := &skill.NotFoundError{Name: name}
	if e.State() != skill.StateUnavailable || !k.mayKnow(ctx, e) {
		return nil, missing
	}
	text := fmt.Sprintf("Skill '%s' is %s: %s", e.Name(), e.State(), e.Reason())
	if !k.o.ByUser {
		text += ". Tell the user what it lacks: it can be used once that is there."
	}
	return nil, &unavailableError{text, missing}
}

// mayKnow reports whether a model may know of a skill that is unavailable: not of one that is kept from models anyway.
func (k *Kit) mayKnow(ctx context.Context, e skill.Entry) bool {
	if k.o.ByUser {
		return true
	}
	s, err := e.Load(ctx)
	if err != nil {
		return false
	}
	defer s.Close()
	return !s.Manifest().DisableModelInvocation
}

// unavailableError says what a skill lacks. Callers that do not care find the error for a missing skill in it.
type unavailableError struct {
	text    string
	missing *skill.NotFoundError
}

func (e *unavailableError) Error() string { return e.text }
func (e *unavailableError) Unwrap() error { return e.missing }

// arguments are the parameters of all these tools, with the aliases that models know from other
// hosts.
type arguments struct {
	SkillName  string          `json:"skill_name"`
	Skill      string          `json:"skill"`
	ScriptName string          `json:"script_name"`
	Script     string          `json:"script"`
	ToolName   string          `json:"tool_name"`
	Tool       string          `json:"tool"`
	Action     string          `json:"action"`
	Path       string          `json:"path"`
	Offset     int             `json:"offset"`
	Args       json.RawMessage `json:"args"`
	Stdin      *string         `json:"stdin"`
	JSON       *bool           `json:"json"`
	JSONOutput *bool           `json:"json_output"`

	raw json.RawMessage // all of them as they came
}

func parse(raw json.RawMessage) (*arguments, error) {
	a := arguments{raw: raw}
	if err := tool.Arguments(raw, &a); err != nil {
		return nil, fmt.Errorf("arguments do not fit the tool's schema: %w", err)
	}
	if a.SkillName == "" {
		a.SkillName = a.Skill
	}
	if a.ScriptName == "" {
		a.ScriptName = a.Script
	}
	if a.ToolName == "" {
		a.ToolName = a.Tool
	}
	return &a, nil
}

// jsonMode is what the model asked for, "" if it left that out.
func (a *arguments) jsonMode() script.JSONMode {
	switch want := cmp.Or(a.JSON, a.JSONOutput); {
	case want == nil:
		return ""
	case *want:
		return script.JSONYes
	}
	return script.JSONNo
}

// text returns args as one string, for the skill tool.
func (a *arguments) text() (string, error) {
	if len(a.Args) == 0 || string(a.Args) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(a.Args, &s) == nil {
		return s, nil
	}
	items, err := tool.Words(a.Args)
	if err != nil {
		return "", errors.New("args must be a string")
	}
	return strings.Join(items, " "), nil
}

// wrap returns the function of a tool: it does nothing if ctx is done, reads the arguments once, and completes failures.
func (k *Kit) wrap(call func(context.Context, *arguments) tool.Result) func(context.Context, json.RawMessage) tool.Result {
	return func(ctx context.Context, raw json.RawMessage) tool.Result {
		if err := ctx.Err(); err != nil {
			return tooLate(err)
		}
		a, err := parse(raw)
		if err != nil {
			return tool.CauseArguments.Failure(err.Error())
		}
		return call(ctx, a)
	}
}
