// Package shellsyntax reads scripts of shells that strangers wrote, with a parser that calls itself and has errors of its own.
package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxSource = 1 << 20 // bytes of a script

// Walk calls visit for the nodes of a script of bash or a POSIX shell, as syntax.Walk does, up to the first statement that cannot be read.
// source is valid UTF-8.
func Walk(source string, visit func(syntax.Node) bool) {
	defer func() { _ = recover() }() // of the parser
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(WithinBounds(source))) {
		if err != nil {
			return
		}
		syntax.Walk(s, visit)
	}
}

// WithinBounds returns the beginning of a script that the parser, which calls itself for what is inside of something, can read with a
// small stack. Quotes and comments count like commands: the bound is far above what people write.
func WithinBounds(source string) string {
	const mostDeep, mostMarks, mostLine = 500, 20_000, 4000
	deep, marks, inLine, word := 0, 0, 0, 0
	for i := range min(len(source), maxSource) {
		switch c := source[i]; c {
		case '\n':
			inLine = 0
		case '(', '{', '[':
			deep++
		case ')', '}', ']':
			deep = max(deep-1, 0)
		case '|', '&', '!', '`':
			marks++
		case '-', '+', '~', '?', '=', '*', '^', '%', ':', ',', '<', '>', '/':
			inLine++
		case 'f', 'n', 'e', 'r', 'l', 'o': // the ends of words that begin something
			word = i
		}
		if word == i && i > 0 && opens(source[:i+1]) {
			marks++
		}
		if deep > mostDeep || marks > mostMarks || inLine > mostLine {
			return source[:strings.LastIndexByte(source[:i], '\n')+1]
		}
	}
	return source[:min(len(source), maxSource)]
}

func opens(text string) bool {
	for _, w := range [...]string{"if", "then", "else", "elif", "while", "until", "for", "do", "case", "function", "time", "coproc", "select"} {
		if before, ok := strings.CutSuffix(text, w); ok && (before == "" || strings.IndexByte(" \t\n;", before[len(before)-1]) >= 0) {
			return true
		}
	}
	return false
}
