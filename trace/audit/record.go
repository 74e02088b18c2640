package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/trace"
)

// Bounds on the texts of a record.
const (
	maxText = 1024 // bytes of a text
	maxList = 64   // texts of a list
	maxItem = 256  // bytes of a text in a list
)

// outcomes lists the kinds that are recorded, and for each whether a record has an outcome.
var outcomes = map[trace.Kind]bool{
	trace.SkillActivated: false, trace.SkillDeactivated: false,
	trace.ToolStarting: false, trace.ToolInSkill: false, trace.RestrictionViolated: false, trace.ToolDenied: false,
	trace.PathUnresolved: false, trace.ScriptReadAttempted: false,
	trace.ScriptStarted: false, trace.ScriptRun: true, trace.ScriptPrepared: true, trace.HookRun: true,
	trace.ToolsetStarted: true, trace.ToolsetEnded: true, trace.ToolsetCalled: true, trace.ToolsetFailed: true,
	trace.ServerStarted: true, trace.ServerEnded: true, trace.ServerCalled: true, trace.ServerFailed: true,
	trace.TrustAsked: true, trace.TrustApproved: false, trace.TrustRevoked: false, trace.GrantChanged: false, trace.GrantRevoked: false,
	trace.SkillInstalled: true, trace.SkillUpdated: true, trace.SkillRolledBack: true, trace.SkillRemoved: true,
	trace.ToolAsked: true, trace.FileEdited: true, trace.EditUndone: true,
	trace.SandboxRefused: false, trace.NetworkAllowed: false, trace.NetworkRefused: false,
	Lost: false,
}

// Text returns the record of an event as JSON, for a log that is not a chain of records. It is nil for an event that is not recorded. further
// is as Options.Redact.
func Text(ctx context.Context, e *trace.Event, further func(string) string) ([]byte, error) {
	m := newMaker(further)
	r, ok := m.record(ctx, e)
	if !ok {
		return nil, nil
	}
	return json.Marshal(r)
}

// maker makes records of events.
type maker struct {
	redact func(string) string
}

// newMaker returns a maker that removes what looks like a key, and what further removes, if it is not nil.
func newMaker(further func(string) string) maker {
	if further == nil {
		return maker{redact: redact.Shapes}
	}
	return maker{redact: func(s string) string { return redact.Shapes(further(s)) }}
}

// record returns the record of an event without its place in the chain, and false if the event is not recorded.
func (m *maker) record(ctx context.Context, e *trace.Event) (Record, bool) {
	hasOutcome, kept := outcomes[e.Kind]
	// The refusal of a tool by a skill is a violation, which is an event of its own; ToolDenied then has the level debug.
	if !kept || e.Kind == trace.ToolDenied && e.Level < slog.LevelInfo {
		return Record{}, false
	}
	id := trace.IdentityOf(ctx)
	r := Record{Timestamp: e.Time.UTC().Format(timeLayout), Event: e.Kind,
		Skill: m.text(e.Skill), Script: m.text(e.Script), Tool: m.text(e.Tool), Agent: cut(id.Agent, maxItem), Task: cut(id.Task, maxItem),
		Tenant: cut(id.Tenant, maxItem), Correlation: cut(id.Correlation, maxItem), Model: cut(id.Model, maxItem)}
	if hasOutcome {
		r.Outcome = ok
	}
	m.failure(&r, e)
	for _, a := range e.Attrs {
		m.attr(&r, a)
	}
	m.byKind(&r, e)
	return r, true
}

// failure fills in what went wrong.
func (m *maker) failure(r *Record, e *trace.Event) {
	switch {
	case e.Err != nil:
		var brief interface{ Brief() string } // without what a script printed
		if errors.As(e.Err, &brief) {
			r.Error = m.text(brief.Brief())
		} else {
			r.Error = m.text(e.Err.Error())
		}
	case e.Level >= slog.LevelWarn:
		r.Error = m.text(e.Message)
	}
	if r.Outcome != "" && (e.Err != nil || e.Level >= slog.LevelWarn) {
		r.Outcome = Failed
	}
}

// byKind fills in the members that only some kinds have.
func (m *maker) byKind(r *Record, e *trace.Event) {
	yes, no, seconds := true, false, e.Duration.Seconds()
	switch e.Kind {
	case trace.SkillActivated:
		if r.AllowedTools == nil {
			r.AllowedTools = json.RawMessage("null")
		}
	case trace.SkillDeactivated, trace.ScriptRun, trace.ScriptPrepared, trace.HookRun, trace.ToolsetStarted, trace.ToolsetEnded, trace.ToolsetCalled, trace.ServerStarted,
		trace.ServerCalled:
		r.Seconds = &seconds
	case trace.ToolInSkill:
		r.ToolAllowed = &yes
	case trace.RestrictionViolated:
		r.ToolAllowed = &no
		if r.Reason != "" {
			break // a hook refused the call, and the error says whose
		}
		said := r.Error
		r.Error = m.text(fmt.Sprintf("Tool '%s' not in allowed-tools list", e.Tool))
		r.Reason = strings.TrimPrefix(strings.TrimPrefix(said, r.Error), ": ") // which arguments no rule allows
	case trace.TrustAsked, trace.ToolAsked:
		if r.Outcome == Failed && e.Err == nil {
			r.Outcome, r.Error = denied, ""
		}
	}
	if r.Code == "permission_denied" && r.Outcome == Failed {
		r.Outcome = denied
	}
}

// attr fills in an attribute that a record has a member for. The others are left out: nobody knows what they hold.
func (m *maker) attr(r *Record, a slog.Attr) {
	v := a.Value.Resolve()
	switch a.Key {
	case trace.AttrAllowedTools:
		r.AllowedTools, _ = json.Marshal(m.list(v))
	case trace.AttrGrant:
		r.Grant = m.list(v)
	case trace.AttrBlocked, trace.AttrEnforced:
		if v.Kind() == slog.KindBool && (a.Key == trace.AttrBlocked || !v.Bool()) {
			b := v.Bool()
			r.Blocked = &b
		}
	case trace.AttrHelp:
		r.Help = v.Kind() == slog.KindBool && v.Bool()
	case trace.AttrCount:
		if v.Kind() == slog.KindInt64 {
			r.Count = v.Int64()
		}
	}
	for key, to := range map[string]*string{
		trace.AttrAnswer: &r.Answer, trace.AttrChange: &r.Change, trace.AttrCode: &r.Code, trace.AttrCommit: &r.Commit, trace.AttrDigest: &r.Digest, trace.AttrHost: &r.Host, trace.AttrLayer: &r.Layer,
		trace.AttrPath: &r.Path, trace.AttrReason: &r.Reason, trace.AttrRule: &r.Rule, trace.AttrSandbox: &r.Sandbox, trace.AttrSource: &r.Source,
		trace.AttrSkillPath: &r.SkillPath,
	} {
		if key == a.Key {
			*to = m.text(v.String())
		}
	}
}

// list returns the texts of an attribute, at most maxList.
func (m *maker) list(v slog.Value) []string {
	texts, _ := v.Any().([]string)
	out := make([]string, 0, min(len(texts), maxList+1))
	for i, text := range texts {
		if i == maxList {
			return append(out, fmt.Sprintf("… %d more", len(texts)-maxList))
		}
		out = append(out, cut(m.text(text), maxItem))
	}
	return out
}

// text returns a text as a record has it: without secrets, valid and not too long.
func (m *maker) text(s string) string {
	if s == "" {
		return ""
	}
	return cut(m.redact(cut(s, 4*maxText)), maxText) // cut first: a pattern is not matched against megabytes
}

// cut returns the beginning of a text in at most limit bytes.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s[:min(len(s), limit+utf8.UTFMax)], "\uFFFD")
	if len(s) <= limit {
		return s
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
