// Package js reads programs of JavaScript and TypeScript. Nothing of the programs runs.
package js

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/js/strip"
)

// Dialect is what a program is written in.
type Dialect uint8

// The dialects.
const (
	JavaScript Dialect = iota // also with JSX
	TypeScript
	TSX // TypeScript with JSX
)

// Read reads a program, or a piece of one whose first line is a line of its file; 0 is 1. If the grammar cannot read it, or ctx ends,
// the program is Partly, with the texts that stand in what was not read. It is safe for concurrent use.
func Read(ctx context.Context, d Dialect, text []byte, line int) code.Program {
	first := max(line, 1)
	if len(text) > code.MaxSource {
		return texts(text, first, fmt.Sprintf("it has more than %d MiB", code.MaxSource>>20))
	}
	var p code.Program
	var err error
	if d == JavaScript {
		if p, err = read(ctx, text, first); err == nil {
			return p
		}
	}
	plain, failed := strip.Program(ctx, text, strip.Options{Types: d != JavaScript, JSX: d != TypeScript})
	if failed == nil {
		p, failed = read(ctx, plain, first)
	}
	if failed == nil {
		return p
	}
	if err == nil {
		err = failed
	}
	return texts(text, first, clause(err, first, [...]string{"JavaScript", "TypeScript", "TypeScript"}[d]))
}

// clause says why a program could not be read.
func clause(err error, first int, language string) string {
	var at *strip.Error
	var tree *parse.Error
	switch {
	case errors.As(err, &tree) && strings.Contains(tree.Message, "nested"):
		return fmt.Sprintf("line %d is nested too deep", tree.Line+first-1)
	case errors.As(err, &tree):
		return fmt.Sprintf("line %d is no %s", tree.Line+first-1, language)
	case errors.As(err, &at) && at.Fault:
		return fmt.Sprintf("line %d is no %s", at.Line+first-1, language)
	case errors.As(err, &at):
		return fmt.Sprintf("line %d: %s", at.Line+first-1, at.Why)
	}
	return err.Error()
}

// read reads JavaScript.
func read(ctx context.Context, text []byte, first int) (code.Program, error) {
	buf := append(make([]byte, 0, len(text)+1), text...) // the parser adds one byte in place
	ast, err := js.Parse(parse.NewInputBytes(buf), js.Options{})
	if err != nil && !strings.Contains(err.Error(), "nested") && len(text) > 0 && (text[0] == '{' || text[0] == '[') { // JSON
		buf = append(make([]byte, 0, len(text)+3), "("+string(text)+")"...)
		ast, err = js.Parse(parse.NewInputBytes(buf), js.Options{})
	}
	if err != nil && bytes.Contains(text, []byte("return")) { // the body of a function, whose host takes away "export"
		body := append(make([]byte, 0, len(text)+1), exports().ReplaceAllFunc(text, blank)...)
		if inline, failed := js.Parse(parse.NewInputBytes(body), js.Options{Inline: true}); failed == nil {
			ast, buf, err = inline, body, nil
		}
	}
	if err != nil {
		return code.Program{}, err
	}
	w := &walker{ctx: ctx, places: newPlaces(buf, first)}
	w.statements(ast.List)
	return code.Program{Body: w.out, Partly: w.partly}, nil
}

var exports = lazyregexp.New(`(?m)^export (?:default )?`)

// blank returns spaces.
func blank(text []byte) []byte { return bytes.Repeat([]byte(" "), len(text)) }

// texts returns the texts that stand in a program.
func texts(text []byte, first int, why string) code.Program {
	p := code.Program{Partly: why}
	for _, t := range survey.Texts(language.JavaScript, text) {
		line := t.Line + first - 1
		p.Body = append(p.Body, code.Statement{Op: code.Do, Line: line, Value: &code.Value{Form: code.Text, Line: line, Text: t.Text}})
	}
	return p
}
