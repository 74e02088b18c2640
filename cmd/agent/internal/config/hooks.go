package config

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/internal/hooklist"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/policy"
)

// Hook is a command of the user's that runs at an event of a conversation.
type Hook struct {
	Event, Matcher, If, Command string
	Timeout                     time.Duration // 0 means the default
	Open                        bool          // sandbox: false
	Origin                      Origin
	Wrong                       string // why the entry cannot be read: a guard refuses then
}

// String shows the hook in a line.
func (h *Hook) String() string {
	if h.Wrong != "" {
		return h.Event + ": not read: " + h.Wrong
	}
	text := strings.Join(slices.DeleteFunc([]string{h.Event, h.Matcher, h.If}, func(s string) bool { return s == "" }), " ") + ": " + h.Command
	if h.Open {
		text += " (outside the sandbox)"
	}
	return text
}

// hookEvents are the events of a conversation at which hooks of the user run.
var hookEvents = []string{hook.SessionStart, hook.PreToolUse, hook.PostToolUse, hook.Stop}

// maxUserHooks is how many hooks a file may have.
const maxUserHooks = 64

// hookCure shows the form of the hooks for an event.
const hookCure = "write PreToolUse: [{matcher: Bash, hooks: [{command: /path/of/check}]}]"

// hooks reads the hooks of a file. What cannot be read of them may have been a guard, and refuses.
func (r *reader) hooks(n *yamlnode.Node) []Hook {
	out := []Hook{}
	add := func(h Hook, n *yamlnode.Node) {
		if h.Origin = r.at.in(n); h.Wrong != "" {
			r.wrong(n, "a hook for "+h.Event+" cannot be read: "+h.Wrong, hookCure)
		}
		out = append(out, h)
	}
	if n.Kind != yamlnode.Mapping {
		add(Hook{Event: hook.PreToolUse, Wrong: "it must be a map of events"}, n)
		return out
	}
	for _, pair := range n.Pairs {
		event := pair.Key.Value
		if !slices.Contains(hookEvents, event) {
			r.wrong(pair.Key, "no hook of yours runs for the event "+event, "use one of "+strings.Join(hookEvents, ", "))
			continue
		}
		for _, e := range hooklist.Read(pair.Value) {
			h := Hook{Event: event, Matcher: e.Matcher, If: e.If, Command: e.Command, Timeout: e.Timeout, Wrong: e.Why}
			if open := hooklist.Member(e.Node, "sandbox"); open != nil {
				confined, err := truth(&key{name: "sandbox"}, open.Value)
				if err != nil {
					h.Wrong = "its sandbox must be true or false"
				}
				h.Open = confined == false
			}
			for _, text := range []string{h.Matcher, h.If} { // it sees every call then
				if _, err := hook.ParseMatcher(text, nil); err != nil {
					r.wrong(e.Node, "a hook for "+event+" sees every call: "+err.Error(), hookCure)
				}
			}
			add(h, e.Node)
		}
	}
	if len(out) > maxUserHooks {
		out = out[:0]
		add(Hook{Event: hook.PreToolUse, Wrong: "there are more than 64"}, n)
	}
	return out
}

// closeHooks takes the hooks of the user away if the organisation does not want them.
func (l *loader) closeHooks(g given) {
	e := g["agentHooks"]
	all, _ := e.value.([]Hook)
	if d := l.Policy.Hooks(); len(all) > 0 && d.Level == policy.Never {
		g["agentHooks"] = entry{[]Hook{}, e.origins}
		l.governed(all[0].Origin, "your hooks do not run: "+d.Why, d)
	}
}

func hookTexts(all []Hook) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].String()
	}
	return out
}
