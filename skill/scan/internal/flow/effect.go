package flow

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// perform does what a row says and returns the result of the call.
func (e *engine) perform(r *row, f *value, a *arguments) *value {
	if r.takes != nil {
		operands, opts := options(r, a.args, 0)
		a = &arguments{self: a.self, args: operands, input: a.input, opts: opts}
	}
	given := a.everything()
	if r.has("run") || r.has("spawn") || r.has(Shell) {
		given = slices.DeleteFunc(given, func(v *value) bool { return v != nil && (v.item("env") != nil || v == a.key("env")) }) // stays on the machine
	}
	out := unknown(given...)
	out.from = union(out.from, f.from)
	for _, x := range r.effects {
		if x.verb == "give" {
			both := *out
			both.ref = x.kind
			out = &both
			continue
		}
		if v := e.effect(&x, f, a, out.from); v != nil {
			both := *v
			if both.ref == "" {
				both.ref = out.ref
			}
			both.from = union(out.from, v.from)
			out = &both
		}
	}
	if !r.has("quiet") {
		e.callbacks(a, out)
	}
	return out
}

// effect does one thing and returns what is known of the result, nil for nothing. from has the facts that all arguments are made from.
func (e *engine) effect(x *effect, f *value, a *arguments, from []int) *value {
	found := a.get(x.at)
	if len(x.at) > 0 && len(found) == 0 {
		return nil
	}
	switch x.verb {
	case "send":
		return &value{from: e.send(found, from)}
	case "host":
		return &value{from: e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: x.kind, From: from})}
	case "listen":
		return &value{from: e.listen(found, from)}
	case "read":
		return &value{from: e.files(fact.Reads, found, nil)}
	case "write":
		return &value{from: e.files(fact.Writes, found, from)}
	case "pack":
		return e.pack(a)
	case "archive":
		return e.archive(a, from)
	case "stream":
		e.files(fact.Writes, found, nil)
		return &value{ref: "file", recv: found[0]}
	case "open":
		return e.open(f, a)
	case "put": // into a file that was opened
		if name := fileOf(a.self); name != nil {
			e.content = unionText(a.args)
			defer func() { e.content = "" }()
			return &value{from: e.files(fact.Writes, []*value{name}, from)}
		}
	case "take":
		if name := fileOf(a.self); name != nil {
			return &value{from: e.files(fact.Reads, []*value{name}, nil)}
		}
	case "var":
		return e.variables(found)
	case "store":
		return &value{from: e.emit(fact.Fact{Kind: fact.Reads, Object: fact.Store, Name: strings.ReplaceAll(x.kind, "_", " "), From: from})}
	case "run":
		return e.started(found, a)
	case Shell, Python, JavaScript:
		return e.codeIn(x.verb, found)
	case "code":
		return e.codeIn(e.unit.Language, found)
	case "codeif": // of a function or a text
		if t, ok := found[0].known(); ok && found[0].fn == nil {
			return e.codeIn(e.unit.Language, []*value{text(t)})
		}
	case "decode":
		return e.decode(x.kind, a, from)
	case "import":
		return e.load1(found)
	case "need":
		e.needs(x.kind, found)
	case "pass":
		if len(found) > 0 {
			v := *found[0]
			return &v
		}
	case "fold":
		return e.fold(&value{ref: x.kind, recv: a.self}, x.kind, a)
	}
	return e.second(x, f, a, from, found)
}

// second does what effect leaves.
func (e *engine) second(x *effect, f *value, a *arguments, from []int, found []*value) *value {
	switch x.verb {
	case "path":
		return pathOf(a.args)
	case "pathself":
		return pathOf(append([]*value{a.self}, a.args...))
	case "home":
		return text("~")
	case "list":
		return &value{from: e.files(fact.Reads, found, nil)}
	case "putin":
		for _, v := range found {
			if name := fileOf(v); name != nil {
				e.files(fact.Writes, []*value{name}, from)
			}
		}
	case "client":
		if len(found) > 0 && len(targets(found[0])) > 0 {
			return &value{from: e.send(found[:1], from)}
		}
	case "sendif":
		for _, v := range found {
			for _, t := range v.all() {
				if _, ok := addressed(strings.ReplaceAll(t, " ", "")); ok {
					e.send([]*value{text(t)}, from)
				}
			}
		}
	case "envall":
		return e.variable("*")
	case "partial":
		if len(a.args) > 0 {
			return bound(a.args[0], a.args[1:])
		}
	case "clickenv":
		if found := a.get([]where{{name: "envvar"}}); len(found) > 0 {
			return e.variables(found)
		}
	case "url":
		return urlOf(a.args)
	case "netsend":
		if len(a.args) > 0 && !a.args[0].list {
			return &value{from: e.send(a.args[1:min(2, len(a.args))], from)}
		}
		return &value{from: e.send(a.args[:min(1, len(a.args))], from)}
	case "buffer":
		if len(a.args) > 1 {
			if kind := a.args[1].first(); kind == "base64" || kind == "hex" || kind == "base64url" {
				return e.decode(strings.TrimSuffix(kind, "url"), &arguments{args: a.args[:1]}, from)
			}
		}
		if len(a.args) > 0 {
			return e.fold(&value{}, "bytes", a)
		}
	case "then":
		return e.then(a)
	case "codelast":
		if len(a.args) > 0 {
			return e.function(a.args)
		}
	case "pip":
		for _, v := range found {
			if v.list {
				return e.command(text("pip"), &arguments{args: v.items})
			}
		}
	case "more":
		e.sendMore(f, from)
	}
	return e.third(x, f, a, from, found)
}

// send says that hosts are contacted.
func (e *engine) send(found []*value, from []int) (out []int) {
	named := false
	for _, v := range found {
		for _, t := range targets(v) {
			if host := hostOf(t); host != "" {
				out = union(out, e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: t, From: from}))
				named = true
			}
		}
	}
	if !named {
		out = e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, From: from})
	}
	return out
}

// targets returns the addresses that a value can mean: a text, a list of host and port, or a map.
func targets(v *value) []string {
	if v.keys != nil {
		for _, key := range []string{"hostname", "host", "url", "uri", "baseURL", "base_url", "href"} {
			if item := v.item(key); item != nil {
				return item.texts
			}
		}
		return nil
	}
	if v.list && !v.each {
		if len(v.items) > 0 {
			return v.items[0].texts
		}
		return nil
	}
	return v.all()
}

func (e *engine) listen(found []*value, from []int) []int {
	f := fact.Fact{Kind: fact.Listens, Object: fact.Port, From: from}
	for _, v := range found {
		if v.list && len(v.items) > 1 {
			v = v.items[1]
		}
		if t := v.first(); t != hole {
			f.Name = t
		}
	}
	return e.emit(f)
}

// files says that files are read or written. What was written into a file before is what it is made from.
func (e *engine) files(kind fact.Kind, found []*value, from []int) (out []int) {
	for _, v := range found {
		names := v.texts
		if v.list {
			names = v.all()
		}
		if len(names) == 0 {
			out = union(out, e.emit(fact.Fact{Kind: kind, Object: fact.File, From: union(from, v.from)}))
			if v.ref == "__file__" && kind == fact.Reads { // what stands in the comments of the program, perhaps
				out = union(out, e.emit(fact.Fact{Kind: fact.Decodes, Object: fact.Encoding, Name: "the text of the program", From: out}))
			}
		}
		for _, name := range names {
			if host := netFile(name); host != "" {
				out = union(out, e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: name, From: from}))
				continue
			}
			if name == "" || name == "-" || name == "/dev/null" || name == "/dev/stdout" || name == "/dev/stderr" {
				continue
			}
			key := path.Clean(name)
			f := fact.Fact{Kind: kind, Object: fact.File, Name: shown(name), Detail: e.content, From: union(from, v.from)}
			if kind == fact.Reads {
				f.From = union(f.From, e.written[key])
				if ok, _ := path.Match("/proc/*/environ", key); ok {
					out = union(out, e.variable("*").from)
				}
			}
			n := e.emit(f)
			if kind == fact.Writes && len(strings.Trim(strings.ReplaceAll(key, hole, ""), "/.")) > 2 {
				e.written[key] = union(e.written[key], n)
				if e.content != "" {
					e.contents[key] = &value{texts: []string{e.content}, from: n}
				}
			}
			out = union(out, n)
		}
	}
	return out
}

// unionText returns the first text of some values.
func unionText(values []*value) string {
	if len(values) == 0 {
		return ""
	}
	return flat(values[0])[0]
}

// shown returns a path as it is written in a fact, "" if nothing is known.
func shown(name string) string {
	if strings.Trim(name, hole+"/.") == "" {
		return ""
	}
	return name
}

// open opens a file in the way that its mode says.
func (e *engine) open(f *value, a *arguments) *value {
	file := a.get([]where{{name: "file"}, {position: 0}})
	at := 1
	if a.self != nil && strings.HasSuffix(f.ref, "().open") { // of a path
		file, at = []*value{a.self}, 0
	}
	mode := ""
	if m := a.get([]where{{name: "mode"}, {position: at}}); len(m) > 0 {
		mode = m[0].first()
	}
	if len(file) == 0 {
		return nil
	}
	out := &value{ref: "file", recv: file[0]}
	if strings.ContainsAny(mode, "wax+") {
		e.files(fact.Writes, file, nil)
		return out
	}
	out.from = e.files(fact.Reads, file, nil)
	return out
}

// fileOf returns the name of a file that was opened.
func fileOf(v *value) *value {
	for ; v != nil; v = v.recv {
		if v.ref == "file" {
			return v.recv
		}
	}
	return nil
}

func (e *engine) variables(found []*value) *value {
	out := &value{}
	for _, v := range found {
		names := v.all()
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			out.from = union(union(out.from, v.from), e.variable(name).from)
		}
	}
	return out
}

// spread puts the items of lists among the words in their place.
func (e *engine) spread(words []*value) []*value {
	var out []*value
	for i, w := range words {
		if w.list && i > 0 && len(w.items) > 0 && len(out) < maxItems {
			out = append(out, w.items...)
			continue
		}
		out = append(out, w)
	}
	return out
}

// codeIn executes texts as code of a language.
func (e *engine) codeIn(language string, found []*value) *value {
	var out *value
	for _, v := range found {
		if v.fn != nil {
			continue
		}
		texts := v.texts
		if v.list {
			texts = flat(v)
		}
		if len(texts) == 0 {
			texts = []string{hole}
		}
		for _, t := range texts {
			f := fact.Fact{Kind: fact.Runs, Object: fact.Code, Detail: t, From: v.sources()}
			if strings.Trim(t, hole) == "" {
				f.Detail = ""
			}
			n := e.emit(f)
			if language != Shell {
				t = strings.ReplaceAll(t, hole, "_")
			}
			if language == Loose {
				t = strings.ReplaceAll(t, "\x00", "")
			}
			made := union(n, v.sources())
			if language == Shell && len(v.sources()) == 0 && e.unit.Language == Shell {
				made = nil // it says no more than the command itself
			}
			out = either(out, e.inside(language, t, made))
		}
	}
	return out
}

func (e *engine) load1(found []*value) *value {
	if len(found) == 0 {
		return nil
	}
	v := found[0]
	name, ok := v.known()
	if all := v.all(); !ok && len(all) == 1 {
		name, ok = all[0], true
	}
	if !ok {
		return &value{from: e.emit(fact.Fact{Kind: fact.Imports, Object: fact.Module, From: v.from})}
	}
	if mod := e.find(name); mod != nil {
		if all := mod.export("module.exports"); all != nil {
			both := *all
			both.mod = mod
			return &both
		}
		return &value{mod: mod}
	}
	if kind, payload, ok := strings.Cut(name, ";base64,"); ok && strings.HasPrefix(kind, "data:") {
		return e.codeIn(JavaScript, []*value{e.decode("base64", &arguments{args: []*value{{texts: []string{payload}, from: v.from}}}, v.from)})
	}
	e.importMade(name)
	name = strings.TrimPrefix(name, "node:")
	e.emit(fact.Fact{Kind: fact.Imports, Object: fact.Module, Name: name, From: v.from})
	return &value{ref: name}
}

// needs says that packages are installed.
func (e *engine) needs(registry string, found []*value) {
	for _, v := range found {
		for _, name := range v.all() {
			if name == "" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.Trim(name, hole) == "" {
				continue
			}
			need := Package(registry, name)
			if host, ok := addressed(strings.TrimPrefix(name, "git+")); ok {
				need.From = e.emit(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: name})
			}
			e.emit(need)
		}
	}
}

// Package returns the fact for a package as it is named to a program that installs it, such as "requests==2.32" or "@x/y@1".
func Package(registry, named string) fact.Fact {
	name := strings.Trim(named, `"'`)
	if i := strings.IndexAny(name, "=<>~![; "); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 && registry != "git" {
		name = name[:i]
	}
	return fact.Fact{Kind: fact.Needs, Object: fact.Package, Name: name, Detail: registry + " " + named}
}

// pathOf returns the parts of a path with slashes between them.
func pathOf(args []*value) *value {
	var parts []*value
	for _, v := range args {
		t := v.first()
		if strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") {
			parts = nil
		}
		if len(parts) > 0 && !strings.HasSuffix(parts[len(parts)-1].first(), "/") {
			parts = append(parts, text("/"))
		}
		parts = append(parts, v)
	}
	return joined(parts)
}

// urlOf returns an address that is written with a base: new URL(path, base).
func urlOf(args []*value) *value {
	switch {
	case len(args) == 0:
		return nil
	case len(args) == 1 || strings.Contains(args[0].first(), "://"):
		return passed(args[0])
	}
	return joined([]*value{args[1], text("/"), args[0]})
}

// then calls what a promise is given with its value.
func (e *engine) then(a *arguments) (out *value) {
	for _, v := range a.args {
		if v.fn != nil {
			out = either(out, e.follow(v.fn, &arguments{args: []*value{a.self}}, nil))
		} else if e.rows[v.ref] != nil {
			out = either(out, e.invoke(v, &arguments{args: []*value{a.self}}))
		}
	}
	return out
}
