package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Limits for what is kept of unknown keys and of metadata.
const (
	maxKeys   = 64
	maxValue  = 1024 // bytes
	maxFields = 512  // entries of Manifest.Fields
)

// fields reads the entries into the manifest. If a key is duplicated, the last one counts, but a protective field then
// allows nothing.
func (p *parser) fields(entries []entry) {
	p.findTwins(entries)
	unknown := 0
	for i := range entries {
		e := &entries[i]
		if e.field == nil {
			if unknown++; unknown > maxKeys {
				continue
			}
		}
		p.keep(e)
		if !e.later {
			p.last(e)
		}
	}
	if unknown > maxKeys {
		p.problem("fields-many", place{line: p.text.first}, "%d unknown keys, only the first %d are kept", unknown, maxKeys)
	}
	if p.toolsLost > 0 {
		p.closed(findField("allowed-tools"), place{line: p.toolsLost, col: 1, field: "allowed-tools"})
	}
	p.unexpectedFields(entries)
}

// last reads the last entry of its key.
func (p *parser) last(e *entry) {
	name := e.name()
	if e.earlier > 0 {
		p.problem("field-duplicate", e.place(name), "%q occurs %d times, the last one counts", clip(name), e.earlier+1)
	}
	if e.field == nil {
		p.unknownField(e)
		return
	}
	p.field(e.field, *e)
	if e.earlier > 0 && e.field.close != nil {
		p.closed(e.field, e.place(name))
	}
}

// findTwins finds the fields of the entries, and the fields that have several entries.
func (p *parser) findTwins(entries []entry) {
	var known [len(fields)]int // for each field, the index after its last entry
	for i := range entries {
		e := &entries[i]
		before := -1
		if at := fieldIndex(e.key.Value); at >= 0 {
			e.field = fields[at]
			before, known[at] = known[at]-1, i+1
		} else {
			if last, ok := p.unknown[e.key.Value]; ok {
				before = last
			}
			if p.unknown == nil {
				p.unknown = map[string]int{}
			}
			p.unknown[e.key.Value] = i
		}
		if before >= 0 {
			e.earlier, entries[before].later = entries[before].earlier+1, true
		}
	}
}

// keep adds the key to the manifest's list of fields.
func (p *parser) keep(e *entry) {
	if len(p.m.Fields) >= maxFields || p.summary && (e.field != nil || e.value.Nested() && e.value.MaxJSON() <= maxValue) {
		return
	}
	out := Field{Key: clip(e.key.Value), Line: e.line, Col: e.col, Standing: StandingRejected, Value: nodeText(e.value)}
	if e.field != nil && !e.later && !e.dropped {
		out.Standing = e.field.standing
	}
	if e.field == nil && len(out.Value) > maxValue {
		out.Value = cutBytes(out.Value, maxValue)
		p.problem("fields-many", e.place(out.Key), "the value of %q has more than %d bytes, the rest is not kept", out.Key, maxValue)
	}
	if !p.summary {
		p.m.Fields = append(p.m.Fields, out)
	}
}

// nested adds a key below a known one to the list of fields, with the given standing.
func (p *parser) nested(parent string, kv yamlnode.Pair, standing Standing) {
	if len(p.m.Fields) >= maxFields || p.summary {
		return
	}
	value := nodeText(kv.Value)
	p.m.Fields = append(p.m.Fields, Field{Key: parent + "." + clip(kv.Key.Value), Line: kv.Key.Line, Col: kv.Key.Col, Value: cutBytes(value, maxValue), Standing: standing})
}

// reject marks the last field with that key as dropped.
func (p *parser) reject(key string) {
	p.mark(key, StandingRejected)
	p.unscope(key)
}

// unscope records that something of a field was dropped: without it, a scope would limit less.
func (p *parser) unscope(key string) {
	if key == "scope" || strings.HasPrefix(key, "scope.") {
		p.m.Scope.Unclear = true
	}
}

// mark sets the standing of the last field with that key.
func (p *parser) mark(key string, s Standing) {
	for i := len(p.m.Fields) - 1; i >= 0; i-- {
		if foldedKey(key, p.m.Fields[i].Key) {
			p.m.Fields[i].Standing = s
			return
		}
	}
}

func (p *parser) unknownField(e *entry) {
	rule := p.checks("field-unknown")
	if rule == nil {
		return
	}
	key := clip(e.key.Value)
	p.add(rule, Problem{Code: "field-unknown", Line: e.line, Col: e.col, Field: key, Message: fmt.Sprintf("unknown field %q", key), Cure: p.knownCure(e.key.Value)})
}

// maxCures is the number of unknown keys that a Reader remembers.
const maxCures = 256

// knownCure suggests the known field that an unknown key may mean, or returns "". It remembers its results, since
// skills of one author have the same keys.
func (p *parser) knownCure(key string) string {
	if cure, ok := p.cures[key]; ok {
		return cure
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	cure := ""
	if names := near.Names(key, keys); len(key) > 2 && len(names) > 0 {
		cure = fmt.Sprintf("did you mean %q?", names[0])
	}
	if len(p.cures) >= maxCures {
		clear(p.cures)
	}
	if p.cures == nil {
		p.cures = map[string]string{}
	}
	p.cures[strings.Clone(key)] = cure
	return cure
}

// unexpectedFields reports the keys that are not in the open standard, except unknown ones that are not kept.
func (p *parser) unexpectedFields(entries []entry) {
	var names []string
	var first *entry
	unknown := 0
	for i := range entries {
		e := &entries[i]
		if e.field == nil {
			if unknown++; unknown > maxKeys {
				continue
			}
		}
		if e.field != nil && e.field.standard && e.key.Value == e.field.key {
			continue
		}
		if first == nil {
			if p.checks("fields-unexpected") == nil {
				return
			}
			first = e
		}
		names = append(names, strconv.Quote(clip(e.key.Value)))
	}
	if first != nil {
		p.problem("fields-unexpected", first.place(clip(first.key.Value)), "fields outside the standard: %s", strings.Join(names, ", "))
	}
}

// field reads one entry of a known field.
func (p *parser) field(f *knownField, e entry) {
	if !f.spelled(e.key.Value) {
		p.Add(Problem{Code: "field-spelling", Line: e.line, Col: e.col, Field: f.key, Message: fmt.Sprintf("%q is read as %q", clip(e.key.Value), f.key), Cure: fmt.Sprintf("write %q", f.key)})
	}
	if f.declared != nil && (e.dropped || e.value.Kind != yamlnode.Null) {
		*f.declared(p.m) = true
	}
	switch n := e.value; {
	case e.dropped:
		if f.close != nil {
			p.closed(f, e.place(f.key))
		}
	case f.tools != nil:
		p.toolsField(f, e)
	case f.read != nil:
		f.read(p, f, n)
	case f.text != nil:
		p.textField(f, n)
	case f.list != nil, f.asks != "":
		p.listField(f, n)
	case f.flag != nil:
		p.flagField(f, n)
	case f.number != nil:
		p.numberField(f, n)
	case f.keys != nil:
		p.mapField(f, e)
	case n.Nested():
		p.wrongForm(f, n)
	}
}

// closed makes a protective field allow nothing.
func (p *parser) closed(f *knownField, at place) {
	f.close(p.m)
	p.reject(f.key)
	p.problem("tools-closed", at, "%s is unclear, so it allows nothing", f.key)
}

// wrongForm reports and drops a value that does not have the form of its field.
func (p *parser) wrongForm(f *knownField, n *yamlnode.Node) {
	if p.ofOthers(f) {
		p.foreign(f, n)
		return
	}
	p.reject(f.key)
	p.problem("field-type", on(n, f.key), "%q must be %s, not a %s: the value is dropped", f.key, f.form(), n.Kind)
}

// scalar returns the source text of a scalar of any type. It reports other values as wrong.
func (p *parser) scalar(f *knownField, n *yamlnode.Node) (text string, ok bool) {
	if n.Nested() {
		p.wrongForm(f, n)
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

func (p *parser) textField(f *knownField, n *yamlnode.Node) {
	text, ok := p.scalar(f, n)
	if !ok {
		return
	}
	*f.text(p.m) = text
	if f.check != nil {
		f.check(p, on(n, f.key), text)
	}
}

func (p *parser) nameField(f *knownField, n *yamlnode.Node) {
	if text, ok := p.scalar(f, n); ok && text != "" {
		p.checkNameRules(text, on(n, f.key))
		p.named = true
		if p.strippedIn(n) {
			p.problem("name-hidden", on(n, f.key), "the name has characters that nobody sees: without them it would be %q", clip(text))
		}
	}
}

// strippedIn reports whether characters were left out of the lines of a value.
func (p *parser) strippedIn(n *yamlnode.Node) bool {
	next := p.text.after
	for _, e := range p.entries {
		if e.line > n.Line {
			next = min(next, e.line)
		}
	}
	return slices.ContainsFunc(p.stripped, func(line int) bool { return line >= n.Line && line < max(next, n.Line+1) })
}

func (p *parser) descriptionField(f *knownField, n *yamlnode.Node) {
	if text, ok := p.scalar(f, n); ok {
		p.m.Description = text
		p.checkDescription(n.Value, on(n, f.key))
		p.checkComment(n, on(n, f.key))
	}
}

// checkComment warns of a plain text that ends at a comment on its first line: "about #tags" is "about".
func (p *parser) checkComment(n *yamlnode.Node, at place) {
	if n.Quoted || !bytes.Contains(p.text.source, []byte(" #")) || strings.Contains(n.Value, "#") {
		return
	}
	p.text.split()
	i := n.Line - p.text.first
	if i < 0 || i >= len(p.text.lines) {
		return
	}
	if _, comment, ok := strings.Cut(p.text.lines[i].text, " #"); ok {
		p.problem("yaml-comment", at, "the value of %q ends before %q, which YAML reads as a comment", at.field, clip("#"+comment))
	}
}

// argumentHint keeps the source text of a hint such as [file], which YAML reads as a list.
func (p *parser) argumentHint(f *knownField, n *yamlnode.Node) {
	if n.Kind == yamlnode.Sequence {
		p.m.ArgumentHint = p.sourceText(n)
	} else if text, ok := p.scalar(f, n); ok {
		p.m.ArgumentHint = text
	}
}

// sourceText returns the text of a list in brackets as written on its line, and other lists in their compact form.
func (p *parser) sourceText(n *yamlnode.Node) string {
	p.text.split()
	i := n.Line - p.text.first
	if i >= len(p.text.lines) {
		return nodeText(n)
	}
	l := p.text.lines[i]
	before := n.Col - 1 + l.added
	for _, at := range l.removed {
		if at < n.Col {
			before--
		}
	}
	line := string([]rune(l.text)[before:])
	line = strings.TrimSpace(line[:commentStart(line, 0)])
	if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
		return nodeText(n)
	}
	return line
}

func (p *parser) flagField(f *knownField, n *yamlnode.Node) {
	if noValue(n) {
		return
	}
	dst := f.flag(p.m)
	v, ok := truth(n)
	if !ok {
		v = *dst || f.holds
		p.reject(f.key)
		p.problem("field-value", on(n, f.key), "%q must be true or false, not %q", f.key, clip(nodeText(n)))
	}
	*dst = v
}

// noValue reports whether a key has no value.
func noValue(n *yamlnode.Node) bool { return n.Kind == yamlnode.Null && n.Value == "" }

func truth(n *yamlnode.Node) (value, ok bool) {
	if n.Kind != yamlnode.Scalar {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(n.Value)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

func (p *parser) numberField(f *knownField, n *yamlnode.Node) {
	if noValue(n) {
		return
	}
	v, err := strconv.ParseInt(strings.TrimSpace(n.Value), 10, 32)
	word := n.Kind == yamlnode.Scalar && err != nil && strings.Trim(n.Value, "+-0123456789. ") != ""
	if word && !p.Profile.Strict() {
		p.foreign(f, n)
		return
	}
	if n.Kind != yamlnode.Scalar || err != nil {
		p.reject(f.key)
		p.problem("field-value", on(n, f.key), "%q must be a whole number, not %q", f.key, clip(nodeText(n)))
		return
	}
	*f.number(p.m) = int(v)
}

// nodeText returns the source text of a scalar, and the compact form of other values.
func nodeText(n *yamlnode.Node) string {
	if n.Nested() {
		return string(n.JSON())
	}
	return n.Value
}

// cutBytes shortens s to at most limit bytes without splitting a character.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
