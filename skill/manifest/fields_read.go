package manifest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Bounds of what is kept of keys that nobody knows, and of metadata (security 2.1 #16).
const (
	maxKeys   = 64
	maxValue  = 1024 // bytes
	maxFields = 512  // entries of Manifest.Fields
)

// fields reads the entries into the manifest. Of a key that is there more than once the last
// counts, except that a protective one then allows nothing.
func (p *parser) fields(entries []entry) {
	last, count := map[string]int{}, map[string]int{}
	for i, e := range entries {
		last[fieldName(e.key.Value)] = i
		count[fieldName(e.key.Value)]++
	}
	unknown := 0
	var unexpected []entry
	for i, e := range entries {
		name := fieldName(e.key.Value)
		f := findField(e.key.Value)
		if f == nil {
			if unknown++; unknown > maxKeys {
				continue
			}
		}
		if f == nil || !f.standard || e.key.Value != f.key {
			unexpected = append(unexpected, e)
		}
		p.keep(e, f, i == last[name])
		if i != last[name] {
			continue
		}
		if count[name] > 1 {
			p.Add(Problem{Code: "field-duplicate", Line: e.line, Col: e.col, Field: name, Message: fmt.Sprintf("%q is there %d times, the last one counts", clip(name), count[name])})
		}
		if f == nil {
			p.unknownField(e)
			continue
		}
		p.field(f, e)
		if count[name] > 1 && protective(name) {
			p.closed(f.key, e)
		}
	}
	if unknown > maxKeys {
		p.Add(Problem{Code: "fields-many", Line: p.text.first, Message: fmt.Sprintf("%d unknown keys, only the first %d are kept", unknown, maxKeys)})
	}
	if p.toolsLost > 0 {
		p.closed("allowed-tools", entry{line: p.toolsLost, col: 1})
	}
	p.unexpectedFields(unexpected)
}

func fieldName(key string) string {
	if f := findField(key); f != nil {
		return f.key
	}
	return key
}

// keep enters the key into the manifest's list of fields. counts says that it is the last one of
// its name.
func (p *parser) keep(e entry, f *knownField, counts bool) {
	if len(p.m.Fields) >= maxFields {
		return
	}
	out := Field{Key: clip(e.key.Value), Line: e.line, Col: e.col, Standing: StandingRejected, Value: nodeText(e.value)}
	if f != nil && counts && !e.dropped {
		out.Standing = f.standing
	}
	if f == nil && len(out.Value) > maxValue {
		out.Value = cutBytes(out.Value, maxValue)
		p.Add(Problem{Code: "fields-many", Line: e.line, Col: e.col, Field: out.Key, Message: fmt.Sprintf("the value of %q has more than %d bytes, the rest is not kept", out.Key, maxValue)})
	}
	p.m.Fields = append(p.m.Fields, out)
}

// nested enters a key below a known one. The standing is the parent's unless it is given.
func (p *parser) nested(parent string, kv yamlnode.Pair, standing Standing) {
	if len(p.m.Fields) >= maxFields {
		return
	}
	value := nodeText(kv.Value)
	p.m.Fields = append(p.m.Fields, Field{Key: parent + "." + clip(kv.Key.Value), Line: kv.Key.Line, Col: kv.Key.Col, Value: cutBytes(value, maxValue), Standing: standing})
}

// reject marks the last field of that key as dropped.
func (p *parser) reject(key string) { p.mark(key, StandingRejected) }

// mark gives the last field of that key a standing of its own.
func (p *parser) mark(key string, s Standing) {
	for i := len(p.m.Fields) - 1; i >= 0; i-- {
		if fieldName(p.m.Fields[i].Key) == key {
			p.m.Fields[i].Standing = s
			return
		}
	}
}

func (p *parser) unknownField(e entry) {
	cure := ""
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	if names := near.Names(e.key.Value, keys); len(e.key.Value) > 2 && len(names) > 0 {
		cure = fmt.Sprintf("did you mean %q?", names[0])
	}
	key := clip(e.key.Value)
	p.Add(Problem{Code: "field-unknown", Line: e.line, Col: e.col, Field: key, Message: fmt.Sprintf("unknown field %q", key), Cure: cure})
}

func (p *parser) unexpectedFields(list []entry) {
	if len(list) == 0 {
		return
	}
	var names []string
	for _, e := range list {
		names = append(names, strconv.Quote(clip(e.key.Value)))
	}
	p.Add(Problem{Code: "fields-unexpected", Line: list[0].line, Col: list[0].col, Field: clip(list[0].key.Value),
		Message: fmt.Sprintf("fields outside the standard: %s", strings.Join(names, ", "))})
}

// field reads one entry of a known field.
func (p *parser) field(f *knownField, e entry) {
	if !f.spelled(e.key.Value) {
		p.Add(Problem{Code: "field-spelling", Line: e.line, Col: e.col, Field: f.key, Message: fmt.Sprintf("%q is read as %q", clip(e.key.Value), f.key), Cure: fmt.Sprintf("write %q", f.key)})
	}
	at := Problem{Line: e.value.Line, Col: e.value.Col, Field: f.key}
	switch {
	case e.dropped:
		if f.key == "scripts" {
			p.m.ScriptsDeclared = true
		}
		if protective(f.key) {
			p.closed(f.key, e)
		}
	case f.key == "allowed-tools":
		p.m.AllowedTools = p.tools(f, e)
	case f.key == "disallowed-tools":
		p.m.DisallowedTools = p.tools(f, e)
	case f.kind == kindText:
		p.textField(f, e, at)
	case f.kind == kindList:
		p.listField(f, e, at)
	case f.kind == kindFlag:
		p.flagField(f, e, at)
	case f.kind == kindNumber:
		p.numberField(f, e, at)
	default:
		p.mapField(f, e, at)
	}
}

// closed makes a protective field allow nothing.
func (p *parser) closed(key string, e entry) {
	msg := "permissions is unclear: nothing is granted"
	if key == "allowed-tools" {
		p.m.AllowedTools = Tools{Declared: true}
		msg = "allowed-tools is unclear: nothing is allowed"
	} else {
		p.m.Permissions = Permissions{}
	}
	p.reject(key)
	p.Add(Problem{Code: "tools-closed", Line: e.line, Col: e.col, Field: key, Message: msg})
}

// wrongForm reports a value of another form than its field wants; it is dropped.
func (p *parser) wrongForm(key string, want fmt.Stringer, n *yamlnode.Node) {
	p.reject(key)
	p.Add(Problem{Code: "field-type", Line: n.Line, Col: n.Col, Field: key, Message: fmt.Sprintf("%q must be %s, not a %s: the value is dropped", key, want, n.Kind)})
}

// textField takes the source text of a scalar, whatever its type.
func (p *parser) textField(f *knownField, e entry, at Problem) {
	n := e.value
	text := strings.TrimSpace(n.Value)
	switch {
	case n.Kind == yamlnode.Sequence && f.key == "argument-hint":
		text = p.sourceText(n)
	case n.Kind == yamlnode.Sequence || n.Kind == yamlnode.Mapping:
		p.wrongForm(f.key, f.kind, n)
		return
	}
	switch f.key {
	case "name":
		if text != "" {
			p.checkNameRules(text, at)
			p.named = true
		}
	case "description":
		p.m.Description = text
		p.checkDescription(n.Value, at)
	default:
		*p.m.textOf(f.key) = text
		p.checkText(f.key, text, at)
	}
}

// sourceText returns the text of a list in brackets as it is written on its line; other lists in
// their compact form.
func (p *parser) sourceText(n *yamlnode.Node) string {
	i := n.Line - p.text.first
	if i >= len(p.text.lines) {
		return nodeText(n)
	}
	l := p.text.lines[i]
	before := n.Col - 1
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

func (p *parser) flagField(f *knownField, e entry, at Problem) {
	dst := p.m.flagOf(f.key)
	if e.value.Kind == yamlnode.Null && e.value.Value == "" {
		return
	}
	v, ok := truth(e.value)
	if !ok {
		v = *dst || f.key == "disable-model-invocation" // which protects, so it holds
		p.reject(f.key)
		at.Code, at.Message = "field-value", fmt.Sprintf("%q must be true or false, not %s", f.key, strconv.Quote(clip(nodeText(e.value))))
		p.Add(at)
	}
	*dst = v
}

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

func (p *parser) numberField(f *knownField, e entry, at Problem) {
	if e.value.Kind == yamlnode.Null && e.value.Value == "" {
		return
	}
	v, err := strconv.ParseInt(strings.TrimSpace(e.value.Value), 10, 32)
	if e.value.Kind != yamlnode.Scalar || err != nil {
		p.reject(f.key)
		at.Code, at.Message = "field-value", fmt.Sprintf("%q must be a whole number, not %s", f.key, strconv.Quote(clip(nodeText(e.value))))
		p.Add(at)
		return
	}
	p.m.Priority = int(v)
}

// nodeText is the source text of a scalar, else a compact form.
func nodeText(n *yamlnode.Node) string {
	if n.Kind == yamlnode.Sequence || n.Kind == yamlnode.Mapping {
		return string(n.JSON())
	}
	return n.Value
}

// cutBytes shortens s to at most limit bytes without breaking a character.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
