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
//     of script_help and script_run "Skill 'x' not loaded or installed", "Script 'y' not found in skill 'x'"
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
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Options configures the tools. Catalog and Session are required.
type Options struct {
	Catalog func() *skill.Catalog // returns the present snapshot, never nil; asked once for each call
	Session *session.Session      // of one conversation, as the Kit is
	Scripts *script.Host          // nil: no script tools

	Toolsets Toolsets // nil: no toolsets; see Kit.More for their tools
	CallOnly bool     // a model calls the tools of toolsets by toolset_call alone: Kit.More returns none of them
	Prefix   bool     // Kit.More names a tool whose name is taken "<skill>__<tool>"; otherwise the first of a name wins
	// Starts may refuse to start the toolsets of a skill for a model. asked says that the model called toolset_list for it; otherwise they
	// are about to be started because the skill became active, or one of their tools is called. nil refuses none.
	Starts func(ctx context.Context, skillName string, asked bool) error

	ScriptRule survey.Rule // which files of a skill are scripts; "" means survey.Any

	// Approve may be asked about a skill whose content is not approved; nil refuses it.
	// It is asked once for each call, never in parallel for one call. A yes is for the content of the skill's Digest, which
	// is known by then and alone is run: if files are shown, they have to be those of that digest.
	Approve func(context.Context, *skill.Skill) (bool, error)

	// Seals reports whether the content of a skill whose place is trusted must not change while it runs, because it was
	// granted something: a sealed copy runs then. nil means that none must.
	Seals func(context.Context, *skill.Skill) (bool, error)

	// Advise returns advice for a person about the error of a script's call, or "". It is added to the message for the model.
	// nil adds nothing.
	Advise func(err error, skillName string) string

	// Instructions has values that activation substitutes: session id, project directory.
	Instructions disclose.InstructionOptions

	// Carry limits the text of Kit.Carry; its Instructions are not used. A model with a small window needs less than the
	// 25,000 tokens of the zero value.
	Carry disclose.CarryOptions

	ByUser      bool // a person makes the calls, and no model: skills that are hidden from models are there
	Forks       bool // the caller honours tool.Result.Fork: skills with context: fork ask for it
	ReadScripts bool // let skill_read return the text of scripts, which is otherwise refused for those of survey.Set.Kept
	Hooks       bool // run the hooks of active skills: the executor's After is then Kit.After, and its Check Kit.Check
	Hold        bool // hold the restriction of a skill that a user called for, and of a sub-agent's skill, see session.Session.Hold
	StrictStack bool // activating an active skill is a failure, "Skill 'x' is already active" (the omniforge profile)
	ErrorText   bool // the envelope of a failure has its text in `error`, see tool.Result.ErrorText (the omniforge profile)

	Unlisted  bool   // the skill tool's description has no list of skills: the system prompt or the turns have it
	Budget    int    // tokens for the list in the skill tool's description; 0 means no limit
	MaxSkills int    // most skills in that list; 0 means no limit
	Search    string // how to find one that was left out; default disclose.SearchTool

	Trace trace.Tracer
}

// Kit makes the tools.
type Kit struct {
	o Options // fixed at creation

	mu    sync.Mutex
	of    *skill.Catalog
	index *disclose.Index // of it

	once map[ran]bool // hooks that ran and run once

	called map[string]bool // by canonical name: skills for sub-agents that the user called for

	outer *Kit // of the conversation that a sub-agent works for, or nil

	brought map[string]*brought  // by canonical name: the tools of toolsets
	broken  []string             // why some have none: what Broken returns next is new
	told    int                  // how many of them it has returned
	refs    map[string]tool.Tool // those of brought, by full name
	handled map[string]bool      // full names of those that More returned or left out
}

// New returns a kit. It panics when Catalog or Session is missing.
func New(o *Options) *Kit {
	if o == nil || o.Catalog == nil || o.Session == nil {
		panic("skilltool: Options.Catalog and Options.Session are needed")
	}
	k := &Kit{o: *o}
	if k.o.Search == "" {
		k.o.Search = disclose.SearchTool
	}
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

// load finds and opens a skill that a model may use. For other skills it returns the error for a missing one.
func (k *Kit) load(ctx context.Context, name string) (*skill.Skill, error) {
	e, err := k.o.Catalog().Lookup(name)
	if err != nil {
		return nil, err
	}
	if !k.mayUse(e) {
		return nil, &skill.NotFoundError{Name: name}
	}
	return e.Load(ctx)
}

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
	JSON       *bool           `json:"json"`
	JSONOutput *bool           `json:"json_output"`
}

func parse(raw json.RawMessage) (*arguments, error) {
	var a arguments
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

// list returns args as a list of strings. Numbers and booleans are taken as they are written.
func (a *arguments) list() ([]string, error) {
	if len(a.Args) == 0 || string(a.Args) == "null" {
		return nil, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(a.Args, &items); err != nil {
		return nil, errors.New(`args must be a list of strings, such as ["--limit", "5"]`)
	}
	out := make([]string, len(items))
	for i, it := range items {
		switch {
		case it[0] == '"':
			if err := json.Unmarshal(it, &out[i]); err != nil {
				return nil, err
			}
		case it[0] == '{' || it[0] == '[' || string(it) == "null":
			return nil, fmt.Errorf("args[%d] must be a string", i)
		default:
			out[i] = string(it)
		}
	}
	return out, nil
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
	items, err := a.list()
	if err != nil {
		return "", errors.New("args must be a string")
	}
	return strings.Join(items, " "), nil
}

// wrap returns the function of a tool: it does nothing if ctx is done, reads the arguments once, and completes failures.
func (k *Kit) wrap(call func(context.Context, *arguments) tool.Result) func(context.Context, json.RawMessage) tool.Result {
	return func(ctx context.Context, raw json.RawMessage) tool.Result {
		if err := ctx.Err(); err != nil {
			return k.finish(tooLate(err))
		}
		a, err := parse(raw)
		if err != nil {
			return k.finish(tool.CauseArguments.Failure(err.Error()))
		}
		return k.finish(call(ctx, a))
	}
}

func (k *Kit) finish(r tool.Result) tool.Result {
	r.ErrorText = k.o.ErrorText
	return r
}
