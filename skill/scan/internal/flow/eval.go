package flow

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

func (e *engine) statements(list []code.Statement) {
	for i := range list {
		if s := &list[i]; s.Op == code.Define { // also before it is defined
			e.define(s)
		}
	}
	for i := range list {
		e.statement(&list[i])
	}
}

func (e *engine) statement(s *code.Statement) {
	if s.Line > 0 {
		e.line = s.Line
	}
	switch s.Op {
	case code.Do:
		v := e.value(s.Value)
		if s.Value != nil && s.Value.Form == code.Text || e.unit.Language == Loose && len(e.made(s.Value.Text)) > 0 {
			e.alone(v, s.Value.Text)
		}
	case code.Set:
		e.assign(s)
	case code.Return:
		if v := e.value(s.Value); e.ret != nil {
			*e.ret = append(*e.ret, v)
		}
	case code.Import:
		e.imports(s)
	}
}

// alone reads a text of a program that no grammar could read: an address, or a command.
func (e *engine) alone(v *value, written string) {
	if e.unit.Language == Loose && len(e.made(written)) > 0 {
		e.named(written, v, &arguments{})
	}
	e.stray(v)
	first, _, more := strings.Cut(v.first(), " ")
	if !more || !IsProgram(first) {
		return
	}
	unit, guess := e.unit, *e.unit
	guess.Maybe = true
	e.unit = &guess
	e.inside(Shell, v.first(), nil)
	e.unit = unit
}

func (e *engine) define(s *code.Statement) {
	fn := &function{st: s, params: s.Params, body: s.Body, scope: e.sc, unit: e.unit, i: e.i, top: e.top}
	v := &value{fn: fn}
	if class, method, ok := cutLast(s.Name); ok {
		fn.method = true
		e.top.methods[method] = append(e.top.methods[method], fn)
		if e.sc.names[class] == nil {
			e.sc.names[class] = &value{ref: class, class: true}
		}
	}
	e.sc.names[s.Name] = v
	e.top.funcs = append(e.top.funcs, fn)
}

// cutLast cuts a dotted name before its last part.
func cutLast(name string) (before, last string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

func (e *engine) assign(s *code.Statement) {
	var v *value
	if s.Value != nil && s.Value.Form == code.Other && s.Value.Text == "class" {
		e.value(s.Value)
		e.sc.names[s.Name] = &value{ref: s.Name, class: true}
		return
	}
	if j := s.Value; j != nil && j.Form == code.Join && len(j.Args) > 1 && j.Args[0].Form == code.Name && j.Args[0].Text == s.Name {
		v = e.appended(j)
	} else {
		v = e.value(s.Value)
	}
	e.set(s.Name, v)
}

// appended returns a join with what a loop adds to a text: each item of what is gone through, one after the other.
func (e *engine) appended(j *code.Value) *value {
	if e.spend(0) {
		return &value{}
	}
	parts := make([]*value, len(j.Args))
	for i := range j.Args {
		parts[i] = e.value(&j.Args[i])
		if parts[i].each {
			whole := *parts[i]
			whole.each = false
			parts[i] = &whole
		}
	}
	if parts[0].list {
		out := &value{list: true, items: slices.Concat(parts[0].items, parts[1].items), from: unknown(parts...).from}
		e.charge(out)
		return out
	}
	out := joined(parts)
	e.charge(out)
	if turns := parts[1].texts; e.unit.Language == Shell && len(turns) > 1 { // of a loop, the last one first
		turns = append(slices.Clone(turns), strings.ReplaceAll(parts[0].first(), hole, ""))
		slices.Reverse(turns)
		if t := strings.Join(turns, ""); len(out.texts) < maxTexts && len(t) < maxText && !e.spend(len(t)) {
			out.texts = append(out.texts, t)
		}
	}
	return out
}

// set gives a name a value, beside those that it may have.
func (e *engine) set(name string, v *value) {
	if v == nil || name == "" {
		return
	}
	if first, rest, ok := strings.Cut(name, "."); ok && (first == "self" || first == "this" || first == "cls") {
		e.top.names["."+rest] = either(e.top.names["."+rest], v)
		return
	}
	if class, last, ok := cutLast(name); ok {
		if c := e.lookup(class); c != nil && c.class {
			e.top.names["."+last] = either(e.top.names["."+last], v)
		}
	}
	for s := e.sc; s != nil; s = s.parent {
		if _, there := s.names[name]; there || s == e.sc {
			s.names[name] = either(s.names[name], v)
		}
	}
	if e.unit.Language == Shell && slices.Contains(startedBy, name) && strings.Contains(v.first(), " ") {
		e.codeIn(Shell, []*value{v})
	}
	if e.unit.Language == Shell && e.top.names[name] == nil && !isDigits(name) {
		e.top.names[name] = v
	}
}

// startedBy are variables whose commands a shell or git starts.
var startedBy = strings.Fields("PROMPT_COMMAND BASH_ENV ENV GIT_SSH_COMMAND GIT_PAGER GIT_EXTERNAL_DIFF GIT_EDITOR PAGER LESSOPEN EDITOR VISUAL")

func (e *engine) imports(s *code.Statement) {
	module := strings.TrimPrefix(s.Module, "node:")
	if mod := e.find(s.Module); mod != nil {
		e.importOwn(s, mod)
		return
	}
	if s.Member != "" && s.Member != "*" && strings.HasPrefix(s.Module, ".") { // from . import x
		if mod := e.find(strings.TrimSuffix(s.Module, ".") + "." + s.Member); mod != nil && e.unit.Language == Python {
			e.sc.names[s.Name] = &value{mod: mod}
			return
		}
	}
	if strings.HasPrefix(module, "data:") {
		e.load1([]*value{text(module)})
		return
	}
	e.importMade(module)
	e.emit(fact.Fact{Kind: fact.Imports, Object: fact.Module, Name: module, Detail: strings.TrimPrefix(s.Member, "*")})
	ref := module
	switch {
	case s.Member == "*" && s.Name == "":
		e.top.stars = append(e.top.stars, module)
		return
	case s.Member != "" && s.Member != "*" && s.Member != "default":
		ref = module + "." + s.Member
	case e.unit.Language == Python && s.Name == s.Module:
		ref, _, _ = strings.Cut(module, ".")
		s = &code.Statement{Name: ref}
	}
	e.sc.names[s.Name] = &value{ref: ref}
}

func (e *engine) importOwn(s *code.Statement, mod *scope) {
	switch s.Member {
	case "", "default":
		if v := mod.export("module.exports"); v != nil {
			e.sc.names[s.Name] = v
			return
		}
		e.sc.names[s.Name] = &value{mod: mod, fn: functionOf(mod.names["default"])}
	case "*":
		for name, v := range mod.names {
			if s.Name == "" && !strings.HasPrefix(name, ".") {
				e.sc.names[name] = v
				e.adopt(mod, v)
			}
		}
		if s.Name != "" {
			e.sc.names[s.Name] = &value{mod: mod}
		}
	default:
		if v := mod.export(s.Member); v != nil {
			e.sc.names[s.Name] = v
			e.adopt(mod, v)
		} else {
			e.sc.names[s.Name] = &value{}
		}
	}
}

// adopt makes the methods of a class of another program known here.
func (e *engine) adopt(mod *scope, v *value) {
	if !v.class || mod == e.top || e.top.names[v.ref+"."] != nil {
		return
	}
	e.top.names[v.ref+"."] = v
	for name, f := range mod.names {
		if method, ok := strings.CutPrefix(name, v.ref+"."); ok && f.fn != nil && method != "" {
			e.top.names[name] = f
			e.top.methods[method] = append(e.top.methods[method], f.fn)
		}
	}
}

func functionOf(v *value) *function {
	if v == nil {
		return nil
	}
	return v.fn
}

// export returns what a module of the skill has by a name.
func (s *scope) export(name string) *value {
	if v := s.names["exports."+name]; v != nil {
		return v
	}
	if all := s.names["module.exports"]; all != nil && name != "module.exports" {
		if v := all.item(name); v != nil {
			return v
		}
	}
	if v := s.names["module.exports."+name]; v != nil {
		return v
	}
	return s.names[name]
}

// value follows an expression.
func (e *engine) value(v *code.Value) *value {
	if v == nil {
		return &value{}
	}
	if e.steps++; e.steps%1024 == 0 && e.o.Stop != nil && e.o.Stop() {
		e.steps = maxSteps
	}
	if e.steps > maxSteps || e.work > maxWork {
		e.tooMuch()
		return &value{}
	}
	if v.Line > 0 {
		e.line = v.Line
	}
	out := e.form(v)
	if v.Form != code.Name && v.Form != code.Text {
		e.charge(out)
	}
	return out
}

// charge counts the texts and items of a new value.
func (e *engine) charge(v *value) {
	for _, t := range v.texts {
		e.spend(len(t))
	}
	e.spend(len(v.items))
}

// form follows an expression by its form.
func (e *engine) form(v *code.Value) *value {
	switch v.Form {
	case code.Text:
		return text(v.Text)
	case code.Number:
		return &value{texts: []string{v.Text}, number: true}
	case code.Name:
		return e.name(v.Text)
	case code.Member:
		return e.member(e.arg(v, 0), v.Text)
	case code.Index:
		return e.index(v)
	case code.Join:
		return joined(e.args(v.Args))
	case code.Call:
		return e.call(v)
	case code.List:
		return &value{list: true, items: e.args(v.Args)}
	case code.Map:
		return e.object(v)
	case code.Func:
		fn := &function{st: &code.Statement{}, params: v.Params, body: v.Body, scope: e.sc, unit: e.unit, i: e.i, top: e.top}
		e.top.funcs = append(e.top.funcs, fn)
		return &value{fn: fn}
	}
	return e.other(v)
}

func (e *engine) arg(v *code.Value, i int) *value {
	if i >= len(v.Args) {
		return &value{}
	}
	return e.value(&v.Args[i])
}

func (e *engine) args(list []code.Value) []*value {
	out := make([]*value, len(list))
	for i := range list {
		out[i] = e.value(&list[i])
	}
	return out
}

func (e *engine) object(v *code.Value) *value {
	out := &value{list: true, items: e.args(v.Args), keys: v.Keys}
	if out.keys == nil {
		out.keys = make([]string, len(out.items))
	}
	for i, key := range out.keys { // {...other}
		if i < len(out.items) && e.env(out.items[i].ref) {
			out.items[i] = e.variable("*")
		}
		if (key == "**" || key == "...") && i < len(out.items) && out.items[i].keys != nil {
			out.items = slices.Concat(out.items, out.items[i].items)
			out.keys = slices.Concat(out.keys, out.items[i].keys)
		}
	}
	return out
}

// name returns what a dotted name stands for.
func (e *engine) name(name string) *value {
	if e.unit.Language == Shell {
		return e.shellVariable(name)
	}
	for end := len(name); end > 0; end = max(strings.LastIndexByte(name[:end], '.'), 0) {
		v := e.lookup(name[:end])
		if v == nil {
			continue
		}
		if end < len(name) {
			for part := range strings.SplitSeq(name[end+1:], ".") {
				v = e.member(v, part)
			}
		}
		return v
	}
	first, rest, dotted := strings.Cut(name, ".")
	switch first {
	case "self", "this", "cls":
		v := &value{ref: first}
		for part := range strings.SplitSeq(rest, ".") {
			if dotted {
				v = e.member(v, part)
			}
		}
		return v
	case "globalThis", "window", "builtins", "__builtins__", "global":
		if dotted && rest != "__dict__" {
			return e.name(rest)
		}
		return &value{ref: "names"}
	}
	for _, module := range e.top.stars {
		if full := module + "." + name; e.rows[full] != nil {
			return &value{ref: full}
		}
	}
	v := &value{ref: first}
	for part := range strings.SplitSeq(rest, ".") {
		if dotted {
			v = e.member(v, part)
		}
	}
	return v
}

func (e *engine) lookup(name string) *value {
	for s := e.sc; s != nil; s = s.parent {
		if v := s.names[name]; v != nil {
			return v
		}
	}
	return nil
}

// env reports whether something is the environment.
func (e *engine) env(ref string) bool {
	r := e.rows[ref]
	return r != nil && r.has("env")
}

// variable returns the value of an environment variable.
func (e *engine) variable(name string) *value {
	if strings.Contains(name, hole) {
		name = ""
	}
	out := &value{from: e.emit(fact.Fact{Kind: fact.Reads, Object: fact.Variable, Name: name})}
	if name == "HOME" || name == "USERPROFILE" {
		out.texts = []string{"~"}
	}
	return out
}

func (e *engine) shellVariable(name string) *value {
	if v := e.lookup(name); v != nil {
		return v
	}
	if name == "IFS" {
		return text(" ")
	}
	if !variable.IsName(name) || variable.SetByShell(name) {
		return &value{}
	}
	return e.variable(name)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789@*#") == "" }

// member returns a part of a value by its name.
func (e *engine) member(v *value, name string) *value {
	if v.mod != nil {
		if found := v.mod.export(name); found != nil {
			e.adopt(v.mod, found)
			return found
		}
	}
	if item := v.item(name); item != nil {
		return item
	}
	if v.each && v.ref == "" {
		out := &value{list: true, each: true, from: v.from}
		for _, item := range v.items {
			if part := item.item(name); part != nil {
				out.items = append(out.items, part)
			}
		}
		if len(out.items) > 0 {
			return out
		}
	}
	switch {
	case v.ref == "names" || v.ref == "__builtins__" || v.ref == "builtins" || v.ref == "globalThis": // of the program, or of the language
		if name == "__dict__" {
			return v
		}
		return e.name(name)
	case name == "__dict__" && v.ref != "":
		return v
	case v.ref == "sys.modules":
		return &value{ref: name}
	case v.ref == "self" || v.ref == "this" || v.ref == "cls":
		if f := e.top.names["."+name]; f != nil {
			return f
		}
		return &value{ref: "." + name, recv: v, from: v.from}
	case e.env(v.ref):
		if e.rows[v.ref+"."+name] == nil {
			return e.variable(name)
		}
	case v.ref == "":
		return &value{ref: "." + name, recv: v, from: v.sources()}
	}
	if found := e.lookup(v.ref + "." + name); found != nil {
		return found
	}
	return e.stored(&value{ref: v.ref + "." + name, recv: v, from: v.sources()})
}

// stored adds a fact for what is read by its name alone, such as the standard input, and the text of what is known by it.
func (e *engine) stored(v *value) *value {
	if r := e.rows[v.ref]; r != nil {
		for _, f := range r.effects {
			switch f.verb {
			case "is":
				v.from = union(v.from, e.emit(fact.Fact{Kind: fact.Reads, Object: fact.Store, Name: f.kind}))
			case "word":
				v.texts = []string{f.kind}
			}
		}
	}
	return v
}
