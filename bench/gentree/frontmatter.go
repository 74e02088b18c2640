package main

import (
	"fmt"
	"strings"
)

// frontMatter has the shapes and keys of public manifests in their shares, counted over 10,159 of them: how the
// description is written, which other keys there are, and which of them hold lists and maps.
func (w writer) frontMatter(name, domain, description string) string {
	var b strings.Builder
	b.WriteString("---\n")
	if w.permille(1) {
		b.WriteString("# Generated.\n")
	}
	b.WriteString("name: " + name + "\n")
	b.WriteString(w.describe(description))
	if w.permille(331) {
		b.WriteString("license: " + w.pick([]string{"MIT", "Apache-2.0", "Proprietary. LICENSE.txt has complete terms"}) + "\n")
	}
	if w.permille(321) {
		b.WriteString("version: " + w.pick([]string{"1.0.0", "\"2.1.0\"", "0.3.2", "1.10"}) + "\n")
	}
	if w.permille(284) {
		b.WriteString(w.tools())
	}
	if w.permille(270) {
		fmt.Fprintf(&b, "author: org-%d\n", w.IntN(200))
	}
	if w.permille(205) {
		b.WriteString(w.metadata(domain))
	}
	b.WriteString(w.rareKeys(domain))
	b.WriteString("---\n")
	if w.permille(5) {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// describe writes the description as a plain text of one or several lines, a literal or folded block, or quoted.
func (w writer) describe(text string) string {
	if w.permille(50) {
		text = "Résumé — " + text
	}
	switch k := w.IntN(1000); {
	case k < 446:
		return "description: " + text + "\n"
	case k < 462: // plain, several lines
		return "description: " + strings.TrimPrefix(lines(text), "  ")
	case k < 761:
		return "description: |\n" + lines(text+"\n\nTriggers: "+w.sentence(6))
	case k < 929:
		return "description: \"Note: " + strings.Replace(text, " and ", " \\\"and\\\" ", 1) + "\"\n"
	case k < 969:
		return "description: " + w.pick([]string{">", ">-"}) + "\n" + lines(text)
	default:
		return "description: 'What''s new: " + text + "'\n"
	}
}

// lines writes a text as the indented lines of a YAML block, twelve words each.
func lines(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for words := strings.Fields(paragraph); len(words) > 0; {
			n := min(12, len(words))
			b.WriteString("  " + strings.Join(words[:n], " ") + "\n")
			words = words[n:]
		}
	}
	return b.String()
}

// tools writes allowed-tools in the three forms that are in use.
func (w writer) tools() string {
	switch k := w.IntN(100); {
	case k < 70:
		return "allowed-tools: " + w.pick([]string{"Bash(git:*) Bash(jq:*) Read Grep Glob", "Read, Write, Bash", "Bash"}) + "\n"
	case k < 88:
		return "allowed-tools:\n  - Read\n  - Write\n  - Bash(git:*)\n"
	default:
		return "allowed-tools: [Read, Write, Bash]\n"
	}
}

// metadata writes a map: a block, or a flow map on one line.
func (w writer) metadata(domain string) string {
	if w.permille(330) {
		return fmt.Sprintf("metadata: {\"tool\": {\"emoji\": \"🔧\", \"requires\": {\"bins\": [\"%s\"]}}}\n", domain)
	}
	return fmt.Sprintf("metadata:\n  author: org-%d\n  version: \"%d.%d\"\n  category: %s\n", w.IntN(200), w.IntN(5), w.IntN(20), domain)
}

// rareKeys writes keys that few manifests have; most of them are not known to the standard.
func (w writer) rareKeys(domain string) string {
	var b strings.Builder
	for _, key := range []struct {
		permille int
		text     string
	}{
		{82, "requires:\n  bins:\n    - " + domain + "\n  env: [API_KEY]\n"},
		{63, "origin: community\n"},
		{40, "compatibility: Requires git, jq and access to the internet\n"},
		{37, "homepage: https://example.com/" + domain + "\n"},
		{31, "tags: [" + domain + ", automation, \"team work\"]\n"},
		{17, "source: https://example.com/" + domain + ".git # upstream\n"},
		{12, "dependencies:\n  - " + domain + ">=1.0\n"},
		{10, "triggers:\n  - " + domain + "\n  - work with " + domain + "\n"},
		{7, "user-invocable: true\n"},
		{5, "argument-hint: \"[file] [options]\"\n"},
	} {
		if w.permille(key.permille) {
			b.WriteString(key.text)
		}
	}
	return b.String()
}

func (w writer) permille(n int) bool { return w.IntN(1000) < n }
