package manifest

import (
	"slices"
	"strings"
)

// ending says how front matter ends.
type ending uint8

const (
	endsAlone  ending = iota // with a line --- that has nothing else
	endsDashes               // with dashes of another length, or with "..."
	endsGlued                // with dashes that the text of the body follows
	endsOpen                 // without dashes: the body begins
)

// extent is what lines say about the front matter that they begin with.
type extent struct {
	end       int      // index of the first line that is not part of it; the number of lines if all are
	how       ending   // what that line is
	flush     []indent // lines that go on with the value above them and are not indented
	described bool     // it has a description
}

// indent is the spaces that a line needs to be part of the value above it.
type indent struct {
	line, spaces int
	key          string // of the value, at the top
}

// extentOf reads the lines after the opening one. It is for front matter that is not closed or not YAML: YAML decides about all other.
//
// A line is part of front matter if it is a key with a colon, is indented below one, is an item of a list, or is text directly below a
// value. Empty lines and comments are part of it if such a line follows them. But text that follows them is not, nor is a list that
// follows a heading. open says that no line --- follows.
func extentOf(lines []textLine, open bool) extent {
	r := extentReader{gap: -1, dots: -1, scalar: -1, open: open}
	for i := range lines {
		if how := r.line(i, lines[i].text); how != endsAlone {
			return r.endAt(i, how, lines)
		}
	}
	return r.endAt(len(lines), endsAlone, lines)
}

// extentReader reads one line after another.
type extentReader struct {
	out     extent
	key     string // the last key at the top; "" before the first
	gap     int    // index of the first of the empty lines and comments before this line; -1 for none
	comment bool   // there is a comment among them
	dots    int    // index of a line "..."; -1 for none
	scalar  int    // depth of the last key, if its value is the text below it; else -1
	list    bool   // the last key has no value, so that the items below it are a list
	items   int    // depth of the first of them, plus one; 0 for none
	deep    int    // spaces before a line that goes on with the value
	open    bool   // no line --- follows the lines
}

// line reads one line. It returns endsAlone if the line is part of the front matter.
func (r *extentReader) line(i int, text string) ending {
	body := strings.TrimLeft(text, " \t")
	depth := len(text) - len(strings.TrimLeft(text, " "))
	_, key, value := keyLine(text)
	switch {
	case body == "" || text[0] == '#' || text == "...":
		r.skip(i, text)
		return endsAlone
	case r.scalar >= 0 && depth > r.scalar:
		if r.deep = depth; r.comment {
			return endsOpen
		}
	case value > 0:
		r.keyed(depth, key, text[value:])
	case r.key == "", body[0] == ']', body[0] == '}': // before the first key, what is no field does not end the front matter
	case strings.HasPrefix(text, "<<:"), strings.HasPrefix(text, "? "): // keys that are refused
	case isItem(body) && r.list && (r.items == 0 || r.items == depth+1):
		r.items, r.deep = depth+1, depth+4
	case len(body) < len(text):
		if r.deep = depth + 1; r.comment {
			return endsOpen
		}
	default:
		return r.flush(i, text)
	}
	r.gap, r.comment = -1, false
	return endsAlone
}

// skip reads a line that is part of the front matter if another one follows.
func (r *extentReader) skip(i int, text string) {
	if r.gap < 0 {
		r.gap = i
	}
	switch {
	case text == "...":
		if r.out.described {
			r.dots = i
		}
	case strings.TrimSpace(text) != "":
		r.comment = true
	}
}

// keyed reads a line with a key.
func (r *extentReader) keyed(depth int, key, value string) {
	value = strings.TrimSpace(value)
	r.list, r.items, r.deep, r.scalar = value == "" || value[0] == '#', 0, depth+2, -1
	if blockHeader().MatchString(value) {
		r.scalar = depth
	}
	if depth == 0 || r.key == "" {
		r.key = strings.Trim(key, `"'`)
		r.out.described = r.out.described || fieldName(r.key) == "description"
	}
}

// flush reads a line that is not indented and has no key.
func (r *extentReader) flush(i int, text string) ending {
	n, alone := dashes(text)
	switch {
	case alone:
		return endsDashes
	case n > 0:
		return endsGlued
	case r.comment || r.gap >= 0 && !isItem(text) || text[0] == '|' || strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
		return endsOpen
	}
	spaces := r.deep
	if isItem(text) && r.items > 0 {
		spaces = r.items - 1
	}
	r.list = r.list && r.items > 0
	r.out.flush = append(r.out.flush, indent{line: i, spaces: spaces, key: r.key})
	return endsAlone
}

// endAt returns the extent for a line that is not part of it.
func (r *extentReader) endAt(i int, how ending, lines []textLine) extent {
	r.out.end, r.out.how = i, how
	switch {
	case r.dots >= 0 && (how != endsAlone || r.open):
		r.out.end, r.out.how = r.dots, endsDashes
	case r.gap >= 0 && how == endsOpen:
		for r.out.end = r.gap; strings.TrimSpace(lines[r.out.end].text) == ""; r.out.end++ {
		}
	}
	for n := len(r.out.flush); n > 0 && r.out.flush[n-1].line >= r.out.end; n-- {
		r.out.flush = r.out.flush[:n-1]
	}
	return r.out
}

func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// dashes returns how many bytes of dashes a line begins with, if they end front matter, and whether it has nothing else. Two are enough
// if they are alone, as is a long one that an editor made of them; else it takes three hyphens.
func dashes(text string) (n int, alone bool) {
	text = strings.TrimRight(text, " \t")
	hyphens := len(text) - len(strings.TrimLeft(text, "-"))
	if text != "-" && strings.Trim(text, "-–—―") == "" {
		return len(text), true
	}
	if hyphens < 3 {
		return 0, false
	}
	return hyphens, false
}

// flushable reports whether text can go on with the value of a key: not with one that is a word, a number or a choice.
func flushable(key string) bool {
	f := findField(key)
	return f == nil || !f.word && f.flag == nil && f.number == nil
}

// reread decides by its lines where the front matter ends, if YAML cannot read it or if it has comments that may be headings. It returns
// whether there is something else to read.
func (p *parser) reread(src []byte) bool {
	t := &p.text
	t.split()
	x := extentOf(t.lines, false)
	if !x.described { // it would lose more than it gains
		x.how = endsAlone
	}
	if x.how != endsAlone {
		p.cut(src, &x)
	}
	if !p.indent(x.flush) && x.how == endsAlone {
		return false
	}
	t.count, t.source = len(t.lines), []byte(t.join(0, len(t.lines)))
	return true
}

// cut ends the front matter and reports how it ends.
func (p *parser) cut(src []byte, x *extent) {
	t := &p.text
	if x.how == endsOpen {
		p.below = protectiveKeys(t.lines[x.end:], t.first+x.end)
	}
	at, here := t.lines[x.end].start, place{line: t.first + x.end}
	p.forget(here.line)
	t.lines = t.lines[:x.end]
	t.how, t.end, t.after = x.how, at, here.line
	end, _ := lineEnd(src, at)
	line := string(src[at:end])
	switch x.how {
	case endsDashes:
		t.end, t.after = end, here.line+1
		p.problem("frontmatter-closer", here, "the front matter is closed by %q, and not by ---", clip(strings.TrimRight(line, " \t")))
	case endsGlued:
		n, _ := dashes(line)
		t.end += n + len(line[n:]) - len(strings.TrimLeft(line[n:], " \t"))
		p.problem("frontmatter-closer", here, "the closing --- and the first line of the body are one line")
	case endsOpen:
		p.problem("frontmatter-open", here, "no line --- closes the front matter, which ends before this line")
	}
}

// forget takes back what was reported about lines from the given one on.
func (p *parser) forget(line int) {
	p.problems = slices.DeleteFunc(p.problems, func(pr Problem) bool { return pr.Line >= line })
	p.stripped = slices.DeleteFunc(p.stripped, func(at int) bool { return at >= line })
}

// protectiveKeys returns an entry for each line of a body, except examples in fences, that would restrict the skill if it were part of
// the front matter. line is the number of the first one.
func protectiveKeys(lines []textLine, line int) []entry {
	var out []entry
	fence := ""
	for i, l := range lines {
		if fence != "" || strings.HasPrefix(l.text, "```") || strings.HasPrefix(l.text, "~~~") {
			fence = toggledFence(fence, l.text)
			continue
		}
		if depth, key, value := keyLine(l.text); value > 0 && depth == 0 && protective(key) && findField(key).spelled(key) {
			out = append(out, bareEntry(key, line+i, 1))
		}
	}
	return out
}

// toggledFence returns the marks that close the fence in which the next line is.
func toggledFence(fence, text string) string {
	switch {
	case fence == "":
		return text[:3]
	case strings.HasPrefix(text, fence):
		return ""
	}
	return fence
}

// indent puts the lines that are not indented below the values that they go on with. It returns whether there are any.
func (p *parser) indent(list []indent) bool {
	done := false
	last := indent{line: -2}
	for _, x := range list {
		if !flushable(x.key) {
			continue
		}
		l := &p.text.lines[x.line]
		l.text, l.width, l.added = strings.Repeat(" ", x.spaces)+l.text, l.width+x.spaces, x.spaces
		if x.line != last.line+1 || x.key != last.key {
			p.problem("yaml-flush", place{line: p.text.first + x.line, field: clip(x.key)}, "the text goes on with the value of %q, but it is not indented", clip(x.key))
		}
		done, last = true, x
	}
	return done
}
