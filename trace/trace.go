// Package trace reports what the engine does. Every step is an [Event]; an audit log, metrics, spans and log lines are
// made from the same events.
//
// The package depends on the standard library alone. A [Tracer] must be safe for concurrent use and must not block: it is
// called in the course of the step that it observes.
package trace

import (
	"context"
	"log/slog"
	"time"
)

// Kind names a step. The set is open: other packages have kinds of their own.
type Kind string

// The kinds of the engine. An event is emitted when its step has ended, except where it says otherwise. The attributes
// that are named here are those that an audit log and metrics read; an event may have more.
const (
	CatalogRefreshed Kind = "catalog_refreshed" // a watcher found that skills have changed
	SkillsLoaded     Kind = "skills_loaded"     // a catalogue was opened; names, count, found
	SkillActivated   Kind = "skill_activated"   // also when the activation was renewed or restored; allowed_tools, skill_path, layer, digest, change
	SkillDeactivated Kind = "skill_deactivated" // Duration is the time it was active
	ResourceRead     Kind = "resource_read"     // a model read a file of a skill
	PathUnresolved   Kind = "path_unresolved"   // a model named a file of a skill that is not there or not allowed; path
	ScriptPreparing  Kind = "script_preparing"  // begins; ScriptPrepared is its end
	ScriptPrepared   Kind = "script_prepared"
	ScriptStarted    Kind = "script_started"  // begins; ScriptRun is its end
	ScriptRun        Kind = "script_run"      // also, without ScriptStarted, for a script that could not be started
	ToolsetStarted   Kind = "toolset_started" // a process with toolsets of a skill runs and has said which tools it has
	ToolsetEnded     Kind = "toolset_ended"   // such a process ended; Err says why, unless it was asked to
	ToolsetCalled    Kind = "toolset_called"  // a tool of one was called; Tool is Class.tool
	ToolsetFailed    Kind = "toolset_failed"  // a toolset could not be used
	ServerStarted    Kind = "server_started"  // an MCP server that the user configured has said which tools it has
	ServerEnded      Kind = "server_ended"    // such a server ended; Err says why, unless it was asked to
	ServerCalled     Kind = "server_called"   // a tool of one was called
	ServerFailed     Kind = "server_failed"   // such a server could not be used
	HookRun          Kind = "hook_run"        // a hook of a skill, or of the user, ran; Script is the hook
	AgentAnswered    Kind = "agent_answered"  // one prompt, from its arrival to its end
	ModelRequested   Kind = "model_requested" // one request to a model ended; input, output
	ToolStarting     Kind = "tool_starting"   // begins; only for an audit log that must be written before a tool runs
	ToolCalled       Kind = "tool_called"     // also for a call that failed before it reached the tool
	ToolDenied       Kind = "tool_denied"     // a tool was refused, or the text of a script was; rule
	ToolCollided     Kind = "tool_collided"   // a tool of a toolset was left out because its name is taken; level warn
)

// The kinds about what a skill or a model may do.
const (
	ToolInSkill         Kind = "tool_execution_in_skill"   // a tool is about to run while Skill is active; level debug
	RestrictionViolated Kind = "tool_restriction_violated" // Tool is not allowed by Skill, or by a hook of it (reason), and did not run; level warn
	ScriptReadAttempted Kind = "script_read_attempted"     // a model asked for the text of a script; blocked
	TrustAsked          Kind = "trust_asked"               // an approver answered whether a skill's content may run; layer, digest
	TrustApproved       Kind = "trust_approved"            // content was approved and the approval stored; layer, digest
	TrustRevoked        Kind = "trust_revoked"             // an approval was taken back; of one content also layer, digest
	GrantChanged        Kind = "grant_changed"             // grants of a skill were stored; grant, layer, digest
	GrantRevoked        Kind = "grant_revoked"             // grants of a skill were taken back; layer, digest
	SkillInstalled      Kind = "skill_installed"           // digest, commit, source
	SkillUpdated        Kind = "skill_updated"             // the content of an installed skill is replaced; digest, commit, source
	SkillRolledBack     Kind = "skill_rolled_back"         // likewise, by its former content
	SkillRemoved        Kind = "skill_removed"             // digest, commit, source
	CallDecided         Kind = "call_decided"              // a policy decided about a call: allowed, asked about or denied; level debug, path, rule
	ToolAsked           Kind = "tool_asked"                // a user answered whether a call may proceed; answer, rule
	FileEdited          Kind = "file_edited"               // a tool changed a file of the workspace; path
	EditUndone          Kind = "edit_undone"               // such a change was taken back; path
	SandboxRefused      Kind = "sandbox_refused"           // a command did not start because a protection is missing
	NetworkAllowed      Kind = "network_allowed"           // a command reached a host; host
	NetworkRefused      Kind = "network_refused"           // a command was refused a host; host
)

// The keys of attributes that readers of events know.
const (
	AttrAllowedTools = "allowed_tools" // []string: the rules of a skill; without the attribute, all tools are allowed
	AttrAnswer       = "answer"        // what a user answered: allowed or denied, and for how long
	AttrBlocked      = "blocked"       // bool: the text of the script was not given
	AttrChange       = "change"        // renewed or restored, for an activation that is not new
	AttrCode         = "code"          // of a failure
	AttrCommit       = "commit"        // of the repository that a skill is from
	AttrCount        = "count"         // int: how many
	AttrEnforced     = "enforced"      // bool: a violation was refused, not only noted
	AttrDigest       = "digest"        // of a skill's content
	AttrFound        = "found"         // int: skills that were found, loaded or not
	AttrGrant        = "grant"         // []string: what was granted, as NAME=VALUE without secrets: "env=KALSHI_KEY", "net=example.com"
	AttrHelp         = "help"          // bool: not a run of the script, only its help
	AttrHost         = "host"          // name and port of a host
	AttrLayer        = "layer"         // the place of a skill, as skill.ID has it
	AttrInput        = "input"         // int: tokens of a request
	AttrNames        = "names"         // []string: of skills
	AttrOutput       = "output"        // int: tokens of an answer
	AttrPath         = "path"          // of a file, relative to its skill or workspace
	AttrProgram      = "program"       // the name of the program that was started
	AttrExitCode     = "exit_code"     // int: of a command
	AttrReason       = "reason"        // the finer code of a failure
	AttrStdout       = "stdout_bytes"  // int: what a command wrote
	AttrStderr       = "stderr_bytes"  // int: what a command wrote, at most the part that is kept
	AttrRule         = "rule"          // the rule that decided
	AttrSandbox      = "sandbox"       // the tier of the sandbox that a command ran in
	AttrSkillPath    = "skill_path"    // where the manifest of an activated skill is on this machine
	AttrUnknown      = "unknown"       // bool: nothing has the names of the event; a model, or another caller, made them up
	AttrSource       = "source"        // where a skill came from
)

// ContentAttrs returns the attributes of an event about one content of a skill, by the Layer and the Digest of its skill.ID.
func ContentAttrs(layer, digest string) []slog.Attr {
	return []slog.Attr{slog.String(AttrLayer, layer), slog.String(AttrDigest, digest)}
}

// Event is one step. Fields that do not apply are zero. Strings may come from a skill or a model: a tracer that prints them
// must escape them.
type Event struct {
	Time     time.Time // filled in by Emit when zero
	Kind     Kind
	Level    slog.Level    // Info for success, Error or Warn for failure
	Skill    string        // canonical name; as a model wrote it if there is no such skill
	Script   string        // its name
	Tool     string        // name of the tool, for a toolset's the full one
	Message  string        // one line for people
	Duration time.Duration // of the step
	Err      error         // why the step failed or was refused; nil for success
	Attrs    []slog.Attr   // further facts, in a stable order
}

// Tracer receives events.
type Tracer interface {
	Trace(context.Context, Event)
}

// TracerFunc is a function that is a Tracer.
type TracerFunc func(context.Context, Event)

// Trace calls f.
func (f TracerFunc) Trace(ctx context.Context, e Event) { f(ctx, e) }

// Emit sends e to t. It sets e.Time to the current time if it is zero. If t is nil, Emit does nothing.
func Emit(ctx context.Context, t Tracer, e Event) {
	if t == nil {
		return
	}
	t.Trace(ctx, timed(e))
}

// timed returns e with a time.
func timed(e Event) Event {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	return e
}

// Tee returns a Tracer that sends every event to each tracer in turn. It ignores nil tracers, and is a Spanner for those that
// are.
func Tee(tracers ...Tracer) Tracer {
	var out tee
	for _, t := range tracers {
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}

// Log returns a Tracer that writes each event to l, at the level of the event. A nil l writes nothing. It does not write the Identity
// of the context; the example adds it.
func Log(l *slog.Logger) Tracer {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return TracerFunc(func(ctx context.Context, e Event) {
		if !l.Enabled(ctx, e.Level) {
			return
		}
		l.LogAttrs(ctx, e.Level, message(e), attrs(e)...)
	})
}

func message(e Event) string {
	if e.Message != "" {
		return e.Message
	}
	return string(e.Kind)
}

func attrs(e Event) []slog.Attr {
	out := make([]slog.Attr, 0, 5+len(e.Attrs))
	for _, a := range []slog.Attr{
		slog.String("skill", e.Skill), slog.String("script", e.Script), slog.String("tool", e.Tool),
	} {
		if a.Value.String() != "" {
			out = append(out, a)
		}
	}
	if e.Duration > 0 {
		out = append(out, slog.Duration("duration", e.Duration))
	}
	if e.Err != nil {
		out = append(out, slog.String("error", e.Err.Error()))
	}
	for _, a := range e.Attrs {
		if a.Key != AttrUnknown { // the code says it
			out = append(out, a)
		}
	}
	return out
}
