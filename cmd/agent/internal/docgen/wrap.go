package main

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// lineLength is how long a line of a page is at most, as in the pages that people write.
const lineLength = 120

// wrap breaks the paragraphs and items of a page that have longer lines. Tables, code, headings and comments stay as they are.
func wrap(page string) string {
	var b strings.Builder
	var p paragraph
	code := false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(line, " ")
		fence := strings.HasPrefix(text, "```")
		code = code != fence
		as := code || fence || text == "" || strings.HasPrefix(text, "|") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "<!--")
		indent := len(line) - len(text)
		item := len(text) - len(strings.TrimPrefix(strings.TrimPrefix(text, "- "), "* "))
		if as || item > 0 || indent != p.indent {
			p.flush(&b)
		}
		switch {
		case as:
			b.WriteString(line + "\n")
		case len(p.lines) == 0:
			p = paragraph{indent: indent + item, lead: line[:indent+item], lines: []string{text[item:]}}
		default:
			p.lines = append(p.lines, text)
		}
	}
	p.flush(&b)
	return b.String()
}

// paragraph is the text of a paragraph or of an item of a list.
type paragraph struct {
	lead   string // before its first line
	indent int    // of the others
	lines  []string
}

// flush writes the paragraph, if there is one.
func (p *paragraph) flush(b *strings.Builder) {
	long := false
	for _, line := range p.lines {
		long = long || p.indent+ui.Width(line) > lineLength
	}
	switch between := "\n" + strings.Repeat(" ", p.indent); {
	case len(p.lines) == 0:
		return
	case long:
		b.WriteString(p.lead + ui.Wrap(strings.Join(p.lines, " "), lineLength, p.indent, p.indent) + "\n")
	default:
		b.WriteString(p.lead + strings.Join(p.lines, between) + "\n")
	}
	*p = paragraph{}
}
