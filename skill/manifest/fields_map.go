package manifest

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Bounds of trigger patterns and commands, so that what they cost stays small (security 2.14).
const (
	maxPatternText = 200 // characters of one
	maxPatternList = 16  // of one skill
	maxWide        = 8   // Unicode classes and ranges in those of one skill: each may take a millisecond to read
	maxRequires    = 32  // commands that one skill needs
)

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_*]*$`)

// mapField reads a field that is a map of its own.
func (p *parser) mapField(f *knownField, e entry, at Problem) {
	n := e.value
	if n.Kind == yamlnode.Null && n.Value == "" {
		return
	}
	if f.key == "triggers" && n.Kind == yamlnode.Sequence {
		p.m.Triggers.Keywords = p.texts("triggers", blanksAndCommas, n)
		at.Code, at.Message = "triggers-shape", "triggers is a list; its entries count as keywords"
		p.Add(at)
		return
	}
	if n.Kind != yamlnode.Mapping {
		p.wrongForm(f.key, f.kind, n)
		if protective(f.key) {
			p.closed(f.key, e)
		}
		return
	}
	seen := map[string]bool{}
	for _, kv := range n.Pairs {
		if key := kv.Key.Value; seen[key] {
			p.Add(Problem{Code: "field-duplicate", Line: kv.Key.Line, Col: kv.Key.Col, Field: f.key + "." + clip(key), Message: fmt.Sprintf("%q is there twice, the last one counts", f.key+"."+clip(key))})
			if protective(f.key) {
				p.closed(f.key, e)
				return
			}
		}
		seen[kv.Key.Value] = true
	}
	switch f.key {
	case "metadata":
		p.metadata(n)
	case "hooks":
		p.hooks(n)
	default:
		for _, kv := range n.Pairs {
			p.member(f, kv)
		}
	}
}

// member reads one key below permissions, triggers or scope.
func (p *parser) member(f *knownField, kv yamlnode.Pair) {
	name := f.key + "." + Canonical(kv.Key.Value)
	standing := f.standing
	switch name {
	case "permissions.env":
		p.m.Permissions.Env = p.envNames(kv.Value)
	case "triggers.keywords":
		p.m.Triggers.Keywords = p.texts(name, ",", kv.Value)
	case "triggers.verbs":
		p.m.Triggers.Verbs = p.texts(name, ",", kv.Value)
	case "triggers.patterns":
		p.m.Triggers.Patterns = p.patterns(kv.Value)
	case "scope.agents":
		p.m.Scope.Agents = p.texts(name, blanksAndCommas, kv.Value)
	case "scope.tenants":
		p.m.Scope.Tenants = p.texts(name, blanksAndCommas, kv.Value)
	case "scope.environments":
		p.m.Scope.Environments = p.texts(name, blanksAndCommas, kv.Value)
	default:
		standing = StandingRejected
		code, message := "field-unknown", fmt.Sprintf("unknown field %q", clip(name))
		if f.key == "permissions" {
			code, message = "permissions-unknown", fmt.Sprintf("%q is not a permission known here, and grants nothing", clip(name))
		}
		p.Add(Problem{Code: code, Line: kv.Key.Line, Col: kv.Key.Col, Field: clip(name), Message: message})
	}
	p.nested(f.key, kv, standing)
}

func (p *parser) texts(key, split string, n *yamlnode.Node) []string {
	list, _ := p.items(key, split, n)
	out := make([]string, 0, len(list))
	for _, it := range list {
		out = append(out, it.text)
	}
	return slices.Clip(out)
}

func (p *parser) envNames(n *yamlnode.Node) []string {
	list, _ := p.items("permissions.env", blanksAndCommas, n)
	var out []string
	for _, it := range list {
		if !envName().MatchString(it.text) {
			p.Add(Problem{Code: "permissions-env", Line: it.node.Line, Col: it.node.Col, Field: "permissions.env", Message: fmt.Sprintf("%q is not the name of a variable, or asks for all of them: it grants nothing", clip(it.text))})
			continue
		}
		out = append(out, it.text)
	}
	return out
}

// patterns keeps the regular expressions that can be used.
func (p *parser) patterns(n *yamlnode.Node) []string {
	list, _ := p.items("triggers.patterns", "", n)
	var out []string
	room := maxWide
	for _, it := range list {
		why, n := "", wide(it.text)
		if len(out) >= maxPatternList {
			why = fmt.Sprintf("a skill has at most %d patterns", maxPatternList)
		} else if c := utf8.RuneCountInString(it.text); c > maxPatternText {
			why = fmt.Sprintf("it has %d characters, at most %d are read", c, maxPatternText)
		} else if room -= n; n > 0 && room < 0 {
			why = fmt.Sprintf("a skill has at most %d Unicode classes and ranges in its patterns", maxWide)
		} else if tree, err := syntax.Parse(it.text, syntax.Perl); err != nil {
			why = fmt.Sprintf("it is not a regular expression of RE2: %v", err)
		} else if matchesEmpty(tree) {
			why = "it matches the empty text, and so every query"
		}
		if why != "" {
			p.Add(Problem{Code: "triggers-pattern-off", Line: it.node.Line, Col: it.node.Col, Field: "triggers.patterns", Message: fmt.Sprintf("the pattern %q is off: %s", clip(it.text), why)})
			continue
		}
		out = append(out, it.text)
	}
	return out
}

// wide counts, without reading a pattern, what it may have of classes and ranges beyond ASCII: with (?i) each is held
// against the cases of up to a hundred thousand characters.
func wide(pattern string) int {
	n := strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`) + strings.Count(pattern, `\x{`)
	before := ' '
	for _, r := range pattern {
		if before == '-' && r >= utf8.RuneSelf {
			n++
		}
		before = r
	}
	return n
}

// matchesEmpty reports whether an expression matches a text that is empty.
func matchesEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest, syntax.OpNoWordBoundary,
		syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return matchesEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || matchesEmpty(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !matchesEmpty(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, matchesEmpty)
	}
	return false
}

// boundRequires keeps so few commands that looking for all of them stays quick, in a folder of many such skills too.
func (p *parser) boundRequires(at *yamlnode.Node) {
	if n := len(p.m.Requires); n > maxRequires {
		p.Add(Problem{Code: "fields-many", Line: at.Line, Col: at.Col, Field: "metadata.requires", Message: fmt.Sprintf("%d commands are required, only the first %d are looked for", n, maxRequires)})
		p.m.Requires = p.m.Requires[:maxRequires]
	}
}

// metadata keeps the map as texts and takes the keys that mean something (R25, C5).
func (p *parser) metadata(n *yamlnode.Node) {
	p.m.Metadata = make(map[string]string, min(len(n.Pairs), maxKeys))
	for _, kv := range n.Pairs {
		key, value := clip(nodeText(kv.Key)), nodeText(kv.Value)
		if _, there := p.m.Metadata[key]; !there && len(p.m.Metadata) >= maxKeys {
			p.Add(Problem{Code: "fields-many", Line: kv.Key.Line, Col: kv.Key.Col, Field: "metadata", Message: fmt.Sprintf("metadata has more than %d keys, the rest is not kept", maxKeys)})
			break
		}
		if (kv.Value.Kind == yamlnode.Mapping || kv.Value.Kind == yamlnode.Sequence) && key != "requires" && key != "tags" {
			p.Add(Problem{Code: "metadata-nested", Line: kv.Value.Line, Col: kv.Value.Col, Field: "metadata." + key, Message: fmt.Sprintf("%q is a %s, kept as JSON", "metadata."+key, kv.Value.Kind)})
		}
		if len(value) > maxValue {
			value = cutBytes(value, maxValue)
			p.Add(Problem{Code: "fields-many", Line: kv.Value.Line, Col: kv.Value.Col, Field: "metadata." + key, Message: fmt.Sprintf("the value of %q has more than %d bytes, the rest is not kept", "metadata."+key, maxValue)})
		}
		p.m.Metadata[key] = value
		switch key {
		case "requires":
			p.m.Requires = p.texts("metadata.requires", blanksAndCommas, kv.Value)
			p.boundRequires(kv.Value)
			p.nested("metadata", kv, StandingEnforced)
		case "tags":
			p.metaTags = p.texts("metadata.tags", blanksAndCommas, kv.Value)
			p.nested("metadata", kv, StandingEnforced)
		case "version", "author":
			p.nested("metadata", kv, StandingInformational)
		}
	}
}

// hooks keeps what is to run for each event; paths of scripts must lie in the skill (R40).
func (p *parser) hooks(n *yamlnode.Node) {
	p.m.Hooks = make(map[string]string, min(len(n.Pairs), maxKeys))
	for _, kv := range n.Pairs[:min(len(n.Pairs), maxKeys)] {
		event := clip(kv.Key.Value)
		value := nodeText(kv.Value)
		if path := strings.TrimSpace(value); kv.Value.Kind == yamlnode.Scalar && (event == "pre" || event == "post") && !localPath(path) {
			p.Add(Problem{Code: "field-value", Line: kv.Value.Line, Col: kv.Value.Col, Field: "hooks." + event, Message: fmt.Sprintf("%q is not a file of the skill: the hook is dropped", clip(path))})
			p.nested("hooks", kv, StandingRejected)
			continue
		}
		p.m.Hooks[event] = value
		p.nested("hooks", kv, StandingInformational)
	}
}
