package manifest

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// maxRequires is how many commands, and how many variables, one skill can need. It keeps the cost of looking for them
// small even in a folder of many such skills.
const maxRequires = 32

// needs is what a skill's metadata says that it needs.
type needs struct{ commands, variables []string }

func (n *needs) empty() bool { return len(n.commands)+len(n.variables) == 0 }

// requires reads metadata.requires: a list of commands, or a map as below metadata.openclaw. Another form is a key of
// another product and has no effect.
func (p *parser) requires(f *knownField, n *yamlnode.Node) {
	if n = p.object(n); n.Kind == yamlnode.Mapping {
		p.needsOf(n)
		return
	}
	names := namesIn(n)
	if slices.ContainsFunc(names, func(s string) bool { return strings.ContainsAny(s, "<>=~!") }) {
		return // packages with their versions
	}
	p.needs.commands = append(p.needs.commands, names...)
	p.bounded(f, n)
}

// hostNeeds reads the needs in the metadata of OpenClaw: {requires: {bins: [gh], env: [TOKEN]}}.
func (p *parser) hostNeeds(f *knownField, n *yamlnode.Node) {
	for _, kv := range p.object(n).Pairs {
		if kv.Key.Value == "requires" {
			p.needsOf(p.object(kv.Value))
		}
	}
	p.bounded(f, n)
}

// needsOf reads the commands and variables of a map.
func (p *parser) needsOf(n *yamlnode.Node) {
	for _, kv := range n.Pairs {
		switch kv.Key.Value {
		case "bins":
			p.needs.commands = append(p.needs.commands, namesIn(kv.Value)...)
		case "env":
			for _, s := range namesIn(kv.Value) {
				if envName().MatchString(s) && !strings.Contains(s, "*") {
					p.needs.variables = append(p.needs.variables, s)
				}
			}
		}
	}
}

// bounded removes duplicates, and reports and cuts lists that are too long.
func (p *parser) bounded(f *knownField, n *yamlnode.Node) {
	for _, list := range []*[]string{&p.needs.commands, &p.needs.variables} {
		var once []string
		for _, s := range *list {
			if !slices.Contains(once, s) && len(once) <= maxRequires {
				once = append(once, s)
			}
		}
		if len(once) > maxRequires {
			p.problem("fields-many", on(n, f.key), "more than %d needs of one kind, only the first %d are looked for", maxRequires, maxRequires)
			once = once[:maxRequires]
		}
		*list = once
	}
}

// namesIn returns the names in a list, or in a text with spaces or commas between them.
func namesIn(n *yamlnode.Node) []string {
	switch n.Kind {
	case yamlnode.Scalar:
		return splitOutside(n.Value, spacesAndCommas)
	case yamlnode.Sequence:
		var out []string
		for _, v := range n.Items {
			if s := strings.TrimSpace(v.Value); s != "" && v.Kind == yamlnode.Scalar {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// object returns the map that a text in JSON contains, in the text's place, and other values unchanged.
func (p *parser) object(n *yamlnode.Node) *yamlnode.Node {
	if n.Kind != yamlnode.Scalar || !strings.HasPrefix(strings.TrimSpace(n.Value), "{") {
		return n
	}
	in, err := yamlnode.Parse([]byte(n.Value), &yamlnode.Options{MaxSigns: maxSigns})
	if err != nil || in.Kind != yamlnode.Mapping {
		return n
	}
	moveTo(in, n.Line, n.Col)
	return in
}

func moveTo(n *yamlnode.Node, line, col int) {
	n.Line, n.Col = line, col
	for _, v := range n.Items {
		moveTo(v, line, col)
	}
	for _, kv := range n.Pairs {
		moveTo(kv.Key, line, col)
		moveTo(kv.Value, line, col)
	}
}
