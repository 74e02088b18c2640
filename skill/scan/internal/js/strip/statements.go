package strip

// statement goes over a statement.
func (p *parser) statement() {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch {
	case p.at("{") && !p.ambient:
		p.block()
	case p.accept(";"):
	case p.o.Types && p.tok.kind == name && p.typeStatement():
	case p.at("var"), p.at("const"), p.at("let") && p.declares(), p.at("using") && p.sameLine() && p.declares(), p.at("await") && p.using():
		p.declaration(0)
		p.semicolon()
	case p.at("function"), p.at("async") && p.startsFunction():
		p.functionStatement(len(p.edits), p.tok.start)
	case p.at("class"), p.at("@"):
		p.classStatement()
	case p.at("import"):
		p.importStatement()
	case p.at("export"):
		p.exportStatement()
	case p.ambient: // declare type = run() declares nothing
		p.fail()
	default:
		p.control()
	}
}

// declares reports whether let or using begins a declaration.
func (p *parser) declares() bool {
	next := p.peek()
	return next.kind == name && !reserved(next.text) && next.text != "of" || next.text == "[" || next.text == "{"
}

// using reports whether await using declares something.
func (p *parser) using() bool {
	return p.ahead(func() bool { p.next(); return p.at("using") && p.sameLine() && p.declares() })
}

func (p *parser) startsFunction() bool {
	next := p.peek()
	return next.text == "function" && !next.newline
}

func (p *parser) block() {
	p.all(p.statement)
}

// declaration goes over var x: T = y. What is used and closed becomes a constant.
func (p *parser) declaration(m mode) {
	start := p.tok.start
	if p.at("await") {
		p.next()
	}
	using := p.at("using")
	p.next()
	if using {
		p.edit(start, p.prev, "const", "")
	}
	for p.err == nil {
		switch {
		case (p.at("{") || p.at("[")) && p.exporting && p.exported != nil:
			p.fail() // its names would have to be known
		case p.at("{"):
			p.object()
		case p.at("["):
			p.array()
		case p.named():
			p.export(p.tok.text)
			p.next()
		default:
			p.fail()
		}
		if !p.tok.newline {
			p.drop("!")
		}
		p.annotation()
		p.value(m)
		if !p.accept(",") {
			return
		}
	}
}

// functionStatement goes over a function. One without a body is left out.
func (p *parser) functionStatement(mark, start int) {
	async := p.accept("async")
	if next := p.peek(); next.kind == name {
		p.export(next.text)
	}
	if !p.function(async) {
		p.semicolon()
		if !p.o.Types {
			p.fail()
		}
		p.erase(mark, start, ";")
	}
}

// classStatement goes over a class with its decorators.
func (p *parser) classStatement() {
	p.decorated(";", ";", ";")
	switch {
	case p.at("export"):
		p.exportStatement()
	case p.o.Types && p.at("abstract"):
		p.typeStatement()
	default:
		if next := p.peek(); next.kind == name {
			p.export(next.text)
		}
		p.class()
	}
}

// control goes over a statement that is no declaration.
func (p *parser) control() {
	switch p.tok.text {
	case "if":
		for { // a long chain of them is no deep nesting
			p.next()
			p.head()
			if p.statement(); !p.accept("else") {
				return
			}
			if !p.at("if") {
				p.statement()
				return
			}
		}
	case "while", "with":
		p.next()
		p.head()
		p.statement()
	case "for":
		p.loop()
	case "do":
		p.next()
		p.statement()
		p.expect("while")
		p.head()
		p.accept(";")
	case "switch":
		p.choice()
	case "try":
		p.attempt()
	case "return", "throw", "break", "continue", "debugger":
		p.next()
		if !p.at(";") && !p.at("}") && p.tok.kind != eof && !p.tok.newline {
			p.expression(0)
		}
		p.semicolon()
	default:
		if p.tok.kind == name && p.peek().text == ":" {
			p.next()
			p.next()
			p.statement()
			return
		}
		p.expression(0)
		p.semicolon()
	}
}

func (p *parser) head() {
	p.expect("(")
	p.expression(0)
	p.expect(")")
}

func (p *parser) loop() {
	p.next()
	p.accept("await")
	p.expect("(")
	switch {
	case p.at(";"):
	case p.at("var"), p.at("const"), p.at("let") && p.declares(), p.at("using") && p.declares(), p.at("await") && p.using():
		p.declaration(noIn)
	default:
		p.expression(noIn)
	}
	if p.accept("of") || p.accept("in") {
		p.expression(0)
	} else {
		for range 2 {
			p.expect(";")
			if !p.at(";") && !p.at(")") {
				p.expression(0)
			}
		}
	}
	p.expect(")")
	p.statement()
}

func (p *parser) choice() {
	p.next()
	p.head()
	p.all(func() {
		switch {
		case p.accept("default"):
			p.expect(":")
		case p.accept("case"):
			p.expression(0)
			p.expect(":")
		default:
			p.statement()
		}
	})
}

func (p *parser) attempt() {
	p.next()
	p.block()
	if p.accept("catch") {
		if p.accept("(") {
			if p.at("{") {
				p.object()
			} else if p.at("[") {
				p.array()
			} else {
				p.next()
			}
			p.annotation()
			p.expect(")")
		}
		p.block()
	}
	if p.accept("finally") {
		p.block()
	}
}
