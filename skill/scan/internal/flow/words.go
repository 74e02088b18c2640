package flow

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/shell"
)

// printed returns what printf prints.
func printed(args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	rest := args[1:]
	var parts []*value
	format := shell.Unescape(args[0].first())
	for more := format; more != "" || len(rest) > 0 && len(parts) < maxItems; {
		before, after, ok := strings.Cut(more, "%")
		parts = append(parts, text(before))
		if more = after; !ok {
			if more = format; len(rest) == 0 || !strings.Contains(format, "%") { // it begins anew for what is left
				break
			}
			continue
		}
		verb, after := "%", strings.TrimLeft(more, "-+ #0123456789.")
		if after != "" {
			verb, more = after[:1], after[1:]
		}
		switch {
		case verb == "%":
			parts = append(parts, text("%"))
		case len(rest) == 0:
		case verb == "b":
			parts, rest = append(parts, mapped(rest[0], shell.Unescape)), rest[1:]
		default:
			parts, rest = append(parts, rest[0]), rest[1:]
		}
	}
	return joined(append(parts, &value{texts: []string{""}, from: unknown(args...).from}))
}

// withInput returns the words of a command with those of its input: in place of the word of -I, else behind the others.
func withInput(a *arguments) []*value {
	if place := a.opts["-I"]; len(place) > 0 && place[0].first() != hole && place[0].first() != "" {
		out := slices.Clone(a.args)
		for i, v := range out {
			if t, ok := v.known(); ok && strings.Contains(t, place[0].first()) {
				out[i] = &value{texts: []string{strings.ReplaceAll(t, place[0].first(), flat(a.input)[0])}, from: union(v.from, a.input.sources())}
			}
		}
		return out
	}
	return append(slices.Clone(a.args), wordsOf(a.input)...)
}

// wordsOf returns the words of a text, or what stands for them.
func wordsOf(v *value) []*value {
	t, ok := v.known()
	if !ok {
		return []*value{v}
	}
	var out []*value
	for _, w := range strings.Fields(t)[:min(len(strings.Fields(t)), maxTexts)] {
		out = append(out, &value{texts: []string{w}, from: v.from})
	}
	return out
}

// options splits the words of a program into operands and options by what its row says, after skip operands also if they stop options.
func options(r *row, words []*value, skip int) (operands []*value, opts map[string][]*value) {
	opts = map[string][]*value{}
	for i := 0; i < len(words); i++ {
		t := words[i].first()
		switch {
		case t == "--":
			return append(operands, words[i+1:]...), opts
		case len(t) < 2 || t[0] != '-':
			operands = append(operands, words[i])
			if r.stop && len(operands) > skip {
				return append(operands, words[i+1:]...), opts
			}
			continue
		}
		if r.anycase {
			t = strings.ToLower(t)
		}
		name, given, has := option(r, t)
		switch {
		case r.has("exec") && strings.HasPrefix(t, "-exec"): // up to ; or +
			end := i + 1
			for end < len(words) && words[end].first() != ";" && words[end].first() != "+" {
				end++
			}
			opts["-exec"], i = append(opts["-exec"], words[i+1:end]...), end
		case has:
			opts[name] = append(opts[name], &value{texts: []string{given}, from: words[i].from})
		case r.takes[name] && i+1 < len(words):
			i++
			opts[name] = append(opts[name], words[i])
		default:
			opts[name] = append(opts[name], &value{from: words[i].from})
		}
		for _, c := range t[1:] { // -xvf
			one := "-" + string(c)
			if r.long || t[1] == '-' || r.takes[one] {
				break
			}
			if opts[one] == nil {
				opts[one] = []*value{{}}
			}
		}
	}
	return operands, opts
}

// option reads one word with options: --name=value, -name, -abcVALUE.
func option(r *row, t string) (name, given string, has bool) {
	if name, given, has = strings.Cut(t, "="); has && (t[1] == '-' || r.takes[name]) {
		return name, given, true
	}
	if t[1] == '-' || r.long || r.takes[t] {
		return t, "", false
	}
	for i := 1; i < len(t); i++ {
		if name = "-" + t[i:i+1]; r.takes[name] {
			return name, t[i+1:], i+1 < len(t)
		}
	}
	return name, "", false
}

// special does what shells write with signs.
func (e *engine) special(name string, a *arguments) (*value, bool) {
	input := a.input
	if input == nil {
		input = &value{}
	}
	switch name {
	case ">", ">>":
		e.content = flat(input)[0]
		n := e.files(fact.Writes, a.args, input.sources())
		e.content = ""
		return &value{from: union(n, input.from)}, true
	case shell.Descriptor:
		return &value{from: e.files(fact.Reads, a.args, nil)}, true
	case shell.Duplicate:
		if len(a.args) > 0 {
			e.sendMore(a.args[0], input.sources())
		}
		return input, true
	case "<":
		return &value{from: e.files(fact.Reads, a.args, nil)}, true
	case shell.Indirect:
		out := &value{}
		for _, v := range a.args {
			if t, ok := v.known(); ok {
				out = e.shellVariable(t)
			}
		}
		return out, true
	case shell.Slice, shell.Replace, shell.Upper, shell.Lower, shell.Prefix, shell.Suffix:
		if len(a.args) == 0 {
			return &value{}, true
		}
		v := e.fold(&value{recv: a.args[0]}, name, &arguments{args: a.args[1:], self: a.args[0]})
		if v == nil {
			v = unknown(a.args...)
		}
		return v, true
	}
	return nil, false
}

// own reports whether a path is that of a file of the skill.
func (e *engine) own(name string) bool {
	base := path.Base(name)
	for file := range e.at {
		if path.Base(file) == base {
			return true
		}
	}
	return false
}

// spaced returns words with spaces between them.
func spaced(words []*value) *value {
	var parts []*value
	for i, w := range words {
		if i > 0 {
			parts = append(parts, text(" "))
		}
		parts = append(parts, w)
	}
	return joined(parts)
}

// line returns a command for people.
func line(name string, a *arguments) string {
	var b strings.Builder
	b.WriteString(name)
	for _, v := range a.args {
		if b.Len() > maxDetail {
			break
		}
		b.WriteByte(' ')
		b.WriteString(flat(v)[0])
	}
	return b.String()
}
