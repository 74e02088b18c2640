package manifest

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

var plainTags = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_. -]*$`)

// moveDown moves version, author and tags below metadata. They stay if metadata is written on one line in braces or
// already has the key.
func (f *fixer) moveDown() {
	meta, metaAt := f.only("metadata")
	taken := map[string]bool{}
	indent := "  "
	switch {
	case metaAt > 1:
		return
	case metaAt == 1 && meta.value.Kind == yamlnode.Mapping:
		at := f.offset(meta.value.Line, meta.value.Col)
		if meta.value.Line <= meta.line || at < 0 || f.src[at] == '{' {
			return
		}
		indent = strings.Repeat(" ", meta.value.Col-1)
		for _, kv := range meta.value.Pairs {
			taken[kv.Key.Value] = true
		}
	case metaAt == 1 && (meta.value.Kind != yamlnode.Null || meta.value.Value != "" || meta.dropped):
		return
	}
	var lines []string
	for _, key := range []string{"version", "author", "tags"} {
		e, n := f.only(key)
		if n != 1 || taken[key] || e.dropped {
			continue
		}
		if text, ok := f.moveLine(e, key); ok {
			lines = append(lines, indent+text)
		}
	}
	if len(lines) == 0 {
		return
	}
	at, eol := f.insertion(meta, metaAt == 1)
	if metaAt == 0 {
		lines = append([]string{"metadata:"}, lines...)
	}
	f.cuts = append(f.cuts, cut{at, at, strings.Join(lines, eol) + eol})
}

// only returns the last entry of a field and the number of its entries.
func (f *fixer) only(key string) (last entry, n int) {
	for _, e := range f.entries {
		if fieldName(e.key.Value) == key {
			last, n = e, n+1
		}
	}
	return last, n
}

// moveLine removes an entry and returns its line for metadata. It moves only an entry on a single line.
func (f *fixer) moveLine(e entry, key string) (string, bool) {
	i := e.line - f.text.first
	if i < 0 || i >= len(f.text.lines) || e.value.Line != e.line || e.col != 1 || goesOn(&f.text, i) {
		return "", false
	}
	l := f.text.lines[i]
	next := f.nextLine(i)
	if !f.intact(l) || next < 0 {
		return "", false
	}
	text := string([]rune(l.text)[e.value.Col-1:])
	switch {
	case e.value.Kind == yamlnode.Sequence && key == "tags":
		tags := strings.Join(f.m.Tags, " ")
		if strings.ContainsAny(strings.Join(f.m.Tags, ""), " ,\t\n()[]{}") || tags == "" || commentStart(text, 0) != len(strings.TrimRight(text, " \t")) {
			return "", false
		}
		if text = tags; !plainTags().MatchString(text) {
			text = singleQuoted(text)
		}
	case e.value.Kind != yamlnode.Scalar || blockHeader().MatchString(text):
		return "", false
	}
	f.replace(cut{l.start, next, ""}, Problem{Code: "fields-unexpected", Line: e.line, Col: 1, Field: key, Message: fmt.Sprintf("moved %q below metadata", key)})
	return key + ": " + text, true
}

// goesOn reports whether the value on line i continues on the next lines.
func goesOn(t *frontText, i int) bool {
	for _, l := range t.lines[i+1:] {
		text := strings.TrimLeft(l.text, " \t")
		if text == "" || text[0] == '#' {
			continue
		}
		return len(l.text) > len(text)
	}
	return false
}

// nextLine returns the offset of the line after line i, or -1 if no line break follows.
func (f *fixer) nextLine(i int) int {
	end, next := lineEnd(f.src, f.text.lines[i].start)
	if next == end {
		return -1
	}
	return next
}

// insertion returns the offset at which lines for metadata are inserted, and their line break: after its key, or before
// the closing line.
func (f *fixer) insertion(meta entry, there bool) (at int, eol string) {
	i := len(f.text.lines) - 1
	if there {
		i = meta.line - f.text.first
	}
	end, next := lineEnd(f.src, f.text.lines[i].start)
	return next, string(f.src[end:next])
}
