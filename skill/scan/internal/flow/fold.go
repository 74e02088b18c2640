package flow

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
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

// xored computes with numbers, and says that what is not one number is decoded.
func (e *engine) xored(a, b *value) *value {
	out := arithmetic("^", a, b)
	_, one := point(a)
	if _, other := point(b); one && other {
		return out
	}
	if out == nil {
		out = unknown(a, b)
	}
	if both := union(a.sources(), b.sources()); a.list || b.list || len(both) > 0 {
		out.from = union(out.from, e.emit(fact.Fact{Kind: fact.Decodes, Object: fact.Encoding, Name: "xor", From: both}))
	}
	return out
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

// arithmetic computes with numbers, with each item of a list, and with the code points of a text. It returns nil if it cannot.
func arithmetic(op string, a, b *value) *value {
	if a.list {
		out := &value{list: true, each: a.each, from: union(a.from, b.from)}
		for i, item := range a.items {
			other := b
			if b.list {
				if len(b.items) == 0 {
					return nil
				}
				other = b.items[i%len(b.items)]
			}
			v := arithmetic(op, item, other)
			if v == nil {
				return nil
			}
			out.items = append(out.items, v)
		}
		return out
	}
	if b.list && op == "^" {
		return arithmetic(op, b, a)
	}
	x, ok := point(a)
	y, ok2 := point(b)
	if !ok || !ok2 {
		return nil
	}
	switch op {
	case "^":
		x ^= y
	case "+":
		x += y
	case "-":
		x -= y
	case "|":
		x |= y
	case "&":
		x &= y
	case "%", "//":
		if y == 0 {
			return nil
		}
		if op == "%" {
			x = (x%y + y) % y
		} else {
			x /= y
		}
	case ">>":
		x >>= min(max(y, 0), 63)
	case "<<":
		x <<= min(max(y, 0), 31)
	}
	return &value{texts: []string{strconv.Itoa(x)}, number: true, from: union(a.from, b.from)}
}

// point returns a number, or the code point of a text of one character.
func point(v *value) (int, bool) {
	t, ok := v.known()
	if !ok {
		return 0, false
	}
	if v.number {
		n, err := strconv.ParseInt(t, 0, 32)
		return int(n), err == nil
	}
	r, size := utf8.DecodeRuneInString(t)
	return int(r), size > 0 && size == len(t)
}

// points returns the characters of numbers in a list, or of one number. ok is false if one is not known.
func points(v *value) (string, bool) {
	items := v.items
	if !v.list {
		items = []*value{v}
	}
	var b strings.Builder
	for _, item := range items {
		n, ok := point(item)
		if !ok || n < 0 || n > utf8.MaxRune {
			return "", false
		}
		b.WriteRune(rune(n))
	}
	return b.String(), true
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
	case "map":
		return e.mapping(self, a)
	case "format":
		if e.unit.Language == Python {
			return formatted(self, a)
		}
	case "format_map", "substitute", "safe_substitute":
		return filledIn(self, first, a)
	case "range":
		return counted(a.args)
	case "to_bytes":
		return numberBytes(self)
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

var fields = regexp.MustCompile(`\$\{?(\w+)\}?|\{(\w+)\}`)

// filledIn returns a text with the values of a map, or of keywords, in place of {name} and $name.
func filledIn(self, values *value, a *arguments) *value {
	return mapped(self, func(t string) string {
		return fields.ReplaceAllStringFunc(t, func(field string) string {
			name := strings.Trim(field, "${}")
			for _, v := range []*value{values.item(name), a.key(name)} {
				if v != nil {
					return v.first()
				}
			}
			return hole
		})
	})
}

// counted returns the numbers of range(…), nothing if there are too many.
func counted(args []*value) *value {
	at := []int{0, 0, 1}
	for i, v := range args {
		n, ok := point(v)
		if !ok || i > 2 {
			return unknown(args...)
		}
		at[i] = n
	}
	if len(args) == 1 {
		at[0], at[1] = 0, at[0]
	}
	out := &value{list: true, from: unknown(args...).from}
	for n := at[0]; at[2] > 0 && n < at[1] || at[2] < 0 && n > at[1]; n += at[2] {
		if len(out.items) > maxItems {
			return unknown(args...)
		}
		out.items = append(out.items, &value{texts: []string{strconv.Itoa(n)}, number: true})
	}
	return out
}

// numberBytes returns the bytes of a number, the highest first.
func numberBytes(v *value) *value {
	t, ok := v.known()
	n, fine := new(big.Int).SetString(t, 0)
	if !ok || !fine || len(t) > maxText/8 {
		return nil
	}
	var b strings.Builder
	for _, c := range n.Bytes() {
		b.WriteRune(rune(c))
	}
	return &value{texts: []string{b.String()}, from: v.from}
}

// formatted returns what format makes of a text with {}, {0} and {name}.
func formatted(self *value, a *arguments) *value {
	t, ok := self.known()
	if !ok {
		return unknown(append(a.args, self)...)
	}
	next := 0
	var parts []*value
	for t != "" {
		before, after, ok := strings.Cut(t, "{")
		parts = append(parts, text(before))
		if !ok {
			break
		}
		field, rest, _ := strings.Cut(after, "}")
		t = rest
		field, _, _ = strings.Cut(field, ":")
		field, _, _ = strings.Cut(field, "!")
		field, inner, _ := strings.Cut(field, "[")
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
	return joined(append(parts, &value{texts: []string{""}, from: self.from}))
}
