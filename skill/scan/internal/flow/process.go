package flow

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// child is what a program that was started is in a library. Its receiver has the words that started it.
const child = "child"

// connection is the name of what a program has as its input and output in place of a terminal.
const connection = "&0"

// started starts a program with what it reads from and writes to: a text, a connection.
func (e *engine) started(found []*value, a *arguments) *value {
	first := len(e.facts)
	one, to := *a, a.key("stdout")
	for _, v := range []*value{a.key("input"), a.key("stdin"), e.top.names[connection]} {
		if one.input == nil && v != nil && v.ref == "" || v != nil && len(v.sources()) > 0 {
			one.input = v
		}
	}
	if c := e.top.names[connection]; to == nil {
		to = c
	}
	out := e.run(found, &one)
	if out == nil {
		out = &value{}
	}
	both := *out
	for i := first; i < len(e.facts); i++ {
		if e.facts[i].Kind == fact.Runs {
			both.from = union(both.from, []int{i})
		}
	}
	if to != nil {
		e.sendMore(to, both.from)
	}
	both.recv = &value{list: true, items: found}
	return &both
}

// into gives a program that was started what it reads, or sends it over the connection.
func (e *engine) into(to, what *value) *value {
	for v := to; v != nil; v = v.recv {
		if v.ref == child && v.recv != nil {
			return e.run(v.recv.items, &arguments{input: what})
		}
	}
	e.sendMore(to, what.sources())
	return to
}

// method calls a function by its methods: f.call, f.apply, f.bind. It returns nil for another method.
func (e *engine) method(f *value, last string, a *arguments) *value {
	if f.recv == nil || f.recv.fn == nil && e.rows[f.recv.ref] == nil || len(a.args) < 2 {
		return nil
	}
	switch last {
	case "call":
		return e.invoke(f.recv, &arguments{args: a.args[1:]})
	case "apply":
		return e.invoke(f.recv, &arguments{args: a.args[1].items})
	case "bind":
		return bound(f.recv, a.args[1:])
	}
	return nil
}

// bound returns a function with its first arguments.
func bound(f *value, args []*value) *value {
	out := *f
	out.bound = args
	return &out
}

var pickled = lazyregexp.New(`c(?:os|posix|nt|subprocess|builtins)\n(\w+)\n[\s\S]{0,20}?[SV]'?((?:[^'\n\\]|\\.)*)'?\n`)

// unpickle runs what a text of Python's pickle calls.
func (e *engine) unpickle(v *value) {
	for _, t := range v.texts {
		for _, m := range pickled().FindAllStringSubmatch(t, 10) {
			if m[1] == "eval" || m[1] == "exec" {
				e.codeIn(Python, []*value{text(m[2])})
			} else {
				e.run([]*value{text(m[2])}, &arguments{})
			}
		}
	}
}

// runsAlone reports whether a text is one command without signs of a shell.
func runsAlone(t string) bool { return !strings.ContainsAny(t, "|&;<>$`(){}\n") }

// third does what second leaves: with programs that were started, connections, and functions.
func (e *engine) third(x *effect, f *value, a *arguments, from []int, found []*value) *value {
	switch x.verb {
	case "spawn":
		return e.started(a.args[:min(2, len(a.args))], a)
	case "into":
		return e.into(f, found[0])
	case "pipe":
		if len(a.args) > 0 && a.self != nil {
			return e.into(a.args[0], a.self)
		}
	case "dup":
		if len(a.args) > 0 && len(a.args[0].sources()) > 0 {
			e.top.names[connection] = a.args[0]
		}
	case "pickle":
		e.unpickle(found[0])
	case "runmap": // {file, args}
		if args := found[0].item("args"); args != nil {
			return e.started([]*value{args}, a)
		}
	case "socket": // the program reads and writes nothing else from now on
		v := &value{from: e.send(found, from)}
		e.top.names[connection] = v
		return v
	case "answer": // it fetches what it runs
		return &value{from: e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Code, From: from})}
	case "line": // of awk: a command, or a connection
		if a.input == nil {
			return nil
		}
		sent := slices.ContainsFunc(a.input.from, func(n int) bool { return e.facts[n].Kind == fact.Sends })
		if t, ok := a.input.known(); ok && netFile(t) != "" || len(a.input.from) > 0 && !sent {
			v := &value{from: union(a.input.from, e.files(fact.Reads, []*value{a.input}, nil))}
			e.fill(&arguments{args: a.args, input: v})
			return v
		}
		return e.codeIn(Shell, []*value{a.input})
	case "wrap":
		return e.wrapped(x, a)
	case "serve":
		return &value{from: e.emit(fact.Fact{Kind: fact.Listens, Object: fact.Port})}
	case "call":
		for _, v := range found {
			if v.fn != nil {
				return e.follow(v.fn, &arguments{args: a.args[min(1, len(a.args)):]}, &value{from: from})
			}
			if args := a.key("args"); args != nil && v.ref != "" {
				return e.invoke(v, &arguments{args: args.items})
			}
		}
	}
	return nil
}

// run starts a program: a list of its words, or a text that a shell reads.
func (e *engine) run(found []*value, a *arguments) *value {
	var out *value
	for i, v := range found {
		switch {
		case i == 0 && len(found) > 1: // the program, then its arguments
			rest := found[1:]
			if rest[0].list {
				rest = e.spread(append([]*value{v}, rest[0].items...))[1:]
			}
			return e.command(v, &arguments{args: rest, input: a.input})
		case v.list && !v.each && len(v.items) > 0:
			words := e.spread(v.items)
			out = either(out, e.command(words[0], &arguments{args: words[1:], input: a.input}))
		case len(v.all()) > 0 && a.input != nil && runsAlone(v.first()):
			words := wordsOf(v)
			out = either(out, e.command(words[0], &arguments{args: words[1:], input: a.input}))
		case len(v.all()) > 0:
			out = either(out, e.codeIn(Shell, []*value{v}))
		default:
			out = &value{from: e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Program, From: v.from})}
			if len(v.from) > 0 {
				out.from = union(out.from, e.emit(fact.Fact{Kind: fact.Runs, Object: fact.Code, From: v.from}))
			}
		}
	}
	return out
}

// function makes a function of a text, with its parameters before it, and runs it.
func (e *engine) function(args []*value) *value {
	body := *args[len(args)-1]
	out := e.codeIn(e.unit.Language, []*value{&body})
	if out == nil {
		return nil
	}
	both := *out
	both.made = true
	return &both
}

// bang runs commands in what other programs are given: :!COMMAND of an editor, alias.x=!COMMAND and core.pager=COMMAND of git.
func (e *engine) bang(found []*value, git bool) {
	for _, v := range found {
		_, command, ok := strings.Cut(v.first(), "!")
		if !ok && git {
			_, command, ok = strings.Cut(v.first(), "=")
		}
		if ok && (!git || strings.Contains(command, " ")) {
			e.codeIn(Shell, []*value{{texts: []string{command}, from: v.from}})
		}
	}
}
