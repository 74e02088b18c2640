package manifest

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Limits for trigger patterns. They keep the cost of one skill small.
const (
	maxPatternText = 200 // characters of one pattern
	maxPatternList = 16  // patterns of one skill
	maxWide        = 8   // Unicode classes and ranges in the patterns of one skill: each may take a millisecond to read
)

// mapField reads a map whose keys are lists.
func (p *parser) mapField(f *knownField, e entry) {
	n := e.value
	switch {
	case noValue(n):
	case n.Kind != yamlnode.Mapping && f.sequence != nil:
		f.sequence(p, on(n, f.key), n)
	case n.Kind != yamlnode.Mapping && f.key == "scope":
		p.reject(f.key)
		p.problem("field-unknown", on(n, f.key), "%q is a %s, as in other products: it has no effect", f.key, n.Kind)
	case n.Kind == yamlnode.Sequence && f.key == "permissions" && !p.Profile.Strict(): // grants nothing
		p.foreign(f, n)
	case n.Kind != yamlnode.Mapping:
		p.wrongForm(f, n)
		if f.close != nil {
			p.closed(f, e.place(f.key))
		}
	case p.twice(f, n) && f.close != nil:
		p.closed(f, e.place(f.key))
	default:
		for _, kv := range n.Pairs {
			p.member(f, kv)
		}
	}
}

// ofOthers reports whether a value of a field in another form is another product's: the open standard does not know the field, and nobody
// loses anything that it protects or promises.
func (p *parser) ofOthers(f *knownField) bool {
	return !p.Profile.Strict() && !f.standard && f.close == nil && f.asks == "" && !f.holds && f.lost == "" && !strings.Contains(f.key, ".")
}

// foreign keeps a value in the shape of another product: it is shown, and has no effect.
func (p *parser) foreign(f *knownField, n *yamlnode.Node) {
	p.shown(f)
	p.problem("field-unknown", on(n, f.key), "%q is a %s, as in other products: it has no effect", f.key, n.Kind)
}

// shown makes a field informational, as if it were not there.
func (p *parser) shown(f *knownField) {
	p.mark(f.key, StandingInformational)
	if f.declared != nil {
		*f.declared(p.m) = false
	}
}

// twice reports the keys that a map has more than once. It returns whether there are any.
func (p *parser) twice(f *knownField, n *yamlnode.Node) bool {
	const few = 8 // no map is worth while for them
	seen := map[string]bool(nil)
	if len(n.Pairs) > few {
		seen = make(map[string]bool, len(n.Pairs))
	}
	found := false
	for i, kv := range n.Pairs {
		key := kv.Key.Value
		again := seen[key]
		if seen == nil {
			again = slices.ContainsFunc(n.Pairs[:i], func(before yamlnode.Pair) bool { return before.Key.Value == key })
		} else {
			seen[key] = true
		}
		if again {
			found = true
			name := f.key + "." + clip(key)
			p.problem("field-duplicate", on(kv.Key, name), "%q occurs twice, the last one counts", name)
		}
	}
	return found
}

// member reads one key below permissions, triggers or scope.
func (p *parser) member(f *knownField, kv yamlnode.Pair) {
	key := Canonical(kv.Key.Value)
	if k := f.below(key); k != nil {
		p.nested(f.key, kv, k.standing)
		if k.read != nil {
			k.read(p, k, kv.Value)
			return
		}
		p.listField(k, kv.Value)
		return
	}
	if name := clip(f.key + "." + key); strings.HasPrefix(f.key, "permissions") {
		p.problem("permissions-unknown", on(kv.Key, name), "unknown permission %q grants nothing: there are %s", name, f.keyNames())
	} else {
		p.problem("field-unknown", on(kv.Key, name), "unknown field %q", name)
	}
	p.nested(f.key, kv, StandingRejected)
}

// keyNames lists the keys below f.
func (f *knownField) keyNames() string {
	var out []string
	for _, k := range f.keys {
		out = append(out, k.key[len(f.key)+1:])
	}
	return strings.Join(out, ", ")
}

// below returns the field below f with that key, or nil.
func (f *knownField) below(key string) *knownField {
	for _, k := range f.keys {
		if k.key[len(f.key)+1:] == key {
			return k
		}
	}
	return nil
}

// keywords reads triggers written as a list, or as text with commas.
func (p *parser) keywords(at place, n *yamlnode.Node) {
	list, _ := p.items(&knownField{key: at.field, split: ","}, n)
	p.m.Triggers.Keywords = p.all(list)
	if len(list) == 0 && len(n.Items) > 0 {
		p.shown(&knownField{key: at.field})
		return
	}
	p.problem("triggers-shape", at, "triggers is a %s; what it has counts as keywords", n.Kind)
}

// patterns returns the valid regular expressions.
func (p *parser) patterns(list []listItem) []string {
	room, count := maxWide, 0
	return p.kept("triggers.patterns", list, func(s string) (code, message string) {
		why, n := "", wide(s)
		if count >= maxPatternList {
			why = fmt.Sprintf("a skill has at most %d patterns", maxPatternList)
		} else if c := utf8.RuneCountInString(s); c > maxPatternText {
			why = fmt.Sprintf("it has %d characters, at most %d are read", c, maxPatternText)
		} else if room -= n; n > 0 && room < 0 {
			why = fmt.Sprintf("a skill has at most %d Unicode classes and ranges in its patterns", maxWide)
		} else if tree, err := syntax.Parse(s, syntax.Perl); err != nil {
			why = fmt.Sprintf("it is not a regular expression of RE2: %v", err)
		} else if matchesEmpty(tree) {
			why = "it matches the empty text, and so every query"
		}
		if why != "" {
			return "triggers-pattern-off", fmt.Sprintf("the pattern %q is off: %s", clip(s), why)
		}
		count++
		return "", ""
	})
}

// wide counts, without parsing the pattern, its possible classes and ranges beyond ASCII: with (?i) each is compared
// with the cases of up to a hundred thousand characters.
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

// matchesEmpty reports whether an expression matches the empty text.
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

// metadataTags keeps the tags for a manifest without tags of its own.
func (p *parser) metadataTags(list []listItem) []string {
	p.metaTags = p.all(list)
	return nil
}

// metadata keeps the map as texts and reads its known keys.
func (p *parser) metadata(f *knownField, n *yamlnode.Node) {
	if !p.isMap(f, n) {
		return
	}
	clear(p.spare)
	if p.m.Metadata = p.spare; p.spare == nil {
		p.m.Metadata = make(map[string]string, min(len(n.Pairs), maxKeys))
	}
	for _, kv := range n.Pairs {
		key := clip(nodeText(kv.Key))
		value := p.metadataText(key, kv.Value)
		if _, there := p.m.Metadata[key]; !there && len(p.m.Metadata) >= maxKeys {
			p.problem("fields-many", on(kv.Key, "metadata"), "metadata has more than %d keys, the rest is not kept", maxKeys)
			break
		}
		k, name := f.below(key), ""
		read := k != nil && (k.keep != nil || k.read != nil && p.Profile.Needs())
		if kv.Value.Nested() || len(value) > maxValue {
			name = "metadata." + key
		}
		if kv.Value.Nested() && !read {
			p.problem("metadata-nested", on(kv.Value, name), "%q is a %s, kept as JSON", name, kv.Value.Kind)
		}
		if len(value) > maxValue {
			value = cutBytes(value, maxValue)
			p.problem("fields-many", on(kv.Value, name), "the value of %q has more than %d bytes, the rest is not kept", name, maxValue)
		}
		p.m.Metadata[key] = value
		if k != nil {
			p.nested("metadata", kv, p.metadataKey(k, kv.Value, read))
		}
	}
}

// metadataText returns the text of a value below metadata. A summary has no texts of lists and maps, but for the keys from
// which another field may take its value, and for texts that may be too long.
func (p *parser) metadataText(key string, n *yamlnode.Node) string {
	if p.summary && n.Nested() && n.MaxJSON() <= maxValue && key != "version" && key != "author" {
		return ""
	}
	return nodeText(n)
}

// metadataKey reads a known key below metadata and returns its standing.
func (p *parser) metadataKey(k *knownField, n *yamlnode.Node, read bool) Standing {
	switch {
	case k.read == nil:
		if k.keep != nil {
			p.listField(k, n)
		}
		return k.standing
	case read:
		k.read(p, k, n)
	}
	if p.needs.empty() {
		return StandingInformational
	}
	return k.standing
}

// isMap reports whether a value is a map. It reports a problem for another form and for duplicate keys.
func (p *parser) isMap(f *knownField, n *yamlnode.Node) bool {
	if noValue(n) {
		return false
	}
	if n.Kind != yamlnode.Mapping {
		p.wrongForm(f, n)
		return false
	}
	p.twice(f, n)
	return true
}
