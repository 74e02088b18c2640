package survey

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/markdown"
)

// Limits of what DocText and UsageLines return.
const (
	maxDoc       = 4 << 10 // bytes
	maxDocLines  = 100
	maxUsage     = 8   // lines
	maxUsageLine = 300 // bytes of each
)

// DocText returns the description of a script by its author: the docstring of a Python program, or the comment at the
// beginning of a program in any language. It returns at most 100 lines and 4 KiB, without control characters, and nothing
// else of the text; "" without a description. The block that names a Python script's dependencies is not a description.
func DocText(lang Language, text []byte) string {
	src := string(text[:min(len(text), MaxText)])
	if strings.IndexByte(src, 0) >= 0 {
		return "" // a program, not a text
	}
	src = strings.ReplaceAll(strings.TrimPrefix(src, "\ufeff"), "\r\n", "\n")
	if strings.HasPrefix(src, "#!") {
		_, src, _ = strings.Cut(src, "\n")
	}
	if lang == Python {
		if doc, ok := docstring(src); ok {
			return cleaned(doc)
		}
	}
	return cleaned(leadingComment(lang, src))
}

// docstring returns the text that a Python program begins with, after comments.
func docstring(src string) (string, bool) {
	for {
		src = strings.TrimLeft(src, " \t\n")
		if !strings.HasPrefix(src, "#") {
			break
		}
		_, src, _ = strings.Cut(src, "\n")
	}
	src = strings.TrimLeft(src, "rRuU")
	for _, quote := range []string{`"""`, "'''", `"`, "'"} {
		rest, ok := strings.CutPrefix(src, quote)
		if !ok {
			continue
		}
		doc, _, closed := strings.Cut(rest, quote)
		if !closed || len(quote) == 1 && strings.Contains(doc, "\n") {
			return "", false
		}
		return doc, true
	}
	return "", false
}

// leadingComment returns the first comment of those that a program begins with, without its marks. A blank line ends a
// comment. A licence is not a description.
func leadingComment(lang Language, src string) string {
	syntax := lang.Row().Syntax
	begin, end := syntax.Block[0], syntax.Block[1]
	marks := syntax.Line
	if marks == nil {
		marks = []string{"#"}
	}
	src = strings.TrimPrefix(strings.TrimLeft(src, " \t\n"), syntax.Open)
	for src = strings.TrimLeft(src, " \t\n"); src != ""; src = strings.TrimLeft(src, " \t\n") {
		var comment string
		rest, block := strings.CutPrefix(src, begin)
		switch {
		case begin != "" && block:
			comment, src, _ = strings.Cut(rest, end)
			comment = unstarred(comment)
		default:
			i := slices.IndexFunc(marks, func(mark string) bool { return strings.HasPrefix(src, mark) })
			if i < 0 {
				return ""
			}
			comment, src = lineComment(marks[i], src)
		}
		if strings.TrimSpace(comment) != "" && !licence().MatchString(comment) {
			return comment
		}
	}
	return ""
}

// lineComment returns the comment that a text begins with, and the rest of the text.
func lineComment(mark, src string) (comment, rest string) {
	var out []string
	metadata := false
	for src != "" {
		line, after, _ := strings.Cut(src, "\n")
		text, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
		if !ok {
			break
		}
		switch src = after; {
		case text == " /// script":
			metadata = true
		case text == " ///":
			metadata = false
		case !metadata && !directive().MatchString(text) && len(out) <= maxDocLines:
			out = append(out, strings.TrimPrefix(strings.TrimLeft(text, mark), " "))
		}
	}
	return strings.Join(out, "\n"), src
}

var (
	// directive is a comment for a tool.
	directive = lazyregexp.New(`^\s*(-\*-|vim?:|shellcheck |eslint|prettier|@ts-|type: ?ignore|pylint:|noqa|frozen_string_literal|coding[:=])`)
	licence   = lazyregexp.New(`(?i)^\W*(copyright|spdx-license|licensed under|\(c\) ?[12]\d\d\d)`)
)

// unstarred returns the text of a comment without the stars at the beginning of its lines.
func unstarred(doc string) string {
	lines := strings.Split(strings.TrimLeft(doc, "*!"), "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		lines[i] = strings.TrimPrefix(strings.TrimPrefix(l, "*"), " ")
	}
	return strings.Join(lines, "\n")
}

// cleaned returns a description with its common indentation removed, within its limits and without control characters.
func cleaned(doc string) string {
	lines := strings.Split(strings.Map(printable, strings.ToValidUTF8(doc, "\ufffd")), "\n")
	indent := -1
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
		if n := len(l) - len(strings.TrimLeft(l, " \t")); i > 0 && lines[i] != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	for i, l := range lines {
		if i > 0 && indent > 0 && len(l) > indent {
			lines[i] = l[indent:]
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " \t")
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	if lines = strings.Split(text, "\n"); len(lines) > maxDocLines {
		text = strings.Join(lines[:maxDocLines], "\n") + "\n…"
	}
	return capped(text, maxDoc)
}

// capped cuts a text at a whole character, and says so.
func capped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}

// printable drops control characters, and those that change the direction of a text or are not seen.
func printable(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// UsageLines returns the command lines of a skill's instructions that run a script, in their order: lines of fenced code
// and inline code with the script's file name or the name of its Python module among their words. There are at most 8, of
// at most 300 bytes each, without control characters.
func UsageLines(body string, sc Script) []string {
	u := &usageLines{base: path.Base(sc.File), seen: map[string]bool{}}
	if LanguageOf(sc.File) == Python {
		u.module = strings.ReplaceAll(strings.TrimSuffix(sc.File, path.Ext(sc.File)), "/", ".")
	}
	var spans markdown.Spans
	fence, joined := "", ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		mark, info := markdown.Fence(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence == "":
			u.inline(line, &spans)
		case strings.HasPrefix(mark, fence) && info == "":
			u.add(joined)
			fence, joined = "", ""
		case strings.HasSuffix(line, `\`) && len(joined) < maxUsageLine:
			joined += strings.TrimRight(line, `\ `) + " "
		default:
			u.add(joined + line)
			joined = ""
		}
	}
	u.add(joined)
	return u.lines
}

type usageLines struct {
	base, module string
	lines        []string
	seen         map[string]bool
}

// inline adds what a line of text has in backquotes, if there is more than the name of the file.
func (u *usageLines) inline(line string, spans *markdown.Spans) {
	for _, at := range spans.Append(nil, line) {
		if part := line[at[0]:at[1]]; strings.ContainsAny(strings.TrimSpace(part), " \t") {
			u.add(part)
		}
	}
}

// add adds a command line that names the script.
func (u *usageLines) add(line string) {
	line = strings.TrimPrefix(strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(line, "\ufffd"))), "$ ")
	if len(u.lines) >= maxUsage || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") || u.seen[line] || !u.named(line) {
		return
	}
	u.seen[line] = true
	u.lines = append(u.lines, capped(line, maxUsageLine))
}

// named reports whether a command line has the script among its first words.
func (u *usageLines) named(line string) bool {
	words := strings.Fields(line)
	if strings.ContainsAny(line, "├└│") || len(words) == 1 && !strings.Contains(line, "/") {
		return false // a tree of files, or a name
	}
	for i, word := range words {
		word = strings.Trim(word, `"'`)
		if path.Base(strings.ReplaceAll(word, `\`, "/")) == u.base || u.module != "" && word == u.module && i > 0 && words[i-1] == "-m" {
			return true
		}
		if i == 8 {
			return false
		}
	}
	return false
}
