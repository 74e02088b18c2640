package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// index follows v[i].
func (e *engine) index(v *code.Value) *value {
	whole, at := e.arg(v, 0), &value{}
	var i *code.Value
	if len(v.Args) > 1 {
		i = &v.Args[1]
	}
	switch {
	case i == nil:
	case i.Form == code.Other && i.Text == "" && len(i.Args) == 0:
		return each(whole)
	case i.Form == code.Other && i.Text == ":":
		return slice(whole, e.args(i.Args))
	default:
		at = e.value(i)
	}
	if e.env(whole.ref) {
		return e.variables([]*value{at})
	}
	key, ok := at.known()
	switch {
	case !ok && at.each && !whole.each && len(at.items)*len(whole.first()) < maxWork: // t[i] for i in list
		out := &value{list: true, each: true, from: union(whole.from, at.from)}
		for _, item := range at.items {
			out.items = append(out.items, e.itemAt(whole, item))
		}
		return out
	case !ok:
		return e.scattered(whole)
	case !at.number && e.unit.Language == Loose:
		return e.member(whole, strings.ToLower(key))
	case !at.number:
		return e.member(whole, key)
	}
	return e.itemAt(whole, at)
}

// scattered returns each item of a list or a text, in an order that is not known. A long text in which characters are there several
// times, so no alphabet, has its words made of them that way.
func (e *engine) scattered(v *value) *value {
	out := each(v)
	t, ok := v.known()
	if v.each {
		t, ok = strings.Join(v.all(), ""), true
	}
	if ok && len(t) >= 30 && 4*len(counts(t)) < 3*len(t) {
		out.from = union(v.from, e.emit(fact.Fact{Kind: fact.Decodes, Object: fact.Encoding, Name: "characters", From: v.from}))
	}
	return out
}

// counts returns how often each character is in a text.
func counts(t string) map[rune]int {
	out := map[rune]int{}
	for _, r := range t {
		out[r]++
	}
	return out
}

// itemAt returns what a list or a text has at a number.
func (e *engine) itemAt(whole, at *value) *value {
	key, _ := at.known()
	n, err := strconv.Atoi(key)
	if err != nil {
		return unknown(whole)
	}
	if whole.list {
		if n < 0 {
			n += len(whole.items)
		}
		if n >= 0 && n < len(whole.items) {
			return whole.items[n]
		}
		return unknown(whole)
	}
	if t, ok := whole.known(); ok && len(t) <= maxItems {
		r := []rune(t)
		if n < 0 {
			n += len(r)
		}
		if n >= 0 && n < len(r) {
			return &value{texts: []string{string(r[n])}, from: whole.from}
		}
	}
	return unknown(whole)
}

// backwards is the slice [::-1].
var backwards = []*value{{}, {}, {texts: []string{"-1"}}}

// each returns one item of a value, whichever.
func each(v *value) *value {
	if v.list {
		out := *v
		out.each = true
		return &out
	}
	if t, ok := v.known(); ok && len(t) <= maxItems {
		out := &value{list: true, each: true, chars: t, from: v.from}
		for _, r := range t {
			out.items = append(out.items, text(string(r)))
		}
		return out
	}
	return &value{from: v.from}
}

// slice returns v[from:to:step].
func slice(v *value, at []*value) *value {
	n := func(i, otherwise int) int {
		if i < len(at) {
			if t, ok := at[i].known(); ok {
				if n, err := strconv.Atoi(t); err == nil {
					return n
				}
			}
		}
		return otherwise
	}
	step := n(2, 1)
	if v.list {
		if step < 0 {
			out := *v
			out.items = slices.Clone(v.items)
			slices.Reverse(out.items)
			return &out
		}
		from, to := bounds(n(0, 0), n(1, len(v.items)), len(v.items))
		out := *v
		out.items, out.keys = stepped(v.items[from:to], step), nil
		return &out
	}
	return mapped(v, func(t string) string {
		r := []rune(t)
		if step < 0 {
			slices.Reverse(r)
			return string(stepped(r, -step))
		}
		from, to := bounds(n(0, 0), n(1, len(r)), len(r))
		return string(stepped(r[from:to], step))
	})
}

func bounds(from, to, length int) (int, int) {
	if from < 0 {
		from += length
	}
	if to < 0 {
		to += length
	}
	from = min(max(from, 0), length)
	return from, max(from, min(to, length))
}

func stepped[T any](list []T, step int) []T {
	if step < 2 {
		return list
	}
	var out []T
	for i := 0; i < len(list); i += step {
		out = append(out, list[i])
	}
	return out
}

// mapped returns a value with its texts changed, also those of items. A text with a hole stays unknown unless it keeps its order.
func mapped(v *value, change func(string) string) *value {
	return remade(v, func(v *value) *value {
		out := &value{from: v.from, list: v.list, each: v.each}
		for _, t := range v.texts {
			if c := change(t); len(c) <= maxText {
				out.texts = append(out.texts, c)
			}
		}
		return out
	})
}
