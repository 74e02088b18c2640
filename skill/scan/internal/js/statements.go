package js

import (
	"context"
	"fmt"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// walker turns a syntax tree into statements. An expression may add statements before the one that it is in: of an assignment, an
// import and what is called for its effect.
type walker struct {
	*places
	ctx    context.Context
	out    []code.Statement
	nodes  int
	depth  int
	calls  int
	names  int
	partly string
}

// more counts a statement or a value, and reports whether there may be more.
func (w *walker) more() bool {
	w.nodes++
	switch {
	case w.nodes > code.MaxNodes*9/10: // some are added to what stands in the source
		w.stop(fmt.Sprintf("it has more than %d statements and values", code.MaxNodes*9/10))
	case w.nodes%1024 == 0 && w.ctx.Err() != nil:
		w.nodes = code.MaxNodes
		w.stop("there was no time to read all of it")
	}
	return w.nodes <= code.MaxNodes*9/10
}

func (w *walker) stop(why string) {
	if w.partly == "" {
		w.partly = why
	}
}

// deeper goes into a statement or a value, if it does not lie too deep. Then up goes out again.
func (w *walker) deeper() bool {
	if w.depth >= code.MaxDepth-20 || !w.more() {
		w.stop(fmt.Sprintf("line %d is nested too deep", w.line()))
		return false
	}
	w.depth++
	return true
}

func (w *walker) up() { w.depth-- }

func (w *walker) add(s code.Statement) {
	if !w.more() {
		return
	}
	if s.Line == 0 {
		s.Line = w.line()
	}
	w.out = append(w.out, s)
}

func (w *walker) set(name string, v code.Value) {
	w.add(code.Statement{Op: code.Set, Line: v.Line, Name: name, Value: &v})
}

// keep gives a value a name, so that it is computed once.
func (w *walker) keep(v code.Value) code.Value {
	if v.Form == code.Name {
		return v
	}
	name := w.fresh()
	w.set(name, v)
	return w.name(name)
}

func (w *walker) fresh() string {
	w.names++
	return fmt.Sprintf("#%d", w.names)
}

// effect adds an expression if it calls something, or reads a variable.
func (w *walker) effect(e js.IExpr) {
	if e == nil {
		return
	}
	calls := w.calls
	if v := w.value(e); w.calls != calls && v.Form != code.Name || v.Form == code.Name && strings.Contains(v.Text, environ) {
		w.add(code.Statement{Op: code.Do, Line: v.Line, Value: &v})
	}
}

func (w *walker) statements(list []js.IStmt) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *walker) block(b *js.BlockStmt) {
	if b != nil {
		w.statements(b.List)
	}
}

func (w *walker) statement(s js.IStmt) {
	if i, ok := s.(*js.IfStmt); ok { // a long chain of them is no deep nesting
		for ok {
			w.effect(i.Cond)
			w.statement(i.Body)
			s = i.Else
			i, ok = s.(*js.IfStmt)
		}
	}
	if s == nil || !w.deeper() {
		return
	}
	defer w.up()
	switch s := s.(type) {
	case *js.BlockStmt:
		w.block(s)
	case *js.ExprStmt:
		w.effectOrText(s.Value)
	case *js.VarDecl:
		w.declare(s)
	case *js.FuncDecl:
		w.define(string(s.Name.Name()), &s.Params, &s.Body)
	case *js.ClassDecl:
		w.class(s)
	case *js.ReturnStmt:
		if s.Value != nil {
			v := w.value(s.Value)
			w.add(code.Statement{Op: code.Return, Line: v.Line, Value: &v})
		}
	case *js.ImportStmt:
		w.imports(s)
	case *js.ExportStmt:
		w.exports(s)
	case *js.TryStmt:
		w.block(s.Body)
		if s.Binding != nil {
			w.bind(s.Binding, w.other("except"))
		}
		w.block(s.Catch)
		w.block(s.Finally)
	default:
		w.loop(s)
	}
}

func (w *walker) loop(s js.IStmt) {
	switch s := s.(type) {
	case *js.ForStmt:
		w.effect(s.Init)
		w.effect(s.Cond)
		w.block(s.Body)
		w.effect(s.Post)
	case *js.ForInStmt:
		w.each(s.Init, s.Value, s.Body)
	case *js.ForOfStmt:
		w.each(s.Init, s.Value, s.Body)
	case *js.WhileStmt:
		w.effect(s.Cond)
		w.statement(s.Body)
	case *js.DoWhileStmt:
		w.statement(s.Body)
		w.effect(s.Cond)
	case *js.SwitchStmt:
		w.effect(s.Init)
		for _, c := range s.List {
			w.effect(c.Cond)
			w.statements(c.List)
		}
	case *js.ThrowStmt:
		w.effect(s.Value)
	case *js.WithStmt:
		w.effect(s.Cond)
		w.statement(s.Body)
	case *js.LabelledStmt:
		w.statement(s.Value)
	}
}

// effectOrText adds an expression that stands alone, unless it has no effect.
func (w *walker) effectOrText(e js.IExpr) {
	if f, ok := e.(*js.CommaExpr); ok {
		for _, e := range f.List {
			w.effectOrText(e)
		}
		return
	}
	before := len(w.out)
	v := w.value(e)
	if v.Form != code.Text && v.Form != code.Number && (v.Form != code.Name || len(w.out) == before) {
		w.add(code.Statement{Op: code.Do, Line: v.Line, Value: &v})
	}
}

func (w *walker) each(init, value js.IExpr, body *js.BlockStmt) {
	element := code.Value{Form: code.Index, Line: w.line(), Args: []code.Value{w.value(value), w.other("")}}
	if d, ok := init.(*js.VarDecl); ok && len(d.List) == 1 {
		w.bind(d.List[0].Binding, element)
	} else {
		w.assign(init, element)
	}
	w.block(body)
}

func (w *walker) declare(d *js.VarDecl) {
	for _, b := range d.List {
		if b.Default != nil {
			w.bind(b.Binding, w.value(b.Default))
		}
	}
}

// required returns the text that names the module of require("x"), import("x") or await import("x"), or nil.
func required(e js.IExpr) []byte {
	if u, ok := e.(*js.UnaryExpr); ok && u.Op == js.AwaitToken {
		e = u.X
	}
	if g, ok := e.(*js.GroupExpr); ok {
		return required(g.X)
	}
	c, ok := e.(*js.CallExpr)
	if !ok || len(c.Args.List) == 0 {
		return nil
	}
	module, text := c.Args.List[0].Value.(*js.LiteralExpr)
	if !text || module.TokenType != js.StringToken {
		return nil
	}
	switch f := c.X.(type) {
	case *js.Var:
		if string(f.Name()) == "require" {
			return module.Data
		}
	case *js.LiteralExpr:
		if f.TokenType == js.ImportToken {
			return module.Data
		}
	}
	return nil
}

// bind gives a value to the names of a pattern.
func (w *walker) bind(to js.IBinding, v code.Value) {
	if !w.deeper() {
		return
	}
	defer w.up()
	switch to := to.(type) {
	case *js.Var:
		w.set(string(to.Name()), v)
	case *js.BindingObject:
		v = w.keep(v)
		for _, item := range to.List {
			w.bindElement(item.Value, w.part(v, w.key(item.Key, item.Value.Binding)))
		}
		if to.Rest != nil {
			w.set(string(to.Rest.Name()), v)
		}
	case *js.BindingArray:
		v = w.keep(v)
		for i, item := range to.List {
			if item.Binding != nil {
				w.bindElement(item, code.Value{Form: code.Index, Line: v.Line, Args: []code.Value{v, {Form: code.Number, Line: v.Line, Text: fmt.Sprint(i)}}})
			}
		}
		if to.Rest != nil {
			w.bind(to.Rest, v)
		}
	}
}

func (w *walker) bindElement(b js.BindingElement, v code.Value) {
	if b.Default != nil {
		v = w.other("or", v, w.value(b.Default))
	}
	w.bind(b.Binding, v)
}

// key returns the key of an element of an object pattern.
func (w *walker) key(key *js.PropertyName, to any) code.Value {
	if key != nil && key.IsComputed() {
		return w.value(key.Computed)
	}
	name := ""
	if v, ok := to.(*js.Var); ok && key == nil {
		name = string(v.Name())
	} else if key != nil {
		name = propertyName(key)
	}
	return code.Value{Form: code.Text, Line: w.line(), Text: name}
}

// define adds a function.
func (w *walker) define(name string, params *js.Params, body *js.BlockStmt) {
	w.sawName([]byte(name[strings.LastIndexByte(name, '.')+1:]))
	line := w.line()
	names, list := w.function(params, body)
	w.add(code.Statement{Op: code.Define, Line: line, Name: name, Params: names, Body: list})
}

// function returns the parameters and the statements of a function. Defaults and patterns are its first statements.
func (w *walker) function(params *js.Params, body *js.BlockStmt) (names []string, list []code.Statement) {
	before := w.out
	w.out = nil
	for _, p := range params.List {
		name := ""
		if v, ok := p.Binding.(*js.Var); ok {
			name = string(v.Name())
		} else {
			name = w.fresh()
			w.bind(p.Binding, w.name(name))
		}
		if p.Default != nil {
			w.set(name, w.value(p.Default))
		}
		names = append(names, name)
	}
	if params.Rest != nil {
		name := "..." + w.fresh()
		if v, ok := params.Rest.(*js.Var); ok {
			name = "..." + string(v.Name())
		}
		w.bind(params.Rest, w.name(name))
		names = append(names, name)
	}
	if w.deeper() {
		w.block(body)
		w.up()
	}
	list, w.out = w.out, before
	return names, list
}

// class adds a class, and returns its name.
func (w *walker) class(c *js.ClassDecl) string {
	name := w.fresh()
	if c.Name != nil {
		name = string(c.Name.Name())
	}
	base := w.other("class")
	if c.Extends != nil {
		base = w.other("class", w.value(c.Extends))
	}
	w.set(name, base)
	for _, e := range c.List {
		switch {
		case e.StaticBlock != nil:
			w.block(e.StaticBlock)
		case e.Method != nil:
			w.define(name+"."+w.elementName(&e.Method.Name), &e.Method.Params, &e.Method.Body)
		default:
			field := name + "." + w.elementName(&e.Name)
			if e.Init != nil {
				w.set(field, w.value(e.Init))
			}
		}
	}
	return name
}

func (w *walker) elementName(n *js.ClassElementName) string {
	switch {
	case n.Private != nil:
		return string(n.Private.Name())
	case n.IsComputed():
		w.effect(n.Computed)
		return w.fresh()
	}
	w.saw(n.Literal.Data)
	return propertyName(&n.PropertyName)
}

func (w *walker) imports(s *js.ImportStmt) {
	w.saw(s.Module)
	module := unquote(s.Module)
	if s.Default == nil && len(s.List) == 0 {
		w.add(code.Statement{Op: code.Import, Module: module})
	}
	if s.Default != nil {
		w.add(code.Statement{Op: code.Import, Name: string(s.Default), Module: module, Member: "default"})
	}
	for _, a := range s.List {
		w.alias(a, module)
	}
}

func (w *walker) alias(a js.Alias, module string) {
	if len(a.Binding) == 0 { // behind the last comma
		return
	}
	s := code.Statement{Op: code.Import, Name: string(a.Binding), Module: module, Member: string(a.Binding)}
	if a.Name != nil {
		s.Member = unquote(a.Name)
	}
	if s.Member == "*" {
		s.Member = ""
	}
	if s.Name == "*" {
		s.Name, s.Member = "", "*"
	}
	w.add(s)
}

func (w *walker) exports(s *js.ExportStmt) {
	if s.Module != nil {
		w.saw(s.Module)
		for _, a := range s.List {
			w.alias(a, unquote(s.Module))
		}
		return
	}
	switch d := s.Decl.(type) {
	case nil:
	case *js.VarDecl:
		w.declare(d)
	case *js.FuncDecl:
		name := "default"
		if d.Name != nil {
			name = string(d.Name.Name())
		}
		w.define(name, &d.Params, &d.Body)
	case *js.ClassDecl:
		w.class(d)
	default:
		w.set("default", w.value(d))
	}
}
