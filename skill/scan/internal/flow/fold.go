package flow

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/shell"
)

// other follows an operator, or anything else that is made of values.
func (e *engine) other(v *code.Value) *value {
	args := e.args(v.Args)
	switch v.Text {
	case "for":
		if len(args) == 1 && args[0].each {
			out := *args[0]
			out.each = false
			return &out
		}
	case "[]=":
		return changed(args)
	case "", "or", "||", "??", "if", "?", "*":
		if v.Text == "*" && len(args) == 2 {
			return cmp.Or(arithmetic("*", args[0], args[1]), unknown(args...))
		}
		var out *value
		for _, a := range args {
			out = either(out, a)
		}
		if v.Text == "?" && e.unit.Language == Shell {
			return unknown(args...)
		}
		if out == nil {
			return &value{}
		}
		return out
	case "in", "not in":
		if len(args) == 2 && e.env(args[1].ref) {
			return e.variables(args[:1])
		}
	case "/":
		if len(args) > 1 && strings.HasPrefix(args[0].ref, "pathlib.Path") {
			out := pathOf(args)
			out.ref = "pathlib.Path()"
			return out
		}
	case "^":
		if len(args) == 2 {
			return e.xored(args[0], args[1])
		}
	case "+", "-", "%", "|", "&", "//", ">>", "<<":
		if len(args) == 2 {
			if out := arithmetic(v.Text, args[0], args[1]); out != nil {
				return out
			}
		}
		if v.Text == "+" {
			return joined(args)
		}
	}
	return unknown(args...)
}

// changed returns a list or a map with one item more.
func changed(args []*value) *value {
	if len(args) < 3 {
		return unknown(args...)
	}
	whole, key, item := args[0], args[1], args[len(args)-1]
	out := *whole
	out.list = true
	out.from = union(whole.from, item.sources())
	if len(whole.items) < maxItems {
		out.items = append(slices.Clip(whole.items), item)
		out.keys = whole.keys
		if k, ok := key.known(); ok && !key.number {
			out.keys = append(slices.Clone(whole.keys), make([]string, len(whole.items)-len(whole.keys))...)
			out.keys = append(out.keys, k)
		}
	}
	return &out
}

// characters returns numbers as texts: each one if they are gone through, else one text of all.
func characters(v *value) *value {
	if v.each {
		out := &value{list: true, each: true, from: v.from}
		for _, item := range v.items {
			t, ok := points(item)
			if !ok {
				return unknown(v)
			}
			out.items = append(out.items, text(t))
		}
		return out
	}
	t, ok := points(v)
	if !ok {
		return nil
	}
	return &value{texts: []string{t}, from: v.sources()}
}

// changes are calls that make a text from a text.
var changes = map[string]func(string) string{
	"upper": strings.ToUpper, "toUpperCase": strings.ToUpper, shell.Upper: strings.ToUpper, "lower": strings.ToLower, "toLowerCase": strings.ToLower, shell.Lower: strings.ToLower,
	"strip": strings.TrimSpace, "trim": strings.TrimSpace, "rstrip": strings.TrimSpace, "lstrip": strings.TrimSpace, "trimEnd": strings.TrimSpace, "trimStart": strings.TrimSpace,
}

// fold computes a call that only changes texts and lists. It returns nil for another call.
func (e *engine) fold(f *value, name string, a *arguments) *value {
	self := a.self
	if self == nil {
		self = &value{}
	}
	first := &value{}
	if len(a.args) > 0 {
		first = a.args[0]
	}
	if change := changes[name]; change != nil {
		return mapped(self, change)
	}
	switch name {
	case "chr", "fromCharCode", "fromCodePoint", "bytes", "bytearray":
		if name[0] == 'f' && len(a.args) > 1 {
			return characters(&value{list: true, items: a.args})
		}
		if v := characters(first); v != nil {
			return v
		}
		return passed(first)
	case "ord", "charCodeAt", "codePointAt":
		return first1(self, first)
	case "pow":
		return power(a.args)
	case "int", "parseInt", "Number":
		return integers(a.args)
	case "map":
		return e.mapping(self, a)
	case "join":
		return joining(self, first)
	case "replace", "replaceAll", shell.Replace:
		return replaced(self, a.args, name)
	case "split", "rsplit":
		return split(self, first)
	case "reversed", "reverse":
		if self.list || len(self.texts) > 0 {
			first = self
		}
		return slice(first, backwards)
	case "slice", "substring", shell.Slice:
		at := slices.Clone(a.args)
		if name == shell.Slice && len(at) > 1 {
			if from, ok := point(at[0]); ok {
				if n, ok := point(at[1]); ok {
					at[1] = &value{texts: []string{strconv.Itoa(from + n)}}
				}
			}
		}
		if len(self.texts) > 0 || self.list {
			return slice(self, at)
		}
	case shell.Prefix:
		return mapped(self, func(t string) string { return strings.TrimPrefix(t, first.first()) })
	case shell.Suffix:
		return mapped(self, func(t string) string { return strings.TrimSuffix(t, first.first()) })
	case "concat":
		return joined(append([]*value{self}, a.args...))
	case "append", "push", "add", "extend", "insert":
		if self.list || e.nameless(self) {
			return unknown(append(a.args, self)...)
		}
	case "getattr":
		if len(a.args) > 1 {
			if t, ok := a.args[1].known(); ok {
				return e.member(first, t)
			}
		}
	case "get", "pop", "setdefault":
		if self.keys != nil {
			if t, ok := first.known(); ok {
				if item := self.item(t); item != nil {
					return item
				}
			}
			return unknown(append(a.args, self)...)
		}
	}
	return e.folded(self, first, name, a)
}

// folded computes what fold leaves.
func (e *engine) folded(self, first *value, name string, a *arguments) *value {
	switch name {
	case "format":
		if e.unit.Language == Python {
			return formatted(self, a)
		}
	case "format_map", "substitute", "safe_substitute":
		return filledIn(self, first, a)
	case "range":
		return counted(a.args)
	case "maketrans":
		return &value{list: true, items: a.args}
	case "translate":
		if len(first.items) > 1 {
			return exchanged(self, []rune(first.items[0].first()), []rune(first.items[1].first()), false)
		}
	case "to_bytes":
		return numberBytes(self)
	}
	return nil
}

func (e *engine) nameless(v *value) bool { return v.ref == "" && v.recv == nil }

func passed(v *value) *value {
	out := *v
	return &out
}

// first1 returns the code points of a text: of self, else of the argument.
func first1(self, arg *value) *value {
	v := arg
	if len(self.texts) > 0 || self.list {
		v = self
	}
	return mappedNumbers(v)
}

func mappedNumbers(v *value) *value {
	return remade(v, func(v *value) *value {
		out := &value{from: v.from, list: v.list, each: v.each, number: !v.list}
		if n, ok := point(v); ok && !v.list {
			out.texts = []string{strconv.Itoa(n)}
		}
		return out
	})
}

// mapping calls a function with each item: map(f, list) and list.map(f).
func (e *engine) mapping(self *value, a *arguments) *value {
	list, f := self, &value{}
	for _, v := range a.args {
		if v.fn != nil || v.ref != "" && !v.list {
			f = v
		} else if v.list || len(v.texts) > 0 {
			list = v
		}
	}
	if !list.list && len(list.texts) == 0 {
		return nil
	}
	item := each(list)
	var out *value
	if f.fn != nil {
		out = e.follow(f.fn, &arguments{args: []*value{item}}, nil)
	} else {
		out = e.invoke(f, &arguments{args: []*value{item}})
	}
	both := *out
	both.each = false
	return &both
}

// joining returns the items of a list with a text between them: sep.join(list) or list.join(sep).
func joining(self, arg *value) *value {
	list, sep := arg, self
	if self.list {
		list, sep = self, arg
	}
	if !list.list && len(self.texts) == 0 {
		return unknown(self, arg)
	}
	if !list.list {
		return passed(list)
	}
	var parts []*value
	for i, item := range list.items {
		if i > 0 && len(sep.texts) > 0 {
			parts = append(parts, sep)
		}
		parts = append(parts, item)
	}
	out := joined(parts)
	out.from = union(out.from, list.from)
	return out
}

func replaced(self *value, args []*value, name string) *value {
	if len(args) < 2 {
		return passed(self)
	}
	old, ok := args[0].known()
	with, ok2 := args[1].known()
	if !ok || !ok2 || old == "" {
		return unknown(append(args, self)...)
	}
	n := -1
	if name == shell.Replace {
		n = 1
		if strings.HasPrefix(old, "/") {
			old, n = old[1:], -1
		}
	}
	return mapped(self, func(t string) string { return strings.Replace(t, old, with, n) })
}

func split(self, sep *value) *value {
	t, ok := self.known()
	if !ok {
		return nil
	}
	s, given := sep.known()
	var parts []string
	if given {
		parts = strings.Split(t, s)
	} else {
		parts = strings.Fields(t)
	}
	out := &value{list: true, from: self.from}
	for _, p := range parts[:min(len(parts), maxItems)] {
		out.items = append(out.items, text(p))
	}
	return out
}

// formatted returns what format makes of a text with {}, {0} and {name}.
func formatted(self *value, a *arguments) *value {
	t, ok := self.known()
	if !ok {
		return unknown(append(a.args, self)...)
	}
	next := 0
	parts := []*value{{texts: []string{""}, from: self.from}}
	t = strings.NewReplacer("{{", "\x00", "}}", "\x01").Replace(t)
	plain := strings.NewReplacer("\x00", "{", "\x01", "}")
	for t != "" {
		before, after, ok := strings.Cut(t, "{")
		parts = append(parts, text(plain.Replace(before)))
		if !ok {
			break
		}
		field, rest, _ := strings.Cut(after, "}")
		t = rest
		field, _, _ = strings.Cut(field, ":")
		field, _, _ = strings.Cut(field, "!")
		field, inner, _ := strings.Cut(field, "[")
		field, _, _ = strings.Cut(field, ".")
		at := where{name: field}
		if n, err := strconv.Atoi(field); err == nil || field == "" {
			if field == "" {
				n, next = next, next+1
			}
			at = where{position: n}
		}
		if found := a.get([]where{at}); len(found) > 0 {
			v := found[0]
			if i, err := strconv.Atoi(strings.TrimSuffix(inner, "]")); err == nil && i >= 0 && i < len(v.items) {
				v = v.items[i]
			}
			parts = append(parts, v)
		} else {
			parts = append(parts, &value{})
		}
	}
	return joined(parts)
}
