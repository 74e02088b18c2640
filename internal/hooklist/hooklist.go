// Package hooklist reads the hooks for one event, in the form of Claude Code: a list of matchers, each with a list of commands. Skills
// and settings have this form.
package hooklist

import (
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// maxTimeout is the longest timeout of a hook, in seconds.
const maxTimeout = 3600

// Entry is one hook.
type Entry struct {
	Matcher, If, Command string
	Timeout              time.Duration  // 0 means the default
	Node                 *yamlnode.Node // where it stands
	Why                  string         // why it cannot be read; "" if it can
}

// Read returns the hooks of a list. What cannot be read of it is an entry, too.
func Read(n *yamlnode.Node) []Entry {
	if n.Kind != yamlnode.Sequence {
		return []Entry{{Node: n, Why: "it must be a list of matchers and commands"}}
	}
	var out []Entry
	for _, group := range n.Items {
		list := Member(group, "hooks")
		if list == nil || list.Kind != yamlnode.Sequence {
			out = append(out, Entry{Node: group, Why: "an entry must have a list of hooks"})
			continue
		}
		for _, it := range list.Items {
			out = append(out, command(text(group, "matcher"), it))
		}
	}
	return out
}

func command(matcher string, n *yamlnode.Node) Entry {
	e := Entry{Matcher: matcher, If: text(n, "if"), Command: text(n, "command"), Node: n}
	if kind := text(n, "type"); e.Command == "" || kind != "" && kind != "command" {
		return Entry{Node: n, Why: "a hook must have the type command, and a command"}
	}
	if timeout := text(n, "timeout"); timeout != "" {
		seconds, err := strconv.ParseFloat(timeout, 64)
		if err != nil || !(seconds > 0 && seconds <= maxTimeout) {
			return Entry{Node: n, Why: "its timeout must be a number of seconds, at most 3600"}
		}
		e.Timeout = time.Duration(seconds * float64(time.Second))
	}
	return e
}

// Member returns the value of a key of a map, or nil.
func Member(n *yamlnode.Node, key string) *yamlnode.Node {
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

// text returns the text of a key of a map, or "".
func text(n *yamlnode.Node, key string) string {
	if v := Member(n, key); v != nil && v.Kind == yamlnode.Scalar {
		return strings.TrimSpace(v.Value)
	}
	return ""
}
