package yamlnode

import "strings"

// Reader reads documents one after another into memory that it keeps. The zero value is ready.
// A Reader must not be copied after its first use, and only one goroutine at a time may use it.
//
// The shapes that manifests have are read directly: block maps and lists, plain, quoted and block
// texts, flow lists and flow maps of texts, comments. Every other document, and every document
// that has an error, is left to the YAML library. Both ways lead to the same nodes.
type Reader struct {
	// Where the scanner is. indent is the column, from 0, of the content at pos, which is the first
	// of its line; -1 at the end of the source. It is set by nextContent and nextLine.
	src       string
	pos       int
	line      int // of pos, from 1
	lineStart int
	indent    int
	ascii     bool
	counted   int // column counted last: of the byte at countedAt, from 1
	countedAt int
	limit     int // how many lists and maps may lie inside each other

	text  strings.Builder // texts that do not stand in src as they are
	nodes []Node
	items []*Node
	pairs []Pair
	stack []*Node // the children of lists and maps that are not complete
}

// Parse reads src like the function Parse. The nodes are valid until the next call. Their texts
// stay valid, but each may hold a copy of the whole source in memory: clone what you keep.
func (r *Reader) Parse(src []byte, o *Options) (*Node, error) {
	limit, err := o.admit(src)
	if err != nil {
		return nil, err
	}
	if root := r.read(string(src), limit); root != nil {
		return root, nil
	}
	return load(src, limit)
}

// read returns the root of src, or nil if the library must read it.
func (r *Reader) read(src string, limit int) *Node {
	r.reset(src, limit)
	if !r.checkSource() || !r.nextContent() || r.indent < 0 {
		return nil
	}
	var root *Node
	if r.atEntry() {
		root = r.blockSequence(r.indent, 0)
	} else if key := r.blockKey(); key != nil {
		root = r.blockMapping(key, r.indent, 0)
	}
	if root == nil || r.indent >= 0 {
		return nil
	}
	return root
}

func (r *Reader) reset(src string, limit int) {
	r.src, r.pos, r.line, r.lineStart, r.indent = src, 0, 1, 0, -1
	r.counted, r.countedAt, r.limit = 1, 0, limit
	r.text = strings.Builder{}
	clear(r.nodes) // newNode relies on it, and the last source is no longer held
	if r.stack == nil {
		r.stack = make([]*Node, 0, firstChunk)
	}
	r.nodes, r.items, r.pairs, r.stack = r.nodes[:0], r.items[:0], r.pairs[:0], r.stack[:0]
}

const firstChunk = 16 // nodes, and half as many pairs and items

// newNode returns an empty node that stands at line and col.
func (r *Reader) newNode(kind Kind, line, col int) *Node {
	if len(r.nodes) == cap(r.nodes) { // the nodes before stay where they are
		r.nodes = make([]Node, 0, max(firstChunk, 2*cap(r.nodes)))
	}
	r.nodes = r.nodes[:len(r.nodes)+1]
	n := &r.nodes[len(r.nodes)-1]
	n.Kind, n.Line, n.Col = kind, line, col
	return n
}

// nodeHere returns an empty node that stands at pos.
func (r *Reader) nodeHere(kind Kind) *Node {
	return r.newNode(kind, r.line, r.column(r.pos))
}

// popItems makes the nodes above base on the stack the items of list.
func (r *Reader) popItems(list *Node, base int) {
	n := len(r.stack) - base
	if n == 0 {
		return
	}
	if cap(r.items)-len(r.items) < n {
		r.items = make([]*Node, 0, max(firstChunk/2, 2*cap(r.items), n))
	}
	from := len(r.items)
	r.items = append(r.items, r.stack[base:]...)
	list.Items = r.items[from:len(r.items):len(r.items)]
	r.stack = r.stack[:base]
}

// popPairs makes the nodes above base on the stack, keys and values by turns, the pairs of m.
func (r *Reader) popPairs(m *Node, base int) {
	n := (len(r.stack) - base) / 2
	if n == 0 {
		return
	}
	if cap(r.pairs)-len(r.pairs) < n {
		r.pairs = make([]Pair, 0, max(firstChunk/2, 2*cap(r.pairs), n))
	}
	from := len(r.pairs)
	for i := base; i < len(r.stack); i += 2 {
		r.pairs = append(r.pairs, Pair{Key: r.stack[i], Value: r.stack[i+1]})
	}
	m.Pairs = r.pairs[from:len(r.pairs):len(r.pairs)]
	r.stack = r.stack[:base]
}
