package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// document is the text of a settings file and the place of one list in it.
type document struct {
	text string
	root *yamlnode.Node
	step
	name string

	skills, section *yamlnode.Node // the key of the section and its map, or nil
	key, value      *yamlnode.Node // the key of the list and the list, or nil
}

// find looks for the list. It returns an error if it is not clear which list counts.
func (d *document) find() error {
	for _, p := range d.root.Pairs {
		if p.Key.Value != d.in {
			continue
		}
		if d.skills != nil {
			return fmt.Errorf("%d: duplicate key %q: join the two", p.Key.Line, d.in)
		}
		if p.Value.Kind != yamlnode.Mapping && p.Value.Kind != yamlnode.Null {
			return fmt.Errorf("%d: %q must be a map of settings, not a %s", p.Key.Line, d.in, p.Value.Kind)
		}
		d.skills, d.section = p.Key, p.Value
	}
	if d.section == nil {
		return nil
	}
	for _, p := range d.section.Pairs {
		if k := findKey(d.in, p.Key.Value); k == nil || k.in() != d.in || k.written() != d.list {
			continue
		}
		if d.key != nil {
			return fmt.Errorf("%d: duplicate key %q: join the two", p.Key.Line, d.list)
		}
		if p.Value.Kind != yamlnode.Sequence && p.Value.Kind != yamlnode.Null {
			return fmt.Errorf("%d: %q is a %s: write a list such as [a, b]", p.Key.Line, d.list, p.Value.Kind)
		}
		d.key, d.value = p.Key, p.Value
	}
	return nil
}

func (d *document) isName(n *yamlnode.Node) bool {
	if d.in == permissionsSection {
		return n.Kind == yamlnode.Scalar && strings.TrimSpace(n.Value) == d.name
	}
	return n.Kind == yamlnode.Scalar && manifest.Canonical(n.Value) == d.name
}

func (d *document) has() bool { return d.value != nil && slices.ContainsFunc(d.value.Items, d.isName) }

// line returns the line that the user has to look at.
func (d *document) line() int {
	switch {
	case d.key != nil:
		return d.key.Line
	case d.skills != nil:
		return d.skills.Line
	}
	return 1
}

// insert returns the text with the name added at the end of the list.
func (d *document) insert() string {
	lines, eol := split(d.text)
	item := "- " + d.item()
	switch {
	case d.skills == nil:
		return joined(lines, len(lines), eol, d.in+":", "  "+d.list+":", "    "+item)
	case d.key == nil:
		indent := "  "
		if len(d.section.Pairs) > 0 {
			indent = strings.Repeat(" ", d.section.Pairs[0].Key.Col-1)
		}
		return joined(lines, d.skills.Line, eol, indent+d.list+":", indent+"  "+item)
	case len(d.value.Items) == 0 && d.value.Kind == yamlnode.Null:
		return joined(lines, d.key.Line, eol, strings.Repeat(" ", d.key.Col+1)+item)
	case d.isFlow(lines):
		return d.flow(lines, append(slices.Clone(d.value.Items), &yamlnode.Node{Kind: yamlnode.Scalar, Value: d.item()}))
	case len(d.value.Items) == 0: // such as "! []": apply asks for an edit by hand
		return d.text
	}
	last := d.value.Items[len(d.value.Items)-1]
	return joined(lines, last.Line, eol, strings.Repeat(" ", d.value.Col-1)+item)
}

// remove returns the text without the name.
func (d *document) remove() string {
	lines, eol := split(d.text)
	rest := slices.DeleteFunc(slices.Clone(d.value.Items), d.isName)
	if d.isFlow(lines) {
		return d.flow(lines, rest)
	}
	for _, n := range slices.Backward(d.value.Items) {
		if d.isName(n) && n.Line <= len(lines) {
			lines = slices.Delete(lines, n.Line-1, n.Line)
		}
	}
	if len(rest) == 0 && d.key.Line <= len(lines) {
		line := lines[d.key.Line-1]
		if at := d.key.Col - 1 + len(d.key.Value); at < len(line) && line[at] == ':' {
			lines[d.key.Line-1] = line[:at+1] + " []" + line[at+1:]
		}
	}
	return joined(lines, len(lines), eol)
}

// isFlow reports whether the list is written as [a, b].
func (d *document) isFlow(lines []string) bool {
	at := d.value.Col - 1
	return d.value.Line <= len(lines) && at < len(lines[d.value.Line-1]) && lines[d.value.Line-1][at] == '['
}

// flow replaces the items between the brackets of a list on one line.
func (d *document) flow(lines []string, items []*yamlnode.Node) string {
	line := lines[d.value.Line-1]
	from := d.value.Col - 1
	length := strings.IndexByte(line[from:], ']')
	if length < 0 {
		return d.text
	}
	words := make([]string, len(items))
	for i, n := range items {
		words[i] = n.Value
		if n.Quoted {
			words[i] = `"` + n.Value + `"`
		}
	}
	lines[d.value.Line-1] = line[:from] + "[" + strings.Join(words, ", ") + line[from+length:]
	_, eol := split(d.text)
	return joined(lines, len(lines), eol)
}

// split returns the lines of a text and its line ending.
func split(text string) (lines []string, eol string) {
	eol = "\n"
	if strings.Contains(text, "\r\n") {
		eol = "\r\n"
	}
	if text == "" {
		return nil, eol
	}
	return strings.Split(strings.TrimSuffix(text, eol), eol), eol
}

// joined joins lines, with more lines inserted after the first at of them.
func joined(lines []string, at int, eol string, more ...string) string {
	return strings.Join(slices.Insert(lines, min(at, len(lines)), more...), eol) + eol
}

// item returns the name as YAML. A rule is always quoted: it can contain what YAML gives a meaning.
func (d *document) item() string {
	if d.in == permissionsSection {
		return "'" + strings.ReplaceAll(d.name, "'", "''") + "'"
	}
	return plainName(d.name)
}

// plainName returns a name as YAML. It quotes a name that YAML would not read as a text.
func plainName(name string) string {
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return `"` + name + `"`
	}
	if name == "" || strings.ContainsAny(name[:1], "-0123456789") {
		return `"` + name + `"`
	}
	return name
}
