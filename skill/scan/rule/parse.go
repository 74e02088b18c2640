package rule

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/scan"
)

// MaxFile is the most bytes of a file of rules.
const MaxFile = 1 << 20

// maxRules is how many rules a set may have.
const maxRules = 1000

// kinds and objects are those of facts.
var (
	kinds   = strings.Fields("reads writes sends listens runs decodes imports needs tells holds")
	objects = strings.Fields("file store variable host port program code module package secret hidden opaque saying encoding lookalike")
	roles   = strings.Fields("instruction example against test licence document")
)

// Parse reads rules. name is what errors call the text; an error says the place and what is wrong there.
func Parse(text []byte, name string) (*Set, error) {
	return (&Set{lists: map[string][]string{}}).parse(text, name)
}

// With returns a set that has further rules, which are read like those of Parse and may use the lists of s. A rule of the same ID takes
// the place of one of s.
func (s *Set) With(text []byte, name string) (*Set, error) {
	more, err := s.parse(text, name)
	if err != nil {
		return nil, err
	}
	out := &Set{lists: more.lists, rules: slices.Clone(s.rules)}
	for _, r := range more.rules {
		if i := slices.IndexFunc(out.rules, func(o Rule) bool { return o.ID == r.ID }); i >= 0 {
			out.rules[i] = r
			continue
		}
		out.rules = append(out.rules, r)
	}
	return out, nil
}

// reader reads one text. err is the first that was wrong.
type reader struct {
	name  string
	lists map[string][]string
	err   error
}

// wrong says what is wrong at a node.
func (r *reader) wrong(n *yamlnode.Node, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d:%d: %s", r.name, n.Line, n.Col, fmt.Sprintf(format, args...))
	}
}

// parse reads the text as YAML, a map with some keys.
func (r *reader) parse(text []byte, known keys) error {
	root, err := yamlnode.Parse(text, nil)
	if at := new(yamlnode.Error); errors.As(err, &at) {
		r.wrong(&yamlnode.Node{Line: at.Line, Col: at.Col}, "%s", at.Message)
	} else if err != nil {
		r.err = fmt.Errorf("%s: %w", r.name, err)
	} else {
		r.read(root, known)
	}
	return r.err
}

// keys are those of a map, with what reads the value of each.
type keys map[string]func(*yamlnode.Node)

func (r *reader) read(n *yamlnode.Node, known keys) {
	if n.Kind != yamlnode.Mapping {
		r.wrong(n, "this is a %s, and a map is wanted", n.Kind)
	}
	seen := map[string]bool{}
	for _, p := range n.Pairs {
		key := p.Key.Value
		if known[key] == nil {
			r.wrong(p.Key, "unknown key %q: use one of %s", key, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		} else if seen[key] {
			r.wrong(p.Key, "the key %q is there twice", key)
		}
		if seen[key] = true; r.err != nil {
			return
		}
		known[key](p.Value)
	}
}

func (r *reader) text(to *string) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		if n.Kind != yamlnode.Scalar || strings.TrimSpace(n.Value) == "" {
			r.wrong(n, "this is a %s, and a text is wanted", n.Kind)
		}
		*to = n.Value
	}
}

// texts reads a text or a list of texts.
func (r *reader) texts(to *[]string) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		if n.Kind == yamlnode.Scalar {
			*to = []string{n.Value}
		} else if n.Kind != yamlnode.Sequence || len(n.Items) == 0 {
			r.wrong(n, "this is a %s, and a text or a list of texts is wanted", n.Kind)
		}
		for _, item := range n.Items {
			var one string
			r.text(&one)(item)
			*to = append(*to, one)
		}
	}
}

// among reads one or more of the known words.
func (r *reader) among(to *[]string, known []string) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		r.texts(to)(n)
		for _, word := range *to {
			if !slices.Contains(known, strings.TrimPrefix(word, "!")) {
				r.wrong(n, "unknown %q: use one of %s", word, strings.Join(known, ", "))
			}
		}
	}
}

func (r *reader) choice(to **bool) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		yes := n.Value == "true"
		if n.Kind != yamlnode.Scalar || !yes && n.Value != "false" {
			r.wrong(n, "true or false is wanted")
		}
		*to = &yes
	}
}

func (r *reader) severity(to *scan.Severity) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		if *to = scan.Severity(n.Value); n.Kind != yamlnode.Scalar || !slices.Contains(scan.Severities(), *to) {
			r.wrong(n, "unknown severity %q: use low, medium, high or critical", n.Value)
		}
	}
}

// globs reads patterns of a text. "$LIST" stands for those of a list.
func (r *reader) globs(to *globs) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		var all []string
		r.texts(&all)(n)
		for _, one := range all {
			one, not := strings.CutPrefix(strings.ToLower(one), "!")
			list := []string{one}
			if name, named := strings.CutPrefix(one, "$"); named {
				if list = r.lists[name]; list == nil {
					r.wrong(n, "there is no list %q above", name)
				}
			}
			if not {
				to.none = append(to.none, list...)
			} else {
				to.any = append(to.any, list...)
			}
		}
	}
}

func (r *reader) patternKeys(p *pattern) keys {
	return keys{"kind": r.among(&p.kinds, kinds), "object": r.among(&p.objects, objects), "role": r.among(&p.roles, roles),
		"name": r.globs(&p.name), "detail": r.globs(&p.detail), "block": r.globs(&p.block), "file": r.globs(&p.file),
		"host": r.among(&p.host, hostProperties), "maybe": r.choice(&p.maybe), "starts": r.choice(&p.starts), "obeyed": r.choice(&p.obeyed)}
}

func (r *reader) pattern(to **pattern) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		*to = &pattern{}
		r.read(n, r.patternKeys(*to))
	}
}

// withs reads one further fact or a list of them.
func (r *reader) withs(to *[]with) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		items := n.Items
		if n.Kind != yamlnode.Sequence {
			items = []*yamlnode.Node{n}
		}
		for _, item := range items {
			var w with
			where := []string{string(inSkill)}
			known := r.patternKeys(&w.pattern)
			known["near"] = r.among(&where, []string{string(inSkill), string(inFile), string(inFlow), string(onward)})
			known["least"] = r.number(&w.least)
			r.read(item, known)
			w.near = near(where[0])
			*to = append(*to, w)
		}
	}
}

func (r *reader) number(to *int) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		var err error
		if *to, err = strconv.Atoi(n.Value); err != nil || *to < 1 || *to > 1000 {
			r.wrong(n, "a number from 1 to 1000 is wanted")
		}
	}
}

func (r *reader) conditionKeys(c *condition) keys {
	return keys{"sink": r.pattern(&c.sink), "source": r.pattern(&c.source), "flow": r.pattern(&c.flow), "with": r.withs(&c.with), "own": r.choice(&c.own)}
}

// each calls read for the items of a list.
func (r *reader) each(read func(*yamlnode.Node)) func(*yamlnode.Node) {
	return func(n *yamlnode.Node) {
		if n.Kind != yamlnode.Sequence || len(n.Items) == 0 {
			r.wrong(n, "this is a %s, and a list is wanted", n.Kind)
		}
		for _, item := range n.Items {
			read(item)
		}
	}
}

// rule reads one rule.
func (r *reader) rule(n *yamlnode.Node) (out Rule) {
	known := r.conditionKeys(&out.when)
	maps.Copy(known, keys{"id": r.text(&out.ID), "title": r.text(&out.Title), "class": r.text(&out.Class), "message": r.text(&out.Message),
		"severity": r.severity(&out.Severity), "match": r.texts(&out.Match), "skip": r.texts(&out.Skip),
		"unless": r.each(func(n *yamlnode.Node) {
			var c condition
			r.read(n, r.conditionKeys(&c))
			out.unless = append(out.unless, c)
		}),
		"raise": r.each(func(n *yamlnode.Node) {
			var to raise
			known := r.conditionKeys(&to.condition)
			known["to"] = r.severity(&to.to)
			if r.read(n, known); to.to == "" {
				r.wrong(n, "to is missing: the severity")
			}
			out.raise = append(out.raise, to)
		})})
	r.read(n, known)
	parts := map[string]bool{"id, of small letters, digits and hyphens": isID(out.ID), "title": out.Title != "", "class": out.Class != "",
		"message": out.Message != "", "severity": out.Severity != "", "sink": out.when.sink != nil, "match": len(out.Match) > 0, "skip": len(out.Skip) > 0}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if !parts[key] {
			r.wrong(n, "the rule has no %s", key)
		}
	}
	return out
}

// isID reports whether a text is the ID of a rule: small letters, digits and hyphens.
func isID(id string) bool {
	return id != "" && id != Unread && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// parse reads rules that may use the lists of s.
func (s *Set) parse(text []byte, name string) (*Set, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, MaxFile)
	}
	out := &Set{lists: maps.Clone(s.lists)}
	r := &reader{name: name, lists: out.lists}
	err := r.parse(text, keys{
		"lists": func(n *yamlnode.Node) {
			for _, p := range n.Pairs {
				var list []string
				r.texts(&list)(p.Value)
				for i := range list {
					list[i] = strings.ToLower(list[i])
				}
				r.lists[p.Key.Value] = list
			}
		},
		"rules": r.each(func(n *yamlnode.Node) {
			if r.err != nil {
				return
			}
			one := r.rule(n)
			if out.Rule(one.ID) != nil {
				r.wrong(n, "the rule %q is there twice", one.ID)
			} else if len(out.rules) == maxRules {
				r.wrong(n, "there are more than %d rules", maxRules)
			}
			out.rules = append(out.rules, one)
		}),
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
