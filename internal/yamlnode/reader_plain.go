package yamlnode

import "strings"

// plain reads a text without quotes in a block. Lines that are indented more than parent continue
// it.
func (r *Reader) plain(parent int) *Node {
	start := r.pos
	if !r.mayBeginPlain(start, false) {
		r.bad = strings.IndexByte(",]}%@`", r.src[start]) >= 0
		return nil
	}
	end, stop := r.plainLine(start, false)
	n := r.plainNode(r.src[start:end])
	if n == nil {
		return nil
	}
	if r.at(stop) == ':' { // the text follows a key and another colon: otherwise it would have been read as a key
		r.bad = true
		return nil
	}
	if r.at(stop) == '#' {
		r.pos = end
		if !r.finishLine() {
			return nil
		}
		return n
	}
	r.breakLine(stop)
	empty, ok := r.nextLine()
	if ok && r.indent > parent && r.src[r.pos] != '#' {
		return r.continuePlain(n, parent, empty)
	}
	if !ok || r.indent >= 0 && r.src[r.pos] == '#' && !r.nextAfterComment() {
		return nil
	}
	return n
}

// continuePlain reads the other lines of n. pos is at the content of the second line; empty is the
// number of empty lines before it.
func (r *Reader) continuePlain(n *Node, parent, empty int) *Node {
	from := r.begin(n.Value)
	for {
		r.fold(empty)
		end, stop := r.plainLine(r.pos, false)
		if r.at(stop) == ':' {
			return nil
		}
		r.text.WriteString(r.src[r.pos:end])
		if r.at(stop) == '#' {
			r.pos = end
			if !r.finishLine() {
				return nil
			}
			break
		}
		r.breakLine(stop)
		var ok bool
		if empty, ok = r.nextLine(); !ok {
			return nil
		}
		if r.indent <= parent || r.src[r.pos] == '#' {
			if r.indent >= 0 && !r.nextAfterComment() {
				return nil
			}
			break
		}
	}
	n.Kind, n.Value = Scalar, r.text.String()[from:]
	return n
}

// nextAfterComment moves to the next content if there is a comment at pos.
func (r *Reader) nextAfterComment() bool {
	if r.src[r.pos] != '#' {
		return true
	}
	r.breakLine(r.endOfLine(r.pos))
	return r.nextContent()
}

// plainLine scans one line of a plain text, which begins at i. It returns the offset where the text
// ends, and the offset of what stopped it: a line break, a comment, a colon, or in brackets a comma
// or a bracket. Only white space lies between the two.
func (r *Reader) plainLine(i int, flow bool) (end, stop int) {
	stops := uint8(isStop)
	if flow {
		stops |= isFlow
	}
	start := i
scan:
	for ; i < len(r.src); i++ {
		if class[r.src[i]]&stops == 0 {
			continue
		}
		switch r.src[i] {
		case ':':
			if r.spaceAt(i+1) || flow && (r.src[i+1] == ',' || r.src[i+1] == ']' || r.src[i+1] == '}') {
				break scan
			}
		case '#':
			if i > start && class[r.src[i-1]]&isWhite != 0 {
				break scan
			}
		default:
			break scan
		}
	}
	for end = i; end > start && class[r.src[end-1]]&isWhite != 0; end-- {
	}
	return end, i
}

// mayBeginPlain reports whether a plain text may begin at i. It reports false for some rare texts
// that are valid.
func (r *Reader) mayBeginPlain(i int, flow bool) bool {
	if class[r.src[i]]&noInitial == 0 {
		return true
	}
	return r.src[i] == '-' && !r.spaceAt(i+1) && (!flow || class[r.src[i+1]]&isFlow == 0)
}

// plainNode returns the node of a plain text that begins at pos. It returns nil for a merge key.
func (r *Reader) plainNode(text string) *Node {
	kind := Scalar
	switch text {
	case "<<":
		return nil
	case "~", "null", "Null", "NULL":
		kind = Null
	}
	n := r.nodeHere(kind)
	n.Value = text
	return n
}
