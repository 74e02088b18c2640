package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// arguments are what a call is given.
type arguments struct {
	self  *value
	args  []*value // also those with keys
	keys  []string // of args, "" for one without; nil if no one has a key
	input *value
	opts  map[string][]*value // of a program
}

// get returns the first argument that one of the places means.
func (a *arguments) get(at []where) (found []*value) {
	for _, w := range at {
		switch {
		case w.name == "self":
			found = append(found, a.self)
		case w.name == "in":
			found = append(found, a.input)
		case w.name == "*":
			found = append(found, a.plain()...)
		case strings.HasPrefix(w.name, "-"):
			found = append(found, a.opts[w.name]...)
			continue
		case w.name == "last":
			if p := a.plain(); len(p) > 0 {
				found = append(found, p[len(p)-1])
			}
		case w.name != "":
			found = append(found, a.key(w.name))
		case w.position < len(a.plain()):
			p := a.plain()
			if !w.rest {
				p = p[:w.position+1]
			}
			found = append(found, p[w.position:]...)
		}
		found = slices.DeleteFunc(found, func(v *value) bool { return v == nil })
		if len(found) > 0 && !w.rest && w.name != "*" {
			return found
		}
	}
	return found
}

// key returns the argument of a keyword, nil for none.
func (a *arguments) key(name string) *value {
	if i := slices.Index(a.keys, name); i >= 0 && i < len(a.args) {
		return a.args[i]
	}
	return nil
}

// plain returns the arguments without keys.
func (a *arguments) plain() []*value {
	if a.keys == nil {
		return a.args
	}
	for i, k := range a.keys {
		if k != "" {
			return a.args[:min(i, len(a.args))]
		}
	}
	return a.args
}

// everything returns all that a call is given.
func (a *arguments) everything() []*value {
	out := append(slices.Clone(a.args), a.self, a.input)
	for _, list := range a.opts {
		out = append(out, list...)
	}
	return out
}

func (e *engine) call(c *code.Value) *value {
	a := &arguments{keys: c.Keys}
	if c.Input != nil {
		a.input = e.value(c.Input)
	}
	line := e.line
	if e.unit.Language == Shell {
		name := &value{}
		switch {
		case c.Func.Form == code.Name:
			name = text(c.Func.Text)
		case c.Func.Form == code.Func:
			return e.follow(e.value(c.Func).fn, a, nil)
		case c.Func.Form == code.Join && len(c.Func.Args) == 1: // a variable
			name = e.value(&c.Func.Args[0])
		default:
			name = e.value(c.Func)
		}
		a.args = e.args(c.Args)
		e.line = max(c.Line, line)
		return e.command(name, a)
	}
	if e.unit.Language == Loose && c.Func.Form == code.Name && len(e.made(c.Func.Text)) > 0 {
		return e.named(c.Func.Text, &value{}, a)
	}
	f := e.value(c.Func)
	if t, ok := f.known(); ok && e.unit.Language == Loose { // of a text
		f = &value{ref: strings.ToLower(t), from: f.from}
	}
	if a.args = e.args(c.Args); a.keys == nil {
		a.args = spreadOut(c.Args, a.args)
	}
	e.line = line
	if c.Line > 0 {
		e.line = c.Line
	}
	out := e.invoke(f, a)
	if c.Func.Form == code.Name {
		e.mutate(c.Func.Text, a, out)
	}
	return out
}

// spreadOut returns arguments with the items of f(*list) and f(...list) in their places.
func spreadOut(written []code.Value, args []*value) (out []*value) {
	for i, v := range args {
		if w := &written[i]; w.Form == code.Other && w.Text == "*" && v.list && !v.each && v.keys == nil && len(v.items) <= maxItems {
			out = append(out, v.items...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// mutate changes what a method belongs to: the list or map that it puts something into, and what it connects to a host.
func (e *engine) mutate(name string, a *arguments, out *value) {
	of, method, ok := cutLast(name)
	if !ok {
		return
	}
	v := e.lookup(of)
	if self, _, _ := strings.Cut(of, "."); v == nil && (self == "self" || self == "this") {
		v = e.name(of)
	}
	switch {
	case v == nil || v.fn != nil || v.mod != nil || len(v.texts) > 0:
	case slices.Contains(mutators, method) && (v.list || e.nameless(v) || strings.HasPrefix(v.ref, ".")):
		put := a.args
		if method == "insert" || method == "setdefault" || method == "update" {
			put = put[max(0, len(put)-1):]
		}
		for _, item := range put {
			v = changed([]*value{v, {}, item})
			e.set(of, v)
		}
	case strings.HasSuffix(v.ref, "()"):
		if r := e.rows[v.ref+"."+method]; r != nil && (r.has("send") || r.has("netsend") || r.has("listen")) {
			connected := *v
			connected.from = union(v.from, out.from)
			e.set(of, &connected)
			e.callbacks(a, out)
		}
	}
}

// sendMore says that more is sent over the connections that a value is made from.
func (e *engine) sendMore(v *value, from []int) {
	for _, i := range v.from {
		if e.facts[i].Kind == fact.Listens && e.has(fact.Runs, from) {
			e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, Detail: "to whoever connects", From: from})
		}
		if e.facts[i].Kind == fact.Sends {
			e.facts[i].From = slices.DeleteFunc(slices.Clone(union(e.facts[i].From, from)), func(n int) bool { return n == i })
		}
	}
}

// has reports whether one of some facts is of a kind.
func (e *engine) has(kind fact.Kind, facts []int) bool {
	return slices.ContainsFunc(facts, func(i int) bool { return e.facts[i].Kind == kind })
}

// mutators are methods that put something into what they belong to.
var mutators = []string{"append", "push", "add", "extend", "insert", "unshift", "appendleft", "update", "setdefault"}

// invoke calls what a value is.
func (e *engine) invoke(f *value, a *arguments) *value {
	a.self = f.recv
	if len(f.bound) > 0 {
		a.args = slices.Concat(f.bound, a.args)
		if a.keys != nil {
			a.keys = append(make([]string, len(f.bound)), a.keys...)
		}
	}
	for i, v := range a.args {
		if r := e.rows[f.ref]; e.env(v.ref) && (r == nil || !r.has("run") && !r.has("spawn") && !r.has("quiet") || r.has("pass")) {
			a.args[i] = &value{from: union(v.from, e.variable("*").from)}
		}
	}
	if f.fn != nil {
		return e.follow(f.fn, a, nil)
	}
	if r := e.rows[f.ref]; r != nil && !strings.HasPrefix(f.ref, ".") { // a method of the program's own comes first
		return e.perform(r, f, a)
	}
	for _, name := range []string{".__init__", ".constructor"} {
		if class := e.lookup(f.ref + name); class != nil && class.fn != nil && f.ref != "" {
			e.follow(class.fn, a, nil)
			return &value{ref: f.ref, from: unknown(a.everything()...).from}
		}
	}
	_, last, _ := cutLast(f.ref)
	if methods := e.top.methods[last]; len(methods) > 0 && len(methods) <= 4 && f.ref != last && fileOf(f.recv) == nil {
		var out *value
		for _, m := range methods {
			out = either(out, e.follow(m, a, nil))
		}
		return out
	}
	if v := e.method(f, last, a); v != nil {
		return v
	}
	if f.made {
		return f
	}
	if last == "constructor" && e.unit.Language == JavaScript { // of a function
		return e.second(&effect{verb: "codelast"}, f, a, nil, nil)
	}
	if v := e.fold(f, last, a); v != nil {
		return e.revealed(v, a)
	}
	if r := e.rows["."+last]; r != nil && f.ref != last {
		return e.perform(r, f, a)
	}
	return e.foreign(f, a)
}

// foreign calls something that is not known.
func (e *engine) foreign(f *value, a *arguments) *value {
	if e.unit.Language == Loose && IsProgram(f.ref) {
		return e.command(text(f.ref), a)
	}
	if shell := a.key("shell"); shell != nil && shell.ref == "True" && len(a.args) > 0 { // whatever it is called
		return e.started(a.args[:1], a)
	}
	if len(a.args) == 1 && e.unit.Language == JavaScript && strings.TrimPrefix(a.args[0].first(), "node:") == "child_process" { // require by another name
		return e.load1(a.args)
	}
	out := unknown(a.everything()...)
	out.from = union(out.from, f.from)
	e.callbacks(a, out)
	for _, v := range a.args {
		e.stray(v)
	}
	if f.ref != "" && !strings.HasPrefix(f.ref, ".") {
		out.ref = f.ref + "()"
	}
	return out
}

// callbacks calls the functions among the arguments with something that is made from all of them.
func (e *engine) callbacks(a *arguments, made *value) {
	for _, v := range a.args {
		if v.fn != nil && e.called[v.fn.st] < 3 {
			e.follow(v.fn, nil, &value{from: made.from})
		}
	}
}

// stray notes an address in a value whose use cannot be followed.
func (e *engine) stray(v *value) { e.strayIn(v, map[*value]bool{}) }

// strayIn is stray without the lists that were seen.
func (e *engine) strayIn(v *value, seen map[*value]bool) {
	if seen[v] {
		return
	}
	seen[v] = true
	for _, t := range v.all() {
		if host, ok := addressed(t); ok && !hostname.Identifies(host) {
			e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: t, From: v.from, Maybe: true})
		}
	}
	for _, item := range v.items {
		if item.list {
			e.strayIn(item, seen)
		}
	}
}

// follow runs a function of the program. Parameters without an argument are filler, nil for nothing known.
func (e *engine) follow(fn *function, a *arguments, filler *value) *value {
	if a == nil {
		a = &arguments{}
	}
	if fn.active || e.deep >= maxCalls || e.called[fn.st] >= maxEach && fn.cached != nil {
		out := unknown(a.everything()...)
		if fn.cached != nil {
			out = either(out, fn.cached)
		}
		return out
	}
	if fn.st != nil {
		e.called[fn.st]++
	}
	before := *e
	var out []*value
	e.sc, e.ret = newScope(fn.scope), &out
	if fn.i != e.i { // of another program
		e.unit, e.i, e.top = fn.unit, fn.i, fn.top
	}
	fn.active = true
	e.deep++
	e.bind(fn, a, filler)
	e.statements(fn.body)
	e.deep--
	fn.active = false
	e.restore(&before)
	var v *value
	for _, o := range out {
		v = either(v, o)
	}
	if v == nil {
		v = &value{}
	}
	fn.cached = either(fn.cached, v)
	return v
}

// bind gives the parameters of a function their values.
func (e *engine) bind(fn *function, a *arguments, filler *value) {
	names := e.sc.names
	if e.unit.Language == Shell {
		for i, v := range a.args {
			names[strconv.Itoa(i+1)] = v
		}
		if len(a.args) > 0 {
			names["@"] = &value{list: true, items: a.args}
			names["*"] = names["@"]
		}
		if a.input != nil {
			names["|"] = a.input
		}
		return
	}
	params := fn.params
	if fn.method && len(params) > 0 && (params[0] == "self" || params[0] == "cls") {
		params = params[1:]
	}
	for i, p := range params {
		bare := strings.TrimLeft(p, "*.")
		var v *value
		switch k := slices.Index(a.keys, bare); {
		case bare != p:
			rest := &value{list: true}
			if plain := a.plain(); i < len(plain) && !strings.HasPrefix(p, "**") {
				rest.items = plain[i:]
			}
			rest.from = unknown(rest.items...).from
			v = rest
		case k >= 0 && k < len(a.args):
			v = a.args[k]
		case i < len(a.plain()):
			v = a.args[i]
		case filler != nil:
			v = filler
		default:
			continue
		}
		names[p], names[bare] = v, v
	}
}
