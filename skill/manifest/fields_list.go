package manifest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

var (
	toolRule = lazyregexp.New(`^[A-Za-z_*][A-Za-z0-9_.:*/-]*(\(.*\))?$`)
	toolset  = lazyregexp.New(`^([A-Za-z0-9_./-]+):[A-Za-z_$][A-Za-z0-9_$]*$`)
)

const maxList = 1000 // entries of a list

// listItem is one entry of a list with its place.
type listItem struct {
	text string
	node *yamlnode.Node
}

// items reads a list, or a text that is split at the characters of split. Entries that are
// neither text nor number are dropped with an error. ok is false when the value has another form.
func (p *parser) items(key, split string, n *yamlnode.Node) (out []listItem, ok bool) {
	switch n.Kind {
	case yamlnode.Scalar:
		for _, s := range splitOutside(n.Value, split) {
			out = append(out, listItem{s, n})
		}
	case yamlnode.Sequence:
		for _, v := range n.Items {
			if v.Kind == yamlnode.Mapping || v.Kind == yamlnode.Sequence {
				p.Add(Problem{Code: "field-type", Line: v.Line, Col: v.Col, Field: key, Message: fmt.Sprintf("an entry of %q must be a text, not a %s: it is dropped", key, v.Kind)})
			} else if s := strings.TrimSpace(v.Value); s != "" {
				out = append(out, listItem{s, v})
			}
		}
	case yamlnode.Mapping:
		p.wrongForm(key, kindList, n)
		return nil, false
	}
	if len(out) > maxList && !protective(key) {
		at := out[maxList].node
		p.Add(Problem{Code: "fields-many", Line: at.Line, Col: at.Col, Field: key, Message: fmt.Sprintf("%q has %d entries, the first %d are kept", key, len(out), maxList)})
		out = slices.Clone(out[:maxList])
	}
	return out, true
}

// splitOutside splits s at any of the characters of seps that is not inside parentheses, brackets
// or braces, and drops what is empty. Without separators s is one entry.
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

func (p *parser) listField(f *knownField, e entry, at Problem) {
	list, ok := p.items(f.key, f.split, e.value)
	if f.key == "scripts" && (e.value.Kind != yamlnode.Null || !ok) {
		p.m.ScriptsDeclared = true
	}
	var out []string
	var globs glob.Set
	for _, it := range list {
		code, msg := checkItem(f.key, it.text)
		if f.key == "scripts_ignore" {
			code, msg = checkGlob(&globs, it.text)
		}
		if code != "" {
			at.Line, at.Col = it.node.Line, it.node.Col
			at.Code, at.Message = code, msg
			p.Add(at)
			continue
		}
		out = append(out, it.text)
	}
	*p.m.listOf(f.key) = out
}

// checkItem says what is wrong with an entry of a list, "" when it may stay.
func checkItem(key, s string) (code, message string) {
	switch key {
	case "toolsets":
		if m := toolset().FindStringSubmatch(s); m == nil || !localPath(m[1]) {
			return "toolsets-value", fmt.Sprintf("%q is neither module:Class nor path:Class", clip(s))
		}
	case "scripts":
		if !localPath(s) {
			return "scripts-value", fmt.Sprintf("%q is not a script of the skill", clip(s))
		}
	}
	return "", ""
}

// checkGlob is checkItem for a glob, which has to go with those before it too.
func checkGlob(before *glob.Set, s string) (code, message string) {
	if err := before.Add(s); err != nil {
		return "scripts-ignore", fmt.Sprintf("the glob %q cannot be used: %v", clip(s), err)
	}
	return "", ""
}

// localPath reports whether s is a slash path below the skill's folder on every system.
func localPath(s string) bool {
	return fs.ValidPath(s) && s != "." && !strings.ContainsAny(s, "\\:\n")
}

// tools reads an allow-list of tools (C6-C8).
func (p *parser) tools(f *knownField, e entry) Tools {
	out := Tools{Declared: true}
	if e.value.Kind == yamlnode.Null {
		p.Add(Problem{Code: "tools-empty", Line: e.line, Col: e.col, Field: f.key, Message: fmt.Sprintf("%s has no value: nothing is listed", f.key)})
		return out
	}
	if e.value.Kind == yamlnode.Sequence {
		p.Add(Problem{Code: "tools-list", Line: e.value.Line, Col: e.value.Col, Field: f.key, Message: fmt.Sprintf("%s is a list, the open standard wants one text", f.key)})
	}
	list, ok := p.items(f.key, f.split, e.value)
	if !ok && protective(f.key) {
		p.closed(f.key, e)
		return p.m.AllowedTools
	}
	for _, it := range list {
		for _, s := range splitOutside(it.text, f.split) {
			if toolRule().MatchString(s) && strings.Count(s, "(") == strings.Count(s, ")") {
				out.Rules = append(out.Rules, s)
				continue
			}
			p.Add(Problem{Code: "tools-syntax", Line: it.node.Line, Col: it.node.Col, Field: f.key, Message: fmt.Sprintf("%q is not a rule for a tool, and is dropped", clip(s))})
			if strings.HasPrefix(s, "(") && len(out.Rules) > 0 {
				out.Rules = out.Rules[:len(out.Rules)-1] // a pattern that was meant to narrow it
			}
		}
	}
	return out
}
