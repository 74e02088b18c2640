package yamlnode

// The functions of this file read the node at pos and move to the next content after it. They
// return nil for what is left to the library.
//
// parent is the column of the block map or list around a node, col is the column of the node itself;
// both count from 0. level is the number of lists and maps around the node.

// blockNode reads any node. It is the first content of its line or follows a hyphen.
func (r *Reader) blockNode(parent, level int) *Node {
	col := r.pos - r.lineStart // there are only spaces and hyphens before it
	if r.atEntry() {
		return r.blockSequence(col, level)
	}
	if key := r.blockKey(); key != nil {
		return r.blockMapping(key, col, level)
	}
	return r.value(parent, level)
}

// value reads a text, or a list or map in brackets.
func (r *Reader) value(parent, level int) *Node {
	var n *Node
	switch r.src[r.pos] {
	case '|', '>':
		return r.blockText(parent)
	case '"', '\'':
		n = r.quoted()
	case '[', '{':
		n = r.flow(parent, level)
	default:
		return r.plain(parent)
	}
	if n == nil || !r.finishLine() {
		return nil
	}
	return n
}

// blockMapping reads a map whose first key has been read.
func (r *Reader) blockMapping(key *Node, col, level int) *Node {
	if level >= r.limit {
		return nil
	}
	m := r.newNode(Mapping, key.Line, key.Col)
	base := len(r.stack)
	for {
		r.stack = append(r.stack, key)
		v := r.mappingValue(col, level+1)
		if v == nil {
			return nil
		}
		r.stack = append(r.stack, v)
		if r.indent < col {
			break
		}
		if r.indent > col {
			return nil
		}
		if key = r.blockKey(); key == nil {
			return nil
		}
	}
	r.popPairs(m, base)
	return m
}

// mappingValue reads what follows the colon of a key of the map at col.
func (r *Reader) mappingValue(col, level int) *Node {
	colon := r.pos
	r.pos = r.skipWhite(colon)
	if c := r.at(r.pos); c != '#' && class[c]&isBreak == 0 {
		return r.value(col, level)
	}
	r.pos = colon
	line, column := r.line, r.column(colon)
	if !r.finishLine() {
		return nil
	}
	switch {
	case r.indent > col:
		return r.blockNode(col, level)
	case r.indent == col && r.atEntry():
		return r.blockSequence(col, level)
	}
	return r.newNode(Null, line, column)
}

// blockSequence reads a list whose hyphens are at col.
func (r *Reader) blockSequence(col, level int) *Node {
	if level >= r.limit {
		return nil
	}
	list := r.nodeHere(Sequence)
	base := len(r.stack)
	for {
		item := r.entry(col, level+1)
		if item == nil || r.indent > col {
			return nil
		}
		r.stack = append(r.stack, item)
		if r.indent < col || !r.atEntry() {
			break // a key of the surrounding map may be at the same column
		}
	}
	r.popItems(list, base)
	return list
}

// entry reads a hyphen and what follows it.
func (r *Reader) entry(col, level int) *Node {
	hyphen := r.pos
	r.pos++
	for r.at(r.pos) == ' ' {
		r.pos++
	}
	switch c := r.at(r.pos); {
	case c == '\t':
		return nil
	case c != '#' && class[c]&isBreak == 0:
		return r.blockNode(col, level)
	}
	r.pos = hyphen + 1
	line, column := r.line, r.column(r.pos)
	if !r.finishLine() {
		return nil
	}
	if r.indent > col {
		return r.blockNode(col, level)
	}
	return r.newNode(Null, line, column)
}

// atEntry reports whether pos is at the hyphen of a list.
func (r *Reader) atEntry() bool {
	return r.src[r.pos] == '-' && r.spaceAt(r.pos+1)
}

// blockKey reads a key and its colon. If there is no key, or one that is left to the library, it
// returns nil and stays at pos.
func (r *Reader) blockKey() *Node {
	start, colon := r.pos, 0
	var key *Node
	if c := r.src[start]; c == '"' || c == '\'' {
		end := r.closingQuote(start)
		if end < 0 {
			return nil
		}
		colon = r.skipWhite(end + 1)
		if r.at(colon) != ':' || !r.spaceAt(colon+1) {
			return nil
		}
		key = r.quoted()
	} else if r.mayBeginPlain(start, false) {
		var end int
		end, colon = r.plainLine(start, false)
		if r.at(colon) != ':' {
			return nil
		}
		key = r.plainNode(r.src[start:end])
	}
	r.pos = colon + 1
	if key == nil {
		r.pos = start
	}
	return key
}
