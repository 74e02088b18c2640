package strip

import "strings"

// reserved reports whether a name is neither a variable nor a type.
func reserved(s string) bool {
	switch s {
	case "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "export", "extends", "finally", "for",
		"function", "if", "import", "in", "instanceof", "new", "return", "super", "switch", "throw", "try", "typeof", "var", "while", "with":
		return true
	}
	return false
}

// named reports whether tok is a name that may be a variable or a type.
func (p *parser) named() bool { return p.tok.kind == name && !reserved(p.tok.text) }

// sameLine reports whether the next token is a name on the line of tok.
func (p *parser) sameLine() bool {
	next := p.peek()
	return next.kind == name && !next.newline
}

// annotation leaves out a colon and a type, if there are any.
func (p *parser) annotation() bool {
	if !p.o.Types || !p.at(":") {
		return false
	}
	p.without(func() { p.next(); p.typed() })
	return true
}

// typed goes over a type. No type changes the program by itself.
func (p *parser) typed() { p.typeOf(true) }

// typeOf goes over a type, which is a condition only if it may be one.
func (p *parser) typeOf(condition bool) {
	if !p.o.Types {
		p.fail()
	}
	if !p.enter() {
		return
	}
	defer p.leave()
	for p.err == nil {
		if p.at("<") || p.at("new") || p.at("abstract") && p.peek().text == "new" || p.at("(") && p.functionType() {
			p.accept("abstract")
			p.accept("new")
			if p.at("<") {
				p.typeParameters()
			}
			p.signature()
			p.expect("=>")
			p.result(condition)
			return
		}
		p.union(condition)
		if !condition || p.tok.newline || !p.accept("extends") {
			return
		}
		p.typeOf(false)
		p.expect("?")
		p.typed()
		p.expect(":")
	}
}

// result goes over what a function returns: a type or a predicate.
func (p *parser) result(condition bool) {
	if p.at("asserts") && p.sameLine() {
		p.next()
	}
	if p.named() {
		if next := p.peek(); next.text == "is" && !next.newline {
			p.next()
			p.next()
		}
	}
	p.typeOf(condition)
}

// functionType reports whether a bracket begins the parameters of a function.
func (p *parser) functionType() bool {
	return p.ahead(func() bool {
		p.next()
		if p.at(")") {
			p.next()
			return p.at("=>")
		}
		if p.at("...") {
			return true
		}
		p.binding()
		return p.at(":") || p.at(",") || p.at("?") || p.at(")") && p.peek().text == "=>"
	})
}

func (p *parser) peekText() string {
	if t := p.peek().text; t != "" {
		return t
	}
	return "none"
}

// binding goes over the name or the pattern of a parameter of a type.
func (p *parser) binding() {
	switch {
	case p.tok.kind == name:
		p.next()
	case p.at("{") || p.at("["):
		if !p.enter() {
			return
		}
		defer p.leave()
		closing := map[string]string{"{": "}", "[": "]"}[p.tok.text]
		p.each(p.tok.text, closing, func() {
			switch {
			case p.accept("..."), closing == "]" && !p.at(","):
				p.binding()
			case closing == "}" && (p.tok.kind == name || p.tok.kind == quoted || p.tok.kind == number):
				if p.next(); p.accept(":") {
					p.binding()
				}
			case !p.at(","):
				p.fail()
			}
		})
	default:
		p.fail()
	}
}

// signature goes over the parameters of a type.
func (p *parser) signature() {
	p.each("(", ")", func() {
		p.accept("...")
		p.binding()
		p.accept("?")
		if p.accept(":") {
			p.typed()
		}
	})
}

// typeParameters goes over <T extends U = V>.
func (p *parser) typeParameters() {
	if !p.o.Types {
		p.fail()
	}
	p.each("<", ">", func() {
		for (p.at("const") || p.at("in") || p.at("out")) && p.sameLine() {
			p.next()
		}
		if !p.named() {
			p.fail()
		}
		p.next()
		if p.accept("extends") {
			p.typed()
		}
		if p.accept("=") {
			p.typed()
		}
	})
}

// typeArguments goes over <T, U>.
func (p *parser) typeArguments() {
	p.each("<", ">", p.typed)
}

func (p *parser) union(condition bool) {
	for p.err == nil {
		for p.accept("|") || p.accept("&") {
		}
		if p.at("(") && p.functionType() || p.at("<") || p.at("new") { // the rest is what it returns
			p.typed()
			return
		}
		p.unary(condition)
		if !p.at("|") && !p.at("&") {
			return
		}
	}
}

// unary goes over a type with what stands before and behind it.
func (p *parser) unary(condition bool) {
	for p.at("keyof") || p.at("unique") || p.at("readonly") {
		p.next()
	}
	if p.at("infer") {
		p.next()
		p.next()
		p.try(func() bool {
			if !p.accept("extends") {
				return false
			}
			p.typeOf(false)
			return !condition || !p.at("?")
		})
		return
	}
	p.primaryType()
	for p.err == nil && p.at("[") && !p.tok.newline {
		if p.next(); !p.at("]") {
			p.typed()
		}
		p.expect("]")
	}
}

func (p *parser) primaryType() {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch {
	case p.tok.kind == quoted || p.tok.kind == number:
		p.next()
	case p.tok.kind == template:
		p.template(p.typed)
	case p.at("-"):
		if p.next(); p.tok.kind != number {
			p.fail()
		}
		p.next()
	case p.at("("):
		p.next()
		p.typed()
		p.expect(")")
	case p.at("["):
		p.tuple()
	case p.at("{"):
		p.body()
	case p.at("typeof"):
		if p.next(); p.at("import") {
			p.imported()
		} else {
			p.reference()
		}
	case p.at("import"):
		p.imported()
	default:
		p.reference()
	}
}

// reference goes over a name with its members and its arguments.
func (p *parser) reference() {
	if !p.named() {
		p.fail()
	}
	plain := simple(p.tok.text)
	if p.next(); !plain || p.at(".") {
		p.referred()
	}
}

// simple reports whether a name is a type that has no arguments: in a as number < b it is compared.
func simple(s string) bool {
	switch s {
	case "any", "unknown", "string", "number", "bigint", "symbol", "boolean", "undefined", "never", "object", "void", "null", "true", "false", "this":
		return true
	}
	return false
}

func (p *parser) referred() {
	for p.accept(".") {
		if p.tok.kind != name && p.tok.kind != private {
			p.fail()
		}
		p.next()
	}
	if !p.tok.newline && p.angle() {
		p.typeArguments()
	}
}

// imported goes over import("x", {with: {…}}).Y.
func (p *parser) imported() {
	p.next()
	p.expect("(")
	p.typed()
	if p.accept(",") && !p.at(")") {
		p.typed()
		p.accept(",")
	}
	p.expect(")")
	p.referred()
}

func (p *parser) tuple() {
	p.each("[", "]", func() {
		p.accept("...")
		if p.tok.kind == name {
			p.try(func() bool {
				p.next()
				p.accept("?")
				return p.accept(":")
			})
		}
		p.typed()
		p.accept("?")
	})
}

// body goes over the members of an object or an interface.
func (p *parser) body() {
	p.all(func() {
		if p.memberType(); !p.accept(",") {
			p.semicolon()
		}
	})
}

func (p *parser) memberType() {
	for p.at("+") || p.at("-") { // of a mapped type
		p.next()
	}
	for p.at("readonly") || p.at("get") || p.at("set") {
		if next := p.peek(); next.text != "" && next.kind == mark && next.text != "[" {
			break
		}
		p.next()
	}
	if p.at("new") && strings.Contains("(<", p.peekText()) {
		p.next()
	}
	switch {
	case p.at("(") || p.at("<"):
	case p.accept("["):
		p.index()
	case p.tok.kind == name || p.tok.kind == quoted || p.tok.kind == number:
		p.next()
	default:
		p.fail()
	}
	for p.at("+") || p.at("-") {
		p.next()
	}
	p.accept("?")
	if p.at("<") {
		p.typeParameters()
	}
	if p.at("(") {
		p.signature()
	}
	if p.accept(":") {
		p.result(true)
	}
}

// index goes over what stands in brackets: a parameter, what a mapped type goes through, or a name. Nothing else is computed in a type.
func (p *parser) index() {
	if p.tok.kind == quoted || p.tok.kind == number {
		p.next()
		p.expect("]")
		return
	}
	p.reference()
	if p.accept(":") || p.accept("in") {
		p.typed()
	}
	if p.accept("as") {
		p.typed()
	}
	p.expect("]")
}
