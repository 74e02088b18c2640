package strip

import "strings"

// mode says where an expression stands.
type mode uint8

const (
	noIn   mode = 1 << iota // in the head of a loop: "in" ends it
	branch                  // between ? and :
	dotted                  // of a decorator: [ ends it
)

func (p *parser) expression(m mode) {
	for p.assign(m); p.accept(","); {
		p.assign(m)
	}
}

// assign goes over an expression without commas. What binds tighter does not matter here.
func (p *parser) assign(m mode) {
	if !p.enter() {
		return
	}
	defer p.leave()
	for !p.operand(m) && p.more(m) {
	}
}

// more goes over what joins two operands, and reports whether there is another one.
func (p *parser) more(m mode) bool {
	for p.err == nil {
		p.operator()
		switch {
		case p.o.Types && (p.at("as") || p.at("satisfies")) && !p.tok.newline:
			p.without(func() {
				if p.next(); !p.accept("const") {
					p.typed()
				}
			})
			if p.tok.newline && (p.at("(") || p.at("[") || p.tok.kind == template) {
				p.insert(p.prev, ";")
			}
		case p.at("?"):
			switch p.peek().text {
			case ":", ",", ")", "=": // of a parameter that may be missing
				return false
			}
			p.next()
			p.assign(branch)
			p.expect(":")
			return true
		case p.tok.kind == mark && isOperator(p.tok.text), p.at("instanceof"), p.at("in") && m&noIn == 0:
			p.next()
			return true
		default:
			return false
		}
	}
	return false
}

func isOperator(s string) bool {
	switch s {
	case "=", "|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "||", "&&", "??", "==", "!=", "===", "!==", "<=", ">=", "<<", ">>", ">>>", "**":
		return true
	case "=>", "!", "~":
		return false
	}
	return len(s) > 1 && s[len(s)-1] == '='
}

// operand goes over an operand with the operators before and behind it. It reports whether it ends the expression, as the body of an
// arrow function does.
func (p *parser) operand(m mode) (ends bool) {
	var wraps int
	for p.err == nil {
		switch {
		case p.at("!"), p.at("~"), p.at("+"), p.at("-"), p.at("++"), p.at("--"), p.at("typeof"), p.at("void"), p.at("delete"):
			p.next()
			continue
		case p.at("await") && p.awaits():
			p.next()
			continue
		case p.at("yield") && p.generator:
			p.next()
			if p.accept("*") || !p.tok.newline && p.begins() {
				p.assign(m)
			}
			ends = true
		case p.o.Types && p.angle() && (!p.o.JSX || p.generic()):
			if p.assertion() {
				wraps++
			}
			continue
		default:
			ends = p.chain(m)
			if !ends && !p.tok.newline && (p.at("++") || p.at("--")) {
				p.next()
			}
		}
		break
	}
	if wraps > 0 {
		p.insert(p.prev, strings.Repeat(")", wraps))
	}
	return ends
}

// awaits reports whether await is an operator.
func (p *parser) awaits() bool {
	return p.ahead(func() bool {
		p.next()
		return p.begins() && (p.async || p.tok.kind != mark && p.tok.kind != template && !p.tok.newline)
	})
}

// begins reports whether tok begins an expression, where one may also end.
func (p *parser) begins() bool {
	switch p.tok.text {
	case "in", "instanceof", "of", "as", "satisfies":
		return false
	case "(", "[", "{", "!", "~", "+", "-", "++", "--", "/", "/=", "<", "@":
		return true
	}
	return p.tok.kind != mark && p.tok.kind != eof
}

// assertion leaves out <T> before an operand or an arrow function. It reports whether it opened a bracket, since a line that ends in the
// types would end a statement.
func (p *parser) assertion() bool {
	start := p.tok.start
	if !p.try(func() bool { p.typeParameters(); return p.at("(") }) {
		p.angle()
		p.next()
		if !p.accept("const") {
			p.typed()
		}
		p.expect(">")
	}
	if strings.ContainsFunc(p.src[start:p.tok.start], isLineEnd) {
		p.edit(start, p.prev, "(", "")
		return true
	}
	p.blank(start)
	return false
}

// generic reports whether < begins the types of an arrow function, where it may also begin an element.
func (p *parser) generic() bool {
	return p.ahead(func() bool {
		p.next()
		p.accept("const")
		if !p.named() {
			return false
		}
		p.next()
		return p.at(",") || p.at("=") || p.at("extends") && !strings.Contains("=>/", p.peekText())
	})
}

// chain goes over a value with its members and calls.
func (p *parser) chain(m mode) (ends bool) {
	for p.at("new") && p.peek().text != "." {
		p.next()
	}
	if p.primary(m) {
		return true
	}
	for p.err == nil {
		switch {
		case p.accept("."), p.at("?.") && p.optional():
			if p.tok.kind != name && p.tok.kind != private {
				p.fail()
			}
			p.next()
		case p.at("?."):
			p.next()
		case p.at("[") && m&dotted == 0:
			p.next()
			p.expression(0)
			p.expect("]")
		case p.at("("):
			if p.list(false).typed {
				p.fail()
			}
		case p.tok.kind == template:
			p.template(func() { p.expression(0) })
		case !p.tok.newline && p.drop("!"):
		case p.o.Types && (p.at("<") || p.at("<<")):
			start := p.tok.start
			if !p.try(func() bool { p.angle(); p.typeArguments(); return p.followsArguments() }) {
				return false
			}
			p.blank(start)
		default:
			return false
		}
	}
	return false
}

// optional goes over ?. before a name.
func (p *parser) optional() bool {
	if next := p.peek(); next.kind != name && next.kind != private {
		return false
	}
	p.next()
	return true
}

// followsArguments reports whether tok may stand behind types, since a < b > c has none.
func (p *parser) followsArguments() bool {
	if rest := p.src[p.prev:]; rest != "" && (rest[0] == '>' || rest[0] == '=') { // it was >>, >= or the like
		return false
	}
	return p.at("(") || p.at("/") || p.tok.kind == template || p.tok.newline || !p.begins()
}

// primary goes over a value. It reports whether it is an arrow function, which nothing follows.
func (p *parser) primary(m mode) (arrow bool) {
	if !p.enter() {
		return false
	}
	defer p.leave()
	switch {
	case p.tok.kind == quoted || p.tok.kind == number || p.tok.kind == private || p.at("super"):
		p.next()
	case p.tok.kind == template:
		p.template(func() { p.expression(0) })
	case p.at("("):
		return p.brackets(m, false)
	case p.at("["):
		p.array()
	case p.at("{"):
		p.object()
	case p.at("/"), p.at("/="):
		p.pattern()
	case p.at("function"):
		p.function(false)
	case p.at("class"):
		p.class()
	case p.at("@"):
		p.decorated("(", "", ",")
		p.class()
		p.insert(p.prev, ")")
	case p.at("import"), p.at("new"):
		p.next()
		if p.accept(".") {
			p.next()
		} else if !p.at("(") {
			p.fail()
		}
	case p.at("<") && p.o.JSX:
		p.element()
	case p.at("async"):
		return p.asynchronous(m)
	case p.named():
		member := p.members[p.tok.text]
		at := p.tok.start
		p.next()
		if p.at("=>") && !p.tok.newline {
			p.arrow(m, false)
			return true
		}
		if member {
			p.insert(at, p.member+".")
		}
	default:
		p.fail()
	}
	return false
}

// asynchronous goes over a function after async, or a variable of this name.
func (p *parser) asynchronous(m mode) (arrow bool) {
	start := p.tok.start
	next := p.peek()
	switch {
	case next.newline:
		p.next()
	case next.text == "function":
		p.next()
		p.function(true)
	case next.text == "(":
		p.next()
		return p.brackets(m, true)
	case next.text == "<" && p.o.Types:
		p.next()
		from := p.tok.start
		if !p.try(func() bool { p.typeParameters(); return p.at("(") }) {
			return false
		}
		wrap := strings.ContainsFunc(p.src[start:p.tok.start], isLineEnd)
		if wrap {
			p.edit(start, p.prev, "(", "async")
		} else {
			p.blank(from)
		}
		arrow = p.brackets(m, true)
		if wrap {
			p.insert(p.prev, ")")
		}
	case next.kind == name && !reserved(next.text):
		p.next()
		if after := p.peek(); after.text == "=>" && !after.newline {
			p.next()
			p.arrow(m, true)
			return true
		}
	default:
		p.next()
		if p.at("=>") && !p.tok.newline {
			p.arrow(m, false)
			return true
		}
	}
	return arrow
}

// arrow goes over => and the body of a function.
func (p *parser) arrow(m mode, async bool) {
	p.expect("=>")
	in := p.enterFunction(async, false)
	if p.at("{") {
		p.block()
	} else {
		p.assign(m)
	}
	p.leaveFunction(in)
}

// brackets goes over a value in brackets, or an arrow function: what it is shows behind the brackets.
func (p *parser) brackets(m mode, async bool) (arrow bool) {
	l := p.list(false)
	closing := p.prev - 1
	if p.at("=>") && !p.tok.newline {
		p.arrow(m, async)
		return true
	}
	if colon := p.tok.start; p.at(":") && p.o.Types && l.parameters && !p.refused[colon] {
		before := p.state
		is := p.try(func() bool {
			p.next()
			p.result(true)
			return p.at("=>") && !p.tok.newline
		})
		if !is {
			p.refused[colon] = true
		} else {
			p.edit(closing, p.tok.start, " ", ")") // a line may not end before =>
			p.arrow(m, async)
			if m&branch == 0 || p.at(":") || p.err != nil && !p.err.Fault {
				return true
			}
			p.state = before
		}
	}
	if l.typed {
		p.fail()
	}
	return false
}

func (p *parser) array() {
	p.each("[", "]", func() {
		if p.accept("..."); !p.at(",") {
			p.assign(0)
		}
	})
}

func (p *parser) object() {
	p.each("{", "}", func() {
		if p.accept("...") {
			p.assign(0)
		} else {
			p.property()
		}
	})
}

func (p *parser) property() {
	async := false
	for p.at("async") || p.at("get") || p.at("set") {
		next := p.peek()
		if next.kind == mark && next.text != "[" && next.text != "*" || next.kind == eof {
			break
		}
		async = async || p.at("async")
		p.next()
	}
	generator := p.accept("*")
	p.key()
	switch {
	case p.at("("), p.at("<"):
		p.routine(async, generator)
	case p.accept(":"), p.accept("="):
		p.assign(0)
	}
}

// key goes over the name of a property.
func (p *parser) key() {
	switch {
	case p.ambient && p.accept("["):
		p.index()
	case p.accept("["):
		p.expression(0)
		p.expect("]")
	case p.tok.kind == name || p.tok.kind == quoted || p.tok.kind == number || p.tok.kind == private:
		p.next()
	default:
		p.fail()
	}
}
