package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// AddPlugins adds skills to `plugins` in the user's file at path, each in place of one with the same name, all in one step. It
// changes nothing else and reports whether the file changed. If the file cannot be changed safely, AddPlugins leaves it
// unchanged and returns an error that says what to add by hand.
func AddPlugins(ctx context.Context, path string, list ...Plugin) (bool, error) {
	for _, p := range list {
		if err := manifest.CheckName(p.Name); err != nil {
			return false, err
		}
		for _, text := range []string{p.URL, p.Ref} {
			if strings.ContainsFunc(text, unicode.IsControl) || len(text) > maxRule {
				return false, fmt.Errorf("%q is not the address of a skill", text)
			}
		}
	}
	return editPlugins(ctx, path, func(text string) (string, error) {
		text, _, err := setPlugins(path, text, nil, list)
		return text, err
	})
}

// RemovePlugins takes skills out of `plugins` in the user's file at path, all in one step, and returns the canonical names of those that
// were there. It works like AddPlugins.
func RemovePlugins(ctx context.Context, path string, names ...string) (found []string, err error) {
	_, err = editPlugins(ctx, path, func(text string) (_ string, err error) {
		text, found, err = setPlugins(path, text, names, nil)
		return text, err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func editPlugins(ctx context.Context, path string, edit func(text string) (string, error)) (bool, error) {
	if path == "" {
		return false, errors.New("no home directory for settings: set AGENT_HOME")
	}
	changed := false
	err := (&lockfile.File{Path: path, Max: maxUser, Private: true}).Edit(ctx, func(old []byte) ([]byte, error) {
		text, err := edit(string(old))
		if changed = err == nil && text != string(old); !changed {
			return nil, err
		}
		return []byte(text), nil
	})
	return changed && err == nil, err
}

// setPlugins returns the text without the plugins of some names, and with others, each in place of one of its name. It also returns
// the canonical names of those that it took out.
func setPlugins(path, text string, remove []string, add []Plugin) (_ string, gone []string, err error) {
	d, err := openPlugins(path, text)
	if err != nil {
		return "", nil, err
	}
	was := map[string]*yamlnode.Node{}
	for _, n := range d.items() {
		was[manifest.Canonical(pluginField(n, "name"))] = n
	}
	for _, name := range remove {
		if name = manifest.Canonical(name); was[name] != nil {
			gone = append(gone, name)
		}
	}
	fresh := []*Plugin{}
	for i := range add {
		p, name := &add[i], manifest.Canonical(add[i].Name)
		old := was[name]
		if old != nil && pluginField(old, "url") == p.URL && pluginField(old, "ref") == p.Ref {
			continue
		}
		if fresh = append(fresh, p); old != nil {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		if text, err = d.withoutPlugins(path, gone); err != nil {
			return "", nil, err
		}
		if d, err = openPlugins(path, text); err != nil {
			return "", nil, err
		}
	}
	if len(fresh) > 0 {
		text, err = d.withPlugins(path, fresh)
	}
	return text, gone, err
}

// withoutPlugins returns the text without the plugins of canonical names.
func (d *document) withoutPlugins(path string, names []string) (string, error) {
	gone := map[string]bool{}
	for _, name := range names {
		gone[name] = true
	}
	named := func(n *yamlnode.Node) bool { return gone[manifest.Canonical(pluginField(n, "name"))] }
	return d.checked(path, d.withoutItems(named), slices.DeleteFunc(d.items(), named), "remove "+strings.Join(names, ", ")+" from")
}

// withPlugins returns the text with further plugins.
func (d *document) withPlugins(path string, list []*Plugin) (string, error) {
	items := d.items()
	var lines, texts []string
	for _, p := range list {
		lines, items = append(lines, p.lines()...), append(items, p.node())
		texts = append(texts, "{url: "+p.URL+", name: "+p.Name+"}")
	}
	return d.checked(path, d.withItem(lines), items, "add "+strings.Join(texts, ", ")+" to")
}

func openPlugins(path, text string) (*document, error) {
	root, err := parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w: fix the file first", path, err)
	}
	d := &document{text: text, root: root, step: step{in: skillsSection, list: "plugins"}}
	if err := d.find(); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return d, nil
}

// checked returns an edited text if it is the old one but for the items, which are then the given ones.
func (d *document) checked(path, edited string, items []*yamlnode.Node, what string) (string, error) {
	after, err := parse([]byte(edited))
	if err != nil || !same(d.with(items), after) {
		return "", fmt.Errorf("%s:%d: the file cannot be changed safely: %s %q below \"%s:\" by hand", path, d.line(), what, d.list, d.in)
	}
	return edited, nil
}

// fields are the keys and values of a plugin in the file.
func (p *Plugin) fields() [][2]string {
	out := [][2]string{{"url", p.URL}}
	if p.Ref != "" {
		out = append(out, [2]string{"ref", p.Ref})
	}
	out = append(out, [2]string{"name", p.Name})
	if !p.InstalledAt.IsZero() {
		out = append(out, [2]string{"installedAt", p.InstalledAt.UTC().Format(time.RFC3339)})
	}
	return out
}

// lines are the lines of a plugin in the file, without indentation.
func (p *Plugin) lines() []string {
	var out []string
	start := "- "
	for _, f := range p.fields() {
		out = append(out, start+f[0]+": '"+strings.ReplaceAll(f[1], "'", "''")+"'")
		start = "  "
	}
	return out
}

func (p *Plugin) node() *yamlnode.Node {
	n := &yamlnode.Node{Kind: yamlnode.Mapping}
	for _, f := range p.fields() {
		n.Pairs = append(n.Pairs, yamlnode.Pair{Key: &yamlnode.Node{Kind: yamlnode.Scalar, Value: f[0]}, Value: &yamlnode.Node{Kind: yamlnode.Scalar, Value: f[1]}})
	}
	return n
}

// pluginField returns a value of a plugin in the file, "" if it has none.
func pluginField(n *yamlnode.Node, key string) string {
	for _, p := range n.Pairs {
		if p.Key.Value == key && p.Value.Kind == yamlnode.Scalar {
			return strings.TrimSpace(p.Value.Value)
		}
	}
	return ""
}

// withItem returns the text with lines added at the end of the list. What it does not know it leaves: then checked refuses.
func (d *document) withItem(item []string) string {
	lines, eol := split(d.text)
	indented := func(columns int) []string {
		out := make([]string, len(item))
		for i, line := range item {
			out[i] = strings.Repeat(" ", columns) + line
		}
		return out
	}
	switch {
	case d.skills == nil:
		return joined(lines, len(lines), eol, append([]string{d.in + ":", "  " + d.list + ":"}, indented(4)...)...)
	case d.key == nil:
		indent := 2
		if len(d.section.Pairs) > 0 {
			indent = d.section.Pairs[0].Key.Col - 1
		}
		return joined(lines, d.skills.Line, eol, append([]string{strings.Repeat(" ", indent) + d.list + ":"}, indented(indent+2)...)...)
	case d.value.Kind == yamlnode.Null:
		return joined(lines, d.key.Line, eol, indented(d.key.Col+1)...)
	case d.isFlow(lines):
		line, at := lines[d.value.Line-1], d.value.Col-1
		rest, ok := strings.CutPrefix(line[at:], "[]")
		if !ok || d.value.Line != d.key.Line {
			return d.text
		}
		lines[d.value.Line-1] = strings.TrimRight(line[:at], " ") + rest
		return joined(lines, d.key.Line, eol, indented(d.key.Col+1)...)
	case len(d.value.Items) == 0:
		return d.text
	}
	last := d.value.Items[len(d.value.Items)-1]
	return joined(lines, lastLine(last), eol, indented(d.value.Col-1)...)
}

// withoutItems returns the text without the lines of some items.
func (d *document) withoutItems(gone func(*yamlnode.Node) bool) string {
	lines, eol := split(d.text)
	rest := slices.DeleteFunc(d.items(), gone)
	for _, n := range slices.Backward(d.value.Items) {
		if end := lastLine(n); gone(n) && end <= len(lines) {
			lines = slices.Delete(lines, n.Line-1, end)
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

// lastLine returns the last line of a node on which a part of it begins.
func lastLine(n *yamlnode.Node) int {
	last := n.Line
	for _, item := range n.Items {
		last = max(last, lastLine(item))
	}
	for _, p := range n.Pairs {
		last = max(last, lastLine(p.Key), lastLine(p.Value))
	}
	return last
}
