package flow

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

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
	if b.list && (op == "^" || op == "*" || op == "+") {
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
	case "*":
		if x > 1<<31 || y > 1<<31 || x < -1<<31 || y < -1<<31 {
			return nil
		}
		x *= y
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

var fields = lazyregexp.New(`\$\{?(\w+)\}?|\{(\w+)\}`)

// filledIn returns a text with the values of a map, or of keywords, in place of {name} and $name.
func filledIn(self, values *value, a *arguments) *value {
	return mapped(self, func(t string) string {
		return fields().ReplaceAllStringFunc(t, func(field string) string {
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

// power computes pow(x, y, modulus) of Python. It returns nil for another call.
func power(args []*value) *value {
	var n [3]*big.Int
	for i := range n {
		if len(args) != len(n) {
			return nil
		}
		t, _ := args[i].known()
		var ok bool
		if n[i], ok = new(big.Int).SetString(t, 10); !ok || n[i].BitLen() > 64 {
			return nil
		}
	}
	if n[2].Sign() <= 0 {
		return nil
	}
	out := new(big.Int).Exp(n[0], n[1], n[2])
	if out == nil {
		return nil
	}
	return &value{texts: []string{out.String()}, number: true}
}

// integers returns texts as numbers, each of a list too.
func integers(args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	base := 10
	if len(args) > 1 {
		if n, ok := point(args[1]); ok && n >= 2 && n <= 36 {
			base = n
		}
	}
	return remade(args[0], func(v *value) *value {
		out := &value{from: v.from, list: v.list, each: v.each, number: !v.list, keys: v.keys}
		for _, t := range v.texts {
			if n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(t), "0x"), base, 64); err == nil {
				out.texts = append(out.texts, strconv.FormatInt(n, 10))
			}
		}
		return out
	})
}
