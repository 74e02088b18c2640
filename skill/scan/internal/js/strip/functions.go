package strip

import "strings"

// within is where await and yield are read as they are in the function around.
type within struct {
	async, generator bool
	members          map[string]bool
	exported         *[]string
	exporting        bool
}

func (p *parser) enterFunction(async, generator bool) within {
	in := within{p.async, p.generator, p.members, p.exported, p.exporting}
	p.async, p.generator, p.members, p.exported, p.exporting = async, generator, nil, nil, false
	return in
}

func (p *parser) leaveFunction(in within) {
	p.async, p.generator, p.members, p.exported, p.exporting = in.async, in.generator, in.members, in.exported, in.exporting
}

// function goes over a function from its keyword on, and reports whether it has a body.
func (p *parser) function(async bool) bool {
	p.expect("function")
	generator := p.accept("*")
	if p.tok.kind == name {
		p.next()
	}
	return p.routine(async, generator)
}

// routine goes over parameters, the type of the result and the body, and reports whether there is a body.
func (p *parser) routine(async, generator bool) bool {
	if p.at("<") {
		p.without(p.typeParameters)
	}
	in := p.enterFunction(async, generator)
	defer p.leaveFunction(in)
	l := p.list(true)
	if p.o.Types && p.at(":") {
		p.without(func() { p.next(); p.result(true) })
	}
	if !p.at("{") {
		return false
	}
	if p.ambient {
		p.fail()
	}
	for _, property := range l.properties {
		p.insert(p.tok.end, "this."+property+"="+property+";")
	}
	p.block()
	return true
}

// listed is what stood in brackets.
type listed struct {
	parameters bool     // they may be parameters
	typed      bool     // they cannot be values
	properties []string // parameters that are also properties
}

// list goes over the parameters or the arguments of a function, or a value in brackets. Only a declaration has modifiers.
func (p *parser) list(declared bool) (l listed) {
	l.parameters = true
	p.each("(", ")", func() {
		if start := p.tok.start; p.o.Types && p.at("this") && p.peek().text == ":" {
			p.next()
			p.next()
			p.typed()
			p.dropComma(start)
			l.typed = true
			return
		}
		p.parameter(declared, &l)
	})
	return l
}

// parameter goes over one of them. A decorator of a parameter becomes a part of what the parameter is if nothing is given.
func (p *parser) parameter(declared bool, l *listed) {
	at := len(p.edits)
	decorator := declared && p.at("@")
	if decorator {
		p.decorated("=(", "", ",")
	}
	property := false
	for declared && p.o.Types && p.modifier() {
		p.without(p.next)
		property = true
	}
	first := p.tok
	if p.accept("...") {
		first = p.tok
	} else if first.kind != name && first.text != "{" && first.text != "[" || first.kind == name && !strings.Contains(",)=:?", p.peekText()) {
		l.parameters = false
	}
	if (decorator || property) && !p.named() {
		p.fail()
	}
	if property {
		l.properties = append(l.properties, first.text)
	}
	if decorator && p.err == nil {
		p.edits[at].before = first.text + p.edits[at].before
		p.without(p.next)
	} else {
		p.assign(0)
	}
	l.typed = p.drop("?") || l.typed
	l.typed = p.annotation() || l.typed
	if start := p.tok.start; p.accept("=") {
		if decorator {
			p.blank(start)
		}
		p.assign(0)
	} else if decorator {
		p.insert(p.prev, "void 0")
	}
	if decorator {
		p.insert(p.prev, ")")
	}
}

// modifier reports whether tok says something of the parameter or the member behind it.
func (p *parser) modifier() bool {
	switch p.tok.text {
	case "public", "private", "protected", "readonly", "override", "abstract", "declare", "static", "accessor", "async", "get", "set":
	default:
		return false
	}
	next := p.peek()
	if next.newline && !p.at("static") && !p.at("get") && !p.at("set") {
		return false
	}
	return next.kind != eof && next.kind != mark || next.text == "[" || next.text == "{" || next.text == "*"
}

// decorated goes over decorators. Each becomes a text, its expression and another text; the first begins differently.
func (p *parser) decorated(first, before, after string) {
	if p.ambient && p.at("@") {
		p.fail()
	}
	for p.at("@") {
		start := p.tok.start
		p.next()
		p.edit(start, p.prev, first, "")
		p.chain(dotted)
		p.insert(p.prev, after)
		first = before
	}
}

// class goes over a class, from its keyword on.
func (p *parser) class() {
	p.expect("class")
	if p.named() && !(p.at("implements") && p.o.Types && p.sameLine()) {
		p.next()
	}
	if p.o.Types && p.at("<") {
		p.without(p.typeParameters)
	}
	if p.accept("extends") {
		if p.ambient {
			p.reference()
		} else {
			p.chain(0)
		}
		if p.o.Types && p.angle() {
			p.without(p.typeArguments)
		}
	}
	if p.o.Types && p.at("implements") {
		p.without(func() {
			for p.next(); p.err == nil; {
				if p.reference(); !p.accept(",") {
					return
				}
			}
		})
	}
	in := p.enterFunction(false, false)
	p.all(func() {
		if !p.accept(";") {
			p.classMember()
		}
	})
	p.leaveFunction(in)
}

// classMember goes over a member of a class. What has no body and no value is left out if it only declares.
func (p *parser) classMember() {
	p.decorated("static{", "static{", "}")
	mark, start := len(p.edits), p.tok.start
	if p.at("static") && p.peek().text == "{" {
		if p.ambient {
			p.fail()
		}
		p.next()
		p.block()
		return
	}
	async, bare := p.modifiers()
	generator := p.accept("*")
	if p.o.Types && p.at("[") && p.indexed() {
		p.semicolon()
		p.erase(mark, start, ";")
		return
	}
	computed := p.at("[") && !p.ahead(func() bool { p.next(); p.index(); return p.err == nil })
	p.key()
	if !p.drop("?") && !p.tok.newline {
		p.drop("!")
	}
	if p.at("(") || p.at("<") {
		if p.routine(async, generator) {
			return
		}
		p.semicolon()
		bare = true
	} else {
		p.annotation()
		bare = !p.value(0) && bare
		end := p.prev
		p.semicolon()
		p.insert(end, ";")
	}
	if bare && computed {
		p.fail() // what is computed may run
	}
	if bare {
		if !p.o.Types {
			p.fail()
		}
		p.erase(mark, start, ";")
	}
}

// value goes over = and a value. Where nothing runs, it is one that could be a type.
func (p *parser) value(m mode) bool {
	if !p.accept("=") {
		return false
	}
	if p.ambient {
		p.typed()
	} else {
		p.assign(m)
	}
	return true
}

// modifiers leaves out the modifiers of a member that are types.
func (p *parser) modifiers() (async, bare bool) {
	for p.modifier() {
		switch p.tok.text {
		case "async":
			async = true
			p.next()
		case "static", "get", "set":
			p.next()
		default:
			bare = bare || p.at("abstract") || p.at("declare")
			if !p.o.Types && !p.at("accessor") {
				p.fail()
			}
			p.without(p.next)
		}
	}
	return async, bare
}

// indexed goes over an index signature, if there is one.
func (p *parser) indexed() bool {
	return p.try(func() bool {
		p.next()
		if !p.named() {
			return false
		}
		if p.next(); !p.accept(":") {
			return false
		}
		p.typed()
		p.expect("]")
		if p.accept(":") {
			p.typed()
		}
		return true
	})
}
