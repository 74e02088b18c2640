package yamlnode

// The functions of this file read what is in brackets and move to its end, not further. They return
// nil for what is left to the library. parent is the column, from 0, of the block around the
// brackets.

// flow reads a list or map in brackets.
func (r *Reader) flow(parent, level int) *Node {
	if level >= r.limit {
		return nil
	}
	if r.src[r.pos] == '[' {
		return r.flowSequence(parent, level)
	}
	return r.flowMapping(parent, level)
}

func (r *Reader) flowSequence(parent, level int) *Node {
	list := r.nodeHere(Sequence)
	base := len(r.stack)
	r.pos++
	for r.flowNext() != ']' {
		line := r.line
		item := r.flowNode(parent, level+1)
		if item != nil && r.flowColon(item, parent, line) {
			item = r.flowPair(item, parent, level+1)
		}
		if item == nil {
			return nil
		}
		r.stack = append(r.stack, item)
		if !r.flowComma(']') {
			return nil
		}
	}
	r.pos++
	r.popItems(list, base)
	return list
}

// flowPair reads the value of a key in a list and returns the map that the two form.
func (r *Reader) flowPair(key *Node, parent, level int) *Node {
	if level >= r.limit || r.flowNext() == 0 {
		return nil
	}
	v := r.flowNode(parent, level+1)
	if v == nil {
		return nil
	}
	m := r.newNode(Mapping, key.Line, key.Col)
	base := len(r.stack)
	r.stack = append(r.stack, key, v)
	r.popPairs(m, base)
	return m
}

func (r *Reader) flowMapping(parent, level int) *Node {
	m := r.nodeHere(Mapping)
	base := len(r.stack)
	r.pos++
	for r.flowNext() != '}' {
		line := r.line
		key := r.flowNode(parent, level+1)
		if key == nil {
			return nil
		}
		colon := r.flowColon(key, parent, line)
		var v *Node
		if c := r.flowNext(); c == ',' || c == '}' {
			v = r.nodeHere(Null) // its position is that of the comma or the brace
		} else if colon {
			v = r.flowNode(parent, level+1)
		}
		if v == nil {
			return nil
		}
		r.stack = append(r.stack, key, v)
		if !r.flowComma('}') {
			return nil
		}
	}
	r.pos++
	r.popPairs(m, base)
	return m
}

// flowColon moves past the colon that makes n, which begins on the given line, a key. It reports
// false and stays at pos if there is no colon, or one that is left to the library.
func (r *Reader) flowColon(n *Node, parent, line int) bool {
	colon := r.skipWhite(r.pos)
	if r.at(colon) != ':' || r.line != line || n.Kind == Sequence || n.Kind == Mapping || r.column(colon) <= parent+1 {
		return false
	}
	r.pos = colon + 1
	return true
}

// flowNode reads the text, list or map at pos.
func (r *Reader) flowNode(parent, level int) *Node {
	if r.pos == len(r.src) {
		return nil
	}
	switch r.src[r.pos] {
	case '"', '\'':
		return r.quoted()
	case '[', '{':
		return r.flow(parent, level)
	}
	start := r.pos
	if !r.mayBeginPlain(start, true) {
		return nil
	}
	end, _ := r.plainLine(start, true)
	n := r.plainNode(r.src[start:end])
	r.pos = end
	return n
}

// flowComma moves past a comma. If there is none, it reports whether the given bracket is next.
func (r *Reader) flowComma(bracket byte) bool {
	switch r.flowNext() {
	case ',':
		r.pos++
		return true
	case bracket:
		return true
	}
	return false
}

// flowNext moves past white space and returns the character after it. At what is left to the library
// it returns 0 and moves to the end of the source: a document marker, a comment, a tab that begins
// a line.
func (r *Reader) flowNext() byte {
	for {
		r.pos = r.skipWhite(r.pos)
		switch c := r.at(r.pos); {
		case r.pos == len(r.src):
			return 0
		case c == '#':
			r.pos = len(r.src)
			return 0
		case class[c]&isBreak == 0:
			return c
		}
		r.breakLine(r.pos)
		for r.at(r.pos) == ' ' {
			r.pos++
		}
		if r.at(r.pos) == '\t' || r.atMarker() {
			r.pos = len(r.src)
			return 0
		}
	}
}
