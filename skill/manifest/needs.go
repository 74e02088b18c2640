package manifest

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

// maxRequires is how many commands, and how many variables, one skill can need. It keeps the cost of looking for them
// small even in a folder of many such skills.
const maxRequires = 32

// needs is what a skill's metadata says that it needs.
type needs struct{ commands, variables, any, systems []string }

func (n *needs) empty() bool { return len(n.commands)+len(n.variables)+len(n.any)+len(n.systems) == 0 }

// requires reads metadata.requires: names of commands, or a map as below metadata.openclaw. What is neither is reported and
// requires nothing; the rest counts.
func (p *parser) requires(f *knownField, n *yamlnode.Node) {
	n = p.object(n)
	if n.Kind == yamlnode.Scalar {
		n = &yamlnode.Node{Kind: n.Kind, Value: spacedVersion().ReplaceAllString(n.Value, "$1"), Line: n.Line, Col: n.Col}
	}
	for _, s := range p.commandsIn(f, n) {
		if strings.ContainsAny(s, versioned) {
			p.problem("metadata-requires", on(n, f.key), "%q in metadata.requires has a version, which is not compared: it requires nothing", clip(s))
			continue
		}
		p.needs.commands = append(p.needs.commands, s)
	}
	p.bounded(f, n)
}

// versioned holds the characters of an entry with a version, such as node>=18 or node@18. No command has them.
const versioned = "<>=~!^@"

// spacedVersion finds the comparison of a version with the spaces around it.
var spacedVersion = lazyregexp.New(`[ \t]*([<>=~!^]+)[ \t]*`)

// commandsIn returns the texts where metadata.requires has the names of commands. It reads the variables of a map.
func (p *parser) commandsIn(f *knownField, n *yamlnode.Node) []string {
	switch n.Kind {
	case yamlnode.Mapping:
		p.needsOf(n)
		for _, kv := range n.Pairs {
			if kv.Key.Value != "bins" && kv.Key.Value != "env" {
				p.problem("metadata-requires", on(kv.Key, f.key), "%q in metadata.requires is neither bins nor env: it requires nothing", clip(kv.Key.Value))
			}
		}
		return nil
	case yamlnode.Sequence:
		for _, v := range n.Items {
			if v.Kind != yamlnode.Scalar {
				p.problem("metadata-requires", on(v, f.key), "an entry of metadata.requires is not a text: it requires nothing")
			}
		}
	}
	return namesIn(n)
}

// hostNeeds reads the needs in the metadata of OpenClaw: {os: [darwin], requires: {bins: [gh], anyBins: [a, b], env: [TOKEN]}}.
func (p *parser) hostNeeds(f *knownField, n *yamlnode.Node) {
	for _, kv := range p.object(n).Pairs {
		switch kv.Key.Value {
		case "os":
			for _, s := range namesIn(kv.Value) {
				p.needs.systems = append(p.needs.systems, systemNamed(s))
			}
		case "requires":
			in := p.object(kv.Value)
			p.needsOf(in)
			for _, kv := range in.Pairs {
				if kv.Key.Value == "anyBins" {
					p.needs.any = append(p.needs.any, namesIn(kv.Value)...)
				}
			}
		}
	}
	p.bounded(f, n)
}

// systemNamed returns the name in GOOS of an operating system, as authors write it. Other names stay.
func systemNamed(s string) string {
	switch s = strings.ToLower(s); s {
	case "mac", "macos", "osx":
		return "darwin"
	case "win", "win32":
		return "windows"
	}
	return s
}

// needsOf reads the commands and variables of a map.
func (p *parser) needsOf(n *yamlnode.Node) {
	for _, kv := range n.Pairs {
		switch kv.Key.Value {
		case "bins":
			p.needs.commands = append(p.needs.commands, namesIn(kv.Value)...)
		case "env":
			for _, s := range namesIn(kv.Value) {
				if variable.IsName(s) {
					p.needs.variables = append(p.needs.variables, s)
				}
			}
		}
	}
}

// bounded removes duplicates, and reports and cuts lists that are too long.
func (p *parser) bounded(f *knownField, n *yamlnode.Node) {
	for _, list := range []*[]string{&p.needs.commands, &p.needs.variables, &p.needs.any, &p.needs.systems} {
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
