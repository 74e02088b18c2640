package strip

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
)

// element makes a call of an element of JSX: React.createElement(A, {b: c}, "text").
func (p *parser) element() {
	p.tag()
	if p.err == nil {
		p.next()
	}
}

// tag goes over an element up to its last character, since what follows may be text.
func (p *parser) tag() {
	if !p.enter() {
		return
	}
	defer p.leave()
	start := p.tok.start
	p.next()
	of := ""
	if p.at(">") {
		p.edit(start, p.tok.end, "React.createElement(React.Fragment,null", "")
	} else {
		of = p.elementName(start)
		empty := p.at(">") || p.at("/")
		if empty {
			p.insert(p.prev, ",null")
		} else {
			p.insert(p.prev, ",{")
			p.attributes()
		}
		closing := map[bool]string{true: "", false: "}"}[empty]
		if from := p.tok.start; p.accept("/") {
			if !p.at(">") {
				p.fail()
			}
			p.edit(from, p.tok.end, closing+")", "")
			return
		}
		p.edit(p.tok.start, p.tok.end, closing, "")
	}
	if !p.at(">") {
		p.fail()
	}
	for p.err == nil {
		if p.child() {
			break
		}
	}
	p.closing(of)
}

// elementName goes over the name of an element and its types, and returns the name.
func (p *parser) elementName(start int) string {
	from := p.tok.start
	p.hyphens()
	if p.err != nil {
		return ""
	}
	of := p.src[from:p.prev]
	p.edit(start, from, "React.createElement(", "")
	if of != "this" && !strings.Contains(of, ".") && (of[0] >= 'a' && of[0] <= 'z' || strings.ContainsAny(of, "-:")) {
		p.edit(from, p.prev, strconv.Quote(of), "")
	}
	if p.o.Types && p.at("<") {
		p.without(p.typeArguments)
	}
	return of
}

// hyphens goes over a name with hyphens and members.
func (p *parser) hyphens() {
	for again := true; again && p.err == nil; again = p.accept(".") || p.accept(":") {
		if p.tok.kind != name {
			p.fail()
		}
		for p.pos < len(p.src) && (p.src[p.pos] == '-' || isNamed(p.src[p.pos])) {
			p.pos++
		}
		p.tok.end = p.pos
		p.next()
	}
}

func (p *parser) attributes() {
	for !p.at(">") && !p.at("/") && p.err == nil {
		from := p.tok.start
		if p.at("{") {
			p.next()
			p.edit(from, p.prev, "", "")
			p.expect("...")
			p.assign(0)
			p.edit(p.tok.start, p.tok.end, ",", "")
			p.expect("}")
			continue
		}
		p.hyphens()
		if p.err != nil {
			return
		}
		if key := p.src[from:p.prev]; strings.ContainsAny(key, "-: \t\n") {
			p.edit(from, p.prev, strconv.Quote(key), "")
		}
		if !p.at("=") {
			p.insert(p.prev, ":true,")
			continue
		}
		p.edit(p.tok.start, p.tok.end, ":", "")
		p.attribute()
	}
}

// attribute goes over the value of an attribute. A text in quotes has no escapes.
func (p *parser) attribute() {
	p.space()
	if p.pos < len(p.src) && (p.src[p.pos] == '"' || p.src[p.pos] == '\'') {
		from := p.pos
		n := strings.IndexByte(p.src[from+1:], p.src[from])
		if n < 0 {
			p.stop(from, true, "a text has no end")
			return
		}
		p.pos = from + n + 2
		p.edit(from, p.pos, text(p.src[from+1:p.pos-1]), ",")
		p.tok = token{kind: quoted, start: from, end: p.pos}
		p.next()
		return
	}
	p.next()
	switch from := p.tok.start; {
	case p.at("{"):
		p.next()
		p.edit(from, p.prev, "(", "")
		p.expression(0)
		p.edit(p.tok.start, p.tok.end, "),", "")
		p.expect("}")
	case p.at("<"):
		p.element()
		p.insert(p.prev, ",")
	default:
		p.fail()
	}
}

// text returns a text as JavaScript.
func text(s string) string {
	var plain strings.Builder
	for s != "" {
		n := strings.IndexByte(s[1:], '&') + 1
		if n == 0 {
			n = len(s)
		}
		part := s[:n]
		if end := strings.IndexByte(part, ';'); end > 0 && part[0] == '&' { // without it, &curren is no character
			part = html.UnescapeString(part[:end+1]) + part[end+1:]
		}
		plain.WriteString(part)
		s = s[n:]
	}
	b, _ := json.Marshal(plain.String())
	return string(b)
}

// child goes over a text, a value in braces or an element behind tok, and reports whether the element ends there.
func (p *parser) child() (ends bool) {
	from := p.pos
	n := strings.IndexAny(p.src[from:], "<{>}")
	if n < 0 || p.src[from+n] == '>' || p.src[from+n] == '}' {
		p.stop(from+max(n, 0), true, "an element has no end")
		return true
	}
	p.pos += n
	p.worked(n)
	if words := joined(p.src[from:p.pos]); words != "" {
		p.edit(from, p.pos, ","+text(words), "")
	}
	p.scan()
	start := p.tok.start
	if p.at("<") {
		if p.peek().text == "/" {
			return true
		}
		p.insert(start, ",")
		p.tag()
		return false
	}
	p.next()
	switch {
	case p.at("}"):
		p.edit(start, p.tok.end, "", "")
	case p.at("..."):
		p.edit(start, p.prev, ",", "")
		p.next()
		p.assign(0)
		p.edit(p.tok.start, p.tok.end, "", "")
	default:
		p.edit(start, p.prev, ",(", "")
		p.expression(0)
		p.edit(p.tok.start, p.tok.end, ")", "")
	}
	if !p.at("}") {
		p.fail()
	}
	return false
}

// joined returns a text between elements without the white space of its lines.
func joined(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	lines := strings.Split(s, "\n")
	var words []string
	for i, line := range lines {
		if i > 0 {
			line = strings.TrimLeft(line, " \t\r")
		}
		if i < len(lines)-1 {
			line = strings.TrimRight(line, " \t\r")
		}
		if line != "" {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// closing goes over the end of an element, which has to have its name.
func (p *parser) closing(of string) {
	start := p.tok.start
	p.next()
	p.expect("/")
	from, to := p.tok.start, p.tok.start
	if !p.at(">") {
		p.hyphens()
		to = p.prev
	}
	if !p.at(">") || p.err != nil || p.src[from:to] != of {
		p.fail()
		return
	}
	p.edit(start, p.tok.end, ")", "")
}
