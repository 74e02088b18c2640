// Package loose reads programs of languages that have no grammar here, such as PowerShell, batch files, Perl, Ruby, PHP and awk: what looks
// like a call, a command, a pipe or an assignment in most of them. It never fails, and it does not see all that a program does. Names
// are in lower case and without the sign of a variable, and every way to write a part of something is a dot.
package loose

import (
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// Limits of a program, beside those of package code.
const (
	maxSource = 256 << 10 // bytes
	maxDeep   = 40        // brackets inside of each other
	maxQuoted = 2000      // bytes of a word, or between the brackets of a text
)

// token is a part of a source: a word, a text, a command in back quotes, or a sign.
type token struct {
	kind rune // 'w', 't', '`', '\n', or the sign
	text string
	line int
	near bool // nothing stands before it
}

var (
	parts    = lazyregexp.New(`\[([\w.]+)\]::|->|::`)
	quotes   = lazyregexp.New(`^(?:qx|qq|q|%x|%q|%Q|%w)([({\[/|!])`)
	comments = lazyregexp.New(`(?m)^[ \t]*(?:#|//|(?i:rem\b)|::).*$`)
	inside   = lazyregexp.New(`\$\{?(\w+)\}?|#\{(\w+)\}|%(\w+)%`)
)

// Parse reads a program that begins at a line of its file, from 1.
func Parse(source string, line int) *code.Program {
	p := &parser{}
	source = strings.ToValidUTF8(source, "\ufffd")
	if len(source) > maxSource {
		source = source[:maxSource]
		p.partly = "it is too long"
	}
	p.tokens = tokens(strings.ReplaceAll(parts().ReplaceAllString(comments().ReplaceAllString(source, ""), "$1."), "=>", ","), line)
	for p.at < len(p.tokens) && p.nodes < code.MaxNodes {
		before := p.at
		p.statement()
		p.at = max(p.at, before+1)
	}
	out := &code.Program{Body: p.out, Partly: p.partly}
	if code.Check(out) != nil { // calls of what calls returned, inside of each other
		out = &code.Program{Partly: "it is nested too deep"}
	}
	return out
}

// tokens splits a source.
func tokens(s string, line int) (out []token) {
	near := false
	add := func(kind rune, text string, n int) {
		out = append(out, token{kind, text, line, near})
		line += strings.Count(s[:n], "\n")
		s, near = s[n:], true
	}
	for s != "" {
		var m []int
		if s[0] == 'q' || s[0] == '%' {
			m = quotes().FindStringSubmatchIndex(s[:min(len(s), 8)])
		}
		if m != nil {
			end := strings.IndexByte(s[m[1]:min(len(s), m[1]+maxQuoted)], closing(s[m[2]]))
			if end >= 0 {
				kind := 't'
				if strings.HasSuffix(s[:m[2]], "x") {
					kind = '`'
				}
				add(kind, s[m[1]:m[1]+end], m[1]+end+1)
				continue
			}
		}
		switch c := s[0]; {
		case c == ' ' || c == '\t' || c == '\r':
			s, near = s[1:], false
		case c == '\n':
			add('\n', "", 1)
			near = false
		case c == '\'' || c == '"':
			n := textEnd(s, c)
			add('t', unescaped(s[1:n], c), min(n+1, len(s)))
		case c == '`':
			if end := strings.IndexAny(s[1:], "`\n"); end > 0 && s[1+end] == '`' && strings.Contains(s[1:1+end], " ") {
				add('`', s[1:1+end], end+2)
			} else if strings.HasPrefix(s, "`\n") { // the line goes on
				line++
				s = s[2:]
			} else {
				s = s[1:]
			}
		default:
			if w := wordOf(s); w != "" {
				add('w', w, len(w))
			} else {
				add(rune(c), s[:1], 1)
			}
		}
	}
	return out
}

// wordOf returns the word that a text begins with, "" for none. A dot at its end belongs to what follows.
func wordOf(s string) string {
	n := 0
	for n < len(s) && n < maxQuoted && isWord(s[n], n > 0) {
		n++
	}
	if strings.HasPrefix(s[n:], "//") && strings.HasSuffix(s[:n], ":") || strings.Contains(s[:n], "://") { // an address
		end := strings.IndexAny(s[:min(len(s), maxQuoted)], " \t\r\n'\"()|;<>,")
		if end < 0 {
			end = min(len(s), maxQuoted)
		}
		return s[:end]
	}
	for n > 1 && s[n-1] == '.' {
		n--
	}
	if n == 1 && (s[0] == '.' || s[0] == '-') {
		return ""
	}
	return s[:n]
}

func isWord(c byte, more bool) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_$@%~\\/.-", c) >= 0 || more && strings.IndexByte(":?*", c) >= 0
}

func closing(open byte) byte {
	if i := strings.IndexByte("({[", open); i >= 0 {
		return ")}]"[i]
	}
	return open
}

// textEnd returns where a text ends that begins with a quote.
func textEnd(s string, quote byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == quote || s[i+1] == '\\'):
			i++
		case s[i] == quote:
			return i
		}
	}
	return len(s)
}

var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t", "`n", "\n", "`\"", `"`, `\$`, "$")

func unescaped(s string, quote byte) string {
	if quote == '\'' {
		return strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(s)
	}
	return escapes.Replace(s)
}

// parser reads tokens.
type parser struct {
	tokens      []token
	at          int
	out         []code.Statement
	deep, nodes int
	partly      string
}

func (p *parser) next() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{kind: '\n'}
}

func (p *parser) is(kinds string) bool {
	return p.at < len(p.tokens) && strings.ContainsRune(kinds, p.tokens[p.at].kind)
}

func (p *parser) value(form code.Form, text string, args ...code.Value) code.Value {
	p.nodes++
	return code.Value{Form: form, Text: text, Line: p.next().line, Args: args}
}

func (p *parser) call(f code.Value, args ...code.Value) code.Value {
	v := p.value(code.Call, "", args...)
	v.Line, v.Func = f.Line, &f
	return v
}

// declares are words before the name of a variable.
const declares = " my our local var set const let dim "

// statement reads up to the end of a line.
func (p *parser) statement() {
	for p.is("\n;{}),]&|") && !(p.is("&") && !p.operator()) {
		p.at++
	}
	t := p.next()
	if t.kind == 'w' && strings.Contains(declares, " "+strings.ToLower(t.text)+" ") && p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind == 'w' {
		p.at++
		t = p.next()
	}
	if t.kind == 'w' && p.at+2 < len(p.tokens) && p.tokens[p.at+1].kind == '=' && p.tokens[p.at+2].kind != '=' {
		p.at += 2
		v := p.pipeline()
		p.out = append(p.out, code.Statement{Op: code.Set, Line: t.line, Name: plain(t.text), Value: &v})
		return
	}
	if p.at >= len(p.tokens) {
		return
	}
	v := p.pipeline()
	p.out = append(p.out, code.Statement{Op: code.Do, Line: t.line, Value: &v})
}

// operator reports whether a & stands between commands, and calls nothing.
func (p *parser) operator() bool {
	return p.at > 0 && !strings.ContainsRune("\n;{(|", p.tokens[p.at-1].kind)
}

// pipeline reads commands with | between them.
func (p *parser) pipeline() code.Value {
	v := p.command()
	for n := 0; p.is("|") && n < maxDeep; n++ {
		for p.at++; p.is("&|\n"); p.at++ {
		}
		before, next := v, p.command()
		if next.Form != code.Call {
			next = p.call(next)
		}
		next.Input = &before
		v = next
	}
	return v
}

// command reads a word with what it is given, or an expression.
func (p *parser) command() code.Value {
	if p.deep++; p.deep > maxDeep {
		p.partly, p.at = "it is nested too deep", len(p.tokens)
	}
	defer func() { p.deep-- }()
	called := p.is("&.")
	if called {
		p.at++
	}
	begin := p.at
	v := p.expression()
	if one := p.at == begin+1 && begin < len(p.tokens) && p.tokens[begin].kind == 'w' && !strings.ContainsAny(p.tokens[begin].text, "$@"); !called && !one {
		return v
	}
	args := []code.Value{}
	for p.at < len(p.tokens) && !p.is("\n;|)}]{&") && p.nodes < code.MaxNodes {
		if p.is("=,<>!:*^?+/") {
			p.at++
			continue
		}
		before := p.at
		args = append(args, p.argument())
		p.at = max(p.at, before+1)
	}
	if len(args) == 0 && !called && v.Form == code.Name {
		return v
	}
	if v.Form == code.Text {
		v.Form = code.Name
	}
	return p.call(v, args...)
}

// isRun reports whether a word takes what follows as code, also a bracket that stands near it.
func isRun(name string) bool { return name == "iex" || name == "invoke-expression" }

// argument reads one thing that a command is given.
func (p *parser) argument() code.Value {
	if t := p.next(); t.kind == 'w' && isRun(strings.ToLower(t.text)) {
		return p.command()
	}
	if t := p.next(); t.kind == 'w' && !strings.HasPrefix(t.text, "$") && (p.at+1 >= len(p.tokens) || p.tokens[p.at+1].kind != '(' || !p.tokens[p.at+1].near) {
		p.at++
		return p.text(t)
	}
	return p.expression()
}

// expression reads values with signs between them that join them.
func (p *parser) expression() code.Value {
	args := []code.Value{p.postfix()}
	for p.is("+.&") && p.at+1 < len(p.tokens) && strings.ContainsRune("wt(`", p.tokens[p.at+1].kind) && p.nodes < code.MaxNodes {
		p.at++
		args = append(args, p.postfix())
	}
	if len(args) == 1 {
		return args[0]
	}
	return p.value(code.Join, "", args...)
}

// postfix reads a value with its members and calls.
func (p *parser) postfix() code.Value {
	v := p.atom()
	for p.nodes < code.MaxNodes {
		t := p.next()
		switch {
		case v.Form == code.Name && isRun(v.Text):
			return v
		case t.kind == '(' && (v.Form == code.Name || v.Form == code.Member || v.Form == code.Index) && t.near:
			v = p.call(v, p.group()...)
		case t.kind == '.' && t.near && p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind == 'w' && p.tokens[p.at+1].near:
			p.at++
			v = p.member(v, p.next().text)
			p.at++
		case t.kind == 'w' && t.near && strings.HasPrefix(t.text, ".") && len(t.text) > 1:
			p.at++
			v = p.member(v, t.text[1:])
		case t.kind == '[' && t.near:
			v = p.value(code.Index, "", v, p.value(code.Other, "", p.group()...))
		default:
			return v
		}
	}
	return v
}

func (p *parser) member(v code.Value, name string) code.Value {
	if strings.HasPrefix(name, "$") {
		return p.value(code.Index, "", v, p.value(code.Name, plain(name)))
	}
	if v.Form == code.Name {
		return p.value(code.Name, v.Text+"."+plain(name))
	}
	return p.value(code.Member, plain(name), v)
}

// group reads what stands between brackets.
func (p *parser) group() (out []code.Value) {
	for p.at++; p.at < len(p.tokens) && !p.is(")]"); {
		if p.is(",\n;{}=<>!") {
			p.at++
			continue
		}
		before := p.at
		out = append(out, p.pipeline())
		p.at = max(p.at, before+1)
	}
	p.at++
	return out
}

func (p *parser) atom() code.Value {
	t := p.next()
	switch t.kind {
	case '(', '[':
		args := p.group()
		if len(args) == 1 {
			return args[0]
		}
		return p.value(code.List, "", args...)
	case 't':
		v := p.text(t)
		p.at++
		return v
	case '`':
		p.at++
		return p.call(p.value(code.Name, "`"), p.text(t))
	case 'w':
		p.at++
		if strings.Contains(t.text, "://") || strings.HasPrefix(t.text, "-") || strings.ContainsAny(strings.Trim(t.text, "%"), `\/%`) {
			return p.text(t)
		}
		if of, name, ok := strings.Cut(t.text, ".$"); ok {
			return p.value(code.Index, "", p.value(code.Name, plain(of)), p.value(code.Name, plain(name)))
		}
		return p.value(code.Name, plain(t.text))
	}
	p.at++
	return p.value(code.Other, "")
}

// text returns a text with the variables in it.
func (p *parser) text(t token) code.Value {
	v := code.Value{Form: code.Join, Line: t.line}
	add := func(form code.Form, text string) {
		if text != "" {
			p.nodes++
			v.Args = append(v.Args, code.Value{Form: form, Line: t.line, Text: text})
		}
	}
	rest := t.text
	for _, m := range inside().FindAllStringSubmatch(t.text, 100) {
		name := m[1] + m[2] + m[3]
		if strings.EqualFold(name, "env") || name == strings.ToUpper(name) && m[3] != "" {
			continue
		}
		before, after, _ := strings.Cut(rest, m[0])
		add(code.Text, before)
		add(code.Name, strings.ToLower(name))
		rest = after
	}
	add(code.Text, rest)
	switch len(v.Args) {
	case 0:
		return code.Value{Form: code.Text, Line: t.line}
	case 1:
		return v.Args[0]
	}
	return v
}

// plain returns a name without the sign of a variable, in lower case.
func plain(name string) string {
	return strings.ToLower(strings.Trim(name, "$@%&"))
}
