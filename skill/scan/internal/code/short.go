package code

import (
	"strings"
)

// Short returns statements on one line, for tests and for a person who looks for an error of a grammar.
func Short(body []Statement) string {
	var w writer
	w.statements(body)
	return w.String()
}

type writer struct{ strings.Builder }

func (w *writer) add(texts ...string) {
	for _, s := range texts {
		w.WriteString(s)
	}
}

func (w *writer) statements(body []Statement) {
	for i, s := range body {
		if i > 0 {
			w.add("; ")
		}
		switch s.Op {
		case Set:
			w.add(s.Name, " = ")
		case Import:
			w.add("import ", s.Name, "=", s.Module)
			if s.Member != "" {
				w.add(":", s.Member)
			}
		case Define:
			w.function(" "+s.Name, s.Params, s.Body)
		default:
			w.add(string(s.Op), " ")
		}
		if s.Value != nil {
			w.value(s.Value)
		}
	}
}

func (w *writer) function(name string, params []string, body []Statement) {
	kind := "def"
	if name == "" {
		kind = "func"
	}
	w.add(kind, name, "(", strings.Join(params, ", "), ") { ")
	w.statements(body)
	w.add(" }")
}

func (w *writer) value(v *Value) {
	if v.Input != nil {
		w.value(v.Input)
		w.add(" | ")
	}
	switch v.Form {
	case Text:
		w.add("'", v.Text, "'")
	case Name, Number:
		w.add(v.Text)
	case Member:
		w.value(&v.Args[0])
		w.add(".", v.Text)
	case Index:
		w.value(&v.Args[0])
		w.add("[")
		w.value(&v.Args[1])
		w.add("]")
	case Join:
		w.list(v, "(", " + ", ")")
	case Call:
		w.value(v.Func)
		w.list(v, "(", ", ", ")")
	case List:
		w.list(v, "[", ", ", "]")
	case Map:
		w.list(v, "{", ", ", "}")
	case Func:
		w.function("", v.Params, v.Body)
	default:
		w.list(v, "<"+v.Text+" ", " ", ">")
	}
}

// list writes the parts of a value.
func (w *writer) list(v *Value, begin, between, end string) {
	w.add(begin)
	for i := range v.Args {
		if i > 0 {
			w.add(between)
		}
		switch {
		case v.Keys == nil:
		case v.Keys[i] != "" || v.Form == Map:
			w.add(v.Keys[i], ": ")
		}
		w.value(&v.Args[i])
	}
	w.add(end)
}
