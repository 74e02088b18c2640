package strip

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	eof kind = iota
	name
	private // #name
	number
	quoted
	template // only its first quote
	regexp
	mark // an operator or a bracket
)

// token is a part of the program. A text of a name is as written, so one with an escape equals no keyword.
type token struct {
	kind       kind
	start, end int
	text       string // of a name or a mark
	newline    bool   // there is a line end before it
}

// marks are the operators of more than one character, the longest first. What begins with > is read one by one, and put together where
// it is an operator.
var marks = [...]string{"...", "===", "!==", "**=", "<<=", "&&=", "||=", "??=", "=>", "==", "!=", "<=", "<<", "++", "--", "&&", "||", "??", "?.", "**",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}

// next goes to the next token.
func (p *parser) next() {
	p.prev = p.tok.end
	p.scan()
}

// scan reads the token at pos.
func (p *parser) scan() {
	if p.err != nil {
		return
	}
	from := p.pos
	newline := p.space()
	if p.err != nil {
		return
	}
	p.tok = token{start: p.pos, newline: newline}
	if p.pos < len(p.src) {
		p.token()
	}
	if p.err != nil {
		return
	}
	p.tok.end = p.pos
	if p.tok.kind == name || p.tok.kind == mark {
		p.tok.text = p.src[p.tok.start:p.pos]
	}
	p.worked(p.pos - from + 1)
}

// worked counts bytes that were read.
func (p *parser) worked(n int) {
	before := p.work
	switch p.work -= n; {
	case p.work < 0:
		p.stop(p.tok.start, false, "it can be read in too many ways")
	case before>>14 != p.work>>14 && p.ctx.Err() != nil:
		p.stop(p.tok.start, false, "there was no time to read all of it")
	}
}

func isSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r == '\ufeff' || r >= utf8.RuneSelf && (unicode.Is(unicode.Zs, r) || r == '\u2028' || r == '\u2029')
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

// space passes over white space and comments, and reports whether there is a line end in them.
func (p *parser) space() (newline bool) {
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		rest := p.src[p.pos:]
		switch {
		case isSpace(r):
			newline = newline || isLineEnd(r)
			p.pos += n
		case strings.HasPrefix(rest, "//"):
			n = strings.IndexFunc(rest, isLineEnd)
			if n < 0 {
				n = len(rest)
			}
			p.pos += n
		case strings.HasPrefix(rest, "/*"):
			n = strings.Index(rest[2:], "*/")
			if n < 0 {
				p.stop(p.pos, true, "a comment has no end")
				return newline
			}
			newline = newline || strings.ContainsFunc(rest[2:2+n], isLineEnd)
			p.pos += n + 4
		default:
			return newline
		}
	}
	return newline
}

// token reads a token, and sets its kind.
func (p *parser) token() {
	c := p.src[p.pos]
	at := func(i int) byte {
		if p.pos+i < len(p.src) {
			return p.src[p.pos+i]
		}
		return 0
	}
	switch {
	case isDigit(c) || c == '.' && isDigit(at(1)):
		p.tok.kind = number
		p.number()
	case c == '"' || c == '\'':
		p.tok.kind = quoted
		p.quoted(c)
	case c == '`':
		p.tok.kind = template
		p.pos++
	case c == '#':
		p.tok.kind = private
		p.pos++
		if !p.name() {
			p.stop(p.pos-1, true, "a name is missing")
		}
	case p.name():
		p.tok.kind = name
	default:
		p.tok.kind = mark
		if c == '?' && at(1) == '.' && isDigit(at(2)) || c == '>' {
			p.pos++
			return
		}
		for _, m := range marks {
			if strings.HasPrefix(p.src[p.pos:], m) {
				p.pos += len(m)
				return
			}
		}
		if !strings.ContainsRune("{}()[];,<+-*/%&|^!~?:=.@", rune(c)) {
			p.stop(p.pos, true, "a character has no meaning")
			return
		}
		p.pos++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNamed(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || isDigit(c)
}

// name passes over a name, if there is one.
func (p *parser) name() bool {
	from := p.pos
	if p.pos < len(p.src) && isDigit(p.src[p.pos]) {
		return false
	}
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case isNamed(c):
			p.pos++
		case c == '\\' && strings.HasPrefix(p.src[p.pos:], `\u`):
			p.pos += 2
			if strings.HasPrefix(p.src[p.pos:], "{") {
				n := strings.IndexByte(p.src[p.pos:min(p.pos+12, len(p.src))], '}')
				p.pos += n + 1
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(p.src[p.pos:])
			if !unicode.In(r, unicode.L, unicode.Nl, unicode.M, unicode.Nd, unicode.Pc, unicode.Other_ID_Start, unicode.Join_Control) {
				return p.pos > from
			}
			p.pos += n
		default:
			return p.pos > from
		}
	}
	return p.pos > from
}

func (p *parser) number() {
	digits := func() {
		for p.pos < len(p.src) && isNamed(p.src[p.pos]) {
			if c := p.src[p.pos] | 0x20; c == 'e' && p.pos+1 < len(p.src) && (p.src[p.pos+1] == '-' || p.src[p.pos+1] == '+') {
				p.pos++
			}
			p.pos++
		}
	}
	if p.src[p.pos] == '0' && p.pos+1 < len(p.src) && strings.IndexByte("xXoObB", p.src[p.pos+1]) >= 0 {
		for p.pos < len(p.src) && isNamed(p.src[p.pos]) {
			p.pos++
		}
		return
	}
	for p.pos < len(p.src) && (isDigit(p.src[p.pos]) || p.src[p.pos] == '_') {
		p.pos++
	}
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
	}
	digits()
}

func (p *parser) quoted(quote byte) {
	from := p.pos
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; c {
		case quote:
			p.pos++
			return
		case '\\':
			p.pos++
			if strings.HasPrefix(p.src[min(p.pos, len(p.src)):], "\r\n") {
				p.pos++
			}
		case '\n', '\r':
			p.stop(from, true, "a text has no end")
			return
		}
	}
	p.stop(from, true, "a text has no end")
}

// pattern reads tok again, as a regular expression.
func (p *parser) pattern() {
	class := false
	for i := p.tok.start + 1; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\n' || c == '\r':
			p.stop(p.tok.start, true, "a regular expression has no end")
			return
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(p.src) && isNamed(p.src[i]); i++ {
			}
			p.worked(i - p.tok.start)
			if p.err == nil {
				p.tok, p.pos = token{kind: regexp, start: p.tok.start, end: i, newline: p.tok.newline}, i
				p.next()
			}
			return
		}
	}
	p.stop(p.tok.start, true, "a regular expression has no end")
}

// template reads a template, with what stands between its braces.
func (p *parser) template(between func()) {
	for i := p.tok.end; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '`':
			p.worked(i - p.tok.end)
			if p.err == nil {
				p.tok.end, p.pos = i+1, i+1
				p.next()
			}
			return
		case c == '$' && strings.HasPrefix(p.src[i:], "${"):
			p.worked(i - p.tok.end)
			p.pos = i + 2
			p.scan()
			between()
			if !p.at("}") {
				p.fail()
				return
			}
			i = p.tok.end - 1
		}
	}
	p.stop(p.tok.start, true, "a template has no end")
}

// operator puts characters from > on together, if they are one operator.
func (p *parser) operator() {
	if !p.at(">") {
		return
	}
	for _, m := range [...]string{">>>=", ">>>", ">>=", ">=", ">>"} {
		if strings.HasPrefix(p.src[p.tok.start:], m) {
			p.pos = p.tok.start + len(m)
			p.tok.end, p.tok.text = p.pos, m
			return
		}
	}
}

// angle reads << as <, where types begin.
func (p *parser) angle() bool {
	if p.at("<<") || p.at("<=") || p.at("<<=") {
		if p.at("<=") {
			return false
		}
		p.pos = p.tok.start + 1
		p.tok.end, p.tok.text = p.pos, "<"
	}
	return p.at("<")
}

// at reports whether tok is a name or a mark.
func (p *parser) at(text string) bool { return p.tok.text == text }

// accept goes over a name or a mark, if it is there.
func (p *parser) accept(text string) bool {
	if p.tok.text != text {
		return false
	}
	p.next()
	return true
}

// expect goes over a name or a mark, which has to be there.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

// each goes over things in brackets with commas between them.
func (p *parser) each(open, closing string, thing func()) {
	p.expect(open)
	for !p.at(closing) && p.err == nil {
		if thing(); !p.accept(",") {
			break
		}
	}
	p.expect(closing)
}

// all goes over things in braces.
func (p *parser) all(thing func()) {
	p.expect("{")
	for !p.at("}") && p.err == nil {
		thing()
	}
	p.expect("}")
}

// peek returns the token after tok.
func (p *parser) peek() (next token) {
	p.ahead(func() bool { p.next(); next = p.tok; return true })
	return next
}

// semicolon goes over the end of a statement.
func (p *parser) semicolon() {
	if !p.accept(";") && !p.at("}") && p.tok.kind != eof && !p.tok.newline {
		p.fail()
	}
}
