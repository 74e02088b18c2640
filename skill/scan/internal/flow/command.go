package flow

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// command starts a program, or what else a shell knows by a name.
func (e *engine) command(name *value, a *arguments) *value {
	if name.list && !name.each && len(name.items) > 0 && e.unit.Language == Shell { // "${COMMAND[@]}"
		a.args = slices.Concat(name.items[1:], a.args)
		name = name.items[0]
	}
	a.args = e.spread(append([]*value{text("")}, a.args...))[1:]
	var out *value
	for _, t := range name.all() {
		one := *a
		if words := e.fields(t); len(words) > 1 && e.unit.Language == Shell && !isPath(words) { // $COMMAND
			t = words[0]
			var before []*value
			for _, w := range words[1:] {
				before = append(before, text(w))
			}
			one.args = append(before, a.args...)
		}
		out = either(out, e.named(t, name, &one))
	}
	if out == nil {
		from := union(name.from, unknown(a.everything()...).from)
		n := e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Program, Detail: line(hole, a), From: name.from})
		if len(name.from) > 0 {
			n = union(n, e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Code, From: name.from}))
		}
		return &value{from: union(from, n)}
	}
	return out
}

// fields splits a text into words as a shell does.
func (e *engine) fields(t string) []string {
	between := " \t\n"
	if v := e.lookup("IFS"); v != nil {
		between = v.first()
	}
	return strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune(between, r) })
}

// isPath reports whether the words are one path with spaces in it.
func isPath(words []string) bool {
	return strings.HasPrefix(words[0], "/") && slices.ContainsFunc(words[1:], func(w string) bool { return strings.Index(w, "/") > 0 && w[0] != '-' })
}

// named starts what has a name.
func (e *engine) named(name string, v *value, a *arguments) *value {
	if out, ok := e.special(name, a); ok {
		return out
	}
	if e.unit.Place.Block != "" && strings.LastIndexByte(name, '/') == 0 { // a command of an agent: /name
		return unknown(a.everything()...)
	}
	if e.unit.Language == Shell {
		if f := e.lookup(name); f != nil && f.fn != nil {
			return e.follow(f.fn, a, nil)
		}
		if v := e.lookup("alias " + name); v != nil {
			return e.aliased(v, name, a)
		}
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if strings.ContainsAny(base, "?[*") {
		base = e.globbed(base)
	}
	r, base := e.rowOf(base)
	out := unknown(a.everything()...)
	out.from = union(out.from, v.from)
	switch {
	case r == nil && strings.Trim(base, hole+"./-") == "":
		out.from = union(out.from, e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Program, Detail: line(name, a), From: v.from}))
		return out
	case r != nil && r.has("builtin"):
	default:
		object := fact.Program
		if strings.Contains(name, "/") && e.own(name) {
			object = fact.File
		}
		shown := line(name, a)
		if a.input != nil && len(a.input.all()) > 0 && len(a.args) == 0 {
			shown += " <" // it reads a text of the program
		}
		n := e.emit(fact.Fact{Kind: fact.Runs, Object: object, Name: base, Detail: shown, From: v.from})
		if strings.ContainsAny(name, `/\`) {
			e.runFile(Shell, name, n)
		}
		out.from = union(out.from, n)
	}
	if r == nil {
		e.operands(a.args)
		return out
	}
	return e.start(base, r, a, out)
}

// operands notes what an unknown program is given: files and addresses.
func (e *engine) operands(args []*value) {
	for _, v := range args {
		e.stray(v)
		for _, t := range v.texts {
			if strings.HasPrefix(t, "~/") || strings.HasPrefix(t, "/") && strings.Count(t, "/") > 1 {
				e.emit(fact.Fact{Kind: fact.Reads, Object: fact.File, Name: t, Maybe: true})
			}
		}
	}
}

// rowOf returns the row of a program and its name without a version.
func (e *engine) rowOf(base string) (*row, string) {
	rows := e.tables[Shell]
	base = strings.TrimSuffix(base, ".exe")
	if r := rows[base]; r != nil {
		return r, base
	}
	if bare := strings.TrimRight(base, "0123456789."); rows[bare] != nil {
		return rows[bare], base
	}
	return nil, base
}

// start does what the row of a program says, or that of its subcommand.
func (e *engine) start(base string, r *row, a *arguments, out *value) *value {
	if r.bundle && len(a.args) > 0 && strings.Trim(a.args[0].first(), "cxtrujzvfJpka") == "" && a.args[0].first() != "" {
		a.args = append([]*value{text("-" + a.args[0].first())}, a.args[1:]...)
	}
	operands, opts := options(r, a.args, 0)
	bare := strings.TrimRight(base, "0123456789.")
	if e.tables[Shell][base] != nil {
		bare = base
	}
	for n := min(3, len(operands)); n > 0; n-- {
		name := bare
		for _, o := range operands[:n] {
			name += " " + o.first()
		}
		sub := e.tables[Shell][name]
		if sub == nil {
			continue
		}
		both := row{effects: sub.effects, takes: map[string]bool{}, long: r.long || sub.long, stop: sub.stop}
		maps.Copy(both.takes, r.takes)
		maps.Copy(both.takes, sub.takes)
		operands, opts = options(&both, a.args, n)
		operands, r = operands[min(n, len(operands)):], &both
		break
	}
	given := &arguments{args: operands, opts: opts, input: a.input}
	for _, x := range r.effects { // what is read before is sent
		v := e.programEffect(&x, base, given, out.from)
		if v != nil {
			v.from = union(v.from, out.from)
			out = v
		}
	}
	return out
}

// programEffect does one thing that only programs do, or what any call does.
func (e *engine) programEffect(x *effect, base string, a *arguments, from []int) *value {
	found := a.get(x.at)
	if len(x.at) > 0 && len(found) == 0 {
		found = nil
		if x.verb != "unpack" || base == "tar" && a.opts["-x"] == nil {
			return nil
		}
	}
	switch x.verb {
	case "exec":
		return e.wrapped(x, inPlace(a))
	case "wrap":
		return e.wrapped(x, a)
	case "wrapin":
		if a.input != nil {
			a.args = withInput(a)
		}
		return e.wrapped(x, a)
	case "interpreter":
		return e.interpreter(x.kind, a)
	case "bang":
		e.bang(found, base == "git" || base == "tar")
		return nil
	case "remote":
		for _, v := range found {
			for _, t := range v.texts {
				if strings.ContainsAny(t, ":@") {
					e.send([]*value{text(t)}, from)
				}
			}
		}
		return nil
	case "at":
		return e.atFiles(found)
	case "echo":
		return spaced(a.args)
	case "printf":
		return printed(a.args)
	case "alias":
		e.alias(a)
		return nil
	case "fill":
		e.fill(a)
		return nil
	case "export": // to a program
		for _, v := range a.args {
			first, _, _ := strings.Cut(v.first(), ",")
			e.stray(text(first))
		}
		return nil
	case "source":
		return e.source(found, a.input)
	case "decode":
		return e.decode(x.kind, &arguments{input: a.input}, from)
	}
	return e.toolEffect(x, a, found, from)
}

// toolEffect does what programEffect leaves.
func (e *engine) toolEffect(x *effect, a *arguments, found []*value, from []int) *value {
	switch x.verb {
	case "rev":
		if a.input != nil {
			return slice(a.input, backwards)
		}
		return nil
	case "tr":
		return translated(a)
	case "sed":
		return e.edited(a)
	case "save":
		return &value{from: e.save(a, from)}
	case "saveas":
		if a.opts["-O"] == nil && a.opts["--output-document"] == nil {
			return &value{from: e.save(a, from)}
		}
		return nil
	case "unpack":
		if len(found) == 0 {
			found = []*value{text(".")}
		}
		e.unpack(found, from)
		return nil
	case "temp":
		return text("/tmp/tmp." + strconv.Itoa(e.line))
	case "allvars":
		if len(a.args) == 0 {
			return e.variable("*")
		}
		return nil
	case "cron":
		if a.input != nil {
			for _, line := range strings.Split(flat(a.input)[0], "\n") {
				if words := strings.Fields(line); len(words) > 5 {
					e.inside(Shell, strings.Join(words[5:], " "), nil)
				}
			}
		}
		return &value{from: e.files(fact.Writes, []*value{text("crontab")}, from)}
	case Shell:
		return e.codeIn(Shell, []*value{spaced(found)})
	case "interpret":
		return e.codeIn(x.kind, found)
	}
	return e.effect(x, &value{}, a, from)
}

// atFiles reads files that are named as @FILE and NAME=@FILE.
func (e *engine) atFiles(found []*value) *value {
	out := &value{}
	for _, v := range found {
		for _, t := range v.texts {
			if _, file, ok := strings.Cut(t, "@"); ok && file != "" && (t[0] == '@' || strings.Contains(t, "=@")) {
				out.from = union(out.from, e.files(fact.Reads, []*value{{texts: []string{file}, from: v.from}}, nil))
			}
		}
	}
	return out
}

func (e *engine) alias(a *arguments) {
	for _, v := range a.args {
		if name, command, ok := strings.Cut(v.first(), "="); ok {
			e.top.names["alias "+name] = &value{texts: []string{command}, from: v.from}
			e.codeIn(Shell, []*value{{texts: []string{command}, from: v.from}})
		}
	}
}

// aliased runs what an alias stands for.
func (e *engine) aliased(v *value, name string, a *arguments) *value {
	words := strings.Fields(v.first())
	if len(words) == 0 || words[0] == name || strings.ContainsAny(v.first(), "|;&$`<>") {
		return unknown(append(a.everything(), v)...)
	}
	one := *a
	one.args = append(wordsOf(text(strings.Join(words[1:], " "))), a.args...)
	return e.named(words[0], v, &one)
}

// globbed returns the program that a pattern with a star or a question mark means: the only one that is known, or the pattern.
func (e *engine) globbed(pattern string) string {
	out := pattern
	for name, r := range e.tables[Shell] {
		if ok, err := path.Match(pattern, name); ok && err == nil && !r.has("builtin") && (out == pattern || name < out) {
			out = name
		}
	}
	return out
}

// fill gives variables what is read.
func (e *engine) fill(a *arguments) {
	given := &value{}
	if a.input != nil {
		given = a.input
	}
	for _, v := range a.args {
		e.set(v.first(), &value{texts: given.texts, from: given.from})
	}
}

// inPlace returns the arguments of find with what it finds in place of {}.
func inPlace(a *arguments) *arguments {
	out := *a
	out.opts = maps.Clone(a.opts)
	out.opts["-exec"] = nil
	for _, w := range a.opts["-exec"] {
		if t := w.first(); strings.Contains(t, "{}") && len(a.args) > 0 {
			name := "/*"
			if n := a.opts["-name"]; len(n) > 0 {
				name = "/" + n[0].first()
			}
			w = &value{texts: []string{strings.ReplaceAll(t, "{}", a.args[0].first()+name)}, from: w.from}
		}
		out.opts["-exec"] = append(out.opts["-exec"], w)
	}
	return &out
}

// wrapped starts the program that another one is given.
func (e *engine) wrapped(x *effect, a *arguments) *value {
	words := a.args
	if x.at != nil {
		words = a.get(x.at)
	}
	for len(words) > 0 && strings.Contains(words[0].first(), "=") && !strings.HasPrefix(words[0].first(), "=") {
		words = words[1:] // NAME=value
	}
	if len(words) == 0 {
		return nil
	}
	rest := slices.Clone(words[1:])
	return e.command(words[0], &arguments{args: rest, input: a.input})
}

// interpreter runs code: that of an option, the first operand, or the input.
func (e *engine) interpreter(language string, a *arguments) *value {
	for o, found := range a.opts { // of PowerShell, which takes the beginning of a name
		if d, ok := Decode("base64", found[0].first()); ok && language == Loose && strings.HasPrefix("-encodedcommand", strings.ToLower(o)) && strings.Contains(d, "\x00") {
			return e.codeIn(language, []*value{e.decode("base64", &arguments{args: found[:1]}, nil)})
		}
	}
	for _, o := range []string{"-c", "-e", "--eval", "-p", "--print", "-r", "-command"} {
		if found := a.opts[o]; len(found) > 0 && (o != "-r" || language == Loose) && (o != "-p" || language == JavaScript) && (o != "-e" || language != Shell) {
			if language == Shell {
				e.sc.names["@"] = &value{list: true, items: a.args}
			}
			if language == Loose {
				found = []*value{spaced(append(slices.Clone(found), a.args...))}
			}
			return e.codeIn(language, found)
		}
	}
	if language == Loose && len(a.args) > 0 && strings.Contains(a.args[0].first(), " ") {
		return e.codeIn(language, []*value{spaced(a.args)})
	}
	if found := a.opts["-m"]; len(found) > 0 && language == Python {
		return e.module(found[0], a)
	}
	var file *value
	if len(a.args) > 0 {
		file = a.args[0]
	}
	if file == nil || file.first() == "-" || file.first() == "/dev/stdin" || language == Shell && a.opts["-s"] != nil {
		if a.input == nil {
			return nil
		}
		return e.codeIn(language, []*value{a.input})
	}
	if len(file.texts) == 0 && len(file.from) > 0 { // bash <(curl …)
		e.codeIn(language, []*value{file})
		return nil
	}
	for _, t := range file.texts {
		e.runFile(language, t, nil)
	}
	return nil
}

// module runs a module of Python: python -m NAME.
func (e *engine) module(name *value, a *arguments) *value {
	t := name.first()
	if r := e.tables[Shell]["python -m "+t]; r != nil {
		return e.start("python -m "+t, r, a, unknown(a.everything()...))
	}
	if r := e.tables[Shell][t]; r != nil && !r.has("wrap") {
		return e.start(t, r, a, unknown(a.everything()...))
	}
	e.emit(fact.Fact{Kind: fact.Imports, Object: fact.Module, Name: t})
	return nil
}

// source runs a file in the same shell.
func (e *engine) source(found []*value, input *value) *value {
	for _, v := range found[:min(1, len(found))] {
		for _, t := range v.texts {
			if mod := e.find(strings.TrimLeft(t, hole+"/")); mod != nil {
				for name, value := range mod.names {
					e.set(name, value)
				}
			}
			if t == "/dev/stdin" && input != nil {
				return e.codeIn(Shell, []*value{input})
			}
			e.runFile(Shell, t, nil)
		}
		if len(v.texts) == 0 {
			return e.codeIn(Shell, []*value{v})
		}
	}
	return nil
}
