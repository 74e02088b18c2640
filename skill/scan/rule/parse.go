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

// reader reads one text.
type reader struct {
	name  string
	lists map[string][]string
}

// wrong returns an error at a node.
func (r *reader) wrong(n *yamlnode.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", r.name, n.Line, n.Col, fmt.Sprintf(format, args...))
}

// parse reads the text as YAML.
func (r *reader) parse(text []byte) (*yamlnode.Node, error) {
	root, err := yamlnode.Parse(text, nil)
	if at := new(yamlnode.Error); errors.As(err, &at) {
		return nil, fmt.Errorf("%s:%d:%d: %s", r.name, at.Line, at.Col, at.Message)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return root, nil
}

// keys reads a map whose keys are all known.
type keys map[string]func(*yamlnode.Node) error

func (r *reader) read(n *yamlnode.Node, known keys) error {
	if n.Kind != yamlnode.Mapping {
		return r.wrong(n, "this is a %s, and a map is wanted", n.Kind)
	}
	seen := map[string]bool{}
	for _, p := range n.Pairs {
		key := p.Key.Value
		read, ok := known[key]
		switch {
		case !ok:
			return r.wrong(p.Key, "unknown key %q: use one of %s", key, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case seen[key]:
			return r.wrong(p.Key, "the key %q is there twice", key)
		}
		seen[key] = true
		if err := read(p.Value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) text(to *string) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		if n.Kind != yamlnode.Scalar || strings.TrimSpace(n.Value) == "" {
			return r.wrong(n, "this is a %s, and a text is wanted", n.Kind)
		}
		*to = n.Value
		return nil
	}
}

// texts reads a text or a list of texts.
func (r *reader) texts(to *[]string) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		if n.Kind == yamlnode.Scalar {
			*to = []string{n.Value}
			return nil
		}
		if n.Kind != yamlnode.Sequence || len(n.Items) == 0 {
			return r.wrong(n, "this is a %s, and a text or a list of texts is wanted", n.Kind)
		}
		for _, item := range n.Items {
			var one string
			if err := r.text(&one)(item); err != nil {
				return err
			}
			*to = append(*to, one)
		}
		return nil
	}
}

// among reads one or more of the known words.
func (r *reader) among(to *[]string, known []string) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		if err := r.texts(to)(n); err != nil {
			return err
		}
		for _, word := range *to {
			if !slices.Contains(known, strings.TrimPrefix(word, "!")) {
				return r.wrong(n, "unknown %q: use one of %s", word, strings.Join(known, ", "))
			}
		}
		return nil
	}
}

func (r *reader) choice(to **bool) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		yes := n.Value == "true"
		if n.Kind != yamlnode.Scalar || !yes && n.Value != "false" {
			return r.wrong(n, "true or false is wanted")
		}
		*to = &yes
		return nil
	}
}

func (r *reader) severity(to *scan.Severity) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		*to = scan.Severity(n.Value)
		if n.Kind != yamlnode.Scalar || !slices.Contains(scan.Severities(), *to) {
			return r.wrong(n, "unknown severity %q: use low, medium, high or critical", n.Value)
		}
		return nil
	}
}

// globs reads patterns of a text. "$LIST" stands for those of a list.
func (r *reader) globs(to *globs) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		var all []string
		if err := r.texts(&all)(n); err != nil {
			return err
		}
		for _, one := range all {
			one, not := strings.CutPrefix(strings.ToLower(one), "!")
			list := []string{one}
			if name, named := strings.CutPrefix(one, "$"); named {
				if list = r.lists[name]; list == nil {
					return r.wrong(n, "there is no list %q above", name)
				}
			}
			if not {
				to.none = append(to.none, list...)
			} else {
				to.any = append(to.any, list...)
			}
		}
		return nil
	}
}

func (r *reader) patternKeys(p *pattern) keys {
	return keys{"kind": r.among(&p.kinds, kinds), "object": r.among(&p.objects, objects), "role": r.among(&p.roles, roles),
		"name": r.globs(&p.name), "detail": r.globs(&p.detail), "block": r.globs(&p.block), "file": r.globs(&p.file),
		"host": r.among(&p.host, hostProperties), "maybe": r.choice(&p.maybe),
		"starts": r.choice(&p.starts), "obeyed": r.choice(&p.obeyed)}
}

func (r *reader) pattern(to **pattern) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		*to = &pattern{}
		return r.read(n, r.patternKeys(*to))
	}
}

// withs reads one further fact or a list of them.
func (r *reader) withs(to *[]with) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		items := n.Items
		if n.Kind != yamlnode.Sequence {
			items = []*yamlnode.Node{n}
		}
		for _, item := range items {
			w := with{near: inSkill}
			var where []string
			known := r.patternKeys(&w.pattern)
			known["near"] = r.among(&where, []string{string(inSkill), string(inFile), string(inFlow), string(onward)})
			known["least"] = r.number(&w.least)
			if err := r.read(item, known); err != nil {
				return err
			}
			if len(where) > 0 {
				w.near = near(where[0])
			}
			*to = append(*to, w)
		}
		return nil
	}
}

func (r *reader) number(to *int) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) (err error) {
		if *to, err = strconv.Atoi(n.Value); err != nil || *to < 1 || *to > 1000 {
			return r.wrong(n, "a number from 1 to 1000 is wanted")
		}
		return nil
	}
}

func (r *reader) conditionKeys(c *condition) keys {
	return keys{"sink": r.pattern(&c.sink), "source": r.pattern(&c.source), "flow": r.pattern(&c.flow), "with": r.withs(&c.with), "own": r.choice(&c.own)}
}

// each calls read for the items of a list.
func (r *reader) each(read func(*yamlnode.Node) error) func(*yamlnode.Node) error {
	return func(n *yamlnode.Node) error {
		if n.Kind != yamlnode.Sequence || len(n.Items) == 0 {
			return r.wrong(n, "this is a %s, and a list is wanted", n.Kind)
		}
		for _, item := range n.Items {
			if err := read(item); err != nil {
				return err
			}
		}
		return nil
	}
}

// rule reads one rule.
func (r *reader) rule(n *yamlnode.Node) (Rule, error) {
	var out Rule
	known := r.conditionKeys(&out.when)
	maps.Copy(known, keys{"id": r.text(&out.ID), "title": r.text(&out.Title), "class": r.text(&out.Class), "message": r.text(&out.Message),
		"severity": r.severity(&out.Severity), "match": r.texts(&out.Match), "skip": r.texts(&out.Skip),
		"unless": r.each(func(n *yamlnode.Node) error {
			var c condition
			err := r.read(n, r.conditionKeys(&c))
			out.unless = append(out.unless, c)
			return err
		}),
		"raise": r.each(func(n *yamlnode.Node) error {
			var to raise
			known := r.conditionKeys(&to.condition)
			known["to"] = r.severity(&to.to)
			err := r.read(n, known)
			if err == nil && to.to == "" {
				err = r.wrong(n, "to is missing: the severity")
			}
			out.raise = append(out.raise, to)
			return err
		})})
	if err := r.read(n, known); err != nil {
		return out, err
	}
	for _, needed := range []struct {
		key string
		has bool
	}{{"id, of small letters, digits and hyphens", isID(out.ID)}, {"title", out.Title != ""}, {"class", out.Class != ""}, {"message", out.Message != ""},
		{"severity", out.Severity != ""}, {"sink", out.when.sink != nil}, {"match", len(out.Match) > 0}, {"skip", len(out.Skip) > 0}} {
		if !needed.has {
			return out, r.wrong(n, "the rule has no %s", needed.key)
		}
	}
	return out, nil
}

// isID reports whether a text is the ID of a rule: small letters, digits and hyphens.
func isID(id string) bool {
	return id != "" && id != Unread && len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// parse reads rules that may use the lists of s.
func (s *Set) parse(text []byte, name string) (*Set, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, MaxFile)
	}
	out := &Set{lists: maps.Clone(s.lists)}
	r := &reader{name: name, lists: out.lists}
	root, err := r.parse(text)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	return out, r.read(root, keys{
		"lists": func(n *yamlnode.Node) error {
			for _, p := range n.Pairs {
				var list []string
				if err := r.texts(&list)(p.Value); err != nil {
					return err
				}
				for i := range list {
					list[i] = strings.ToLower(list[i])
				}
				r.lists[p.Key.Value] = list
			}
			return nil
		},
		"rules": r.each(func(n *yamlnode.Node) error {
			one, err := r.rule(n)
			switch {
			case err != nil:
				return err
			case ids[one.ID]:
				return r.wrong(n, "the rule %q is there twice", one.ID)
			case len(out.rules) == maxRules:
				return r.wrong(n, "there are more than %d rules", maxRules)
			}
			ids[one.ID] = true
			out.rules = append(out.rules, one)
			return nil
		}),
	})
}
