package yamlnode

import (
	"strings"
	"unsafe"
)

// Reader parses documents one after another and reuses its memory for their nodes. The zero value
// is ready to use. A Reader must not be copied after its first use and is not safe for concurrent
// use.
//
// A Reader scans the shapes that manifests have directly: block maps and lists, plain, quoted and
// block texts, lists and maps in brackets, comments. It leaves all other documents to the YAML
// library, among them every document with an error. Both ways produce the same nodes.
type Reader struct {
	src       string
	pos       int  // the next byte to scan
	line      int  // the number of its line, from 1
	lineStart int  // where that line begins
	indent    int  // the column, from 0, of the first content of the line; -1 at the end of src
	ascii     bool // every column is a number of bytes
	countedAt int  // the offset whose column was asked for last
	counted   int  // that column
	limit     int  // the most lists and maps inside each other
	bad       bool // src is not YAML: read stopped at the plain text that ErrPlain is about

	text  strings.Builder // texts that differ from what stands in src
	nodes []Node
	items []*Node
	pairs []Pair
	stack []*Node // the children of lists and maps that are still open
}

// Parse does what the function Parse does. The nodes are valid until the next call of r.Parse.
// Their texts stay valid, but each may keep a copy of the whole source in memory: use
// strings.Clone for a text to keep.
func (r *Reader) Parse(src []byte, o *Options) (*Node, error) {
	limit, err := o.admit(src)
	if err != nil {
		return nil, err
	}
	text := ""
	if o != nil && o.Borrow {
		text = unsafe.String(unsafe.SliceData(src), len(src))
	} else {
		text = string(src)
	}
	if root := r.read(text, limit, o != nil && o.ASCII); root != nil {
		return root, nil
	}
	if r.bad && o != nil && o.Quick {
		return nil, ErrPlain
	}
	return load(src, limit)
}

// read returns the root of src, or nil if the library must read it. ascii says what Options.ASCII says.
func (r *Reader) read(src string, limit int, ascii bool) *Node {
	r.reset(src, limit)
	if r.ascii = ascii; !ascii && !r.checkSource() || !r.nextContent() || r.indent < 0 {
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
	r.counted, r.countedAt, r.limit = 1, 0, min(limit, deepest)
	r.bad = false
	r.text = strings.Builder{}
	clear(r.nodes) // newNode relies on it; it also releases the previous source
	if r.stack == nil {
		r.stack = make([]*Node, 0, firstChunk)
	}
	r.nodes, r.items, r.pairs, r.stack = r.nodes[:0], r.items[:0], r.pairs[:0], r.stack[:0]
}

const (
	deepest    = 100 // documents that are nested deeper are left to the library
	firstChunk = 16  // nodes, and half as many pairs and items
)

// newNode returns an empty node with the position line and col.
func (r *Reader) newNode(kind Kind, line, col int) *Node {
	if len(r.nodes) == cap(r.nodes) { // the earlier nodes stay where they are
		r.nodes = make([]Node, 0, max(firstChunk, 2*cap(r.nodes)))
	}
	r.nodes = r.nodes[:len(r.nodes)+1]
	n := &r.nodes[len(r.nodes)-1]
	n.Kind, n.Line, n.Col = kind, line, col
	return n
}

// nodeHere returns an empty node with the position of pos.
func (r *Reader) nodeHere(kind Kind) *Node {
	return r.newNode(kind, r.line, r.column(r.pos))
}

// popItems moves the nodes above base from the stack to the items of list.
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

// popPairs moves the nodes above base, alternately keys and values, from the stack to the pairs of m.
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

// begin starts a new text with s and returns its offset in r.text.
func (r *Reader) begin(s string) int {
	if r.text.Cap() == 0 {
		r.text.Grow(len(s) + len(r.src) - r.pos)
	}
	from := r.text.Len()
	r.text.WriteString(s)
	return from
}

// fold writes a line break in a text that is folded: a space, or one line break for each of the
// empty lines that follow it.
func (r *Reader) fold(empty int) {
	if empty == 0 {
		r.text.WriteByte(' ')
	}
	r.breaks(empty)
}

// breaks writes n line breaks.
func (r *Reader) breaks(n int) {
	for range n {
		r.text.WriteByte('\n')
	}
}
