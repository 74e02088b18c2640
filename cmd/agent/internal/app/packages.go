package app

import (
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/want"
)

// ImportsText lists modules with the names of their packages: "requests, yaml (PyYAML), marked, mine (of an unknown package)".
func ImportsText(modules []string) string {
	out := make([]string, len(modules))
	for i, m := range modules {
		out[i] = strings.TrimPrefix(m, script.NPM)
		switch p := script.Packages(m)[0]; {
		case p.From == want.Seen:
			out[i] += " (of an unknown package)"
		case p.Name != m:
			out[i] += " (" + p.Name + ")"
		}
	}
	return strings.Join(out, ", ")
}
