// Package yamlnode reads one YAML document into plain nodes and refuses what a manifest or a
// configuration file has no business with: anchors, aliases, merge keys, tags, deep nesting, a
// second document, more values than are worth a reader's time.
//
// Scalars keep the text they were written with (`version: 1.10` stays "1.10"); nothing is
// resolved to numbers, dates or booleans. It is the only package that imports a YAML library.
//
// The shapes that nearly all manifests have are scanned without the library, see Reader; tests hold
// the scanner against the library. Parse may be called from several goroutines at once; nodes are
// not written to after it returns. A Reader saves memory where many documents are read.
package yamlnode

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// Kind says which form a node has.
type Kind uint8

// The four forms. Null is a plain empty value, `~` or `null`; its Value is the text as written.
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
	Quoted bool    // quoted or a block scalar: certainly text
	Value  string  // a scalar's text: a plain scalar as written, the content of a quoted or block scalar
	Items  []*Node // of a sequence
	Pairs  []Pair  // of a mapping, in source order; a repeated key is there twice
	Line   int
	Col    int
}

// Nested reports whether n is a list or a map.
func (n *Node) Nested() bool { return n.Kind == Sequence || n.Kind == Mapping }

// Pair is one key of a mapping with its value.
type Pair struct{ Key, Value *Node }

// Options bounds what Parse accepts.
type Options struct {
	MaxDepth int // lists and maps inside each other; default 16
	MaxSigns int // what Signs counts; 0 means any number
	// Borrow makes the texts of the nodes parts of the memory of src, which the caller then must not change while they are used.
	Borrow bool
	// Quick makes Parse return ErrPlain where it applies, without asking the YAML library what is wrong.
	Quick bool
	// ASCII says that src has only printable ASCII, tabs and LF. Parse then does not look for anything else.
	ASCII bool
}

const defaultMaxDepth = 16

// Parse reads src as a single YAML document. The nodes own their memory, except with
// Options.Borrow. The error is ErrEmpty or
// an *Error. src must be UTF-8; its lines end with LF, CR LF or CR.
//
// Use a Reader for many documents.
func Parse(src []byte, o *Options) (*Node, error) {
	var r Reader
	return r.Parse(src, o)
}

// admit returns how deep src may be nested. It returns an error if src has too many values, or so
// many brackets inside each other that the library must not see it.
func (o *Options) admit(src []byte) (limit int, err error) {
	limit = defaultMaxDepth
	if o != nil && o.MaxDepth > 0 {
		limit = o.MaxDepth
	}
	if o != nil && o.MaxSigns > 0 && len(src) > o.MaxSigns {
		if n := Signs(src); n > o.MaxSigns {
			return 0, &Error{Reason: Size, Message: fmt.Sprintf("there are %d signs that begin a value, at most %d are read", n, o.MaxSigns)}
		}
	}
	return limit, tooDeep(src, limit)
}

// load reads src with the YAML library.
func load(src []byte, limit int) (*Node, error) {
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		return nil, position(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, ErrEmpty
	}
	c := converter{limit: limit}
	return c.node(doc.Content[0], 0)
}

// Signs counts, without reading src as YAML, the signs that begin a value: brackets, braces, commas and colons anywhere,
// and the hyphens and question marks before white space. A document of n signs has at most 2n+1 nodes.
func Signs(src []byte) int {
	n := 0
	for i, c := range src {
		switch c {
		case '[', '{', ',', ':':
			n++
		case '-', '?':
			if i+1 == len(src) || src[i+1] <= ' ' {
				n++
			}
		}
	}
	return n
}

// tooDeep refuses flow nesting that no honest document has before the library sees it, since
// the library recurses. Brackets inside texts count as well, hence the generous factor.
func tooDeep(src []byte, limit int) error {
	most := limit * 16
	if bytes.Count(src, []byte{'['})+bytes.Count(src, []byte{'{'}) <= most {
		return nil
	}
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
		if depth > most {
			return deep(line, col, limit)
		}
	}
	return nil
}

func deep(line, col, limit int) *Error {
	return &Error{Line: line, Col: col, Reason: Depth, Message: fmt.Sprintf("lists and maps are nested deeper than %d levels", limit)}
}

type converter struct{ limit int }

// node converts n, which lies inside level lists and maps.
func (c *converter) node(n *yaml.Node, level int) (*Node, error) {
	if err := refuse(n); err != nil {
		return nil, err
	}
	if n.Kind != yaml.ScalarNode && level >= c.limit {
		return nil, deep(n.Line, n.Column, c.limit)
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
		for _, item := range n.Content {
			v, err := c.node(item, level+1)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, v)
		}
	case yaml.MappingNode:
		out.Kind = Mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, err := c.node(n.Content[i], level+1)
			if err != nil {
				return nil, err
			}
			v, err := c.node(n.Content[i+1], level+1)
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
	bad := func(r Reason, format string, args ...any) error {
		return &Error{Line: n.Line, Col: n.Column, Reason: r, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		name := n.Anchor
		if name == "" {
			name = n.Value // of an alias: the anchor's
		}
		return bad(Anchor, "anchors and aliases are not allowed (%.100q)", name)
	case n.Style&yaml.TaggedStyle != 0:
		return bad(Tag, "tags are not allowed (%.100q)", n.Tag)
	case n.Tag == "!!merge":
		return bad(Anchor, "merge keys are not allowed (\"<<\")")
	}
	return nil
}
