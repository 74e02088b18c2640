package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// errMeaning is returned by Fix if its result would not mean the same as its input.
var errMeaning = errors.New("the file would read differently afterwards: mend it by hand")

// Fix repairs the problems in the text of a SKILL.md that need no decision: a byte order mark, spaces around the
// opening line --- and after the closing one, a closing line that is missing or has other dashes or text, lines below a value
// that are not indented, values that need quotes, keys in other spellings, and a name that differs from the directory's only in
// case and underscores. In profiles that allow only the fields of the open standard, it
// moves version, author and tags from the top to metadata. It changes nothing else: comments, order and line breaks
// stay. A second Fix changes nothing.
//
// It returns the new text and the repaired problems, with their places in the old text. If it repaired nothing, fixed
// is src itself. It returns an error if the result would mean something else; fixed is then src, too.
func Fix(src []byte, o *Options) (fixed []byte, changed []Problem, err error) {
	first := newFixer(src, o)
	if first == nil {
		return src, nil, nil
	}
	first.delimiters()
	first.indents()
	first.quotes()
	first.spellings()
	first.nameCase()
	out := first.apply()
	if second := newFixer(out, o); second != nil && second.Profile.Severity("fields-unexpected") == SeverityError {
		second.moved = first.gone
		second.moveDown()
		out = second.apply()
		first.changed = append(first.changed, second.changed...)
	}
	if len(first.changed) == 0 {
		return src, nil, nil
	}
	if !sameMeaning(src, out, o) {
		return src, nil, errMeaning
	}
	sortByPlace(first.changed)
	return out, first.changed, nil
}

// Fixes reports whether Fix repairs every problem with that code.
func Fixes(code string) bool {
	switch code {
	case "field-spelling", "frontmatter-bom", "frontmatter-closer", "frontmatter-leading", "frontmatter-open", "yaml-colon", "yaml-flush", "yaml-start":
		return true
	}
	return false
}

// fixer collects replacements in one text.
type fixer struct {
	*parser
	src     []byte
	cuts    []cut
	changed []Problem
	gone    int // lines that the replacements remove before the front matter
	moved   int // lines that an earlier fixer removed there
}

type cut struct {
	from, to int
	with     string
}

// newFixer reads src. It returns nil if src has no front matter.
func newFixer(src []byte, o *Options) *fixer {
	f := &fixer{parser: newParser(o), src: src}
	if !f.parse(src) {
		return nil
	}
	f.text.split()
	return f
}

// replace adds one replacement. The place in pr is its place in the text.
func (f *fixer) replace(c cut, pr Problem) {
	r := findRule(pr.Code)
	pr.File, pr.Cure = f.File, r.cure
	pr.Severity = max(r.severity(f.Profile.column()), SeverityWarning)
	pr.Line += f.moved
	f.cuts = append(f.cuts, c)
	f.changed = append(f.changed, pr)
}

// apply returns the text with all replacements made.
func (f *fixer) apply() []byte {
	if len(f.cuts) == 0 {
		return f.src
	}
	slices.SortStableFunc(f.cuts, func(a, b cut) int { return a.from - b.from })
	var b bytes.Buffer
	at := 0
	for _, c := range f.cuts {
		if c.from < at {
			continue
		}
		b.Write(f.src[at:c.from])
		b.WriteString(c.with)
		at = c.to
	}
	b.Write(f.src[at:])
	return b.Bytes()
}

// delimiters removes everything before the front matter and on its two delimiter lines that does not belong there.
func (f *fixer) delimiters() {
	start := 0
	if bytes.HasPrefix(f.src, []byte(bom)) {
		start = len(bom)
		f.replace(cut{0, start, ""}, Problem{Code: "frontmatter-bom", Line: 1, Col: 1, Message: "removed the byte order mark"})
	}
	opener := f.lineBefore()
	if gap := f.src[start:opener]; len(gap) > 0 && len(bytes.TrimSpace(gap)) == 0 {
		f.gone = f.text.first - 2
		f.replace(cut{start, opener, ""}, Problem{Code: "frontmatter-leading", Line: 1, Col: 1, Message: "removed the empty lines before the front matter"})
	}
	end, next := lineEnd(f.src, opener)
	f.trimDelimiter(opener, end, f.text.first-1)
	f.closer(string(f.src[end:next]))
}

// closer writes the closing line. eol is a line break of the file.
func (f *fixer) closer(eol string) {
	start := f.text.closer(f.src)
	switch f.text.how {
	case endsAlone:
		f.trimDelimiter(start, f.text.end, f.text.after-1)
	case endsDashes:
		f.replace(cut{start, f.text.end, "---"}, Problem{Code: "frontmatter-closer", Line: f.text.after - 1, Col: 1, Message: "wrote the closing line as ---"})
	case endsGlued:
		f.replace(cut{start, f.text.end, "---" + eol}, Problem{Code: "frontmatter-closer", Line: f.text.after, Col: 1, Message: "put the text after the closing --- on a line of its own"})
	case endsOpen:
		f.replace(cut{start, start, "---" + eol}, Problem{Code: "frontmatter-open", Line: f.text.after, Col: 1, Message: "added a closing line ---"})
	}
}

// indents puts spaces before the lines that go on with a value.
func (f *fixer) indents() {
	for i, l := range f.text.lines {
		if l.added == 0 || !f.intact(l) {
			continue
		}
		f.replace(cut{l.start, l.start, l.text[:l.added]}, Problem{Code: "yaml-flush", Line: f.text.first + i, Col: 1, Message: "indented the line below its value"})
	}
}

// lineBefore returns the offset of the opening line.
func (f *fixer) lineBefore() int {
	offset := 0
	if bytes.HasPrefix(f.src, []byte(bom)) {
		offset = len(bom)
	}
	for range f.text.first - 2 {
		_, offset = lineEnd(f.src, offset)
	}
	return offset
}

func (f *fixer) trimDelimiter(from, to, line int) {
	if string(f.src[from:to]) == "---" {
		return
	}
	code, what := "frontmatter-blanks", "after"
	if f.src[from] != '-' {
		code, what = "frontmatter-leading", "before"
	}
	f.replace(cut{from, to, "---"}, Problem{Code: code, Line: line, Col: 1, Message: "removed spaces " + what + " ---"})
}

// quotes writes the quotes that the repair of the front matter assumed.
func (f *fixer) quotes() {
	for _, e := range f.edits {
		l := f.text.lines[e.line]
		if !f.intact(l) {
			continue
		}
		f.replace(cut{l.start + e.from, l.start + e.to, singleQuoted(l.text[e.from:e.to])},
			Problem{Code: e.code, Line: f.text.first + e.line, Col: e.col, Field: e.key, Message: fmt.Sprintf("put the value of %q in quotes", e.key)})
	}
}

// intact reports whether the line was read unchanged.
func (f *fixer) intact(l textLine) bool {
	return len(l.removed) == 0 && bytes.HasPrefix(f.src[l.start:], []byte(l.text[l.added:]))
}

// offset returns the byte offset of a place in the front matter, or -1 if its line was not read unchanged.
func (f *fixer) offset(line, col int) int {
	i := line - f.text.first
	if i < 0 || i >= len(f.text.lines) || !f.intact(f.text.lines[i]) {
		return -1
	}
	l := f.text.lines[i]
	runes := []rune(l.text[l.added:])
	return l.start + len(string(runes[:min(col-1, len(runes))]))
}

// spellings replaces other spellings of keys. It does not change a duplicate key.
func (f *fixer) spellings() {
	count := map[string]int{}
	for _, e := range f.entries {
		count[fieldName(e.key.Value)]++
	}
	for _, e := range f.entries {
		k := findField(e.key.Value)
		if k == nil || count[k.key] > 1 || e.key.Value == k.key || k.spelled(e.key.Value) && k.key != "allowed-tools" {
			continue
		}
		at := f.offset(e.line, e.col)
		if at >= 0 && bytes.IndexByte([]byte("\"'"), f.src[at]) >= 0 {
			at++
		}
		if at < 0 || !bytes.HasPrefix(f.src[at:], []byte(e.key.Value)) {
			continue
		}
		f.replace(cut{at, at + len(e.key.Value), k.key},
			Problem{Code: "field-spelling", Line: e.line, Col: e.col, Field: k.key, Message: fmt.Sprintf("wrote %q as %q", e.key.Value, k.key)})
	}
}

// nameCase writes the name as the directory is called, if that is the suggested form of the name.
func (f *fixer) nameCase() {
	for _, e := range f.entries {
		name := strings.TrimSpace(e.value.Value)
		if fieldName(e.key.Value) != "name" || name == f.dir || name == "" || suggestedName(name) != f.dir || !usableName(f.dir) {
			continue
		}
		at := f.offset(e.value.Line, e.value.Col)
		if at < 0 {
			continue
		}
		for _, written := range []string{e.value.Value, `"` + e.value.Value + `"`, "'" + e.value.Value + "'"} {
			if end, _ := lineEnd(f.src, at); strings.TrimRight(string(f.src[at:end]), " \t") == written {
				f.replace(cut{at, at + len(written), f.dir},
					Problem{Code: "name-case", Line: e.value.Line, Col: e.value.Col, Field: "name", Message: fmt.Sprintf("wrote the name %q as %q", clip(name), f.dir)})
				break
			}
		}
	}
}

// sameMeaning reports whether two texts have the same meaning, apart from what Fix may change.
func sameMeaning(a, b []byte, o *Options) bool {
	return reflect.DeepEqual(meaning(a, o), meaning(b, o))
}

// meaning returns the manifest without places, without the case of the name, and without the metadata that may come
// from the top.
func meaning(src []byte, o *Options) Manifest {
	m, _ := Parse(src, o)
	out := *m
	out.Name, out.Fields, out.BodyLine = suggestedName(out.Name), nil, 0
	out.Metadata = nil
	for k, v := range m.Metadata {
		if k != "version" && k != "author" && k != "tags" {
			if out.Metadata == nil {
				out.Metadata = map[string]string{}
			}
			out.Metadata[k] = v
		}
	}
	if len(out.Tags) == 0 {
		out.Tags = nil
	}
	return out
}
