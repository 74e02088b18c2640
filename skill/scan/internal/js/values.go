package js

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2/js"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

func (w *walker) name(s string) code.Value {
	return code.Value{Form: code.Name, Line: w.line(), Text: s}
}

func (w *walker) other(op string, args ...code.Value) code.Value {
	return code.Value{Form: code.Other, Line: w.line(), Text: op, Args: args}
}

// part returns a value at a key: a member if the key is a name, since the language does not tell them apart.
func (w *walker) part(v, key code.Value) code.Value {
	if key.Form != code.Text || !plainName(key.Text) {
		return code.Value{Form: code.Index, Line: w.line(), Args: []code.Value{v, key}}
	}
	if v.Form == code.Name && len(v.Text) < maxName {
		if strings.HasSuffix(v.Text+".", environ) {
			w.calls++ // it reads a variable
		}
		return w.name(v.Text + "." + key.Text)
	}
	return code.Value{Form: code.Member, Line: w.line(), Text: key.Text, Args: []code.Value{v}}
}

// environ ends the names of the environment: process.env, import.meta.env.
const environ = ".env."

// maxName is how long a name with members becomes, in bytes.
const maxName = 1000

func plainName(s string) bool {
	if s == "" || len(s) > maxName || !js.IsIdentifierStart([]byte(s)) && s[0] != '#' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r < utf8.RuneSelf && r != '_' && r != '$' && r != '#' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// value returns an expression.
func (w *walker) value(e js.IExpr) code.Value {
	for {
		switch g := e.(type) {
		case *js.GroupExpr:
			e = g.X
			continue
		case *js.CommaExpr:
			for _, e := range g.List[:len(g.List)-1] {
				w.effect(e)
			}
			e = g.List[len(g.List)-1]
			continue
		case *js.UnaryExpr:
			if g.Op == js.AwaitToken {
				e = g.X
				continue
			}
		}
		break
	}
	if e == nil || !w.deeper() {
		return w.other("")
	}
	defer w.up()
	switch e := e.(type) {
	case *js.Var:
		w.sawName(e.Name())
		return w.name(string(e.Name()))
	case *js.LiteralExpr:
		return w.literal(e)
	case *js.DotExpr:
		return w.dot(e)
	case *js.IndexExpr:
		x := w.value(e.X)
		return w.part(x, w.value(e.Y))
	case *js.CallExpr:
		return w.call(e, e.X, &e.Args)
	case *js.NewExpr:
		return w.call(nil, e.X, e.Args)
	case *js.BinaryExpr:
		return w.binary(e)
	case *js.TemplateExpr:
		return w.template(e)
	case *js.CondExpr:
		return w.condition(e)
	case *js.ArrowFunc:
		return w.lambda(&e.Params, &e.Body)
	case *js.FuncDecl:
		return w.lambda(&e.Params, &e.Body)
	case *js.MethodDecl:
		return w.lambda(&e.Params, &e.Body)
	case *js.ClassDecl:
		return w.name(w.class(e))
	}
	return w.rest(e)
}

func (w *walker) rest(e js.IExpr) code.Value {
	switch e := e.(type) {
	case *js.ArrayExpr:
		v := code.Value{Form: code.List, Line: w.line()}
		for _, item := range e.List {
			v.Args = append(v.Args, w.spread(item.Value, item.Spread))
		}
		return v
	case *js.ObjectExpr:
		return w.object(e)
	case *js.UnaryExpr:
		v := w.value(e.X)
		if e.Op == js.NegToken && v.Form == code.Number {
			v.Text = "-" + v.Text
			return v
		}
		return w.other(e.Op.String(), v)
	case *js.YieldExpr:
		if e.X != nil {
			v := w.value(e.X)
			w.add(code.Statement{Op: code.Return, Line: v.Line, Value: &v})
		}
		return w.other("yield")
	case *js.VarDecl: // of a loop
		w.declare(e)
	case *js.ImportMetaExpr:
		return w.name("import.meta")
	case *js.NewTargetExpr:
		return w.name("new.target")
	}
	return w.other("")
}

func (w *walker) spread(e js.IExpr, spread bool) code.Value {
	v := w.value(e)
	if spread {
		return w.other("*", v)
	}
	return v
}

func (w *walker) literal(e *js.LiteralExpr) code.Value {
	w.saw(e.Data)
	v := code.Value{Form: code.Name, Line: w.line(), Text: string(e.Data)}
	switch {
	case e.TokenType == js.StringToken:
		v.Form, v.Text = code.Text, unquote(e.Data)
	case js.IsNumeric(e.TokenType):
		v.Form, v.Text = code.Number, decimal(v.Text)
	case e.TokenType == js.RegExpToken:
		v.Form = code.Other
		if pattern := v.Text[1:strings.LastIndexByte(v.Text, '/')]; !strings.ContainsAny(pattern, `\.*+?[](){}^$|`) {
			v.Form, v.Text = code.Text, pattern
		}
	}
	return v
}

// decimal returns a number in decimal.
func decimal(s string) string {
	s = strings.TrimSuffix(strings.ReplaceAll(s, "_", ""), "n")
	if n, ok := new(big.Int).SetString(s, 0); ok && len(s) < maxName {
		return n.String()
	}
	return s
}

func (w *walker) dot(e *js.DotExpr) code.Value {
	x := w.value(e.X)
	switch y := e.Y.(type) {
	case js.LiteralExpr:
		w.saw(y.Data)
		return w.part(x, code.Value{Form: code.Text, Text: string(y.Data)})
	case *js.Var:
		return w.part(x, code.Value{Form: code.Text, Text: string(y.Name())})
	}
	return w.other("", x)
}

// call returns a call. One that loads a module becomes the name of the module.
func (w *walker) call(whole *js.CallExpr, f js.IExpr, args *js.Args) code.Value {
	w.calls++
	if whole != nil {
		if module := required(whole); module != nil {
			w.saw(module)
			name := w.fresh()
			w.add(code.Statement{Op: code.Import, Name: name, Module: unquote(module)})
			return w.name(name)
		}
	}
	fn := w.value(f)
	v := code.Value{Form: code.Call, Line: w.line(), Func: &fn}
	if args != nil {
		for _, a := range args.List {
			v.Args = append(v.Args, w.spread(a.Value, a.Rest))
		}
	}
	return v
}

func (w *walker) binary(e *js.BinaryExpr) code.Value {
	op := e.Op.String()
	switch {
	case e.Op == js.EqToken:
		return w.assign(e.X, w.value(e.Y))
	case isAssignment(op):
		x, y := w.value(e.X), w.value(e.Y)
		if e.Op == js.AddEqToken {
			return w.assign(e.X, w.plus([]code.Value{x, y}))
		}
		return w.assign(e.X, w.other(strings.TrimSuffix(op, "="), x, y))
	}
	var parts []js.IExpr
	var x js.IExpr = e
	for {
		b, ok := x.(*js.BinaryExpr)
		if !ok || b.Op != e.Op {
			break
		}
		parts = append(parts, b.Y)
		x = b.X
	}
	args := []code.Value{w.value(x)}
	for _, y := range slices.Backward(parts) {
		args = append(args, w.value(y))
	}
	switch e.Op {
	case js.AddToken:
		return w.plus(args)
	case js.InToken:
		w.calls++ // it may ask for a variable
	}
	return w.other(op, args...)
}

func isAssignment(op string) bool {
	return strings.HasSuffix(op, "=") && !slices.Contains([]string{"==", "!=", "===", "!==", "<=", ">="}, op)
}

// plus returns a sum: a Join, unless it is one of numbers.
func (w *walker) plus(args []code.Value) code.Value {
	has := func(forms ...code.Form) bool {
		return slices.ContainsFunc(args, func(v code.Value) bool { return slices.Contains(forms, v.Form) })
	}
	if has(code.Number) && !has(code.Text, code.Join) {
		return w.other("+", args...)
	}
	return code.Value{Form: code.Join, Line: args[0].Line, Args: args}
}

// assign gives a value to what stands left of an assignment, and returns what has it afterwards.
func (w *walker) assign(to js.IExpr, v code.Value) code.Value {
	if !w.deeper() {
		return v
	}
	defer w.up()
	switch to := to.(type) {
	case *js.GroupExpr:
		return w.assign(to.X, v)
	case *js.ArrayExpr:
		v = w.keep(v)
		for i, item := range to.List {
			switch {
			case item.Value == nil:
			case item.Spread:
				w.assign(item.Value, v)
			default:
				w.assignElement(item.Value, nil, code.Value{Form: code.Index, Line: v.Line, Args: []code.Value{v, {Form: code.Number, Line: v.Line, Text: strconv.Itoa(i)}}})
			}
		}
		return v
	case *js.ObjectExpr:
		v = w.keep(v)
		for _, item := range to.List {
			if item.Spread {
				w.assign(item.Value, v)
			} else {
				w.assignElement(item.Value, item.Init, w.part(v, w.key(item.Name, item.Value)))
			}
		}
		return v
	}
	at := w.at
	target := w.value(to)
	w.at = at // the target stands before the value
	switch target.Form {
	case code.Name:
		w.set(target.Text, v)
		return target
	case code.Index:
		base := target.Args[0]
		changed := w.other("[]=", base, target.Args[1], v)
		if base.Form == code.Name {
			w.set(base.Text, changed)
			return base
		}
		return changed
	}
	return w.other("[]=", target, v)
}

func (w *walker) assignElement(to, init js.IExpr, v code.Value) {
	if b, ok := to.(*js.BinaryExpr); ok && b.Op == js.EqToken {
		to, init = b.X, b.Y
	}
	if init != nil {
		v = w.other("or", v, w.value(init))
	}
	w.assign(to, v)
}

// template returns a text with values. One with a tag is a call of the tag.
func (w *walker) template(e *js.TemplateExpr) code.Value {
	var tag *code.Value
	if e.Tag != nil {
		w.calls++
		v := w.value(e.Tag)
		tag = &v
	}
	v := code.Value{Form: code.Join, Line: w.line()}
	text := func(b []byte) {
		w.saw(b)
		if s := unescape(strings.TrimSuffix(string(b[1:]), "${")); s != "" {
			v.Args = append(v.Args, code.Value{Form: code.Text, Line: w.line(), Text: s})
		}
	}
	for _, part := range e.List {
		text(part.Value)
		v.Args = append(v.Args, w.value(part.Expr))
	}
	text(bytes.TrimSuffix(e.Tail, []byte("`")))
	if len(e.List) == 0 {
		v = code.Value{Form: code.Text, Line: v.Line, Text: joined(v.Args)}
	}
	if tag == nil {
		return v
	}
	return code.Value{Form: code.Call, Line: v.Line, Func: tag, Args: []code.Value{v}}
}

func joined(args []code.Value) string {
	if len(args) == 0 {
		return ""
	}
	return args[0].Text
}

func (w *walker) condition(e *js.CondExpr) code.Value {
	var args []code.Value
	for {
		w.effect(e.Cond)
		args = append(args, w.value(e.X))
		next, ok := e.Y.(*js.CondExpr)
		if !ok {
			return w.other("if", append(args, w.value(e.Y))...)
		}
		e = next
	}
}

func (w *walker) lambda(params *js.Params, body *js.BlockStmt) code.Value {
	v := code.Value{Form: code.Func, Line: w.line()}
	v.Params, v.Body = w.function(params, body)
	return v
}

func (w *walker) object(e *js.ObjectExpr) code.Value {
	v := code.Value{Form: code.Map, Line: w.line(), Keys: []string{}}
	for _, item := range e.List {
		key := "**"
		var computed *code.Value
		if method, ok := item.Value.(*js.MethodDecl); ok && item.Name == nil {
			key = w.elementName(&method.Name)
		} else if item.Name != nil && item.Name.IsComputed() {
			c := w.value(item.Name.Computed)
			computed, key = &c, ""
			if c.Form == code.Text {
				computed, key = nil, c.Text
			}
		} else if item.Name != nil {
			key = propertyName(item.Name)
			w.saw(item.Name.Literal.Data)
		} else if name, ok := item.Value.(*js.Var); ok && !item.Spread {
			key = string(name.Name())
		}
		arg := w.value(item.Value)
		if method, ok := item.Value.(*js.MethodDecl); ok && method.Get {
			getter := arg
			arg = code.Value{Form: code.Call, Line: arg.Line, Func: &getter}
		}
		if computed != nil {
			arg = w.other("", *computed, arg)
		}
		v.Args, v.Keys = append(v.Args, arg), append(v.Keys, key)
	}
	return v
}

func propertyName(n *js.PropertyName) string {
	switch {
	case n.Literal.TokenType == js.StringToken:
		return unquote(n.Literal.Data)
	case js.IsNumeric(n.Literal.TokenType):
		return decimal(string(n.Literal.Data))
	}
	return string(n.Literal.Data)
}

// unquote returns what a text in quotes says, or a name as it is.
func unquote(b []byte) string {
	if len(b) < 2 || b[0] != '"' && b[0] != '\'' {
		return string(b)
	}
	return unescape(string(b[1 : len(b)-1]))
}

var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b", `\f`, "\f", `\v`, "\v", `\0`, "\x00")

// unescape returns a text without its escapes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	var high rune
	for s != "" {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		r, n := escape(s[i:])
		s = s[i+n:]
		if high != 0 && i == 0 && utf16.IsSurrogate(r) {
			r, high = utf16.DecodeRune(high, r), 0
		} else if utf16.IsSurrogate(r) {
			high = r
			continue
		}
		if r >= 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escape returns the character of the escape that a text begins with, -1 for none, and the length of the escape.
func escape(s string) (rune, int) {
	digits := ""
	n := 2
	switch c := s[1]; {
	case c == 'x' && len(s) >= 4:
		digits, n = s[2:4], 4
	case c == 'u' && strings.HasPrefix(s[2:], "{"):
		if end := strings.IndexByte(s, '}'); end > 0 {
			digits, n = s[3:end], end+1
		}
	case c == 'u' && len(s) >= 6:
		digits, n = s[2:6], 6
	case c == '\n':
		return -1, 2
	case c == '\r':
		return -1, 2 + min(1, len(s)-2-len(strings.TrimPrefix(s[2:], "\n")))
	}
	if digits != "" {
		if v, err := strconv.ParseUint(digits, 16, 21); err == nil {
			return rune(v), n
		}
		return utf8.RuneError, n
	}
	if plain := escapes.Replace(s[:2]); len(plain) == 1 {
		return rune(plain[0]), 2
	}
	r, size := utf8.DecodeRuneInString(s[1:])
	return r, 1 + size
}
