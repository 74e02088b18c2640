// Package audit keeps a log of what skills and models did and what they were refused. It reads the events of package trace:
// each event that matters becomes a [Record], one line of JSON in a file that is only appended to.
//
// The lines are a chain: each has the hash of the line before it, so [Verify] finds a line that was changed, removed or
// inserted. Anybody who can write the files can write a whole new chain: keep the hash of a record elsewhere and give it to
// Verify as [VerifyOptions.Head].
//
// A record has names, decisions and counts. It has no arguments, no content of files and no output of scripts.
//
// Several processes may write to one log. Everything in this package is safe for concurrent use.
package audit

import (
	"encoding/json"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// The kinds of records that only this package makes.
const (
	Repaired trace.Kind = "audit_repaired" // a writer stopped in the middle of the lines before this one
	Lost     trace.Kind = "audit_lost"     // events before this one could not be written
)

// The outcomes of a Record.
const (
	ok     = "ok"
	Failed = "failed"
	denied = "denied"
)

// Record is one line of the log. As JSON its members are in the order of the fields. The members without omitempty are in
// every line; a text that is not known is "" there.
type Record struct {
	Timestamp    string          `json:"timestamp"` // RFC 3339, UTC, in milliseconds
	Event        trace.Kind      `json:"event"`
	Skill        string          `json:"skill_name"`
	SkillPath    string          `json:"skill_path,omitempty"` // of skill_activated: where its manifest is on that machine
	Script       string          `json:"script_name,omitempty"`
	Tool         string          `json:"tool_name,omitempty"`
	ToolAllowed  *bool           `json:"tool_allowed,omitempty"`
	Agent        string          `json:"agent_id"`
	Task         string          `json:"task_id"`
	Tenant       string          `json:"tenant_id"`
	AllowedTools json.RawMessage `json:"allowed_tools,omitempty"` // of skill_activated: the rules, or null for all tools
	Correlation  string          `json:"correlation_id"`
	Seconds      *float64        `json:"duration_seconds,omitempty"`
	Outcome      string          `json:"outcome,omitempty"` // "ok", Failed or "denied"
	Error        string          `json:"error,omitempty"`
	Reason       string          `json:"reason,omitempty"` // of a violation: which arguments no rule allows, or "hook" if a hook of the skill refused
	Model        string          `json:"model,omitempty"`
	Tokens       int64           `json:"tokens,omitempty"`  // of skill_deactivated: of the requests while the skill was the last activated
	Change       string          `json:"change,omitempty"`  // of skill_activated: renewed or restored
	Blocked      *bool           `json:"blocked,omitempty"` // false: it was refused by a rule that is not enforced, so it was done
	Help         bool            `json:"help,omitempty"`    // of script_run: only its help was asked for
	Grant        []string        `json:"grant,omitempty"`
	Answer       string          `json:"answer,omitempty"`
	Code         string          `json:"code,omitempty"`
	Commit       string          `json:"commit,omitempty"` // of skill_installed and the like
	Layer        string          `json:"layer,omitempty"`  // with skill_name and digest, the skill.ID of the content
	Digest       string          `json:"digest,omitempty"`
	Host         string          `json:"host,omitempty"`
	Path         string          `json:"path,omitempty"`
	Rule         string          `json:"rule,omitempty"`
	Source       string          `json:"source,omitempty"`
	Sandbox      string          `json:"sandbox,omitempty"` // the tier that a script ran in
	Count        int64           `json:"count,omitempty"`   // of audit_lost: events; of audit_repaired: bytes of the broken lines
	SHA256       string          `json:"sha256,omitempty"`  // of audit_repaired: of the broken lines
	Seq          uint64          `json:"seq"`               // 1 for the first record, and one more for each
	Prev         string          `json:"prev"`              // Hash of the record before; "" for the first
	Hash         string          `json:"hash,omitempty"`    // see Line
}

// timeLayout is RFC 3339 with milliseconds; all timestamps have the same length.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time returns the time of the record, or the zero time if its timestamp cannot be read.
func (r *Record) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Refused reports whether the record says that something was refused.
func (r *Record) Refused() bool {
	if r.Blocked != nil {
		return *r.Blocked
	}
	switch r.Event {
	case trace.RestrictionViolated, trace.ToolDenied, trace.SandboxRefused, trace.NetworkRefused:
		return true
	}
	return r.Outcome == denied
}
