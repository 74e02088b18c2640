package yamlnode

import (
	"bytes"
	"encoding/json"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

var number = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// JSON returns n as JSON in source order. A plain scalar that is a JSON number, true, false or
// null is written as such, with its digits as they stand; every other one is a string. Of a
// repeated key the last counts.
func (n *Node) JSON() []byte { return n.appendJSON(nil) }

// MaxJSON returns how many bytes JSON takes at most. It does not make the text.
func (n *Node) MaxJSON() int {
	size := len(`null,`) + maxQuoted(n.Value)
	for _, item := range n.Items {
		size += item.MaxJSON()
	}
	for _, p := range n.Pairs {
		size += len(`:`) + maxQuoted(p.Key.text()) + p.Value.MaxJSON()
	}
	return size
}

// maxQuoted returns how many bytes s takes at most as a JSON string.
func maxQuoted(s string) int {
	size := len(`""`) + len(s)
	for i := range len(s) {
		if mustEscape(s[i]) {
			size += len(`\u0007`) - 1
		}
	}
	return size
}

// IsText reports whether n is a scalar that JSON has as a string.
func (n *Node) IsText() bool {
	return n.Kind == Scalar && (n.Quoted || n.Value != "true" && n.Value != "false" && !isNumber(n.Value))
}

// other matches what YAML's core schema does not read as a text.
var other = lazyregexp.New(`^([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|true|True|TRUE|false|False|FALSE|null|Null|NULL|~)$`)

// Ambiguous returns the first value within n that JSON has as a string, though YAML's core schema reads a number or a truth value, or the
// first key that it does not read as a text; nil if there is none.
func (n *Node) Ambiguous() *Node {
	if n.Kind == Scalar && !n.Quoted && n.IsText() && other().MatchString(n.Value) {
		return n
	}
	for _, item := range n.Items {
		if found := item.Ambiguous(); found != nil {
			return found
		}
	}
	for _, p := range n.Pairs {
		if p.Key.Kind != Scalar || !p.Key.Quoted && other().MatchString(p.Key.Value) {
			return p.Key
		}
		if found := p.Value.Ambiguous(); found != nil {
			return found
		}
	}
	return nil
}

func (n *Node) appendJSON(b []byte) []byte {
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case Scalar:
		if !n.IsText() {
			return append(b, n.Value...)
		}
		return appendQuoted(b, n.Value)
	case Sequence:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	}
	return n.appendObject(b)
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && number().MatchString(s)
}

func (n *Node) appendObject(b []byte) []byte {
	b = append(b, '{')
	again := n.repeated()
	first := true
	for i, p := range n.Pairs {
		if again != nil && again[p.Key.text()] != i {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendQuoted(b, p.Key.text()), ':')
		b = p.Value.appendJSON(b)
	}
	return append(b, '}')
}

// repeated returns the last pair of each key, or nil if there are so few keys that it is clear that all differ.
func (n *Node) repeated() map[string]int {
	const few = 8
	differ := len(n.Pairs) <= few
	for i := 0; differ && i < len(n.Pairs); i++ {
		for _, p := range n.Pairs[:i] {
			differ = differ && p.Key.text() != n.Pairs[i].Key.text()
		}
	}
	if differ {
		return nil
	}
	last := make(map[string]int, len(n.Pairs))
	for i, p := range n.Pairs {
		last[p.Key.text()] = i
	}
	return last
}

// text is a key's name: a list or a map as a key counts as its JSON.
func (n *Node) text() string {
	if n.Nested() {
		return string(n.JSON())
	}
	return n.Value
}

// appendQuoted appends s as a JSON string. Only what JSON demands is escaped, and nothing for HTML.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if mustEscape(s[i]) {
			return appendEncoded(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// mustEscape reports whether a byte may not stand in a JSON string as it is.
func mustEscape(c byte) bool { return c < ' ' || c >= 0x7f || c == '"' || c == '\\' }

func appendEncoded(b []byte, s string) []byte {
	w := bytes.NewBuffer(b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if e.Encode(s) == nil {
		w.Truncate(w.Len() - 1) // the encoder's line break
	}
	return w.Bytes()
}
