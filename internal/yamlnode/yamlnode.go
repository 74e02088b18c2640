// Package yamlnode reads one YAML document into plain nodes and refuses what a manifest or a
// configuration file has no business with: anchors, aliases, custom tags, deep nesting.
//
// Scalars keep the text they were written with (`version: 1.10` stays "1.10"); nothing is
// resolved to numbers, dates or booleans. It is the only package that imports a YAML library.
// Parse may be called from several goroutines at once; nodes are not written to after it returns.
package yamlnode

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Kind says which form a node has.
type Kind uint8

// The four forms. Null is a plain empty value, `~` or `null`.
const (
	Null Kind = iota
	Scalar
	Sequence
	Mapping
)

// String returns the name that a person would use for the form.
func (k Kind) String() string {
	return [...]string{"nothing", "text", "list", "map"}[k]
}

// Node is one value with its place in the source. Line and Col count from 1; Col counts
// code points.
type Node struct {
	Kind   Kind
	Value  string  // a scalar's text: of a plain scalar as written, of a quoted or block one its content
	Quoted bool    // quoted or a block scalar: certainly text
	Items  []*Node // of a sequence
	Pairs  []Pair  // of a mapping, in source order; a repeated key is there twice
	Line   int
	Col    int
}

// Pair is one key of a mapping with its value.
type Pair struct{ Key, Value *Node }

// Options bounds what Parse accepts.
type Options struct {
	MaxDepth int // nesting of lists and maps; default 16
}

// Error says what is wrong with a document and where. Line and Col are 0 when unknown.
type Error struct {
	Line, Col int
	Message   string
}

// Error returns the message with its position.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message)
}

// ErrEmpty is returned for a document that holds nothing but blanks and comments.
var ErrEmpty = errors.New("no content")

const defaultMaxDepth = 16

// Parse reads src as a single YAML document. The error is ErrEmpty or an *Error.
func Parse(src []byte, o *Options) (*Node, error) {
	depth := defaultMaxDepth
	if o != nil && o.MaxDepth > 0 {
		depth = o.MaxDepth
	}
	if err := tooDeep(src, depth); err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		return nil, position(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, ErrEmpty
	}
	return convert(doc.Content[0], depth)
}

// tooDeep refuses flow nesting that no honest document has before the library sees it, since
// the library recurses.
func tooDeep(src []byte, limit int) error {
	line, col, depth := 1, 0, 0
	for _, c := range string(src) {
		col++
		switch c {
		case '\n':
			line, col = line+1, 0
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > limit*16 {
			return &Error{line, col, fmt.Sprintf("nested deeper than %d levels", limit)}
		}
	}
	return nil
}

func convert(n *yaml.Node, depth int) (*Node, error) {
	if depth < 0 {
		return nil, &Error{n.Line, n.Column, "nested too deeply"}
	}
	if err := refuse(n); err != nil {
		return nil, err
	}
	out := &Node{Line: n.Line, Col: n.Column}
	switch n.Kind {
	case yaml.ScalarNode:
		out.Kind, out.Value = Scalar, n.Value
		out.Quoted = n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
		if n.Tag == "!!null" && !out.Quoted {
			out.Kind = Null
		}
	case yaml.SequenceNode:
		out.Kind = Sequence
		for _, c := range n.Content {
			item, err := convert(c, depth-1)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
	case yaml.MappingNode:
		out.Kind = Mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, err := convert(n.Content[i], depth-1)
			if err != nil {
				return nil, err
			}
			v, err := convert(n.Content[i+1], depth-1)
			if err != nil {
				return nil, err
			}
			out.Pairs = append(out.Pairs, Pair{k, v})
		}
	}
	return out, nil
}

// refuse names what is never accepted: the tools of alias bombs and of type tricks.
func refuse(n *yaml.Node) error {
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return &Error{n.Line, n.Column, fmt.Sprintf("anchors and aliases are not allowed (%q)", n.Anchor+n.Value)}
	case n.Style&yaml.TaggedStyle != 0:
		return &Error{n.Line, n.Column, fmt.Sprintf("tags are not allowed (%q)", n.Tag)}
	case n.Tag == "!!merge":
		return &Error{n.Line, n.Column, "merge keys are not allowed (\"<<\")"}
	}
	return nil
}

// position turns the library's error into ours.
func position(err error) error {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Error{Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	msg := strings.TrimPrefix(le.Message, "yaml: ")
	if strings.Contains(msg, "no documents") {
		return ErrEmpty
	}
	if le.ContextMsg != "" {
		msg += " (" + le.ContextMsg + ")"
	}
	return &Error{Line: le.Mark.Line, Col: le.Mark.Column, Message: msg}
}
