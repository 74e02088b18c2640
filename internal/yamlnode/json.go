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
func (n *Node) JSON() []byte {
	var b bytes.Buffer
	n.json(&b)
	return b.Bytes()
}

func (n *Node) json(b *bytes.Buffer) {
	switch n.Kind {
	case Null:
		b.WriteString("null")
	case Scalar:
		if !n.Quoted && (n.Value == "true" || n.Value == "false" || number().MatchString(n.Value)) {
			b.WriteString(n.Value)
		} else {
			quote(b, n.Value)
		}
	case Sequence:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.json(b)
		}
		b.WriteByte(']')
	case Mapping:
		n.object(b)
	}
}

func (n *Node) object(b *bytes.Buffer) {
	last := map[string]int{}
	for i, p := range n.Pairs {
		last[p.Key.text()] = i
	}
	b.WriteByte('{')
	first := true
	for i, p := range n.Pairs {
		if last[p.Key.text()] != i {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		quote(b, p.Key.text())
		b.WriteByte(':')
		p.Value.json(b)
	}
	b.WriteByte('}')
}

// text is a key's name: a list or a map as a key counts as its JSON.
func (n *Node) text() string {
	if n.Kind == Sequence || n.Kind == Mapping {
		return string(n.JSON())
	}
	return n.Value
}

func quote(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if e.Encode(s) == nil {
		b.Truncate(b.Len() - 1) // the encoder's line break
	}
}
