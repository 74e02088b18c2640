package manifest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/toolrule"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/want"
)

var (
	toolset = lazyregexp.New(`^([A-Za-z0-9_./-]+):[A-Za-z_$][A-Za-z0-9_$]*$`)
	server  = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63} ?= ?[^\s=][^\x00-\x1f]*$`) // NAME=COMMAND ARGUMENTS
)

const maxList = 1000 // entries of a list

// listItem is one entry of a list with its place.
type listItem struct {
	text string
	node *yamlnode.Node
}

// items reads a list, or a text that is split at the field's characters. It reports an error for items that are neither
// text nor number, and drops them. ok is false if the value has another form.
func (p *parser) items(f *knownField, n *yamlnode.Node) (out []listItem, ok bool) {
	switch n.Kind {
	case yamlnode.Scalar:
		for _, s := range splitOutside(n.Value, f.split) {
			out = append(out, listItem{s, n})
		}
	case yamlnode.Sequence:
		for _, v := range n.Items {
			if v.Nested() && p.ofOthers(f) {
				p.problem("field-unknown", on(v, f.key), "an entry of %q is a %s, as in other products: it has no effect", f.key, v.Kind)
			} else if v.Nested() {
				p.unscope(f.key)
				p.problem("field-type", on(v, f.key), "an entry of %q must be a text, not a %s: it is dropped", f.key, v.Kind)
			} else if s := strings.TrimSpace(v.Value); s != "" {
				out = append(out, listItem{s, v})
			}
		}
	case yamlnode.Mapping:
		p.wrongForm(f, n)
		return nil, false
	}
	if len(out) > maxList && f.close == nil {
		p.problem("fields-many", on(out[maxList].node, f.key), "%q has %d entries, the first %d are kept", f.key, len(out), maxList)
		out = slices.Clone(out[:maxList])
	}
	return out, true
}

// splitOutside splits s at the characters of seps that are not inside parentheses, brackets or braces, and drops empty
// entries. Without separators s is one entry.
func splitOutside(s, seps string) []string {
	var out []string
	depth, start := 0, 0
	cut := func(end int) {
		if part := strings.TrimSpace(s[start:end]); part != "" {
			out = append(out, part)
		}
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth = max(depth-1, 0)
		case depth == 0 && strings.IndexByte(seps, c) >= 0:
			cut(i)
			start = i + 1
		}
	}
	cut(len(s))
	return out
}

func (p *parser) listField(f *knownField, n *yamlnode.Node) {
	list, _ := p.items(f, n)
	keep := f.keep
	if keep == nil {
		keep = (*parser).all
	}
	kept := keep(p, list)
	if len(list) > 0 && len(kept) == 0 {
		p.reject(f.key)
	}
	if len(list) == 0 && len(n.Items) > 0 && p.ofOthers(f) {
		p.shown(f)
	}
	if f.list != nil {
		*f.list(p.m) = kept
	}
	if f.asks != "" {
		kept = p.wanted(f, n, kept)
		asked := &p.m.Permissions.Asked
		*asked = asked.Add(want.Each(f.asks, want.Declared, kept...)...)
	}
}

// wanted returns the names that a want of the field's kind can have. It reports the others.
func (p *parser) wanted(f *knownField, n *yamlnode.Node, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		err := want.Of(f.asks, name).Check()
		if err != nil {
			p.problem("field-value", on(n, f.key), "%q in %s grants nothing: %v", clip(name), f.key, err)
		}
		return err != nil
	})
}

// all keeps every item.
func (p *parser) all(list []listItem) []string {
	var out []string
	for _, it := range list {
		out = append(out, it.text)
	}
	return out
}

// kept returns the texts of the items in which fault finds nothing wrong. It reports the others.
func (p *parser) kept(field string, list []listItem, fault func(text string) (code, message string)) []string {
	var out []string
	for _, it := range list {
		if code, message := fault(it.text); code != "" {
			p.problem(code, on(it.node, field), "%s", message)
			continue
		}
		out = append(out, it.text)
	}
	return out
}

func (p *parser) toolsets(list []listItem) []string {
	return p.kept("toolsets", list, func(s string) (code, message string) {
		if m := toolset().FindStringSubmatch(s); (m == nil || !localPath(m[1])) && !server().MatchString(s) {
			return "toolsets-value", fmt.Sprintf("%q is neither module:Class nor path:Class, nor NAME=COMMAND", clip(s))
		}
		return "", ""
	})
}

// needed keeps the entries of requires-skills that can be read.
func (p *parser) needed(list []listItem) []string {
	kept := p.kept("requires-skills", list, func(s string) (code, message string) {
		if _, err := ParseNeed(s); err != nil {
			return "requires-skill", fmt.Sprintf("%q names no skill: %v", clip(s), err)
		}
		return "", ""
	})
	return kept[:min(len(kept), maxRequires)]
}

func (p *parser) scripts(list []listItem) []string {
	return p.kept("scripts", list, func(s string) (code, message string) {
		if !localPath(s) {
			return "scripts-value", fmt.Sprintf("%q is not a script of the skill", clip(s))
		}
		return "", ""
	})
}

// globs returns the valid patterns. Each is checked together with those before it.
func (p *parser) globs(list []listItem) []string {
	var set glob.Set
	return p.kept("scripts_ignore", list, func(s string) (code, message string) {
		if err := set.Add(s); err != nil {
			return "scripts-ignore", fmt.Sprintf("the glob %q cannot be used: %v", clip(s), err)
		}
		return "", ""
	})
}

// localPath reports whether s is a slash path below the skill's folder on every system.
func localPath(s string) bool {
	return fs.ValidPath(s) && s != "." && !strings.ContainsAny(s, "\\:\n")
}

// toolsField reads an allow-list of tools.
func (p *parser) toolsField(f *knownField, e entry) {
	out := f.tools(p.m)
	*out = Tools{Declared: true}
	if e.value.Kind == yamlnode.Null {
		p.problem("tools-empty", e.place(f.key), "%s has no value: nothing is listed", f.key)
		return
	}
	if e.value.Kind == yamlnode.Sequence {
		p.problem("tools-list", on(e.value, f.key), "%s is a list, the open standard wants one text", f.key)
	}
	list, ok := p.items(f, e.value)
	if !ok && f.close != nil {
		p.closed(f, e.place(f.key))
		return
	}
	for _, it := range list {
		for _, s := range toolrule.Split(it.text) {
			if _, _, _, ok := toolrule.Cut(s); ok {
				out.Rules = append(out.Rules, s)
				continue
			}
			if f.holds { // dropping it would allow more
				out.Rules = append(out.Rules, s)
				p.problem("tools-syntax", on(it.node, f.key), "%q is not a rule for a tool: everything is forbidden", clip(s))
				continue
			}
			p.problem("tools-syntax", on(it.node, f.key), "%q is not a rule for a tool, and is dropped", clip(s))
			if strings.HasPrefix(s, "(") && len(out.Rules) > 0 {
				out.Rules = out.Rules[:len(out.Rules)-1] // the pattern was meant to narrow this rule
			}
		}
	}
}
