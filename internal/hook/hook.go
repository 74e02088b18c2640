// Package hook says which hooks of a skill a moment of a conversation concerns, what they are told, and what their answers
// mean. The form is that of Claude Code: a JSON document on standard input, and an exit code or a JSON document as the
// answer. It runs nothing: see skilltool.Kit.
//
// All functions are safe for concurrent use.
package hook

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/tool"
)

// The moments. Pre and PreToolUse are guards: if the hook fails, what it stands before does not happen.
const (
	Pre          = "pre"          // before a skill is activated
	Post         = "post"         // after a skill was deactivated
	SessionStart = "SessionStart" // once a skill is active
	PreToolUse   = "PreToolUse"   // before a call of a tool
	PostToolUse  = "PostToolUse"  // after a call of a tool
	Stop         = "Stop"         // when the model has answered a prompt; the hook can make it go on
)

// IsGuard reports whether a failure of a hook for the event prevents what it stands before.
func IsGuard(event string) bool { return event == Pre || event == PreToolUse }

// Input is what a hook gets on standard input.
type Input struct {
	Event  string          `json:"hook_event_name"`
	Skill  string          `json:"skill_name,omitempty"` // canonical name of the hook's skill; "" for a hook of the user's
	Dir    string          `json:"cwd,omitempty"`        // the workspace
	Tool   string          `json:"tool_name,omitempty"`  // as Claude Code calls it
	Called string          `json:"agent_tool,omitempty"`
	Args   json.RawMessage `json:"tool_input,omitempty"`
	Result json.RawMessage `json:"tool_response,omitempty"`
	// Again says, for Stop, that a hook has made the model go on for this prompt before. The others have no such field.
	Again *bool `json:"stop_hook_active,omitempty"`
}

// NewInput returns the input for a call of a tool, or for another event with tool "".
func NewInput(event, skill, tool string, args json.RawMessage) *Input {
	in := &Input{Event: event, Skill: skill, Tool: tool, Called: tool, Args: slices.Clone(args)}
	if names := allow.Spellings(allow.Canonical(tool)); len(names) > 0 {
		in.Tool = names[0]
	}
	return in
}

// Verdict is what a hook wants to happen.
type Verdict uint8

// The verdicts.
const (
	Agrees  Verdict = iota // go on: it has nothing against it
	Refuses                // a guard forbids what it stands before, see IsGuard
	GoesOn                 // for Stop: the work is not done, the model has to continue
	Objects                // another hook reports that what it stands after went wrong; that stays done
	Failed                 // it did not do its work; for a guard this counts as Refuses
)

// Answer is what a hook says.
type Answer struct {
	Verdict Verdict
	Reason  string // for the model; "" if there is none
	Note    string // further text for the model
}

// against returns the verdict of a hook for an event that does not agree.
func against(event string) Verdict {
	switch {
	case IsGuard(event):
		return Refuses
	case event == Stop:
		return GoesOn
	}
	return Objects
}

// Said returns what hooks that cannot deny say, each in lines of its own.
func Said(all []Answer) string {
	var texts []string
	for _, a := range all {
		for _, text := range []string{a.Reason, a.Note} {
			if text != "" {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// maxText is how many bytes of a hook's text reach a model.
const maxText = 4 << 10

// document is the JSON form of an answer.
type document struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	SystemMessage string `json:"systemMessage"`
	Specific      struct {
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Context  string          `json:"additionalContext"`
		Updated  json.RawMessage `json:"updatedInput"`
	} `json:"hookSpecificOutput"`
}

// The values of decision and permissionDecision that are understood.
var (
	decisions           = []string{"", "approve", "allow", "block", "deny"}
	permissionDecisions = []string{"", "allow", "deny", "ask"}
)

// blocks is the exit code with which a hook says no, rather than that it failed.
const blocks = 2

// Read returns the answer of a hook that has ended. It does not agree if it exits with 2, or with a JSON document that says so or
// wants to change the call: a call is made as the model wrote it, or not at all. Another exit code, and a document that cannot be
// read, mean that it failed. For Stop, a document that says not to continue agrees: it wants the end.
func Read(event string, exit int, stdout, stderr []byte) Answer {
	if exit != 0 {
		a := Answer{Verdict: Failed, Reason: Text(cmp.Or(strings.TrimSpace(string(stderr)), strings.TrimSpace(string(stdout))))}
		if exit == blocks {
			a.Verdict = against(event)
		}
		return a
	}
	said := strings.TrimSpace(strings.TrimPrefix(string(stdout), "\ufeff"))
	if !strings.HasPrefix(said, "{") {
		if event == SessionStart {
			return Answer{Note: Text(said)}
		}
		return Answer{}
	}
	var d document
	if err := json.Unmarshal([]byte(said), &d); err != nil {
		return Answer{Verdict: Failed, Reason: "its answer is not a JSON document"}
	}
	if !plain([]byte(said)) {
		return Answer{Verdict: Failed, Reason: "its answer has a key twice"}
	}
	stays := d.Continue != nil && !*d.Continue
	if event == Stop && stays {
		return Answer{}
	}
	a := Answer{Reason: Text(cmp.Or(d.Specific.Reason, d.Reason, d.StopReason)), Note: Text(d.Specific.Context)}
	switch {
	case d.Decision == "block" || d.Decision == "deny", d.Specific.Decision == "deny", stays:
		a.Verdict = against(event)
	case !slices.Contains(decisions, d.Decision) || !slices.Contains(permissionDecisions, d.Specific.Decision):
		a.Verdict, a.Reason = Failed, cmp.Or(a.Reason, "its answer has an unknown decision")
	case d.Specific.Decision == "ask":
		a.Verdict, a.Reason = against(event), cmp.Or(a.Reason, "it wants a person to decide")
	case len(d.Specific.Updated) > 0 && string(d.Specific.Updated) != "null":
		a.Verdict, a.Reason = against(event), "it wants to change the arguments; make the call with other ones"
	}
	return a
}

// plain reports whether readers agree about a document: no key occurs twice in it, and none that is read here twice in different
// case. A hook that writes its answer without a library may put words of the call in it, which then bring a second decision.
func plain(raw []byte) bool {
	members, err := tool.Members(raw)
	if err != nil || tool.Folded(members) {
		return false
	}
	for _, m := range members {
		if strings.EqualFold(m.Key, "hookSpecificOutput") {
			inner, err := tool.Members(m.Value)
			return err == nil && !tool.Folded(inner)
		}
	}
	return true
}

// Text returns what of a text reaches a model: its first 4 KiB, in valid UTF-8.
func Text(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + " …"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
