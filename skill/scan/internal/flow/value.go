package flow

import (
	"slices"
	"strings"
)

// hole stands in a text for what is not known.
const (
	hole     = "\ufdd0"
	holeRune = '\ufdd0'
)

// Limits of a value.
const (
	maxTexts = 16        // that a value may be
	maxText  = 256 << 10 // bytes of one
	maxFrom  = 24
	maxItems = 20_000
)

// value is what an expression may be. It does not change once it is made.
type value struct {
	texts  []string // that it may be, with holes; none if nothing of it is known
	number bool     // the texts are numbers
	list   bool     // it has items
	each   bool     // it is each of the items in turn
	items  []*value
	keys   []string // of items: "" for one without
	chars  string   // the text that the items were the characters of
	ref    string   // what it is in a library: "requests.get"; after "." the name of something in a value that is not known
	class  bool     // it is a class of the program
	recv   *value   // what ref is taken from
	bound  []*value // the first arguments of a function
	made   bool     // it is a function that a text was made to
	fn     *function
	mod    *scope // a module of the skill
	from   []int

	total sum // what sources found
}

// sum is what sources found of a value. It counts for that value with as many items and facts, and not for a copy of it.
type sum struct {
	of          *value
	items, from int
	found       []int
}

func text(s string) *value { return &value{texts: []string{s}} }

// known returns the only text that a value can be, false if there are several or something of it is not known.
func (v *value) known() (string, bool) {
	if len(v.texts) != 1 || strings.Contains(v.texts[0], hole) {
		return "", false
	}
	return v.texts[0], true
}

// first returns the text of a value, with holes, a hole if nothing is known.
func (v *value) first() string {
	if len(v.texts) == 0 {
		return hole
	}
	return v.texts[0]
}

// all returns the texts of a value, and of its items if it is a list.
func (v *value) all() []string {
	out := v.texts
	for _, item := range v.items {
		if len(out) > maxTexts*4 {
			break
		}
		out = append(slices.Clip(out), item.texts...)
	}
	return out
}

// item returns what a list has at a key, nil for nothing.
func (v *value) item(key string) *value {
	if i := slices.Index(v.keys, key); i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return nil
}

// sources returns the facts that a value and its items are made from. A value may be in another many times, so each is looked at once.
func (v *value) sources() []int {
	if len(v.items) == 0 {
		return v.from
	}
	if s := &v.total; s.of == v && s.items == len(v.items) && s.from == len(v.from) {
		return s.found
	}
	out := v.from
	for _, item := range v.items {
		if len(out) >= maxFrom {
			break
		}
		out = union(out, item.sources())
	}
	v.total = sum{v, len(v.items), len(v.from), out}
	return out
}

// remade returns a value in which leaf made each value anew without its items. One that is there many times is made once.
func remade(v *value, leaf func(*value) *value) *value {
	made := map[*value]*value{}
	var remake func(v *value) *value
	remake = func(v *value) *value {
		if out, ok := made[v]; ok {
			return out
		}
		out := leaf(v)
		for _, item := range v.items {
			out.items = append(out.items, remake(item))
		}
		made[v] = out
		return out
	}
	return remake(v)
}

// union returns the numbers of both lists, sorted.
func union(a, b []int) []int {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.Clip(out[:min(len(out), maxFrom)])
}

// either returns a value that may be one of two.
func either(a, b *value) *value {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	out := *b
	out.from = union(a.from, b.from)
	out.texts = slices.Clip(b.texts)
	for _, t := range a.texts {
		if len(out.texts) < maxTexts && !slices.Contains(out.texts, t) {
			out.texts = append(out.texts, t)
		}
	}
	switch {
	case a.list && b.list:
		out.from = union(out.from, a.sources())
	case a.list:
		out.list, out.items, out.keys = true, a.items, a.keys
	}
	if b.ref == "" {
		out.ref, out.recv = a.ref, a.recv
	}
	if b.fn == nil {
		out.fn = a.fn
	}
	if b.mod == nil {
		out.mod = a.mod
	}
	return &out
}

// joined returns the texts of values one after the other. The items of a list stand one after the other too.
func joined(parts []*value) *value {
	out := &value{texts: []string{""}}
	for _, p := range parts {
		out.from = union(out.from, p.sources())
		out.texts = product(out.texts, flat(p))
	}
	return out
}

// flat returns the texts of a value, those of a list joined, a hole if nothing is known.
func flat(v *value) []string {
	switch {
	case len(v.texts) > 0:
		return v.texts
	case v.each:
		if all := v.all(); len(all) > 0 {
			return all
		}
		return []string{hole}
	case !v.list || v.keys != nil:
		return []string{hole}
	}
	var b strings.Builder
	for _, item := range v.items {
		b.WriteString(item.first())
	}
	return []string{b.String()}
}

func product(before, after []string) []string {
	var out []string
	for _, a := range before {
		for _, b := range after {
			if len(out) == maxTexts || len(a)+len(b) > maxText {
				break
			}
			if t := a + b; !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return []string{hole}
	}
	return out
}

// unknown returns a value of which only the facts are known.
func unknown(values ...*value) *value {
	out := &value{}
	for _, v := range values {
		if v != nil {
			out.from = union(out.from, v.sources())
		}
	}
	return out
}
