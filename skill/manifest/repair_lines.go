package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// A block is the lines of one top-level key.
type block struct {
	from, to int    // lines of the front matter, excluding to
	key      string // "" if the lines do not begin with a key, "..." for a line that ends the document
	value    int    // byte offset of the value in the first line
	col      int    // column of the value
}

var (
	blockHeader = lazyregexp.New(`^[|>][-+0-9]{0,2}([ \t]+#.*)?$`)
	toolsLine   = lazyregexp.New(`(?i)^[ \t]*["']?allowed[-_]tools["']?[ \t]*:`)
	aliasOnly   = lazyregexp.New(`^\*[^\s,\[\]{}*]+$`)
)

// keyLine returns the indentation of a line and, if it begins with a key and a colon, the key as written and the byte
// offset of the value; otherwise 0.
func keyLine(line string) (indent int, key string, value int) {
	indent = len(line) - len(strings.TrimLeft(line, " "))
	rest := line[indent:]
	end := 0
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		end = 1 + strings.IndexByte(rest[1:], rest[0]) + 1
		if end == 1 || rest[0] == '"' && strings.IndexByte(rest[:end], '\\') >= 0 {
			return indent, "", 0
		}
	} else if end = strings.IndexFunc(rest, notInKey); end < 1 || unicode.IsNumber(firstRune(rest)) || strings.IndexByte("./-", rest[0]) >= 0 {
		return indent, "", 0
	}
	colon := strings.TrimLeft(rest[end:], " \t")
	if colon == "" || colon[0] != ':' || len(colon) > 1 && colon[1] != ' ' && colon[1] != '\t' {
		return indent, "", 0
	}
	return indent, strings.TrimRight(rest[:end], " "), len(line) - len(strings.TrimLeft(colon[1:], " \t"))
}

// notInKey reports whether r cannot be part of a plain key.
func notInKey(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && strings.IndexByte("_.$/ -", byte(min(r, utf8.RuneSelf))) < 0
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// topBlocks cuts the front matter before each line that begins with a key, and around lines that begin with neither a
// key nor a space, a comment, an item or a closing bracket.
func topBlocks(t *frontText) []block {
	var out []block
	for i, l := range t.lines {
		text := l.text
		if len(out) > 0 && (text == "" || strings.IndexByte(" \t#-]}", text[0]) >= 0) && !strings.HasPrefix(text, "---") {
			out[len(out)-1].to = i + 1
			continue
		}
		b := block{from: i, to: i + 1, col: 1}
		if indent, key, value := keyLine(text); value > 0 && indent == 0 {
			b.key, b.value = strings.Trim(key, `"'`), value
			b.col = utf8.RuneCountInString(text[:value]) + 1
		} else if strings.HasPrefix(text, "...") || strings.HasPrefix(text, "---") {
			b.key = "..."
		}
		out = append(out, b)
	}
	return out
}

// edit puts the bytes from..to of a line in quotes.
type edit struct {
	line, from, to int // line from 0
	col            int // column of the character that needs the quotes
	code, key      string
}

func (e *edit) message() string {
	if e.code == "yaml-colon" {
		return fmt.Sprintf("the plain value of %q contains a colon followed by a space; it is read as text", e.key)
	}
	return fmt.Sprintf("the value of %q begins like something else in YAML; it is read as text", e.key)
}

// quoteLines finds the values that need quotes in all lines `key: value`, except in block scalars. If a value continues
// below, the quotes do not help, and that shows later.
func quoteLines(t *frontText) []edit {
	var out []edit
	scalar := -1 // indentation of the key whose block scalar is being skipped
	for i, l := range t.lines {
		text := l.text
		indent, key, at := keyLine(text)
		if strings.TrimSpace(text) == "" || scalar >= 0 && indent > scalar {
			continue
		}
		scalar = -1
		if at == 0 || indent == 0 && protective(key) {
			continue
		}
		value := strings.TrimRight(text[at:], " \t")
		if blockHeader().MatchString(value) {
			scalar = indent
			continue
		}
		code, cause, end := needsQuotes(value)
		if code == "" {
			continue
		}
		out = append(out, edit{line: i, from: at, to: at + end, code: code, key: strings.Trim(key, `"'`),
			col: utf8.RuneCountInString(text[:at+cause]) + 1})
	}
	return out
}

// needsQuotes checks whether a value on one line is text that YAML would misread. It returns the code of the problem,
// the byte offset of the cause, and the end of the value before a comment.
func needsQuotes(value string) (code string, at, end int) {
	if value == "" {
		return "", 0, 0
	}
	end = commentStart(value, 0)
	switch c := value[0]; c {
	case '"', '\'':
		last := quotedEnd(value)
		if last < 0 || last == len(value) || strings.TrimLeft(value[last:], " \t")[0] == '#' {
			return "", 0, 0
		}
		return "yaml-start", last, commentStart(value, last)
	case '|', '>', '@', '`', '%', ',', ']', '}':
		return "yaml-start", 0, end
	case '-', '?', ':':
		if len(value) == 1 || value[1] == ' ' || value[1] == '\t' {
			return "yaml-start", 0, end
		}
	case '*':
		if !aliasOnly().MatchString(value[:end]) {
			return "yaml-start", 0, end
		}
		return "", 0, 0
	case '[', '{', '&', '!', '#':
		return "", 0, 0
	}
	for i := 0; i < end; i++ {
		if value[i] == ':' && (i+1 == end || value[i+1] == ' ' || value[i+1] == '\t') {
			return "yaml-colon", i, end
		}
	}
	return "", 0, 0
}

// commentStart returns the end of the value before a comment.
func commentStart(value string, from int) int {
	for i := from; i < len(value); i++ {
		if value[i] == '#' && i > 0 && (value[i-1] == ' ' || value[i-1] == '\t') {
			return len(strings.TrimRight(value[:i], " \t"))
		}
	}
	return len(value)
}

// quotedEnd returns the offset after the quoted text that value begins with, or -1 if the quote is not closed.
func quotedEnd(value string) int {
	q := value[0]
	for i := 1; i < len(value); i++ {
		switch {
		case q == '"' && value[i] == '\\':
			i++
		case value[i] != q:
		case q == '\'' && i+1 < len(value) && value[i+1] == q:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// editsWithin returns the edits of a block's lines.
func editsWithin(edits []edit, b block) []edit {
	byLine := func(e edit, line int) int { return e.line - line }
	from, _ := slices.BinarySearchFunc(edits, b.from, byLine)
	to, _ := slices.BinarySearchFunc(edits, b.to, byLine)
	return edits[from:to]
}

// joinEdited is like join, with the edits applied.
func (t *frontText) joinEdited(from, to int, edits []edit) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		l := t.lines[i].text
		if len(edits) > 0 && edits[0].line == i {
			l = edits[0].apply(l)
			edits = edits[1:]
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

func (e *edit) apply(line string) string {
	return line[:e.from] + singleQuoted(line[e.from:e.to]) + line[e.to:]
}

func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
