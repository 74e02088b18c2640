package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// entry is one key of the front matter with its value. dropped means that the value could not be read or was rejected;
// it is then an empty node.
type entry struct {
	key       *yamlnode.Node
	value     *yamlnode.Node
	line, col int // of the key in the file
	dropped   bool
	field     *knownField // nil for an unknown key
	earlier   int         // number of earlier entries of the same field
	later     bool        // another entry of the same field follows
}

// name returns the name of the entry's field, or the key as written if it is unknown.
func (e *entry) name() string {
	if e.field != nil {
		return e.field.key
	}
	return e.key.Value
}

func (e entry) place(field string) place { return place{e.line, e.col, field} }

// nodes reads the front matter into p.entries. It returns false if nothing is left to read. It repairs invalid YAML in
// two steps and reports both. First it puts plain values that need quotes into quotes and reads the whole again. Then
// it reads each top-level block alone, and drops only those that still fail. It rejects anchors, aliases, merge keys,
// tags and deep nesting with the block that contains them. It rejects the whole if there are too many values, since
// each step would read them again.
func (p *parser) nodes(src []byte) bool {
	t := &p.text
	p.limits = yamlnode.Options{MaxSigns: maxSigns, Quick: true, Borrow: p.borrow, ASCII: t.ascii}
	root, err := p.yaml.Parse(t.source, &p.limits)
	if !p.Profile.Strict() && (err != nil || bytes.Contains(t.source, []byte("\n#"))) && p.reread(src) {
		root, err = p.yaml.Parse(t.source, &p.limits)
	}
	if err != nil {
		return p.mend(err)
	}
	if root.Kind != yamlnode.Mapping {
		line, col := t.place(root.Line, root.Col)
		p.problem("frontmatter-mapping", place{line: line, col: col}, "the front matter is a %s, not a map of fields", root.Kind)
		return false
	}
	p.pairs(root, 0)
	return true
}

// mend repairs and reads invalid YAML as far as possible.
func (p *parser) mend(err error) bool {
	t := &p.text
	t.split()
	var ye *yamlnode.Error
	switch {
	case errors.As(err, &ye) && ye.Reason == yamlnode.Size:
		p.problem("frontmatter-values", place{line: t.first - 1}, "the front matter has too many values: %s", ye.Message)
		return false
	case errors.Is(err, yamlnode.ErrEmpty):
		p.problem("frontmatter-mapping", place{line: t.first - 1}, "the front matter is empty")
		return false
	}
	edits := p.brokenEdits()
	if len(edits) > 0 {
		root, again := p.yaml.Parse([]byte(t.joinEdited(0, len(t.lines), edits)), nil)
		if again == nil && root.Kind == yamlnode.Mapping {
			p.reportEdits(edits)
			p.pairs(root, 0)
			return true
		}
	}
	if errors.Is(err, yamlnode.ErrPlain) {
		p.limits.Quick = false
		_, err = p.yaml.Parse(t.source, &p.limits)
	}
	return p.salvage(err, edits)
}

// brokenEdits returns the edits in blocks that cannot be read alone.
func (p *parser) brokenEdits() []edit {
	t := &p.text
	edits := quoteLines(t)
	if len(edits) == 0 {
		return nil
	}
	var out []edit
	for i, b := range topBlocks(t) {
		own := editsWithin(edits, b)
		if len(own) == 0 || i >= maxBlocks {
			continue
		}
		if _, err := p.yaml.Parse([]byte(t.join(b.from, b.to)), &yamlnode.Options{Quick: true}); err != nil {
			out = append(out, own...)
		}
	}
	return out
}

// pairs adds the pairs of a map to the entries. The map begins offset lines below the first line.
func (p *parser) pairs(root *yamlnode.Node, offset int) {
	escapes := bytes.IndexByte(p.text.source, '\\') >= 0
	for _, kv := range root.Pairs {
		p.move(kv.Key, offset, escapes)
		p.move(kv.Value, offset, escapes)
		e := entry{key: kv.Key, value: kv.Value, line: kv.Key.Line, col: kv.Key.Col}
		if kv.Key.Nested() {
			p.problem("yaml-key", place{line: e.line, col: e.col}, "a %s is not a key", kv.Key.Kind)
			continue
		}
		p.entries = append(p.entries, e)
	}
}

// move sets the places in the file of n and all nodes below it. If there are escapes, it removes the control characters
// that they produced from the texts.
func (p *parser) move(n *yamlnode.Node, offset int, escapes bool) {
	n.Line, n.Col = p.text.place(n.Line+offset, n.Col)
	if escapes && strings.ContainsFunc(n.Value, controlRune) {
		p.stripEscaped(n)
	}
	for _, item := range n.Items {
		p.move(item, offset, escapes)
	}
	for _, kv := range n.Pairs {
		p.move(kv.Key, offset, escapes)
		p.move(kv.Value, offset, escapes)
	}
}

func (p *parser) stripEscaped(n *yamlnode.Node) {
	if strings.ContainsRune(n.Value, 0) {
		p.problem("file-nul", on(n, ""), "an escape stands for a NUL character")
	} else {
		p.problem("frontmatter-control", on(n, ""), "an escape stands for a control character, which is left out")
	}
	p.stripped = append(p.stripped, n.Line)
	n.Value = strings.Map(func(r rune) rune {
		if controlRune(r) {
			return -1
		}
		return r
	}, n.Value)
}

// maxBlocks limits the number of top-level blocks of broken front matter that are read one by one.
const maxBlocks = 256

// salvage reads each top-level block alone. whole is the error for all of them together.
func (p *parser) salvage(whole error, edits []edit) bool {
	blocks := topBlocks(&p.text)
	for i, b := range blocks {
		if i >= maxBlocks {
			p.problem("yaml-syntax", place{line: p.text.first + b.from}, "the front matter is broken, and has more than %d fields: the rest is not read", maxBlocks)
			for _, rest := range blocks[i:] {
				p.watchTools(rest)
				p.lose(rest)
			}
			break
		}
		p.salvageBlock(b, edits)
	}
	if len(p.entries) == 0 {
		p.reportYAML(whole, block{to: len(p.text.lines)})
		p.problem("frontmatter-mapping", place{line: p.text.first}, "the front matter has no field that can be read")
		return false
	}
	return true
}

// salvageBlock reads one block: unchanged, else with quotes, else as raw text if the field is a text. It reports and
// drops a block that it cannot read.
func (p *parser) salvageBlock(b block, edits []edit) {
	if b.key == "..." {
		p.problem("yaml-document", place{line: p.text.first + b.from}, "a line ... ends the document early; it is passed over")
		return
	}
	text := p.text.join(b.from, b.to)
	noField := &yamlnode.Error{Line: 1, Col: 1, Message: "this is not a field: a key and a colon are missing"}
	if b.key == "" && prose(text) {
		p.reportYAML(noField, b)
		return
	}
	root, err := yamlnode.Parse([]byte(text), nil)
	if err == nil && root.Kind == yamlnode.Mapping {
		p.pairs(root, b.from)
		return
	}
	if errors.Is(err, yamlnode.ErrEmpty) {
		return
	}
	if own := editsWithin(edits, b); len(own) > 0 {
		root, again := yamlnode.Parse([]byte(p.text.joinEdited(b.from, b.to, own)), nil)
		if again == nil && root.Kind == yamlnode.Mapping {
			p.reportEdits(own)
			p.pairs(root, b.from)
			return
		}
	}
	if err == nil || b.key == "" && !strings.Contains(p.text.lines[b.from].text, ":") {
		err = noField
	}
	p.watchTools(b)
	if p.takeRaw(b, err) {
		return
	}
	p.reportYAML(err, b)
	p.lose(b)
}

// prose reports whether lines are no field for want of a colon before a space or a line end: text of the body, as a rule. It may
// report false for others.
func prose(text string) bool {
	if first := strings.TrimLeft(text, " \t\n"); first == "" || strings.IndexByte("#?!&{[\"'", first[0]) >= 0 {
		return false
	}
	for i := 0; i < len(text); i++ {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] <= ' ') {
			return false
		}
	}
	return true
}

// watchTools records that a block which was not read as intended mentions allowed-tools. The manifest then allows
// nothing, since the intended restriction is unknown.
func (p *parser) watchTools(b block) {
	for i := b.from; i < b.to; i++ {
		if toolsLine().MatchString(p.text.lines[i].text) {
			p.toolsLost = p.text.first + i
			return
		}
	}
}

// lose adds an entry for a block that cannot be read. The entry has only the key.
func (p *parser) lose(b block) {
	if b.key != "" && b.key != "..." {
		p.entries = append(p.entries, p.bare(b))
	}
}

// bare returns an entry with the key of a block and no value.
func (p *parser) bare(b block) entry {
	line, col := p.text.place(b.from+1, 1)
	return bareEntry(b.key, line, col)
}

func bareEntry(key string, line, col int) entry {
	empty := &yamlnode.Node{Line: line, Col: col}
	return entry{key: &yamlnode.Node{Kind: yamlnode.Scalar, Value: key, Line: line, Col: col}, value: empty, line: line, col: col, dropped: true}
}

// takeRaw uses the text of a block unchanged, if the field is a text and nothing in the block was rejected. It joins
// the lines of a value with spaces.
func (p *parser) takeRaw(b block, err error) bool {
	var ye *yamlnode.Error
	f := findField(b.key)
	if f == nil || !f.isText() || errors.As(err, &ye) && ye.Reason != yamlnode.Syntax && !(ye.Reason == yamlnode.Anchor && p.emphasis(b)) {
		return false
	}
	var words []string
	for i := b.from; i < b.to; i++ {
		l := p.text.lines[i].text
		if i == b.from {
			l = l[b.value:]
		}
		if l = strings.TrimSpace(l); l != "" && !(i > b.from && l[0] == '#') {
			words = append(words, l)
		}
	}
	if len(words) > 1 && blockHeader().MatchString(words[0]) {
		words = words[1:]
	}
	e := p.bare(b)
	e.dropped = false
	line, col := p.text.place(b.from+1, b.col)
	e.value = &yamlnode.Node{Kind: yamlnode.Scalar, Value: strings.Join(words, " "), Quoted: true, Line: line, Col: col}
	p.problem("yaml-raw", place{line: line, col: col, field: f.key}, "the value of %q is not YAML; its text is taken unchanged", f.key)
	p.entries = append(p.entries, e)
	return true
}

// emphasis reports whether the value of a block begins with a star that is not that of an alias.
func (p *parser) emphasis(b block) bool {
	value := p.text.lines[b.from].text[b.value:]
	code, at, _ := needsQuotes(value)
	return code == "yaml-start" && at == 0 && value[0] == '*'
}

// reportYAML reports an error of the YAML reader for the lines of a block.
func (p *parser) reportYAML(err error, b block) {
	pr := Problem{Code: "yaml-syntax", Message: err.Error(), Field: clip(b.key)}
	pr.Line, pr.Col = p.text.place(b.from+1, b.col)
	var ye *yamlnode.Error
	if errors.As(err, &ye) {
		pr.Code, pr.Message = yamlCode(ye.Reason), ye.Message
		if ye.Line > 0 && b.from+ye.Line <= b.to {
			pr.Line, pr.Col = p.text.place(b.from+ye.Line, ye.Col)
		}
	}
	if b.key != "" {
		pr.Message = fmt.Sprintf("%q is dropped: %s", clip(b.key), pr.Message)
	}
	p.Add(pr)
}

func yamlCode(r yamlnode.Reason) string {
	return [...]string{"yaml-syntax", "yaml-anchor", "yaml-tag", "yaml-depth", "yaml-document", "frontmatter-values"}[r]
}

func (p *parser) reportEdits(edits []edit) {
	p.edits = append(p.edits, edits...)
	for _, e := range edits {
		line, col := p.text.place(e.line+1, e.col)
		p.problem(e.code, place{line: line, col: col, field: e.key}, "%s", e.message())
	}
}
