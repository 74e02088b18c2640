package skilltool

import (
	"context"
	"encoding/json"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/tool"
)

// forbids returns why the organisation does not allow a call, which wraps a *policy.Refusal, or nil. A call about which it wants a person to
// be asked is only allowed where the program asks, or where a person makes it.
func (k *Kit) forbids(ctx context.Context, c allow.Call) *tool.Denial {
	patterns := k.o.Policy.Patterns
	patterns.Script = func(skillName, scriptName string) (allow.Script, bool) {
		return k.findScript(ctx, skillName, scriptName)
	}
	d := k.o.Policy.Organisation.Call(&permit.Call{Tool: c.Tool, Args: c.Args, Source: c.Source}, patterns)
	if d.Level == policy.Asks && !k.o.ByUser {
		if why := k.askCall(ctx, &c, d.Why); why != "" {
			d.Level, d.Why = policy.Never, why+": "+d.Why
		}
	}
	if err := d.Refuse("Tool '%s' is not allowed", c.Name()); err != nil {
		return &tool.Denial{Result: tool.Result{Error: tool.PermissionDenied, Reason: reasonPolicy, Message: err.Error()}, Err: err}
	}
	return nil
}

// askCall asks a person about a call, and returns why it is not made, "" if it may be.
func (k *Kit) askCall(ctx context.Context, c *allow.Call, why string) string {
	if k.o.Policy.Ask == nil {
		return "a person has to be asked, and nobody can be asked here"
	}
	args := string(c.Args)
	var v any
	if json.Unmarshal(c.Args, &v) == nil { // in one form: a client may write them otherwise when it makes the call again
		b, _ := json.Marshal(v) // it was read from JSON
		args = string(b)
	}
	yes, err := k.o.Policy.Ask(ctx, c.Name()+" "+args, why)
	switch {
	case err != nil:
		return "a person has to be asked: " + err.Error()
	case !yes:
		return "a person was asked and did not agree"
	}
	return ""
}

type callKey struct{}

// withCall returns a context for what a model's call does, with the arguments of the call: a person who is asked about it twice sees the same.
func withCall(ctx context.Context, args json.RawMessage) context.Context {
	return context.WithValue(ctx, callKey{}, args)
}

// forbidsRun is forbids for what runs a script.
func (k *Kit) forbidsRun(ctx context.Context, name, skillName, scriptName string, words []string) error {
	args, ok := ctx.Value(callKey{}).(json.RawMessage)
	if !ok {
		args, _ = json.Marshal(map[string]any{"skill_name": skillName, "script_name": scriptName, "args": append([]string{}, words...)}) // texts always have a form
	}
	if err := k.forbids(ctx, allow.Call{Tool: name, Args: args}); err != nil {
		return &script.Error{Code: script.PermissionDenied, Reason: reasonPolicy, Message: err.Error(), Err: err.Err}
	}
	return nil
}

// reasonPolicy is the reason of a result of a call that the organisation does not allow.
const reasonPolicy = "policy"
