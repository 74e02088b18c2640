package manifest

import (
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

const (
	maxHooks       = 32   // of a skill
	maxHookTimeout = 3600 // seconds
)

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

// hookGroups reads a list of maps, each with a matcher and a list of hooks. A part that is not understood is dropped.
func (p *parser) hookGroups(event string, n *yamlnode.Node) Standing {
	if n.Kind != yamlnode.Sequence {
		return p.badHook(event, n, "it must be a list of matchers and commands")
	}
	standing := StandingRejected
	for _, group := range n.Items {
		list := member(group, "hooks")
		if list == nil || list.Kind != yamlnode.Sequence {
			p.badHook(event, group, "an entry must have a list of hooks")
			continue
		}
		for _, it := range list.Items {
			if p.hookCommand(event, hookText(group, "matcher"), it) == StandingEnforced {
				standing = StandingEnforced
			}
		}
	}
	return standing
}

// hookCommand reads one hook of a group.
func (p *parser) hookCommand(event, matcher string, n *yamlnode.Node) Standing {
	command, kind := hookText(n, "command"), hookText(n, "type")
	if command == "" || kind != "" && kind != "command" {
		return p.badHook(event, n, "a hook must have the type command, and a command")
	}
	h := Hook{Event: event, Matcher: matcher, If: hookText(n, "if"), Command: command}
	if once := member(n, "once"); once != nil {
		h.Once, _ = truth(once)
	}
	if text := hookText(n, "timeout"); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds > 0 && seconds <= maxHookTimeout) {
			return p.badHook(event, n, "its timeout must be a number of seconds, at most 3600")
		}
		h.Timeout = time.Duration(seconds * float64(time.Second))
	}
	return p.addHook(h, n)
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

// member returns the value of a key of a map, or nil.
func member(n *yamlnode.Node, key string) *yamlnode.Node {
	if n.Kind != yamlnode.Mapping {
		return nil
	}
	for _, kv := range n.Pairs {
		if kv.Key.Value == key {
			return kv.Value
		}
	}
	return nil
}

// hookText returns the text of a key of a map, or "".
func hookText(n *yamlnode.Node, key string) string {
	if v := member(n, key); v != nil && v.Kind == yamlnode.Scalar {
		return strings.TrimSpace(v.Value)
	}
	return ""
}
