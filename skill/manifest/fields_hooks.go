package manifest

import (
	"strings"

	"github.com/agent-base/agent-base/internal/hooklist"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

const maxHooks = 32 // of a skill

// hooks reads what runs for each event. pre and post name a script of the skill. The events of Claude Code have lists of a
// matcher and of commands. Other events are shown, and nothing is run for them.
func (p *parser) hooks(f *knownField, n *yamlnode.Node) {
	if !p.isMap(f, n) {
		return
	}
	for _, kv := range n.Pairs[:min(len(n.Pairs), maxKeys)] {
		standing := StandingInformational
		switch event := kv.Key.Value; event {
		case "pre", "post":
			standing = p.hookScript(event, kv.Value)
		case "PreToolUse", "PostToolUse", "Stop", "SessionStart":
			standing = p.hookGroups(event, kv.Value)
		}
		p.nested("hooks", kv, standing)
	}
}

// hookScript reads the path of a script.
func (p *parser) hookScript(event string, n *yamlnode.Node) Standing {
	path := strings.TrimSpace(n.Value)
	if n.Kind != yamlnode.Scalar || !localPath(path) {
		return p.badHook(event, n, "it must be a file of the skill")
	}
	return p.addHook(Hook{Event: event, Script: path}, n)
}

// hookGroups reads the hooks of an event. A part that is not understood is dropped.
func (p *parser) hookGroups(event string, n *yamlnode.Node) Standing {
	standing := StandingRejected
	for _, e := range hooklist.Read(n) {
		if e.Why != "" {
			p.badHook(event, e.Node, e.Why)
			continue
		}
		h := Hook{Event: event, Matcher: e.Matcher, If: e.If, Command: e.Command, Timeout: e.Timeout}
		if once := hooklist.Member(e.Node, "once"); once != nil {
			h.Once, _ = truth(once)
		}
		if p.addHook(h, e.Node) == StandingEnforced {
			standing = StandingEnforced
		}
	}
	return standing
}

func (p *parser) addHook(h Hook, n *yamlnode.Node) Standing {
	if len(p.m.Hooks) == maxHooks {
		p.problem("fields-many", on(n, "hooks."+h.Event), "hooks has more than %d entries, the rest is not kept", maxHooks)
		return StandingRejected
	}
	p.m.Hooks = append(p.m.Hooks, h)
	return StandingEnforced
}

func (p *parser) badHook(event string, n *yamlnode.Node, why string) Standing {
	p.problem("field-value", on(n, "hooks."+event), "a hook for %s is dropped: %s", event, why)
	return StandingRejected
}
