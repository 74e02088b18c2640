// Package shell reads scripts and commands of bash and POSIX shells into programs of package code.
package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-base/agent-base/internal/shellsyntax"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// Limits of a script, beside those of package code.
const (
	maxFaults = 500     // that are passed over
	maxAgain  = 8 << 20 // bytes that are read again after a fault
)

// Names of functions that stand for what a shell does with a variable, with the variable as the first argument.
const (
	Slice   = "${:}" // offset and length follow
	Replace = "${/}" // what and by what follow
	Upper   = "${^}"
	Lower   = "${,}"

	Prefix   = "${#}" // what is taken away follows
	Suffix   = "${%}"
	Indirect = "${!}" // the variable has the name of another one

	Descriptor = "<>" // a file that stays open, as the variable "&" with a number
	Duplicate  = ">&" // the output goes to such a file
)

// Parse reads a script that begins at a line of its file, from 1. It never fails: where something is no shell, the line is read without
// the character at which it is none, or up to there, reading goes on with the line after it, and Partly of the program says so.
func Parse(source string, line int) *code.Program {
	r := &reader{line: line - 1}
	source = strings.ToValidUTF8(source, "\ufffd")
	if safe := shellsyntax.WithinBounds(source); len(safe) < len(source) {
		r.cut(1+strings.Count(safe, "\n"), "the rest is too long or too deep")
		source = safe
	}
	again := 0
	for faults := 0; strings.TrimSpace(source) != ""; faults++ {
		line, column := r.parse(source)
		if line == 0 || r.full() {
			break
		}
		for range line - 1 {
			_, source, _ = strings.Cut(source, "\n")
		}
		var wrong string
		wrong, source, _ = strings.Cut(source, "\n")
		r.line += line - 1
		r.mend(wrong, column)
		r.line++
		if again += len(source); faults >= maxFaults || again > maxAgain {
			r.cut(1, "and what follows has too many errors")
			break
		}
	}
	return &code.Program{Body: r.out, Partly: r.partly, Broken: r.broken && !r.short}
}

// parse reads up to the first fault and returns its line and column, from 1; 0 if there is none.
func (r *reader) parse(source string) (line, column int) {
	defer func() {
		if recover() != nil { // the parser has errors of its own
			line, column = max(1, r.last-r.line), 0
			r.fault(line, "cannot be read")
		}
	}()
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(source)) {
		switch {
		case err != nil:
			line, column = faultAt(err)
			r.fault(line, "is no shell")
			return line, column
		case r.full():
			r.cut(int(s.Pos().Line()), "and what follows is too much")
			return 0, 0
		}
		r.last = r.at(s)
		r.statement(s, nil, code.Do)
	}
	return 0, 0
}

// marks are what is often left open.
var marks = strings.NewReplacer("(", " ", ")", " ", "{", " ", "}", " ", `"`, " ", "'", " ", "`", " ")

// mend reads what is left of a line with a fault.
func (r *reader) mend(line string, column int) {
	column = max(1, min(column, len(line)))
	for _, left := range []string{line[:column-1] + " " + line[min(column, len(line)):], marks.Replace(line), line[:column-1]} {
		if readable(left) {
			r.parse(left)
			return
		}
	}
}

func readable(line string) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	for _, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(line)) {
		if err != nil {
			return false
		}
	}
	return true
}

func faultAt(err error) (line, column int) {
	var p syntax.ParseError
	if errors.As(err, &p) {
		return max(1, int(p.Pos.Line())), int(p.Pos.Col())
	}
	var l syntax.LangError
	if errors.As(err, &l) {
		return max(1, int(l.Pos.Line())), int(l.Pos.Col())
	}
	return 1, 0
}

// reader collects the statements of a script.
type reader struct {
	line   int // added to those of the parser
	out    []code.Statement
	nodes  int
	depth  int
	pipes  int // how many variables stand for the output of a command
	last   int // line of the last statement that was begun
	partly string
	broken bool // something is no shell
	short  bool // not all was looked at
}

func (r *reader) full() bool { return r.nodes >= code.MaxNodes }

func (r *reader) fault(line int, what string) {
	r.broken = true
	r.partly = cmp.Or(r.partly, fmt.Sprintf("line %d %s", line+r.line, what))
}

// cut says that what begins at a line is not looked at.
func (r *reader) cut(line int, what string) {
	r.short = true
	r.partly = fmt.Sprintf("line %d %s", line+r.line, what)
}

func (r *reader) at(n syntax.Node) int { return int(n.Pos().Line()) + r.line }

func (r *reader) add(s code.Statement) {
	r.nodes++
	r.out = append(r.out, s)
}

// apart reads into a list of its own.
func (r *reader) apart(read func()) []code.Statement {
	before := r.out
	r.out = nil
	read()
	out := r.out
	r.out = before
	return out
}

// deeper runs read unless that would be too deep.
func (r *reader) deeper(n syntax.Node, read func()) {
	if r.depth++; r.depth > code.MaxDepth || r.full() {
		r.cut(int(n.Pos().Line()), "is too deep")
	} else {
		read()
	}
	r.depth--
}

// statement reads a command with its input, nil for none, as a statement of op: Do, or Return if its output is of value.
func (r *reader) statement(s *syntax.Stmt, input *code.Value, op code.Op) {
	r.deeper(s, func() {
		if call, ok := s.Cmd.(*syntax.CallExpr); ok || len(s.Redirs) > 0 || s.Cmd == nil {
			if ok {
				r.assigns(call.Assigns)
				r.given(call)
			}
			if v := r.redirected(s, input); v != nil {
				r.add(code.Statement{Op: op, Line: v.Line, Value: v})
			}
			return
		}
		r.compound(s.Cmd, input, op)
	})
}

// given reads the variables that only one command is given as a call of export.
func (r *reader) given(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		if len(c.Args) > 0 && a.Value != nil {
			v := code.Value{Form: code.Call, Line: r.at(a), Func: &code.Value{Form: code.Name, Text: "export"}, Args: []code.Value{*r.word(a.Value)}}
			r.add(code.Statement{Op: code.Do, Line: v.Line, Value: &v})
		}
	}
}

func (r *reader) statements(list []*syntax.Stmt, input *code.Value, op code.Op) {
	for _, s := range list {
		r.statement(s, input, op)
	}
}

// compound reads a command that is not a simple one.
func (r *reader) compound(c syntax.Command, input *code.Value, op code.Op) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			r.statement(c.X, input, op)
			r.statement(c.Y, input, op)
			return
		}
		r.statement(c.Y, r.piped(c.X, input), op)
	case *syntax.Subshell:
		r.statements(c.Stmts, input, op)
	case *syntax.Block:
		r.statements(c.Stmts, input, op)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.statements(c.Cond, input, op)
			r.statements(c.Then, input, op)
		}
	case *syntax.WhileClause:
		r.statements(c.Cond, input, op)
		r.statements(c.Do, input, op)
	case *syntax.ForClause:
		r.loop(c)
		r.statements(c.Do, input, op)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.statements(item.Stmts, input, op)
		}
	case *syntax.FuncDecl:
		body := r.apart(func() { r.statement(c.Body, nil, code.Return) })
		r.add(code.Statement{Op: code.Define, Line: r.at(c), Name: c.Name.Value, Body: body})
	case *syntax.DeclClause:
		r.assigns(c.Args)
		if !slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return a.Name != nil }) { // it prints all
			name := &code.Value{Form: code.Name, Line: r.at(c), Text: c.Variant.Value}
			r.add(code.Statement{Op: op, Line: r.at(c), Value: &code.Value{Form: code.Call, Line: r.at(c), Func: name}})
		}
	case *syntax.TimeClause:
		r.inner(c.Stmt, input, op)
	case *syntax.CoprocClause:
		r.inner(c.Stmt, input, op)
	case nil:
	default: // tests and arithmetic
		r.add(code.Statement{Op: code.Do, Line: r.at(c), Value: r.others(c)})
	}
}

func (r *reader) inner(s *syntax.Stmt, input *code.Value, op code.Op) {
	if s != nil {
		r.statement(s, input, op)
	}
}

func (r *reader) loop(c *syntax.ForClause) {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		return
	}
	all := &code.Value{Form: code.Other, Line: r.at(c)}
	for _, w := range words.Items {
		all.Args = append(all.Args, *r.word(w))
	}
	if len(words.Items) == 0 {
		all = &code.Value{Form: code.Name, Text: "@", Line: r.at(c)}
	}
	r.add(code.Statement{Op: code.Set, Line: r.at(c), Name: words.Name.Value, Value: all})
}

// piped returns what stands for the output of a command: the command itself, or a variable if commands share it.
func (r *reader) piped(s *syntax.Stmt, input *code.Value) *code.Value {
	v := r.output(s, input)
	if v == nil || v.Form == code.Name {
		return v
	}
	r.pipes++
	name := fmt.Sprintf("|%d", r.pipes)
	r.add(code.Statement{Op: code.Set, Line: v.Line, Name: name, Value: v})
	return &code.Value{Form: code.Name, Line: v.Line, Text: name}
}

// output returns the output of a command as a value.
func (r *reader) output(s *syntax.Stmt, input *code.Value) *code.Value {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && len(c.Assigns) == 0 {
		return r.redirected(s, input)
	}
	return r.block(s, []*syntax.Stmt{s}, input)
}

// outputs returns the output of several commands as a value.
func (r *reader) outputs(n syntax.Node, list []*syntax.Stmt) *code.Value {
	if len(list) == 1 {
		return r.output(list[0], nil)
	}
	return r.block(n, list, nil)
}

func (r *reader) block(n syntax.Node, list []*syntax.Stmt, input *code.Value) *code.Value {
	v := &code.Value{Form: code.Call, Line: r.at(n), Func: &code.Value{Form: code.Func, Line: r.at(n)}}
	r.deeper(n, func() {
		v.Func.Body = r.apart(func() { r.statements(list, input, code.Return) })
	})
	return v
}

func (r *reader) assigns(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name == nil || a.Naked || a.Value == nil && a.Array == nil {
			continue
		}
		v := &code.Value{Form: code.Text, Line: r.at(a)}
		if a.Value != nil {
			v = r.word(a.Value)
		}
		if a.Array != nil {
			v = &code.Value{Form: code.List, Line: r.at(a)}
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					v.Args = append(v.Args, *r.word(e.Value))
				}
			}
		}
		if a.Append && a.Array == nil {
			v = &code.Value{Form: code.Join, Line: v.Line, Args: []code.Value{{Form: code.Name, Line: v.Line, Text: a.Name.Value}, *v}}
		}
		r.add(code.Statement{Op: code.Set, Line: v.Line, Name: a.Name.Value, Value: v})
	}
}
