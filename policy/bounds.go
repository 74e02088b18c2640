package policy

import (
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/script/runner"
)

// Bound is the loosest value that a setting of the agent may have.
type Bound struct {
	Key, Value string // in the grammar of the settings
	Decision          // why nothing looser is
}

// Bounds returns the bounds of the settings mode, sandbox, audit, telemetry and keepConversations. Of several for a setting each holds.
func (p *Policy) Bounds() (out []Bound) {
	for _, d := range p.documents() {
		if d == nil || d.Err() != nil {
			continue
		}
		for _, b := range []struct{ key, setting string }{{KeyMode, "mode"}, {KeySandbox, "sandbox"}, {KeyAudit, "audit"}, {KeyTelemetry, "telemetry"}, {KeyRetention, "keepConversations"}} {
			if items, ok := d.Items(b.key); ok {
				out = append(out, Bound{b.setting, items[0].Text, d.decided(Never, items[0].At, fmt.Sprintf("nothing looser than %s: %s is allowed", b.key, items[0].Text))})
			}
		}
		for _, key := range []string{KeyNetwork, KeyNever} { // without a sandbox nothing keeps a command from either
			if _, ok := d.Items(key); ok {
				out = append(out, Bound{"sandbox", string(runner.ConfineRequired), d.decided(Never, d.At(key), key+" needs a sandbox")})
			}
		}
	}
	return out
}

// Mode decides about a mode of the agent.
func (p *Policy) Mode(mode permit.Mode) Decision {
	return p.ordered(KeyMode, string(mode), modes())
}

// Sandbox decides about a value of the setting sandbox.
func (p *Policy) Sandbox(value string) Decision {
	found := p.ordered(KeySandbox, value, sandboxes())
	for _, b := range p.Bounds() {
		if b.Key == KeySandbox && slices.Index(sandboxes(), value) < slices.Index(sandboxes(), b.Value) {
			found = strictest(found, b.Decision)
		}
	}
	return found
}

// Hooks decides about the hooks of a user's own settings.
func (p *Policy) Hooks() Decision { return p.ordered(KeyHooks, hookValues()[0], hookValues()) }

// ordered decides about one of several values that go from loose to strict.
func (p *Policy) ordered(key, value string, values []string) Decision {
	return p.each(func(d *Document) Decision {
		items, ok := d.Items(key)
		if !ok || slices.Index(values, value) >= slices.Index(values, items[0].Text) {
			return Decision{}
		}
		return d.decided(Never, items[0].At, fmt.Sprintf("nothing looser than %s: %s is allowed", key, items[0].Text))
	})
}
