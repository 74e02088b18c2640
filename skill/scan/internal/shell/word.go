package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
)

// redirected returns a command with its redirections, nil if there is neither.
func (r *reader) redirected(s *syntax.Stmt, input *code.Value) *code.Value {
	var files []code.Value
	for _, d := range s.Redirs {
		if d.N != nil && isDescriptor(d.N.Value) && d.Op != syntax.DplIn && d.Op != syntax.DplOut {
			r.add(code.Statement{Op: code.Set, Line: r.at(d), Name: "&" + d.N.Value, Value: r.redirection(Descriptor, d)})
			continue
		}
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if d.Hdoc != nil {
				input = r.word(d.Hdoc)
			}
		case syntax.WordHdoc:
			input = r.word(d.Word)
		case syntax.RdrIn:
			input = r.redirection("<", d)
		case syntax.DplIn, syntax.DplOut:
			if lit := d.Word.Lit(); isDescriptor(lit) {
				v := &code.Value{Form: code.Name, Line: r.at(d), Text: "&" + lit}
				if d.Op == syntax.DplIn || d.N != nil && d.N.Value == "0" {
					input = v
				} else {
					files = append(files, code.Value{Form: code.Call, Line: r.at(d), Func: &code.Value{Form: code.Name, Line: r.at(d), Text: Duplicate}, Args: []code.Value{*v}})
				}
				continue
			}
			if lit := d.Word.Lit(); lit != "-" && strings.Trim(lit, "0123456789") != "" {
				files = append(files, *r.redirection(">", d))
			}
		case syntax.AppOut, syntax.AppAll, syntax.AppClob, syntax.AppAllClob:
			files = append(files, *r.redirection(">>", d))
		default:
			files = append(files, *r.redirection(">", d))
		}
	}
	v := input
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			v = r.call(c, input)
		}
	case nil:
	default:
		v = r.block(c, []*syntax.Stmt{{Position: s.Position, Cmd: c}}, input)
	}
	for _, f := range files {
		f.Input = v
		v = &f
	}
	return v
}

// isDescriptor reports whether a text is a number that stands for no terminal.
func isDescriptor(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 2
}

func (r *reader) redirection(op string, d *syntax.Redirect) *code.Value {
	line := r.at(d)
	return &code.Value{Form: code.Call, Line: line, Func: &code.Value{Form: code.Name, Line: line, Text: op}, Args: []code.Value{*r.word(d.Word)}}
}

func (r *reader) call(c *syntax.CallExpr, input *code.Value) *code.Value {
	r.nodes++
	args := braced(c.Args)
	v := &code.Value{Form: code.Call, Line: r.at(c), Func: r.word(args[0]), Input: input}
	switch v.Func.Form {
	case code.Text:
		v.Func.Form = code.Name
	case code.Name: // a variable
		v.Func = &code.Value{Form: code.Join, Line: v.Line, Args: []code.Value{*v.Func}}
	}
	for _, w := range args[1:] {
		v.Args = append(v.Args, *r.word(w))
	}
	return v
}

// braced returns words with {a,b} as several, unless they become many.
func braced(words []*syntax.Word) (out []*syntax.Word) {
	for _, w := range words {
		many := 1
		for _, part := range w.Parts {
			if l, ok := part.(*syntax.Lit); ok {
				many *= 1 + strings.Count(l.Value, ",") + 100*strings.Count(l.Value, "..")
			}
		}
		if many > 1 && many < 100 && strings.HasPrefix(w.Lit(), "{") && syntax.SplitBraces(w) {
			for one, err := range expand.BracesSeq(nil, w) {
				if err == nil {
					out = append(out, one)
				}
			}
		} else {
			out = append(out, w)
		}
	}
	return out
}

// word returns a word as a value: its only part, or the parts joined.
func (r *reader) word(w *syntax.Word) *code.Value {
	if w == nil {
		return &code.Value{Form: code.Text}
	}
	v := &code.Value{Form: code.Join, Line: r.at(w)}
	r.deeper(w, func() { r.parts(v, w.Parts, false) })
	return single(v)
}

// single returns a join as the value that it has alone.
func single(v *code.Value) *code.Value {
	switch len(v.Args) {
	case 0:
		return &code.Value{Form: code.Text, Line: v.Line}
	case 1:
		return &v.Args[0]
	}
	return v
}

func (r *reader) parts(v *code.Value, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.text(v, p, unescaped(p.Value, quoted))
		case *syntax.SglQuoted:
			if text := p.Value; p.Dollar {
				r.text(v, p, Unescape(text))
			} else {
				r.text(v, p, text)
			}
		case *syntax.DblQuoted:
			r.parts(v, p.Parts, true)
			if len(p.Parts) == 0 {
				r.text(v, p, "")
			}
		default:
			v.Args = append(v.Args, *r.part(part))
		}
	}
}

// text adds a text to a join, to the text before it if there is one.
func (r *reader) text(v *code.Value, n syntax.Node, s string) {
	if last := len(v.Args) - 1; last >= 0 && v.Args[last].Form == code.Text {
		v.Args[last].Text += s
		return
	}
	r.nodes++
	v.Args = append(v.Args, code.Value{Form: code.Text, Line: r.at(n), Text: s})
}

// part returns a part of a word that is not a text.
func (r *reader) part(part syntax.WordPart) *code.Value {
	r.nodes++
	switch p := part.(type) {
	case *syntax.ParamExp:
		return r.parameter(p)
	case *syntax.CmdSubst:
		if v := r.outputs(p, p.Stmts); v != nil {
			return v
		}
	case *syntax.ProcSubst:
		if v := r.outputs(p, p.Stmts); v != nil {
			return v
		}
	case *syntax.ExtGlob:
		return &code.Value{Form: code.Text, Line: r.at(p), Text: p.Op.String() + p.Pattern.Value + ")"}
	}
	return r.others(part)
}

// parameter returns an expansion of a variable.
func (r *reader) parameter(p *syntax.ParamExp) *code.Value {
	line := r.at(p)
	if p.Param == nil {
		return &code.Value{Form: code.Other, Line: line}
	}
	v := code.Value{Form: code.Name, Line: line, Text: p.Param.Value}
	call := func(name string, args ...*code.Value) *code.Value {
		out := &code.Value{Form: code.Call, Line: line, Func: &code.Value{Form: code.Name, Line: line, Text: name}, Args: []code.Value{v}}
		for _, a := range args {
			out.Args = append(out.Args, *a)
		}
		return out
	}
	switch {
	case p.Excl:
		return call(Indirect)
	case p.Length:
		return &code.Value{Form: code.Other, Line: line, Text: "#", Args: []code.Value{v}}
	case p.Slice != nil:
		return call(Slice, r.arithmetic(p.Slice.Offset), r.arithmetic(p.Slice.Length))
	case p.Repl != nil:
		old := r.word(p.Repl.Orig)
		if p.Repl.All {
			old = &code.Value{Form: code.Join, Line: line, Args: []code.Value{{Form: code.Text, Line: line, Text: "/"}, *old}}
		}
		return call(Replace, old, r.word(p.Repl.With))
	case p.Exp != nil:
		return r.expansion(p.Exp, v, call)
	case p.Index != nil:
		if i := r.arithmetic(p.Index); i.Form == code.Number {
			return &code.Value{Form: code.Index, Line: line, Args: []code.Value{v, *i}}
		}
	}
	return &v
}

func (r *reader) expansion(e *syntax.Expansion, v code.Value, call func(string, ...*code.Value) *code.Value) *code.Value {
	switch e.Op {
	case syntax.UpperFirst, syntax.UpperAll:
		return call(Upper)
	case syntax.LowerFirst, syntax.LowerAll:
		return call(Lower)
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return call(Prefix, r.word(e.Word))
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return call(Suffix, r.word(e.Word))
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return &code.Value{Form: code.Other, Line: v.Line, Args: []code.Value{v, *r.word(e.Word)}}
	}
	return &code.Value{Form: code.Other, Line: v.Line, Text: e.Op.String(), Args: []code.Value{v}}
}

// arithmetic returns a number, or what an expression is made of.
func (r *reader) arithmetic(e syntax.ArithmExpr) *code.Value {
	if w, ok := e.(*syntax.Word); ok && w != nil {
		if _, err := strconv.Atoi(w.Lit()); err == nil {
			return &code.Value{Form: code.Number, Line: r.at(w), Text: w.Lit()}
		}
	}
	if e == nil {
		return &code.Value{Form: code.Other}
	}
	return r.others(e)
}

// others returns the variables and commands in something that is not read further.
func (r *reader) others(n syntax.Node) *code.Value {
	v := &code.Value{Form: code.Other, Line: r.at(n), Text: "?"}
	r.deeper(n, func() {
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst:
				v.Args = append(v.Args, *r.part(n.(syntax.WordPart)))
				return false
			}
			return true
		})
	})
	return v
}

// unescaped returns a literal without its backslashes.
func unescaped(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && strings.IndexByte("$`\"\\", s[i]) < 0:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Unescape returns the text between $' and ', and what printf makes of a format: \x41, \101, \n.
func Unescape(s string) string {
	var b strings.Builder
	for s != "" {
		if r, many, tail, err := strconv.UnquoteChar(s, '\''); err == nil {
			if many || r < utf8.RuneSelf {
				b.WriteRune(r)
			} else {
				b.WriteByte(byte(r))
			}
			s = tail
			continue
		}
		n := 1
		if s[0] == '\\' && len(s) > 1 {
			n = 2
			for n < min(len(s), 4) && s[1] >= '0' && s[1] <= '7' && s[n] >= '0' && s[n] <= '7' {
				n++
			}
			if c, err := strconv.ParseUint(s[1:n], 8, 16); err == nil {
				b.WriteByte(byte(c))
				s = s[n:]
				continue
			}
			b.WriteString(strings.TrimPrefix(s[1:n], "e"))
		} else {
			b.WriteByte(s[0])
		}
		s = s[n:]
	}
	return b.String()
}
