package strip

import (
	"strconv"
	"strings"
)

// typeStatement goes over a declaration that only TypeScript has, if there is one.
func (p *parser) typeStatement() bool {
	word := p.tok.text
	if word != "declare" && !declared(word) {
		return false
	}
	next := p.peek()
	mark, start := len(p.edits), p.tok.start
	line := next.kind == name && !next.newline
	switch {
	case word == "enum":
		p.enum(mark, start)
	case word == "const" && next.text == "enum":
		p.next()
		p.enum(mark, start)
	case (word == "interface" || word == "type") && line && !reserved(next.text):
		p.typeDeclaration()
		p.erase(mark, start, ";")
	case (word == "namespace" || word == "module") && line && !reserved(next.text):
		p.namespace(mark, start)
	case word == "abstract" && next.text == "class" && line:
		p.drop("abstract")
		p.classStatement()
	case word == "declare" && line && declared(next.text):
		p.next()
		before := p.ambient
		p.ambient = true
		p.statement()
		p.ambient = before
		p.erase(mark, start, ";")
	case p.ambient && (word == "global" && next.text == "{" || word == "module" && next.kind == quoted):
		p.next()
		if word == "module" {
			p.next()
		}
		if p.at("{") {
			p.block()
		} else {
			p.semicolon()
		}
	default:
		return false
	}
	return true
}

// declared reports whether a word may begin what is declared only. None of it runs, so nothing may stand in it that could.
func declared(word string) bool {
	switch word {
	case "var", "let", "const", "using", "function", "class", "abstract", "enum", "interface", "type", "namespace", "module", "global":
		return true
	}
	return false
}

// typeDeclaration goes over an interface or a name of a type.
func (p *parser) typeDeclaration() {
	alias := p.at("type")
	p.next()
	p.next()
	if p.at("<") {
		p.typeParameters()
	}
	if alias {
		p.expect("=")
		p.typed()
		p.semicolon()
		return
	}
	for p.accept("extends") || p.accept(",") {
		p.reference()
	}
	p.body()
}

// enum makes assignments of an enum: E.A=1.
func (p *parser) enum(mark, start int) {
	p.expect("enum")
	if !p.named() {
		p.fail()
	}
	of := p.tok.text
	p.export(of)
	p.next()
	p.expect("{")
	p.edit(start, p.prev, ";", "")
	member, members := p.member, p.members
	p.member, p.members = of, map[string]bool{}
	next := "0"
	for ends := false; !ends && p.err == nil; p.next() {
		if ends = p.at("}"); !ends {
			next = p.enumerated(of, next)
			ends = p.at("}")
		}
		if p.edit(p.tok.start, p.tok.end, ";", ""); !ends && !p.at(",") {
			p.fail()
		}
	}
	p.member, p.members = member, members
	if p.ambient {
		p.erase(mark, start, ";")
	}
}

// enumerated makes an assignment of a member, and returns what the next one is if nothing is written.
func (p *parser) enumerated(of, value string) (next string) {
	key, from := p.tok, p.tok.start
	switch {
	case key.kind == name:
		p.next()
		p.insert(from, of+".")
	case key.kind == quoted:
		p.next()
		p.insert(from, of+"[")
		p.insert(p.prev, "]")
	case p.at("["):
		p.key()
		p.insert(from, of)
	default:
		p.fail()
	}
	next = of + "." + key.text + "+1"
	if key.kind != name {
		next = "0"
	}
	if !p.accept("=") {
		p.insert(p.prev, "="+value)
	} else {
		first := p.tok
		if p.assign(0); p.prev == first.end {
			value = p.src[first.start:first.end]
		}
	}
	if key.kind == name {
		p.members[key.text] = true
	}
	if n, err := strconv.ParseInt(value, 0, 32); err == nil {
		return strconv.FormatInt(n+1, 10)
	}
	return next
}

// namespace makes a function of a namespace, which returns what it exports: N=((N)=>{const a=1;return{a}})(N).
func (p *parser) namespace(mark, start int) {
	p.next()
	of := p.tok.text
	p.export(of)
	last := of
	for p.next(); p.accept("."); p.next() {
		last = p.tok.text
		of += "." + last
		if p.tok.kind != name {
			p.fail()
		}
	}
	if p.ambient {
		p.block()
		p.erase(mark, start, ";")
		return
	}
	in := p.enterFunction(false, false)
	var names []string
	p.exported = &names
	if p.at("{") {
		p.edit(start, p.tok.end, ";"+of+"=(("+last+")=>{", "")
	}
	p.block()
	p.leaveFunction(in)
	p.edit(p.prev-1, p.prev, ";return{"+strings.Join(names, ",")+"}})("+of+");", "")
}

// export notes a name that a namespace exports.
func (p *parser) export(of string) {
	if p.exported != nil && p.exporting {
		*p.exported = append(*p.exported, of)
	}
}

// importStatement goes over an import, or an expression that begins with one.
func (p *parser) importStatement() {
	next := p.peek()
	if next.text == "(" || next.text == "." {
		p.expression(0)
		p.semicolon()
		return
	}
	start, mark := p.tok.start, len(p.edits)
	p.next()
	if p.tok.kind == quoted {
		p.module()
		return
	}
	types := p.o.Types && p.at("type") && p.typeImport()
	if types {
		p.next()
	}
	if p.o.Types && p.named() && p.peek().text == "=" {
		p.export(p.tok.text)
		p.edit(start, p.tok.start, "const ", "")
		p.next()
		if p.next(); p.peek().text == "(" {
			p.expect("require")
			p.next()
			if p.tok.kind != quoted {
				p.fail()
			}
			p.next()
			p.expect(")")
		} else {
			p.reference()
		}
		p.semicolon()
	} else {
		p.imports()
		p.expect("from")
		p.module()
	}
	if types || p.ambient {
		p.erase(mark, start, ";")
	}
}

// typeImport reports whether import type imports types only, and not something with the name "type".
func (p *parser) typeImport() bool {
	return p.ahead(func() bool {
		p.next()
		if !p.at("from") {
			return p.at("{") || p.at("*") || p.tok.kind == name
		}
		next := p.peek().text
		return next == "from" || next == "="
	})
}

func (p *parser) imports() {
	if p.tok.kind == name {
		p.next()
		if !p.accept(",") {
			return
		}
	}
	if p.accept("*") {
		p.expect("as")
		p.next()
		return
	}
	p.specifiers()
}

// specifiers goes over names in braces, and leaves out those of types.
func (p *parser) specifiers() {
	p.each("{", "}", func() {
		start := p.tok.start
		typed := p.o.Types && p.at("type")
		words := 0
		for ; p.tok.kind == name || p.tok.kind == quoted; words++ {
			p.next()
		}
		if words == 0 || words > 4 {
			p.fail()
		}
		if typed && (words == 2 || words == 4) {
			p.dropComma(start)
		}
	})
}

// module goes over the name of a module, and leaves out what is said about it.
func (p *parser) module() {
	if p.tok.kind != quoted {
		p.fail()
	}
	p.next()
	if start := p.tok.start; p.accept("with") || !p.tok.newline && p.accept("assert") {
		mark := len(p.edits)
		p.object()
		p.erase(mark, start, " ")
	}
	p.semicolon()
}

// exportStatement goes over what begins with export.
func (p *parser) exportStatement() {
	mark, start := len(p.edits), p.tok.start
	p.next()
	if p.o.Types && p.exportedTypes(mark, start) {
		return
	}
	switch {
	case p.at("{"), p.at("*"):
		p.exports()
	case p.accept("default"):
		p.exportDefault(mark, start)
	case p.at("@"):
		p.moved(start)
	default:
		p.exportDeclaration(mark, start)
	}
}

// exports goes over {names} or * as name, and where they are from.
func (p *parser) exports() {
	if !p.accept("*") {
		p.specifiers()
	} else if p.accept("as") {
		p.next()
	}
	if p.accept("from") {
		p.module()
	} else {
		p.semicolon()
	}
}

// moved puts export behind the decorators of a class.
func (p *parser) moved(start int) {
	text := p.src[start:p.prev]
	p.blank(start)
	p.decorated(";", ";", ";")
	p.drop("abstract")
	p.insert(p.tok.start, strings.Join(strings.Fields(text), " ")+" ")
	p.class()
}

// exportDeclaration goes over a declaration behind export. In a namespace, and before what becomes another statement, export is left out.
func (p *parser) exportDeclaration(mark, start int) {
	before := p.exporting
	p.exporting = true
	from := p.prev
	switch word := p.tok.text; {
	case p.at("async") && p.startsFunction(), p.at("function"):
		if p.exported != nil {
			p.edit(start, from, " ", "")
		}
		p.functionStatement(mark, start)
		p.exporting = before
		return
	case word == "enum", word == "const" && p.peek().text == "enum", word == "namespace", word == "module", word == "interface", word == "type", word == "declare":
		p.edit(start, from, " ", "")
	case !declared(p.tok.text) && !p.at("import"):
		p.fail()
	case p.exported != nil:
		p.edit(start, from, " ", "")
	}
	p.statement()
	p.exporting = before
}

// exportedTypes goes over an export that only TypeScript has, if there is one.
func (p *parser) exportedTypes(mark, start int) bool {
	switch next := p.peek(); {
	case p.at("type") && (next.text == "{" || next.text == "*"):
		p.next()
		p.exports()
		p.erase(mark, start, ";")
	case p.at("as") && next.text == "namespace":
		p.next()
		p.next()
		p.reference()
		p.semicolon()
		p.erase(mark, start, ";")
	case p.at("="):
		p.next()
		p.edit(start, p.prev, "module.exports=", "")
		p.exportedValue()
		if p.ambient {
			p.erase(mark, start, ";")
		}
	default:
		return false
	}
	return true
}

func (p *parser) exportDefault(mark, start int) {
	switch next := p.peek(); {
	case p.at("function"), p.at("async") && p.startsFunction():
		p.functionStatement(mark, start)
	case p.at("@"):
		p.moved(start)
	case p.at("class"):
		p.class()
	case p.o.Types && p.at("abstract") && next.text == "class":
		p.drop("abstract")
		p.class()
	case p.o.Types && p.at("interface") && next.kind == name && !next.newline:
		p.typeDeclaration()
		p.erase(mark, start, ";")
	default:
		p.exportedValue()
	}
}

func (p *parser) exportedValue() {
	if p.ambient {
		p.typed()
	} else {
		p.assign(0)
	}
	p.semicolon()
}
